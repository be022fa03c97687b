/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fold's identities: forks, execs, exits, names, ids that come again, crowds of threads. */
#include "play.h"

#include <stdio.h>

/* The child's GIL is new: nobody holds it, whatever the parent's was like. */
static void test_fork(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"1 comm A parent; 10 acquire A 8; 15 want B 8; 20 fork A G; 22 acquire G 8; 40 release G 8;"
		"45 exit G; 50 release A 8; 55 acquire B 8; 60 exit B; 60 exit A");
	assert_spans(&p, 'A', "has-gil 10-50, gil 8, native 50-60");
	assert_spans(&p, 'G', "has-gil 22-40, gil 8, native 40-45");
	assert_int_equal(p.result->quality.overlapping, 0);
	assert_int_equal(p.result->n_processes, 2);
	assert_int_equal(p.result->processes[1]->pid, 200);
	assert_int_equal(p.result->processes[1]->parent_pid, 100);
	assert_string_equal(p.result->processes[1]->name, "parent");
	assert_int_equal(p.result->n_gils, 2);
	assert_int_equal(play_gil(&p, 1)->waiters_ns, 0);
	assert_true(play_thread(&p, 'G')->main);
	play_done(&p);
}

/* exec by a thread that is not the main one: all threads end, the GIL goes. */
static void test_exec(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"1 comm A one; 10 acquire A 8; 15 want B 8; 30 exec A two; 40 acquire A 8; 60 release A 8;"
		"70 exit A");
	assert_spans(&p, 'B', "waiting 15-30, gil 8");
	assert_string_equal(p.spans[0], "has-gil 10-30, gil 8, has-gil 40-60, gil 8, native 60-70");
	assert_string_equal(p.holds, "A 10-30 open, A 40-60");
	assert_int_equal(p.result->n_processes, 2);
	assert_int_equal(p.result->n_threads, 3);
	assert_string_equal(p.result->threads[0]->name, "one");
	assert_string_equal(p.result->threads[2]->name, "two");
	assert_string_equal(p.result->processes[1]->name, "two");
	assert_int_equal(p.result->processes[1]->start_ns, 40000);
	assert_int_equal(p.result->processes[0]->end_ns, 30000);
	assert_int_equal(p.result->quality.acquires_while_holding, 0);
	play_done(&p);
}

static void test_names(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"1 comm A python3; 2 fork A B; 3 fork A C; 4 comm C worker-1; 10 acquire A; 11 release A;"
		"12 acquire B; 13 release B; 14 acquire C; 15 release C; 16 comm B late");
	assert_string_equal(play_thread(&p, 'A')->name, "python3");
	assert_string_equal(play_thread(&p, 'B')->name, "late");
	assert_string_equal(play_thread(&p, 'C')->name, "worker-1");
	assert_string_equal(p.result->processes[0]->name, "python3");
	assert_int_equal(play_thread(&p, 'C')->number, 2);
	assert_int_equal(p.result->processes[0]->n_threads, 3);
	play_done(&p);
}

/* The same tid again, with and without an exit in between. */
static void test_reuse(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"1 fork A B; 10 acquire B; 20 release B; 30 exit B; 40 fork A B; 50 acquire B; 60 fork A B;"
		"70 acquire B; 80 exit B; 90 acquire G; 95 exit G; 100 acquire G; 110 exit G");
	assert_int_equal(p.result->n_threads, 5);
	assert_int_equal(p.result->n_processes, 3); /* the main thread's exit ended the first G */
	assert_string_equal(p.holds, "B 10-20, B 50-60 open, B 70-80 open, G 90-95 open, "
				     "G 100-110 open");
	assert_int_equal(p.result->quality.overlapping, 0);
	play_done(&p);
}

/* What perf lists at its start, and what a second input tells again, is no new thread. */
static void test_told_twice(void **state)
{
	struct event again = {.kind = EVENT_FORK,
		.time_ns = 25000,
		.pid = 100,
		.tid = 100,
		.stream = 1,
		.fork = {.pid = 100, .tid = 101}};
	struct play p;

	play_start(&p, OWN_WIDE);
	play(&p, "10 fork A B; 20 acquire B; 0 fork A B");
	assert_int_equal(fold_feed(p.fold, &again, &p.err), 0);
	play(&p, "30 release B; 40 exit B");
	play_finish(&p);
	assert_int_equal(p.result->n_threads, 1);
	assert_string_equal(p.holds, "B 20-30");
	play_done(&p);
}

/* The leader may end first; its process lives on in its threads. */
static void test_leader_first(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"1 fork A B; 10 acquire A; 20 release A; 25 exit A; 30 acquire B; 40 release B; 50 exit B;"
		"60 acquire A; 70 exit A");
	assert_int_equal(p.result->n_processes, 2);
	assert_int_equal(p.result->processes[0]->n_threads, 2);
	assert_int_equal(p.result->processes[0]->end_ns, 50000);
	play_done(&p);
}

static void test_only_pid(void **state)
{
	struct play p;

	play_start_window(&p, OWN_WIDE, 0, UINT64_MAX, 200);
	play(&p, "10 acquire A; 20 release A; 30 acquire G; 40 release G; 50 exit A; 50 exit G");
	play_finish(&p);
	assert_int_equal(p.result->n_threads, 1);
	assert_int_equal(p.result->threads[0]->tid, 200);
	assert_int_equal(p.result->n_processes, 1);
	play_done(&p);
}

static void feed(
	struct fold *fold, enum event_kind kind, uint64_t time_ns, int32_t pid, int32_t tid)
{
	struct event event = {.time_ns = time_ns, .pid = pid, .tid = tid, .kind = (uint8_t)kind};
	struct err err = {0};

	if (kind == EVENT_FORK) {
		event.tid = pid;
		event.fork.pid = pid;
		event.fork.tid = tid;
	}
	assert_int_equal(fold_feed(fold, &event, &err), 0);
}

static void start_crowd(struct play *p)
{
	play_start(p, OWN_WIDE);
	/* there are not that many letters */
	p->sink = (struct sink){0};
}

/* Threads by the thousand, one after the other. */
static void test_churn(void **state)
{
	struct play p;
	uint64_t now = 1000;

	start_crowd(&p);
	for (int32_t i = 0; i < 10000; i++) {
		feed(p.fold, EVENT_FORK, now++, 1, 1000 + i);
		feed(p.fold, EVENT_ACQUIRE, now++, 1, 1000 + i);
		feed(p.fold, EVENT_RELEASE, now++, 1, 1000 + i);
		feed(p.fold, EVENT_EXIT, now++, 1, 1000 + i);
	}
	play_finish(&p);
	assert_int_equal(p.result->n_threads, 10000);
	assert_int_equal(play_gil(&p, 0)->handoffs, 9999);
	assert_int_equal(p.result->threads[9999]->number, 9999);
	play_done(&p);
}

/* And all at once, waiting for the first. */
static void test_crowd(void **state)
{
	struct play p;
	uint64_t now = 1000;

	start_crowd(&p);
	feed(p.fold, EVENT_ACQUIRE, now++, 1, 1);
	for (int32_t i = 0; i < 10000; i++)
		feed(p.fold, EVENT_WANT, now++, 1, 1000 + i);
	feed(p.fold, EVENT_RELEASE, now++, 1, 1);
	for (int32_t i = 0; i < 10000; i++) {
		feed(p.fold, EVENT_ACQUIRE, now, 1, 1000 + i);
		feed(p.fold, EVENT_RELEASE, now, 1, 1000 + i);
	}
	feed(p.fold, EVENT_LOST, now++, 0, -1);
	play_finish(&p);
	assert_int_equal(p.result->holds[0].n_waiters, 10000);
	assert_int_equal(p.result->holds[0].others_waited_ns, 10000 * 10001 / 2);
	assert_int_equal(p.result->n_blame, 10000);
	play_done(&p);
}

/* A system-wide recording: foreign tasks come and go, nothing of them is in the result. */
static void test_foreign(void **state)
{
	struct play p;
	uint64_t now = 1000;

	start_crowd(&p);
	for (int32_t i = 0; i < 1000; i++) {
		feed(p.fold, EVENT_FORK, now++, 500 + i % 3, 1000 + i);
		feed(p.fold, EVENT_SWITCH_IN, now++, 0, 1000 + i);
		feed(p.fold, EVENT_SWITCH_OUT, now++, 0, 1000 + i);
		if (i % 2)
			feed(p.fold, EVENT_EXIT, now++, 500 + i % 3, 1000 + i);
	}
	play_finish(&p);
	assert_int_equal(p.result->n_threads + p.result->n_processes + p.result->n_gils, 0);
	play_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_told_twice),
		cmocka_unit_test(test_leader_first),
		cmocka_unit_test(test_only_pid),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fold's totals: GILs, blame, the worst holds, hand-offs, the window, marks, sinks that fail. */
#include "play.h"

#include <errno.h>
#include <stdio.h>

static const struct fold_blame *find_blame(const struct play *p, char waiter, char holder)
{
	for (size_t i = 0; i < p->result->n_blame; i++)
		if (p->result->blame[i].waiter == play_thread(p, waiter) &&
			p->result->blame[i].holder == play_thread(p, holder))
			return &p->result->blame[i];
	fail_msg("%c was not blamed for %c's waiting", holder, waiter);
	return NULL;
}

static void test_gil(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 30 want C; 50 release A; 54 acquire B; 70 release B;"
		"73 acquire C; 90 release C; 100 acquire A; 110 exit A; 110 exit B; 120 exit C");
	assert_int_equal(play_gil(&p, 0)->start_ns, 10000);
	assert_int_equal(play_gil(&p, 0)->end_ns, 120000);
	assert_int_equal(play_gil(&p, 0)->held_ns, (40 + 16 + 17 + 10) * 1000);
	assert_int_equal(play_gil(&p, 0)->contended_ns, 53000);
	assert_int_equal(play_gil(&p, 0)->waiters_ns, (34 + 43) * 1000);
	assert_int_equal(play_gil(&p, 0)->takes, 4);
	assert_int_equal(play_gil(&p, 0)->handoffs, 3);
	assert_int_equal(play_gil(&p, 0)->max_hold_ns, 40000);
	assert_int_equal(play_gil(&p, 0)->max_wait_ns, 43000);
	assert_string_equal(p.waiters, "20:1, 30:2, 54:1, 73:0");
	assert_string_equal(p.handoffs, "A-B 50-54, B-C 70-73, C-A 90-100 later");
	play_done(&p);
}

static void test_blame(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 30 want C; 50 release A; 54 acquire B; 70 release B;"
		"73 acquire C; 80 want A; 90 release C; 95 acquire B; 100 exit B; 110 exit A; 110 exit C");
	assert_int_equal(find_blame(&p, 'B', 'A')->wait_ns, 30000);
	assert_int_equal(find_blame(&p, 'C', 'A')->wait_ns, 20000);
	assert_int_equal(find_blame(&p, 'C', 'B')->wait_ns, 16000);
	assert_int_equal(find_blame(&p, 'A', 'C')->wait_ns, 10000);
	assert_int_equal(find_blame(&p, 'A', 'B')->wait_ns, 5000);
	assert_int_equal(find_blame(&p, 'A', 'B')->waits, 1);
	assert_int_equal(p.result->n_blame, 5);
	assert_ptr_equal(p.result->blame[0].waiter, play_thread(&p, 'B'));
	assert_int_equal(play_thread(&p, 'A')->others_waited_ns, 50000);
	assert_int_equal(play_thread(&p, 'B')->others_waited_ns, 21000);
	/* the worst first */
	assert_int_equal(p.result->n_holds, 4);
	assert_ptr_equal(p.result->holds[0].thread, play_thread(&p, 'A'));
	assert_int_equal(p.result->holds[0].n_waiters, 2);
	assert_ptr_equal(p.result->holds[0].waiters[0], play_thread(&p, 'B'));
	assert_ptr_equal(p.result->holds[0].waiters[1], play_thread(&p, 'C'));
	assert_int_equal(p.result->holds[1].others_waited_ns, 16000);
	play_done(&p);
}

/* A waiter that gives up and comes back during one hold is one waiter, but two waits. */
static void test_blame_twice(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"1 fork A B; 10 acquire A 8; 20 want B 8; 30 acquire B 16; 35 release B 16; 40 want B 8;"
		"60 release A 8; 70 acquire B 8; 80 exit A; 80 exit B");
	assert_int_equal(p.result->holds[0].others_waited_ns, 30000);
	assert_int_equal(p.result->holds[0].n_waiters, 1);
	assert_int_equal(find_blame(&p, 'B', 'A')->waits, 2);
	assert_int_equal(find_blame(&p, 'B', 'A')->wait_ns, 30000);
	play_done(&p);
}

/* A forced wait that shows only later counts from its beginning, contention included. */
static void test_late_wait(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"10 acquire A; 30 release A; 32 out A S; 34 acquire B; 40 in A; 42 return A; 44 want A;"
		"70 release B; 71 return B; 76 acquire A; 90 exit B; 90 exit A");
	assert_int_equal(play_gil(&p, 0)->contended_ns, 46000);
	assert_int_equal(play_gil(&p, 0)->waiters_ns, 46000);
	assert_int_equal(play_thread(&p, 'A')->state_ns[SPAN_WAITING], 46000);
	assert_int_equal(play_thread(&p, 'A')->wait_gil_free_ns, 10000);
	assert_int_equal(find_blame(&p, 'A', 'B')->wait_ns, 36000);
	play_done(&p);
}

static void test_long_holds(void **state)
{
	struct play p;

	/* 30 ms on the CPU with a waiter; 30 ms asleep with one; 30 ms that nobody waits for */
	PLAY(&p, PERF_WIDE,
		"0 acquire A; 1 want B; 30001 release A; 30002 acquire B; 30003 release B;"
		"30010 acquire A; 30011 want B; 30012 out A S; 60000 in A; 60011 release A;"
		"60012 acquire B; 60013 release B; 60020 acquire A; 90020 release A; 90030 exit A;"
		"90030 exit B");
	assert_int_equal(play_thread(&p, 'A')->long_waited_ns, 30000000);
	assert_int_equal(play_thread(&p, 'A')->others_waited_ns, 60000000);
	assert_ptr_equal(play_thread(&p, 'A')->gil, play_gil(&p, 0));
	play_done(&p);
}

static void test_top_holds(void **state)
{
	struct play p;
	char events[64];

	play_start(&p, OWN_WIDE);
	for (unsigned i = 1; i <= 40; i++) {
		snprintf(events, sizeof(events), "%u acquire A; %u release A", i * 100,
			i * 100 + i * 37 % 41);
		play(&p, events);
	}
	play_finish(&p);
	assert_int_equal(p.result->n_holds, FOLD_TOP_HOLDS);
	for (size_t i = 0; i < FOLD_TOP_HOLDS; i++)
		assert_int_equal(
			p.result->holds[i].end_ns - p.result->holds[i].start_ns, (40 - i) * 1000);
	play_done(&p);
}

static void test_window(void **state)
{
	struct play p;

	play_start_window(&p, OWN_WIDE, 40, 80, 0);
	play(&p,
		"5 fork A B; 6 acquire C; 7 release C; 8 exit C; 10 acquire A; 20 want B; 30 mark 1;"
		"50 mark 2; 60 release A; 65 acquire B; 70 out A S; 90 release B; 95 acquire A;"
		"96 acquire G; 100 exit A; 100 exit B");
	play_finish(&p);
	assert_spans(&p, 'A', "has-gil 40-60, native 60-70, blocked 70-80");
	assert_spans(&p, 'B', "waiting 40-65, has-gil 65-80");
	assert_string_equal(p.holds, "A 40-60, B 65-80");
	assert_string_equal(p.waits, "B 40-65");
	assert_string_equal(p.waiters, "65:0");
	assert_string_equal(p.handoffs, "mark 2 at 50, A-B 60-65");
	assert_int_equal(p.result->n_threads, 2); /* C before, G after */
	assert_int_equal(p.result->n_processes, 1);
	assert_int_equal(play_thread(&p, 'A')->takes, 0);
	assert_int_equal(play_thread(&p, 'B')->takes, 1);
	assert_int_equal(play_gil(&p, 0)->held_ns, 35000);
	assert_int_equal(play_gil(&p, 0)->contended_ns, 25000);
	assert_int_equal(play_gil(&p, 0)->handoffs, 1);
	assert_int_equal(find_blame(&p, 'B', 'A')->wait_ns, 20000);
	assert_int_equal(p.result->start_ns, 40000);
	assert_int_equal(p.result->end_ns, 80000);
	play_done(&p);
}

static void test_nothing(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE, "");
	assert_int_equal(p.result->n_threads + p.result->n_gils + p.result->n_blame, 0);
	play_done(&p);
	fold_free(NULL);
}

/* A late event happens now. */
static void test_late(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE, "10 acquire A; 30 out A S; 25 release A; 40 exit A");
	assert_spans(&p, 'A', "has-gil 10-30, native 30-40");
	play_done(&p);
}

static int disk_full(void *user, const struct span *span, struct err *err)
{
	return err_set(err, -EIO, "disk full");
}

static void test_sink_fails(void **state)
{
	struct event event = {.time_ns = 5000, .pid = 1, .tid = 1, .kind = EVENT_ACQUIRE};
	struct play p;

	play_start(&p, OWN_WIDE);
	p.sink.span = disk_full;
	assert_int_equal(fold_feed(p.fold, &event, &p.err), 0);
	event.time_ns = 7000;
	event.kind = EVENT_EXIT;
	assert_int_equal(fold_feed(p.fold, &event, &p.err), -EIO);
	assert_string_equal(p.err.text, "disk full");
	play_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gil),
		cmocka_unit_test(test_blame),
		cmocka_unit_test(test_blame_twice),
		cmocka_unit_test(test_late_wait),
		cmocka_unit_test(test_long_holds),
		cmocka_unit_test(test_top_holds),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_sink_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

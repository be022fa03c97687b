/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fold's CPU side: what each kind of recording can tell, and the rows for the viewers. */
#include "play.h"

static void test_hold_off_cpu(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 12 want B; 20 out A R+; 30 in A; 40 out A D; 70 wake A; 80 in A;"
		"100 release A; 105 acquire B; 110 exit A; 110 exit B");
	assert_spans(&p, 'A',
		"has-gil 10-20, has-gil-off-cpu 20-30, has-gil 30-40, has-gil-off-cpu 40-80, "
		"has-gil 80-100, native 100-110");
	assert_int_equal(play_thread(&p, 'A')->hold_blocked_ns, 30000);
	assert_int_equal(play_thread(&p, 'A')->hold_runnable_ns, 20000);
	assert_int_equal(play_thread(&p, 'A')->preempted, 1);
	assert_int_equal(play_thread(&p, 'A')->blocks, 0); /* none outside the GIL */
	assert_int_equal(play_gil(&p, 0)->held_on_cpu_ns, 45000);
	assert_int_equal(play_gil(&p, 0)->held_blocked_ns, 30000);
	assert_int_equal(play_gil(&p, 0)->held_runnable_ns, 20000);
	assert_int_equal(p.result->holds[0].on_cpu_ns, 40000);
	assert_int_equal(p.result->holds[0].blocked_ns, 30000);
	assert_int_equal(p.result->holds[0].runnable_ns, 20000);
	/* what the holder did while B waited from 12 to 105 */
	assert_int_equal(play_thread(&p, 'B')->wait_holder_on_cpu_ns, 38000);
	assert_int_equal(play_thread(&p, 'B')->wait_holder_blocked_ns, 30000);
	assert_int_equal(play_thread(&p, 'B')->wait_holder_runnable_ns, 20000);
	assert_int_equal(play_thread(&p, 'B')->wait_gil_free_ns, 5000);
	assert_true(p.result->quality.runnable_known);
	play_done(&p);
}

static void test_waiting_without_cpu(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 22 out B S; 50 release A; 51 wake B A; 90 in B; 92 acquire B;"
		"100 exit A; 100 exit B");
	assert_spans(&p, 'B', "waiting 20-92, has-gil 92-100");
	assert_int_equal(play_thread(&p, 'B')->wait_runnable_ns, 39000);
	play_done(&p);
}

static void test_rows(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"5 in A; 10 acquire A; 20 out A R+; 30 in A; 40 out A D; 70 wake A; 80 in A; 90 out A S;"
		"95 out A S; 100 exit A");
	assert_string_equal(p.cpus,
		"A Running 10-20, A R+ 20-30, A Running 30-40, A D 40-70, A R 70-80, "
		"A Running 80-90, A S 90-95, A S 95-100");
	play_done(&p);
}

/* Another thread's event proves that it has left that CPU, though no switch was seen. */
static void test_missing_out(void **state)
{
	struct play p;

	PLAY(&p, PERF_TASK,
		"10@0 acquire A; 20@0 release A; 21@0 return A; 30@0 acquire B; 40@1 release B;"
		"41@1 return B; 50@1 acquire A; 60@1 exit A; 70@1 exit B");
	assert_spans(&p, 'A', "has-gil 10-20, native 20-30, unknown 30-50, has-gil 50-60");
	assert_spans(&p, 'B', "has-gil 30-40, native 40-50, unknown 50-70");
	assert_string_equal(
		p.cpus, "A Running 10-30, B Running 30-40, B Running 40-50, A Running 50-60");
	play_done(&p);
}

/* An event of its own proves that it runs, though no switch-in was seen. */
static void test_missing_in(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE, "10 acquire A; 20 release A; 30 out A S; 50 acquire A; 60 exit A");
	assert_spans(&p, 'A', "has-gil 10-20, native 20-30, blocked 30-50, has-gil 50-60");
	play_done(&p);
}

/* Only the traced tasks' switch-outs are seen: the end of a preemption mostly is not. */
static void test_per_task(void **state)
{
	struct play p;

	PLAY(&p, PERF_TASK,
		"10 acquire A; 12 want B; 20 out A R+; 50 release A; 51 return A; 60 out A R+;"
		"90 in A; 95 out A S; 97 wake A B; 120 want A; 130 exit A; 130 exit B");
	assert_spans(&p, 'A',
		"has-gil 10-50, native 50-60, runnable 60-90, native 90-95, blocked 95-120, "
		"waiting 120-130");
	assert_false(p.result->quality.runnable_known);
	assert_int_equal(play_thread(&p, 'A')->blocked_by_sibling_ns, 25000);
	play_done(&p);

	PLAY(&p, PERF_TASK,
		"10 acquire A; 20 release A; 21 return A; 30 out A R+; 60 want A; 70 acquire A;"
		"80 out A R+; 90 in A; 95 exit A");
	assert_spans(&p, 'A',
		"has-gil 10-20, native 20-30, unknown 30-60, waiting 60-70, has-gil 70-80, "
		"has-gil-off-cpu 80-90, has-gil 90-95");
	assert_int_equal(p.result->quality.unknown_ns, 30000);
	assert_int_equal(play_gil(&p, 0)->held_runnable_ns, 10000);
	play_done(&p);
}

/* Context switch records: no letter, no wakeup. */
static void test_switch_records(void **state)
{
	struct play p;

	PLAY(&p, OWN_SWITCH,
		"10 acquire A; 20 release A; 30 out A -; 50 in A; 60 out A R+; 70 in A; 80 acquire A;"
		"90 exit A");
	assert_spans(&p, 'A',
		"has-gil 10-20, native 20-30, blocked 30-50, native 50-60, runnable 60-70, "
		"native 70-80, has-gil 80-90");
	assert_string_equal(
		p.cpus, "A Running 10-30, A S 30-50, A Running 50-60, A R+ 60-70, A Running 70-90");
	assert_true(p.result->quality.cpu_known);
	assert_false(p.result->quality.runnable_known);
	play_done(&p);
}

static void test_bare(void **state)
{
	struct play p;

	PLAY(&p, OWN_BARE,
		"10 acquire A; 20 want B; 30 release A; 40 acquire B; 50 exit A; 60 exit B");
	assert_spans(&p, 'A', "has-gil 10-30, unknown 30-50");
	assert_spans(&p, 'B', "waiting 20-40, has-gil 40-60");
	assert_string_equal(p.cpus, "");
	assert_int_equal(play_gil(&p, 0)->held_ns, 40000);
	assert_int_equal(play_gil(&p, 0)->held_on_cpu_ns, 0);
	play_done(&p);
}

static void test_siblings(void **state)
{
	struct play p;

	/* A sleeps on a lock, B wakes it; then an interrupt does, then another process */
	PLAY(&p, OWN_WIDE,
		"1 acquire B; 2 release B; 10 acquire A; 20 release A; 30 out A S; 50 wake A B; 55 in A;"
		"60 out A S; 80 wake A; 85 in A; 90 out A S; 95 wake A G; 97 in A; 100 exit A");
	assert_int_equal(play_thread(&p, 'A')->blocks, 3);
	assert_int_equal(play_thread(&p, 'A')->sibling_wakeups, 1);
	assert_int_equal(play_thread(&p, 'A')->blocked_by_sibling_ns, 20000);
	assert_int_equal(play_thread(&p, 'A')->state_ns[SPAN_BLOCKED], 45000);
	assert_int_equal(play_thread(&p, 'A')->natives, 4);
	play_done(&p);
}

/* The switches out of an idle CPU are not told: A is not asleep any more when B wakes it. */
static void test_unseen_switches(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"1 acquire B; 2 release B; 10 acquire A; 20 release A; 30 out A S; 50 wake A B;"
		"51 out A S; 60 wake A; 62 in A; 70 exit A");
	assert_int_equal(play_thread(&p, 'A')->sibling_wakeups, 0);
	assert_int_equal(play_thread(&p, 'A')->blocked_by_sibling_ns, 0);
	assert_int_equal(play_thread(&p, 'A')->state_ns[SPAN_BLOCKED], 29000);
	assert_int_equal(p.result->quality.switches_in_unseen, 1);
	assert_int_equal(p.result->quality.switches_in, 1);
	play_done(&p);

	/* the sleep before its last switch-out is not B's doing; in doubt or not */
	PLAY(&p, OWN_WIDE,
		"1 acquire B; 2 release B; 10 acquire A; 20 release A; 30 out A S; 50 out A S;"
		"53 wake A B; 55 acquire A; 60 exit A");
	assert_int_equal(play_thread(&p, 'A')->sibling_wakeups, 1);
	assert_int_equal(play_thread(&p, 'A')->blocked_by_sibling_ns, 3000);
	assert_int_equal(play_thread(&p, 'A')->state_ns[SPAN_BLOCKED], 23000);
	play_done(&p);

	/* it is woken indeed, and an event of its own is the next that is seen of it */
	PLAY(&p, OWN_WIDE,
		"1 acquire B; 2 release B; 10 acquire A; 20 release A; 30 out A S; 50 wake A B;"
		"55 acquire A; 60 exit A");
	assert_int_equal(play_thread(&p, 'A')->sibling_wakeups, 1);
	assert_int_equal(play_thread(&p, 'A')->blocked_by_sibling_ns, 20000);
	assert_int_equal(p.result->quality.switches_in_unseen, 1);
	play_done(&p);
}

/* A dead thread's last switch-out ends it, should its exit be missing. */
static void test_dead(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE, "10 acquire A; 20 release A; 30 out A X; 40 acquire B; 50 release B");
	assert_spans(&p, 'A', "has-gil 10-20, native 20-30");
	assert_true(play_thread(&p, 'A')->ended);
	play_done(&p);
}

static bool is_b(void *user, int32_t tid)
{
	return tid == 101;
}

/* Where the GIL is off there is no GIL event: a watched thread begins when it first runs. */
static void test_watch(void **state)
{
	struct play p;

	play_start_watch(&p, OWN_WIDE, is_b);
	play(&p, "1 fork A B; 2 fork A C; 10 in B; 10@1 in C; 20 out B R+; 30 in B; 40 out B S;"
		 "70 wake B C; 75 in B; 90 exit B; 95 exit C; 99 exit A");
	play_finish(&p);
	assert_spans(&p, 'B',
		"native 10-20, runnable 20-30, native 30-40, blocked 40-70, runnable 70-75, "
		"native 75-90");
	assert_int_equal(play_thread(&p, 'B')->blocked_by_sibling_ns, 30000);
	assert_int_equal(p.result->n_threads, 1);
	play_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hold_off_cpu),
		cmocka_unit_test(test_waiting_without_cpu),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_missing_out),
		cmocka_unit_test(test_missing_in),
		cmocka_unit_test(test_per_task),
		cmocka_unit_test(test_switch_records),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_unseen_switches),
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_watch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

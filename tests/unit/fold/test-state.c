/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fold's state machine: the cells of its table, forced switches, and partners that never come. */
#include "play.h"

#include <stdio.h>

static void test_take_and_drop(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"10 want A; 20 acquire A; 50 release A; 51 return A; 60 out A S; 80 wake A;"
		"90 in A; 95 want A; 97 acquire A; 120 release A; 121 return A; 130 exit A");
	assert_spans(&p, 'A',
		"waiting 10-20, has-gil 20-50, native 50-60, blocked 60-80, runnable 80-90, "
		"native 90-95, waiting 95-97, has-gil 97-120, native 120-130");
	assert_string_equal(p.holds, "A 20-50, A 97-120");
	assert_string_equal(p.waits, "A 10-20, A 95-97");
	assert_int_equal(p.result->quality.unmatched, 0);
	assert_int_equal(p.result->quality.gil_events, 8);
	assert_int_equal(play_thread(&p, 'A')->takes, 2);
	assert_int_equal(play_thread(&p, 'A')->forced, 0);
	play_done(&p);
}

/* Own recordings: a yield says it; the wait goes on until the thread's own take. */
static void test_forced_own(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 25 out B S; 5020 in B; 5021 want B; 5022 out B S;"
		"5030 release A; 5031 wake B A; 5032 yield A; 5034 out A S; 5040 in B;"
		"5042 wake A B; 5043 acquire B; 5050 in A; 5055 want A; 5056 out A S;"
		"5100 release B; 5101 wake A B; 5105 in A; 5107 acquire A; 5200 exit A; 5200 exit B");
	assert_spans(&p, 'A', "has-gil 10-5030, waiting 5030-5107, has-gil 5107-5200");
	assert_spans(&p, 'B', "waiting 20-5043, has-gil 5043-5100, native 5100-5200");
	assert_string_equal(p.holds, "A 10-5030 forced, A 5107-5200 open, B 5043-5100");
	assert_string_equal(
		p.waits, "B 20-5043, 1 requests, A 5030-5050 yield gave up, A 5050-5107");
	assert_string_equal(p.handoffs, "A-B 5030-5043 forced, B-A 5100-5107");
	assert_int_equal(play_thread(&p, 'A')->forced, 1);
	assert_int_equal(play_gil(&p, 0)->forced, 1);
	assert_int_equal(play_thread(&p, 'A')->waits, 1); /* one stretch */
	assert_int_equal(play_thread(&p, 'A')->max_wait_ns, 77000);
	assert_int_equal(play_thread(&p, 'A')->yield_ns, 20000);
	assert_int_equal(play_thread(&p, 'B')->interval_hist.n, 1);
	assert_in_range(hist_quantile(&play_thread(&p, 'B')->interval_hist, 0.5), 4600000, 5500000);
	play_done(&p);
}

/* A call that releases the GIL under a request: it yields, then does its work. */
static void test_yield_then_native(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 30 release A; 31 yield A; 32 out A S; 40 acquire B;"
		"50 wake A; 55 in A; 355 want A; 360 out A S; 400 release B; 410 in A; 412 acquire A;"
		"420 exit B; 420 exit A");
	assert_spans(&p, 'A',
		"has-gil 10-30, waiting 30-55, native 55-355, waiting 355-412, has-gil 412-420");
	assert_int_equal(play_thread(&p, 'A')->waits, 2);
	play_done(&p);
}

/* A sleep on a mutex of drop_gil's own, before the yield. */
static void test_yield_after_mutex(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 30 release A; 31 out A S; 33 wake A; 34 in A; 35 yield A;"
		"36 out A S; 40 acquire B; 45 in A; 50 want A; 60 exit B; 60 exit A");
	assert_spans(&p, 'A', "has-gil 10-30, waiting 30-60");
	assert_int_equal(p.result->quality.unmatched, 0);
	play_done(&p);

	/* too many to keep in mind: what is left is right, if less */
	PLAY(&p, OWN_WIDE,
		"10 acquire A; 30 release A; 31 out A S; 32 in A; 33 out A S; 34 in A; 35 out A S;"
		"36 in A; 37 out A S; 38 in A; 39 out A S; 40 in A; 50 yield A; 60 exit A");
	assert_string_equal(p.waits, "A 50-60 yield gave up");
	assert_int_equal(p.result->quality.unmatched, 0);
	play_done(&p);
}

/* The other took it before the yielder went to sleep: so it will not sleep. */
static void test_yield_without_sleep(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 30 release A; 31 yield A; 33 acquire B; 233 out A S;"
		"333 wake A; 334 in A; 400 exit A; 400 exit B");
	assert_spans(&p, 'A',
		"has-gil 10-30, waiting 30-33, native 33-233, blocked 233-333, runnable 333-334, "
		"native 334-400");
	play_done(&p);
}

/* Without scheduler events another's take ends the yield, and a want soon after continues it. */
static void test_forced_own_bare(void **state)
{
	struct play p;

	PLAY(&p, OWN_BARE,
		"10 acquire A; 20 want B; 30 release A; 32 yield A; 40 acquire B; 45 want A;"
		"60 release B; 66 acquire A; 80 exit B; 80 exit A");
	assert_spans(&p, 'A', "has-gil 10-30, waiting 30-66, has-gil 66-80");
	assert_spans(&p, 'B', "waiting 20-40, has-gil 40-60, unknown 60-80");
	assert_string_equal(p.waits, "A 30-40 yield gave up, B 20-40, A 40-66");
	play_done(&p);
}

/* The dropper loses the CPU to the thread that it woke: nothing to sleep for, yet a switch. */
static void test_overtaken(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 21 out B S; 5025 in B; 5026 want B; 5027 out B S;"
		"5030 release A; 5031 wake B A; 5032 out A R+; 5033 in B; 5034 acquire B;"
		"9034 out B R+; 9035 in A; 9075 want A; 9076 out A S; 9077 in B; 9080 exit B; 9080 exit A");
	assert_spans(&p, 'A', "has-gil 10-5030, waiting 5030-9080");
	assert_string_equal(
		p.waits, "B 20-5034, 1 requests, A 5030-9075 yield gave up, A 9075-9080 gave up");
	assert_int_equal(play_thread(&p, 'A')->forced, 1);
	assert_int_equal(play_thread(&p, 'A')->wait_runnable_ns, 4003000);
	play_done(&p);

	/* nobody had asked: it released of its own accord, and lacked a CPU */
	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 21 out B S; 30 release A; 31 wake B A; 32 out A R+; 33 in B;"
		"34 acquire B; 4034 out B R+; 4035 in A; 4040 want A; 4060 exit B; 4060 exit A");
	assert_spans(&p, 'A',
		"has-gil 10-30, native 30-32, runnable 32-4035, native 4035-4040, waiting 4040-4060");
	assert_int_equal(play_thread(&p, 'A')->forced, 0);
	play_done(&p);

	/* perf's recordings do not show who asked: it takes a switch interval */
	PLAY(&p, PERF_WIDE,
		"10 acquire A; 20 want B; 21 out B S; 30 release A; 31 wake B A; 32 out A R+; 33 in B;"
		"34 acquire B; 4034 out B R+; 4035 in A; 4037 return A; 4040 want A; 4060 exit B;"
		"4060 exit A");
	assert_spans(&p, 'A',
		"has-gil 10-30, native 30-32, runnable 32-4035, native 4035-4040, waiting 4040-4060");
	assert_int_equal(play_thread(&p, 'A')->forced, 0);
	play_done(&p);
	PLAY(&p, PERF_WIDE,
		"10 acquire A; 20 want B; 21 out B S; 5030 release A; 5031 wake B A; 5032 out A R+;"
		"5033 in B; 5034 acquire B; 5035 release B; 5036 return B; 5040 acquire B;"
		"9034 out B R+; 9035 in A; 9037 return A; 9040 want A; 9060 exit B; 9060 exit A");
	assert_spans(&p, 'A', "has-gil 10-5030, waiting 5030-9060");
	assert_int_equal(play_thread(&p, 'A')->forced, 1);
	play_done(&p);
}

/* The same without scheduler events: the want comes at once. */
static void test_overtaken_bare(void **state)
{
	struct play p;

	PLAY(&p, OWN_BARE,
		"10 acquire A; 20 want B; 5026 want B; 5030 release A; 5034 acquire B; 5040 want A;"
		"5050 exit B; 5060 exit A");
	assert_spans(&p, 'A', "has-gil 10-5030, waiting 5030-5060");
	play_done(&p);
}

/* The same, but it goes on to do something else. */
static void test_preempted_drop(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"10 acquire A; 20 want B; 21 out B S; 30 release A; 31 wake B A; 32 out A R+;"
		"33 in B; 34 acquire B; 134 out B S; 135 in A; 136 return A; 140 out A S; 200 in A;"
		"205 want A; 206 exit B; 210 exit A");
	assert_spans(&p, 'A',
		"has-gil 10-30, native 30-32, runnable 32-135, native 135-140, blocked 140-200, "
		"native 200-205, waiting 205-210");
	assert_int_equal(play_thread(&p, 'A')->forced, 0);
	play_done(&p);
}

static void test_forced_drop_return(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"10 want A; 11 acquire A; 20 want B; 21 out B S; 30 release A; 31 wake B A;"
		"32 out A S; 33 in B; 34 acquire B; 35 wake A B; 40 in A; 42 return A; 44 want A;"
		"45 out A S; 70 release B; 71 return B; 75 in A; 76 acquire A; 90 exit B; 90 exit A");
	assert_spans(&p, 'A', "waiting 10-11, has-gil 11-30, waiting 30-76, has-gil 76-90");
	assert_string_equal(p.holds, "A 11-30 forced, B 34-70, A 76-90 open");
	assert_string_equal(p.handoffs, "A-B 30-34 forced, B-A 70-76");
	assert_string_equal(p.waits, "A 10-11, B 20-34, A 30-42 yield gave up, A 42-76");
	assert_int_equal(play_thread(&p, 'A')->yield_ns, 12000);
	play_done(&p);
}

/* drop_gil returns before the taker's take_gil does: the sleep inside tells. */
static void test_forced_return_first(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"10 acquire A; 20 want B; 30 release A; 32 out A S; 40 in A; 42 return A;"
		"43 acquire B; 50 exit B; 50 exit A");
	assert_spans(&p, 'A', "has-gil 10-30, waiting 30-42, native 42-50");
	assert_int_equal(play_thread(&p, 'A')->forced, 1);
	play_done(&p);
}

static void test_forced_perf_bare(void **state)
{
	struct play p;

	PLAY(&p, PERF_BARE,
		"10 want A; 11 acquire A; 15 want B; 30 release A; 35 acquire B; 50 return A;"
		"60 release B; 61 return B; 70 exit A; 80 exit B");
	assert_spans(&p, 'A', "waiting 10-11, has-gil 11-30, waiting 30-50, unknown 50-70");
	assert_spans(&p, 'B', "waiting 15-35, has-gil 35-60, unknown 60-80");
	assert_false(p.result->quality.cpu_known);
	assert_true(p.result->quality.forced_known);
	play_done(&p);
}

/* Nothing tells of forced switches: the sleep stays a sleep, and quality says so. */
static void test_forced_unknown(void **state)
{
	struct play p;

	PLAY(&p, PERF_NO_DROP_RETURN,
		"10 want A; 11 acquire A; 20 want B; 30 release A; 32 out A S; 34 acquire B;"
		"40 in A; 44 want A; 70 release B; 76 acquire A; 90 exit B; 90 exit A");
	assert_spans(&p, 'A',
		"waiting 10-11, has-gil 11-30, native 30-32, blocked 32-40, native 40-44, "
		"waiting 44-76, has-gil 76-90");
	assert_false(p.result->quality.forced_known);
	assert_int_equal(play_thread(&p, 'A')->forced, 0);
	play_done(&p);
}

/* An attached thread's first event is a release: its life begins there. */
static void test_release_first(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"5 want B; 50 release A; 52 acquire B; 53 return A; 60 want A; 70 release B;"
		"71 return B; 72 acquire A; 90 exit A; 90 exit B");
	assert_spans(&p, 'A', "native 50-60, waiting 60-72, has-gil 72-90");
	assert_string_equal(p.handoffs, "A-B 50-52, B-A 70-72");
	assert_int_equal(p.result->quality.unmatched, 0);
	assert_int_equal(play_thread(&p, 'A')->takes, 1);
	play_done(&p);
}

static void test_release_without_acquire(void **state)
{
	struct play p;

	/* A's take shows no return: it held at the earliest when it was in and the GIL free */
	PLAY(&p, PERF_WIDE,
		"5 acquire B; 10 want A; 11 out A S; 40 release B; 41 return B; 50 in A; 80 release A;"
		"81 return A; 90 exit A; 90 exit B");
	assert_spans(&p, 'A', "waiting 10-50, has-gil 50-80, native 80-90");
	assert_string_equal(p.holds, "B 5-40, A 50-80");
	assert_int_equal(p.result->quality.unmatched, 1);
	assert_int_equal(play_gil(&p, 0)->held_on_cpu_ns, 65000);
	assert_int_equal(play_gil(&p, 0)->contended_ns, 40000);
	play_done(&p);

	/* another thread holds it all the time */
	PLAY(&p, PERF_WIDE,
		"5 acquire B; 10 want A; 80 release A; 81 return A; 90 exit A; 95 exit B");
	assert_spans(&p, 'A', "waiting 10-80, native 80-90");
	assert_string_equal(p.holds, "B 5-95 open");
	play_done(&p);
}

/* A release by a thread that is known to be outside. */
static void test_stray_release(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"10 acquire A; 20 release A; 21 return A; 30 release A; 31 return A; 40 acquire B;"
		"45 release A; 50 release B; 60 exit A; 60 exit B");
	assert_spans(&p, 'A', "has-gil 10-20, native 20-60");
	assert_spans(&p, 'B', "has-gil 40-50, native 50-60");
	assert_int_equal(p.result->quality.unmatched, 2);
	assert_int_equal(p.result->quality.overlapping, 0);
	play_done(&p);
}

static void test_release_missing(void **state)
{
	struct play p;
	char events[64];

	play_start(&p, PERF_WIDE);
	for (int i = 0; i < 12; i++) {
		snprintf(events, sizeof(events), "%d want A; %d acquire A", 100 + i * 10,
			102 + i * 10);
		play(&p, events);
	}
	play(&p, "230 exit A");
	play_finish(&p);
	assert_int_equal(p.result->quality.acquires_while_holding, 11);
	assert_true(p.result->quality.release_missing);
	assert_int_equal(play_thread(&p, 'A')->takes, 12);
	play_done(&p);

	PLAY(&p, PERF_WIDE, "10 acquire A; 20 acquire A; 30 release A; 40 exit A");
	assert_spans(&p, 'A', "has-gil 10-30, native 30-40");
	assert_string_equal(p.holds, "A 10-20, A 20-30");
	assert_int_equal(p.result->quality.acquires_while_holding, 1);
	assert_false(p.result->quality.release_missing);
	play_done(&p);
}

static void test_wants_without_returns(void **state)
{
	struct play p;

	/* in the take/drop recipe a want repeats only if the take between was missed */
	PLAY(&p, PERF_WIDE, "10 want A; 20 want A; 30 acquire A; 40 release A; 50 exit A");
	assert_spans(&p, 'A', "waiting 10-30, has-gil 30-40, native 40-50");
	assert_int_equal(p.result->quality.unmatched, 1);
	play_done(&p);

	/* own recordings: it is a switch request, and uncontended takes have none */
	PLAY(&p, OWN_WIDE,
		"10 want A; 20 want A; 30 want A; 40 acquire A; 50 release A; 60 acquire A; 70 exit A");
	assert_string_equal(p.waits, "A 10-40, 2 requests");
	assert_int_equal(p.result->quality.unmatched, 0);
	assert_int_equal(play_thread(&p, 'A')->interval_hist.n, 2);
	play_done(&p);
}

static void test_missing_before_yield(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE, "10 acquire A; 20 yield A; 30 acquire A; 40 exit A");
	assert_spans(&p, 'A', "has-gil 10-20, waiting 20-30, has-gil 30-40");
	assert_string_equal(p.holds, "A 10-20 forced, A 30-40 open");
	play_done(&p);

	PLAY(&p, OWN_WIDE, "10 want A; 20 yield A; 25 yield A; 30 want A; 40 exit A");
	assert_spans(&p, 'A', "waiting 10-40");
	assert_int_equal(p.result->quality.unmatched, 1);
	play_done(&p);

	PLAY(&p, OWN_WIDE, "10 yield A; 30 release A; 35 exit A");
	assert_spans(&p, 'A', "has-gil 10-30, native 30-35");
	play_done(&p);
}

static void test_return_first(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE, "10 return A; 20 want A; 25 acquire A; 40 return A; 50 exit A");
	assert_spans(&p, 'A', "native 10-20, waiting 20-25, has-gil 25-40, native 40-50");
	assert_string_equal(p.holds, "A 25-40");
	assert_int_equal(p.result->quality.unmatched, 1);
	play_done(&p);
}

static void test_ends(void **state)
{
	struct play p;

	/* a daemon thread vanishes in take_gil, the main thread ends while holding */
	PLAY(&p, OWN_WIDE, "10 acquire A; 20 want B; 30 exit B; 40 exit A; 50 acquire G");
	assert_string_equal(p.waits, "B 20-30 gave up");
	assert_string_equal(p.holds, "A 10-40 open, G 50-50 open");
	assert_true(play_thread(&p, 'A')->ended);
	assert_false(play_thread(&p, 'G')->ended);
	play_done(&p);
}

/* Lost since the CPU's event before: what was going on then is unknown. */
static void test_lost(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"10 acquire A; 20 want B; 22 out B S; 30 lost; 40 in A; 50 acquire B; 60 release A;"
		"70 release B; 80 exit A; 80 exit B");
	assert_spans(&p, 'A', "has-gil 10-22, unknown 22-60, native 60-80");
	assert_spans(&p, 'B', "waiting 20-22, unknown 22-50, has-gil 50-70, native 70-80");
	assert_string_equal(p.holds, "A 10-22 open, B 50-70");
	assert_string_equal(p.waits, "B 20-22 gave up");
	assert_string_equal(p.handoffs, "");
	assert_int_equal(p.result->quality.lost, 7);
	assert_int_equal(p.result->quality.unknown_ns, 66000);
	assert_int_equal(p.result->quality.overlapping, 0);
	assert_int_equal(p.result->blame[0].wait_ns, 2000);
	play_done(&p);

	/* another CPU has told of A and of the GIL since */
	PLAY(&p, PERF_WIDE,
		"10 acquire A; 12 want B; 14 want C; 20@1 out B S; 25 out A R+; 28 out C S; 30@1 lost;"
		"40 exit A; 40 exit B; 40 exit C");
	assert_spans(&p, 'A', "has-gil 10-25, has-gil-off-cpu 25-28, unknown 28-40");
	assert_spans(&p, 'B', "waiting 12-25, unknown 25-40");
	assert_spans(&p, 'C', "waiting 14-28, unknown 28-40");
	play_done(&p);
}

static void test_overlap(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"10 acquire A; 20 acquire B; 30 release A; 40 release B; 50 exit A; 50 exit B");
	assert_spans(&p, 'A', "has-gil 10-20, native 20-50");
	assert_spans(&p, 'B', "has-gil 20-40, native 40-50");
	assert_int_equal(p.result->quality.overlapping, 1);
	assert_int_equal(play_gil(&p, 0)->overlapping, 1);
	play_done(&p);
}

/* Sub-interpreters: two holders at once are right when their GILs differ. */
static void test_two_gils(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A 8; 20 acquire B 16; 25 release A 8; 26 acquire A 24; 40 release A 24;"
		"41 acquire A 8; 50 release B 16; 60 want B 8; 70 exit A; 70 exit B");
	assert_spans(&p, 'A',
		"has-gil 10-25, gil 8, native 25-26, has-gil 26-40, gil 24, native 40-41, "
		"has-gil 41-70, gil 8");
	assert_spans(&p, 'B', "has-gil 20-50, gil 16, native 50-60, waiting 60-70, gil 8");
	assert_int_equal(p.result->quality.overlapping, 0);
	assert_int_equal(p.result->quality.unmatched, 0);
	assert_int_equal(p.result->n_gils, 3);
	assert_int_equal(play_gil(&p, 2)->number, 3);
	assert_int_equal(play_gil(&p, 2)->held_ns, 14000);
	play_done(&p);

	/* it cannot hold two: the release of the first was missed */
	PLAY(&p, OWN_WIDE, "10 acquire A 8; 20 acquire A 16; 30 release A 8; 40 exit A");
	assert_spans(&p, 'A', "has-gil 10-20, gil 8, has-gil 20-40, gil 16");
	assert_int_equal(p.result->quality.acquires_while_holding, 1);
	assert_int_equal(p.result->quality.unmatched, 1);
	play_done(&p);
}

/* Some probes name the GIL, others do not: while there is one it is the same. */
static void test_unnamed_gil(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE, "10 want A; 20 acquire A 8; 30 release A; 31 return A; 40 exit A");
	assert_int_equal(p.result->n_gils, 1);
	assert_int_equal(play_gil(&p, 0)->address, 8);
	assert_int_equal(play_gil(&p, 0)->held_ns, 10000);
	play_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take_and_drop),
		cmocka_unit_test(test_forced_own),
		cmocka_unit_test(test_yield_then_native),
		cmocka_unit_test(test_yield_after_mutex),
		cmocka_unit_test(test_yield_without_sleep),
		cmocka_unit_test(test_forced_own_bare),
		cmocka_unit_test(test_overtaken),
		cmocka_unit_test(test_overtaken_bare),
		cmocka_unit_test(test_preempted_drop),
		cmocka_unit_test(test_forced_drop_return),
		cmocka_unit_test(test_forced_return_first),
		cmocka_unit_test(test_forced_perf_bare),
		cmocka_unit_test(test_forced_unknown),
		cmocka_unit_test(test_release_first),
		cmocka_unit_test(test_release_without_acquire),
		cmocka_unit_test(test_stray_release),
		cmocka_unit_test(test_release_missing),
		cmocka_unit_test(test_wants_without_returns),
		cmocka_unit_test(test_missing_before_yield),
		cmocka_unit_test(test_return_first),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_two_gils),
		cmocka_unit_test(test_unnamed_gil),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: each class has a clear instance and near misses. Times are milliseconds; the numbers
 * are those of real recordings, rounded.
 */
#include "test.h"
#include "totals.h"

#include "classify/classify.h"

#include <string.h>

struct expected {
	const char *what;
	enum gil_class class;
	enum confidence least;
	struct totals_row rows[4]; /* the first one is judged, the others are alive beside it */
};

static const struct expected bound[] = {
	{"two bytecode threads", CLASS_GIL_BOUND, CONFIDENCE_HIGH,
		{{"py-1", .hold = 490, .wait = 500, .native = 10, .takes = 100, .forced = 99,
			 .waits = 100, .others_waited = 480, .waits_for = "py-2", .interval = 5.1},
			{"py-2", .hold = 500, .wait = 500, .takes = 100, .forced = 99, .waits = 100,
				.others_waited = 490, .waits_for = "py-1"}}},
	{"the same on a machine that gives the holder half a CPU", CLASS_GIL_BOUND,
		CONFIDENCE_MEDIUM,
		{{"py-1", .hold = 250, .hold_ready = 250, .wait = 500, .wait_ready = 250,
			 .takes = 90, .forced = 80, .waits = 90, .others_waited = 480,
			 .waits_for = "py-2"},
			{"py-2", .hold = 250, .hold_ready = 250, .wait = 500, .wait_ready = 250,
				.takes = 90, .forced = 80, .waits = 90, .others_waited = 490,
				.waits_for = "py-1"}}},
	{"the hog of a convoy", CLASS_GIL_BOUND, CONFIDENCE_HIGH,
		{{"cpu-hog", .hold = 780, .wait = 10, .takes = 150, .forced = 150, .waits = 150,
			 .others_waited = 700},
			{"io", .hold = 5, .wait = 700, .blocked = 95, .takes = 150, .waits = 150,
				.waits_for = "cpu-hog"}}},
	{"nobody waits for it", CLASS_HELD_UNCONTENDED, CONFIDENCE_HIGH,
		{{"main", .hold = 900, .native = 50, .blocked = 50, .takes = 30}}},
	{"others wait a little for it", CLASS_HELD_UNCONTENDED, CONFIDENCE_MEDIUM,
		{{"main", .hold = 900, .native = 50, .blocked = 50, .takes = 30,
			.others_waited = 100}}},
	{"many bytecode threads wait 35 ms each, for holds of 5 ms", CLASS_GIL_BOUND,
		CONFIDENCE_HIGH,
		{{"w-1", .hold = 125, .wait = 875, .takes = 25, .forced = 25, .waits = 25,
			 .each_wait = 35, .interval = 5.1, .waits_for = "w-2"},
			{"w-2", .hold = 125, .wait = 875, .takes = 25, .forced = 25, .waits = 25,
				.each_wait = 35, .others_waited = 800, .waits_for = "w-1"}}},
	{"short operations wait an interval each", CLASS_CONVOY, CONFIDENCE_HIGH,
		{{"io", .hold = 5, .wait = 700, .blocked = 95, .takes = 140, .waits = 140,
			 .each_wait = 5.0, .interval = 5.1, .waits_for = "cpu-hog"},
			{"cpu-hog", .hold = 780, .wait = 10, .takes = 150, .forced = 150,
				.waits = 150, .others_waited = 700}}},
	{"short waits for short holds are no convoy", CLASS_GIL_BOUND, CONFIDENCE_MEDIUM,
		{{"a", .hold = 300, .wait = 400, .native = 300, .takes = 900, .natives = 900,
			 .waits = 900, .waits_for = "b"},
			{"b", .hold = 300, .wait = 400, .native = 300, .takes = 900, .waits = 900,
				.others_waited = 300, .waits_for = "a"}}},
	{"waits of 400 ms for one C call", CLASS_LONG_C_CALL, CONFIDENCE_LOW,
		{{"heartbeat", .hold = 1, .wait = 820, .blocked = 100, .takes = 12, .waits = 12,
			 .each_wait = 400, .interval = 5.1, .waits_for = "re-worker"},
			{"re-worker", .hold = 900, .takes = 4, .max_hold = 450,
				.others_waited = 820, .in_long = 810}}},
	{"the thread in that C call", CLASS_LONG_C_CALL, CONFIDENCE_HIGH,
		{{"re-worker", .hold = 900, .takes = 4, .max_hold = 450, .others_waited = 820,
			 .in_long = 810},
			{"heartbeat", .hold = 1, .wait = 820, .blocked = 100, .takes = 12,
				.waits = 12, .waits_for = "re-worker"}}},
	{"one long hold among many short ones", CLASS_GIL_BOUND, CONFIDENCE_HIGH,
		{{"py-1", .hold = 490, .wait = 510, .takes = 100, .waits = 100, .max_hold = 60,
			 .others_waited = 480, .in_long = 55, .waits_for = "py-2"},
			{"py-2", .hold = 500, .wait = 500, .takes = 100, .waits = 100,
				.others_waited = 490, .waits_for = "py-1"}}},
	{"sleeps with the GIL", CLASS_BLOCKING_CALL, CONFIDENCE_HIGH,
		{{"pydll", .hold = 2, .hold_asleep = 900, .takes = 5, .max_hold = 300,
			 .others_waited = 880},
			{"heartbeat", .hold = 2, .wait = 880, .wait_asleep = 875, .blocked = 900,
				.takes = 90, .waits = 90, .waits_for = "pydll"}}},
	{"waits for one who sleeps with the GIL", CLASS_BLOCKING_CALL, CONFIDENCE_MEDIUM,
		{{"heartbeat", .hold = 2, .wait = 880, .wait_asleep = 875, .blocked = 900,
			 .takes = 90, .waits = 10, .waits_for = "pydll"},
			{"pydll", .hold = 2, .hold_asleep = 900, .takes = 5, .max_hold = 300,
				.others_waited = 880}}},
	{"page faults while holding are not a blocking call", CLASS_HELD_UNCONTENDED,
		CONFIDENCE_HIGH,
		{{"main", .hold = 800, .hold_asleep = 100, .blocked = 100, .takes = 20}}},
	{"waiters ask after 200 ms", CLASS_SWITCH_INTERVAL, CONFIDENCE_LOW,
		{{"a-loop", .hold = 300, .wait = 300, .takes = 2, .forced = 2, .waits = 2,
			 .interval = 200, .max_hold = 200, .others_waited = 290, .in_long = 290,
			 .waits_for = "b-loop"},
			{"b-loop", .hold = 300, .wait = 300, .takes = 2, .forced = 2, .waits = 2,
				.max_hold = 200, .others_waited = 300, .in_long = 300,
				.waits_for = "a-loop"}}},
	{"waiters ask after 0.1 ms", CLASS_SWITCH_INTERVAL, CONFIDENCE_HIGH,
		{{"a-loop", .hold = 300, .wait = 300, .takes = 2000, .forced = 1990, .waits = 1990,
			 .interval = 0.11, .others_waited = 290, .waits_for = "b-loop"},
			{"b-loop", .hold = 300, .wait = 300, .takes = 2000, .forced = 2000,
				.waits = 2000, .others_waited = 300, .waits_for = "a-loop"}}},
	{"early wants of a waiter that lost races", CLASS_GIL_BOUND, CONFIDENCE_MEDIUM,
		{{"a", .hold = 300, .wait = 300, .takes = 2000, .forced = 60, .waits = 1990,
			 .interval = 0.11, .others_waited = 290, .waits_for = "b"},
			{"b", .hold = 300, .wait = 300, .takes = 2000, .forced = 2000,
				.waits = 2000, .others_waited = 300, .waits_for = "a"}}},
};

static const struct expected free_of[] = {
	{"hashes large buffers", CLASS_RELEASES, CONFIDENCE_HIGH,
		{{"hl-1", .hold = 10, .wait = 20, .native = 950, .blocked = 20, .takes = 200,
			.natives = 200, .waits = 30}}},
	{"the same, four threads on one CPU", CLASS_RELEASES, CONFIDENCE_HIGH,
		{{"hl-1", .hold = 5, .native = 245, .ready = 750, .takes = 200, .natives = 200},
			{"hl-2", .hold = 5, .native = 245, .ready = 750, .takes = 200,
				.natives = 200},
			{"hl-3", .hold = 5, .native = 245, .ready = 750, .takes = 200,
				.natives = 200},
			{"hl-4", .hold = 5, .native = 245, .ready = 750, .takes = 200,
				.natives = 200}}},
	{"the same beside two hogs", CLASS_RELEASES, CONFIDENCE_HIGH,
		{{"hl-1", .hold = 5, .native = 495, .ready = 500, .takes = 200, .natives = 200},
			{"hl-2", .hold = 5, .native = 495, .ready = 500, .takes = 200,
				.natives = 200}}},
	{"glue beside native work", CLASS_RELEASES, CONFIDENCE_MEDIUM,
		{{"glue-1", .hold = 150, .wait = 60, .native = 700, .takes = 80, .natives = 80,
			.waits = 30, .others_waited = 20}}},
	{"100,000 system calls per second", CLASS_DROPPED_TOO_OFTEN, CONFIDENCE_HIGH,
		{{"stat-1", .hold = 300, .wait = 400, .native = 300, .takes = 60000,
			.natives = 60000, .waits = 30000, .others_waited = 300}}},
	{"the same alone", CLASS_DROPPED_TOO_OFTEN, CONFIDENCE_HIGH,
		{{"stat-ser", .hold = 500, .native = 500, .takes = 60000, .natives = 60000}}},
	{"released for 1 ms each", CLASS_RELEASES, CONFIDENCE_MEDIUM,
		{{"zl-1", .hold = 200, .native = 800, .takes = 800, .natives = 800}}},
	{"a loop with a short system call now and then", CLASS_HELD_UNCONTENDED, CONFIDENCE_HIGH,
		{{"log", .hold = 950, .native = 50, .takes = 900, .natives = 900}}},
	{"sleeps in recv", CLASS_IO_BOUND, CONFIDENCE_HIGH,
		{{"client", .hold = 10, .wait = 10, .native = 10, .blocked = 970, .takes = 90,
			.waits = 20, .natives = 90, .blocks = 90}}},
	{"clients of a serving thread", CLASS_IO_BOUND, CONFIDENCE_MEDIUM,
		{{"client-0", .hold = 10, .wait = 10, .native = 10, .blocked = 970,
			 .by_sibling = 960, .takes = 90, .blocks = 90, .wakeups = 88},
			{"client-1", .hold = 10, .wait = 10, .native = 10, .blocked = 970,
				.by_sibling = 960, .takes = 90, .blocks = 90, .wakeups = 88},
			{"server", .hold = 100, .native = 100, .blocked = 800, .by_sibling = 300,
				.takes = 500, .blocks = 500, .wakeups = 250}}},
	{"main in join", CLASS_IO_BOUND, CONFIDENCE_LOW,
		{{"main", .hold = 30, .blocked = 970, .by_sibling = 970, .takes = 8, .blocks = 3,
			.wakeups = 3}}},
	{"half computing, half asleep, four of them", CLASS_MIXED, CONFIDENCE_MEDIUM,
		{{"mix-1", .hold = 200, .wait = 400, .blocked = 200, .takes = 60, .waits = 40,
			.blocks = 20, .others_waited = 600}}},
	{"half computing, half asleep, alone", CLASS_MIXED, CONFIDENCE_MEDIUM,
		{{"mix", .hold = 490, .blocked = 510, .takes = 60, .blocks = 50}}},
	{"sixteen of them: the GIL is wanted eight times over", CLASS_GIL_BOUND, CONFIDENCE_MEDIUM,
		{{"mix-1", .hold = 60, .wait = 880, .blocked = 60, .takes = 12, .waits = 12,
			.blocks = 6, .each_wait = 70}}},
	{"a holder without a CPU", CLASS_CPU_STARVED, CONFIDENCE_MEDIUM,
		{{"victim-cpu", .hold = 50, .hold_ready = 840, .ready = 60, .wait = 30,
			.takes = 120, .waits = 110, .others_waited = 700}}},
	{"waits for a holder without a CPU", CLASS_CPU_STARVED, CONFIDENCE_MEDIUM,
		{{"victim-io", .hold = 2, .wait = 790, .wait_ready = 740, .blocked = 200,
			 .takes = 60, .waits = 55, .waits_for = "victim-cpu"},
			{"victim-cpu", .hold = 50, .hold_ready = 840, .ready = 60, .takes = 120,
				.others_waited = 700}}},
	{"asleep, and late now and then", CLASS_IO_BOUND, CONFIDENCE_MEDIUM,
		{{"ticker", .hold = 2, .ready = 60, .blocked = 938, .takes = 100, .blocks = 100}}},
	{"four threads queue on a lock", CLASS_LOCK_CONTENTION, CONFIDENCE_MEDIUM,
		{{"logger-1", .hold = 10, .wait = 5, .blocked = 985, .by_sibling = 740,
			 .takes = 500, .blocks = 500, .wakeups = 250},
			{"logger-2", .hold = 10, .wait = 5, .blocked = 985, .by_sibling = 740,
				.takes = 500, .blocks = 500, .wakeups = 250},
			{"logger-3", .hold = 10, .wait = 5, .blocked = 985, .by_sibling = 740,
				.takes = 500, .blocks = 500, .wakeups = 250},
			{"logger-4", .hold = 10, .wait = 5, .blocked = 985, .by_sibling = 740,
				.takes = 500, .blocks = 500, .wakeups = 250}}},
	{"four workers with half a load each", CLASS_IO_BOUND, CONFIDENCE_LOW,
		{{"pool-1", .hold = 10, .blocked = 990, .by_sibling = 550, .takes = 500,
			 .blocks = 500, .wakeups = 250},
			{"pool-2", .hold = 10, .blocked = 990, .by_sibling = 550, .takes = 500,
				.blocks = 500, .wakeups = 250},
			{"pool-3", .hold = 10, .blocked = 990, .by_sibling = 550, .takes = 500,
				.blocks = 500, .wakeups = 250},
			{"pool-4", .hold = 10, .blocked = 990, .by_sibling = 550, .takes = 500,
				.blocks = 500, .wakeups = 250}}},
	{"a pool with tasks of 3 µs", CLASS_TINY_TASKS, CONFIDENCE_MEDIUM,
		{{"tpe_0", .hold = 150, .wait = 250, .native = 50, .blocked = 550,
			 .by_sibling = 500, .takes = 6000, .waits = 2000, .natives = 6000,
			 .blocks = 3000, .wakeups = 2800},
			{"main", .hold = 500, .wait = 300, .native = 50, .blocked = 150,
				.takes = 20000}}},
	{"its own interpreter, beside another", CLASS_SUBINTERPRETERS, CONFIDENCE_HIGH,
		{{"interp-1", .gil = 1, .hold = 850, .wait = 10, .native = 10, .takes = 20,
			 .waits = 2},
			{"main", .hold = 20, .blocked = 850, .takes = 10},
			{"interp-2", .gil = 2, .hold = 850, .native = 10, .takes = 20}}},
	{"its own interpreter, the others idle", CLASS_HELD_UNCONTENDED, CONFIDENCE_HIGH,
		{{"interp-1", .gil = 1, .hold = 850, .native = 10, .takes = 20},
			{"main", .hold = 20, .blocked = 850, .takes = 10}}},
	{"the same, but the GIL is busy: the queue is fed by a thread that lacks it",
		CLASS_GIL_BOUND, CONFIDENCE_LOW,
		{{"tpe_0", .hold = 20, .wait = 70, .blocked = 275, .by_sibling = 270, .takes = 24,
			 .waits = 20, .blocks = 25, .wakeups = 23},
			{"main", .hold = 300, .wait = 65, .takes = 900, .others_waited = 280}}},
	{"a worker that idles beside one busy thread", CLASS_IO_BOUND, CONFIDENCE_LOW,
		{{"tpe_0", .hold = 20, .wait = 20, .blocked = 325, .by_sibling = 320, .takes = 24,
			 .waits = 20, .blocks = 25, .wakeups = 23},
			{"main", .hold = 340, .wait = 25, .takes = 900}}},
	{"a loop over short calls that others disturb", CLASS_DROPPED_TOO_OFTEN, CONFIDENCE_MEDIUM,
		{{"zs-1", .hold = 500, .wait = 400, .native = 100, .takes = 7000, .natives = 7000,
			.waits = 100, .others_waited = 400}}},
	{"the same alone, like an import", CLASS_HELD_UNCONTENDED, CONFIDENCE_HIGH,
		{{"zs-ser", .hold = 830, .native = 170, .takes = 7000, .natives = 7000}}},
	{"a switch interval that only its victim can see", CLASS_SWITCH_INTERVAL, CONFIDENCE_LOW,
		{{"a-loop", .hold = 600, .takes = 10, .others_waited = 590, .in_long = 0},
			{"b-loop", .wait = 590, .hold = 10, .takes = 3, .waits = 3, .interval = 200,
				.waits_for = "a-loop"}}},
	{"too short", CLASS_INCONCLUSIVE, CONFIDENCE_LOW,
		{{"brief", .hold = 10, .wait = 5, .takes = 3, .waits = 2}}},
	{"unknown for most of its life", CLASS_INCONCLUSIVE, CONFIDENCE_LOW,
		{{"late", .hold = 100, .unknown = 500, .takes = 3}}},
};

static size_t rows_of(const struct expected *e)
{
	size_t n = 0;

	while (n < 4 && e->rows[n].name)
		n++;
	return n;
}

static void check(const struct expected *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct totals t;
		struct verdict v;

		totals_build(&t, list[i].rows, rows_of(&list[i]));
		classify_thread(&t.result, t.thread_list[0], &v);
		if (v.class != list[i].class || v.confidence < list[i].least)
			fail_msg("%s: %s (%s): %s", list[i].what, class_name(v.class),
				confidence_name(v.confidence), v.reason);
		assert_true(strlen(v.reason) > 10);
		assert_null(strstr(v.reason, "nan"));
		assert_null(strstr(v.reason, "inf "));
		totals_done(&t);
	}
}

static void test_gil_bound(void **state)
{
	check(bound, sizeof(bound) / sizeof(*bound));
}

static void test_not_gil_bound(void **state)
{
	check(free_of, sizeof(free_of) / sizeof(*free_of));
}

static const struct totals_row pair[] = {
	{"py-1", .hold = 490, .wait = 500, .native = 10, .takes = 100, .forced = 99, .waits = 100,
		.others_waited = 480, .waits_for = "py-2"},
	{"py-2", .hold = 500, .wait = 500, .takes = 100, .forced = 99, .waits = 100,
		.others_waited = 490, .waits_for = "py-1"},
};

/* A bad recording is never judged, a poor one is judged with less confidence. */
static void test_quality(void **state)
{
	struct totals t;
	struct verdict v;

	totals_build(&t, pair, 2);
	t.result.quality.release_missing = true;
	classify_recording(&t.result, &v);
	assert_int_equal(v.class, CLASS_INCONCLUSIVE);
	assert_non_null(strstr(v.reason, "gilprobe record"));
	t.result.quality.release_missing = false;
	t.result.quality.sampled = true;
	classify_recording(&t.result, &v);
	assert_int_equal(v.class, CLASS_INCONCLUSIVE);
	t.result.quality.sampled = false;
	t.result.quality.events = 1000;
	t.result.quality.lost = 60;
	t.result.quality.runnable_known = false;
	classify_recording(&t.result, &v);
	assert_int_equal(v.class, CLASS_INCONCLUSIVE);
	/* system-wide: of other programs, unless much is unknown */
	t.result.quality.runnable_known = true;
	classify_recording(&t.result, &v);
	assert_int_equal(v.class, CLASS_GIL_BOUND);
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
	t.result.quality.unknown_ns = 500000000;
	classify_recording(&t.result, &v);
	assert_int_equal(v.class, CLASS_INCONCLUSIVE);
	t.result.quality.unknown_ns = 0;
	t.result.quality.lost = 5;
	classify_thread(&t.result, t.thread_list[0], &v);
	assert_int_equal(v.class, CLASS_GIL_BOUND);
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
	t.result.quality.lost = 0;
	t.result.quality.overlapping = 20;
	classify_thread(&t.result, t.thread_list[0], &v);
	assert_int_equal(v.confidence, CONFIDENCE_LOW);
	totals_done(&t);
}

/* Without scheduler events holding and waiting still tell; the rest is not guessed. */
static void test_no_cpu_evidence(void **state)
{
	static const struct totals_row rows[] = {
		{"py-1", .hold = 480, .wait = 500, .unknown = 20, .takes = 100, .waits = 100,
			.others_waited = 480, .waits_for = "py-2"},
		{"py-2", .hold = 480, .wait = 500, .unknown = 20, .takes = 100, .waits = 100,
			.others_waited = 490, .waits_for = "py-1"},
		{"rest", .hold = 20, .wait = 5, .unknown = 975, .takes = 50, .waits = 5},
	};
	struct totals t;
	struct verdict v;

	totals_build(&t, rows, 3);
	t.result.quality.cpu_known = t.result.quality.runnable_known = false;
	classify_thread(&t.result, t.thread_list[0], &v);
	assert_int_equal(v.class, CLASS_GIL_BOUND);
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
	classify_thread(&t.result, t.thread_list[2], &v);
	assert_int_equal(v.class, CLASS_INCONCLUSIVE);
	assert_true(classify_serial_fraction(&t.result, &t.gils[0]) < 0);
	totals_done(&t);
}

static void test_names(void **state)
{
	static const char *const names[] = {"inconclusive", "gil-bound", "gil-bound/convoy",
		"gil-bound/long-c-call", "gil-bound/blocking-call-keeps-gil",
		"gil-bound/switch-interval", "gil-bound/tasks-too-small",
		"gil-bound/thread-start-overhead", "gil-dropped-too-often", "releases-the-gil",
		"io-bound", "mixed", "lock-contention-not-gil", "cpu-starved",
		"gil-held-uncontended", "scales-with-subinterpreters"};

	assert_int_equal(sizeof(names) / sizeof(*names), CLASSES);
	for (size_t i = 0; i < CLASSES; i++) {
		assert_string_equal(class_name((enum gil_class)i), names[i]);
		assert_int_equal(
			class_is_gil_bound((enum gil_class)i), !strncmp(names[i], "gil-bound", 9));
	}
	assert_string_equal(confidence_name(CONFIDENCE_LOW), "low");
	assert_string_equal(confidence_name(CONFIDENCE_HIGH), "high");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gil_bound),
		cmocka_unit_test(test_not_gil_bound),
		cmocka_unit_test(test_quality),
		cmocka_unit_test(test_no_cpu_evidence),
		cmocka_unit_test(test_names),
	};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classify: what the threads' classes say of a process and of the whole recording. */
#include "test.h"
#include "totals.h"

#include "classify/classify.h"

#include <string.h>

static void check(const struct totals_row *rows, size_t n, enum gil_class kind, const char *words)
{
	struct totals t;
	struct verdict v;

	totals_build(&t, rows, n);
	classify_recording(&t.result, &v);
	if (v.class != kind)
		fail_msg("%s (%s): %s", class_name(v.class), confidence_name(v.confidence),
			v.reason);
	if (!strstr(v.reason, words))
		fail_msg("no '%s' in: %s", words, v.reason);
	totals_done(&t);
}

#define CHECK(rows, class, words) check(rows, sizeof(rows) / sizeof(*(rows)), class, words)

#define MAIN_IN_JOIN                                                                               \
	{                                                                                          \
		"python3", .tid = 100, .hold = 30, .blocked = 970, .by_sibling = 970, .takes = 10, \
			   .blocks = 3, .wakeups = 3                                               \
	}

#define PY(a, b)                                                                                   \
	{                                                                                          \
		a, .hold = 500, .wait = 500, .takes = 100, .forced = 99, .waits = 100,             \
		   .others_waited = 490, .waits_for = b                                            \
	}

static void test_two_threads(void **state)
{
	static const struct totals_row rows[] = {
		MAIN_IN_JOIN, PY("py-1", "py-2"), PY("py-2", "py-1")};

	CHECK(rows, CLASS_GIL_BOUND, "2 threads want the GIL at the same time");
	CHECK(rows, CLASS_GIL_BOUND, "keep at most 1.00 cores busy");
}

#define HOG(others)                                                                                \
	{                                                                                          \
		"cpu-hog", .hold = 780, .wait = 10, .takes = 150, .forced = 150, .waits = 150,     \
			   .others_waited = others                                                 \
	}
#define SHORT_IO                                                                                   \
	{                                                                                          \
		"io", .hold = 5, .wait = 700, .blocked = 95, .takes = 140, .waits = 140,           \
		      .each_wait = 5.0, .waits_for = "cpu-hog"                                     \
	}

/* A holder does not compete; two competing threads outvote one convoy. */
static void test_convoy(void **state)
{
	static const struct totals_row rows[] = {MAIN_IN_JOIN, HOG(700), SHORT_IO};
	static const struct totals_row more[] = {
		PY("py-1", "py-2"), PY("py-2", "py-1"), HOG(700), SHORT_IO};

	CHECK(rows, CLASS_CONVOY, "io: waits for the GIL");
	CHECK(more, CLASS_GIL_BOUND, "threads want the GIL");
}

static void test_idle_threads_do_not_outvote(void **state)
{
	static const struct totals_row rows[] = {MAIN_IN_JOIN, PY("py-1", "py-2"),
		PY("py-2", "py-1"), {"idle-1", .hold = 1, .blocked = 999, .takes = 5, .blocks = 5},
		{"idle-2", .hold = 1, .blocked = 999, .takes = 5, .blocks = 5},
		{"idle-3", .hold = 1, .blocked = 999, .takes = 5, .blocks = 5}};
	static const struct totals_row idle[] = {MAIN_IN_JOIN,
		{"client-1", .hold = 20, .blocked = 980, .takes = 90, .blocks = 90},
		{"client-2", .hold = 20, .blocked = 980, .takes = 90, .blocks = 90}};

	CHECK(rows, CLASS_GIL_BOUND, "2 threads");
	CHECK(idle, CLASS_IO_BOUND, "asleep");
}

static void test_second_class_is_mentioned(void **state)
{
	static const struct totals_row rows[] = {PY("py-1", "py-2"), PY("py-2", "py-1"),
		{"hash", .hold = 10, .native = 990, .takes = 90, .natives = 90}};

	CHECK(rows, CLASS_GIL_BOUND, "; also releases-the-gil (hash)");
}

static void test_nothing_speaks_for_the_whole(void **state)
{
	static const struct totals_row rows[] = {
		{"hash", .hold = 10, .native = 990, .takes = 90, .natives = 90},
		{"loop", .hold = 990, .native = 10, .takes = 9},
		{"stat", .hold = 500, .native = 500, .takes = 60000, .natives = 60000}};

	CHECK(rows, CLASS_MIXED, "several kinds of work: 33 % ");
}

static void test_processes(void **state)
{
	static const struct totals_row rows[] = {
		{"python3", .tid = 100, .hold = 30, .blocked = 970, .takes = 10},
		{"worker-1", .process = 1, .gil = 1, .hold = 950, .native = 5, .takes = 3},
		{"worker-2", .process = 2, .gil = 2, .hold = 950, .native = 5, .takes = 3}};

	CHECK(rows, CLASS_HELD_UNCONTENDED, "worker-2 of pid 300 (and 1 more thread)");
}

/* Ten thousand threads of a third of a millisecond. */
static void test_thread_churn(void **state)
{
	struct totals_row rows[201] = {MAIN_IN_JOIN};
	struct totals t;
	struct verdict v;

	for (size_t i = 1; i < 201; i++)
		rows[i] = (struct totals_row){"churn", .from = (double)i, .hold = 6, .wait = 3,
			.native = 2, .takes = 4, .waits = 2};
	CHECK(rows, CLASS_THREAD_STARTS, "200 threads lived for 11.0 ms on average");
	totals_build(&t, rows, 90);
	classify_recording(&t.result, &v);
	assert_int_not_equal(v.class, CLASS_THREAD_STARTS);
	assert_true(classify_is_short(t.thread_list[1]));
	assert_false(classify_is_short(t.thread_list[0]));
	totals_done(&t);
}

static void test_empty(void **state)
{
	struct totals t;
	struct verdict v;

	totals_build(&t, NULL, 0);
	classify_recording(&t.result, &v);
	assert_int_equal(v.class, CLASS_INCONCLUSIVE);
	assert_string_equal(v.reason, "no thread took a GIL in this recording");
	assert_true(v.n_advice > 0);
}

static void test_serial_fraction(void **state)
{
	static const struct totals_row rows[] = {{"a", .hold = 100, .native = 300, .takes = 9},
		{"b", .hold = 100, .native = 300, .hold_asleep = 100, .takes = 9}};
	struct totals t;
	double serial;

	totals_build(&t, rows, 2);
	serial = classify_serial_fraction(&t.result, &t.gils[0]);
	assert_true(serial > 0.2499 && serial < 0.2501);
	totals_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_threads),
		cmocka_unit_test(test_convoy),
		cmocka_unit_test(test_idle_threads_do_not_outvote),
		cmocka_unit_test(test_second_class_is_mentioned),
		cmocka_unit_test(test_nothing_speaks_for_the_whole),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_thread_churn),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_serial_fraction),
	};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report: rows are merged when there are many, never the worst; percentages add up to 100. */
#include "test.h"
#include "totals.h"

#include "report/rows.h"

#include <stdio.h>
#include <string.h>

static unsigned sum(const unsigned share[SPAN_STATES])
{
	unsigned total = 0;

	for (size_t i = 0; i < SPAN_STATES; i++)
		total += share[i];
	return total;
}

static void test_percentages(void **state)
{
	unsigned share[SPAN_STATES];
	struct row row = {.state_ns = {0, 1, 1, 1}};

	rows_permille(&row, share);
	assert_int_equal(share[1], 334);
	assert_int_equal(share[2], 333);
	assert_int_equal(share[3], 333);
	memset(row.state_ns, 0, sizeof(row.state_ns));
	rows_permille(&row, share);
	assert_int_equal(sum(share), 0);
	row.state_ns[SPAN_BLOCKED] = UINT64_MAX / 2;
	row.state_ns[SPAN_NATIVE] = 1;
	rows_permille(&row, share);
	assert_int_equal(share[SPAN_BLOCKED], 1000);
	for (uint64_t seed = 1; seed < 2000; seed++) {
		for (size_t i = 0; i < SPAN_STATES; i++)
			row.state_ns[i] = seed * 2654435761u * (i + 1) % 1000003;
		rows_permille(&row, share);
		assert_int_equal(sum(share), 1000);
	}
}

static void test_few_threads_have_rows(void **state)
{
	static const struct totals_row three[] = {{"a", .hold = 1, .takes = 1},
		{"b", .hold = 30, .takes = 1}, {"c", .wait = 40, .takes = 1}};
	struct totals t;
	struct rows rows;

	totals_build(&t, three, 3);
	assert_int_equal(rows_build(&rows, &t.result, false), 0);
	assert_int_equal(rows.n, 3);
	assert_string_equal(rows.items[0].name, "c");
	assert_string_equal(rows.items[2].name, "a");
	assert_ptr_equal(rows_find(&rows, totals_thread(&t, "b")), &rows.items[1]);
	rows_done(&rows);
	totals_done(&t);
}

static void test_short_ones_are_merged(void **state)
{
	struct totals_row many[200];
	struct totals t;
	struct rows rows;

	for (size_t i = 0; i < 200; i++)
		many[i] = (struct totals_row){i < 100 ? "churn" : "python3", .hold = 0.3,
			.takes = 4, .max_hold = i == 150 ? 0.2 : 0.1};
	many[42] = (struct totals_row){"worst", .hold = 100, .wait = 300, .takes = 3};
	totals_build(&t, many, 200);
	assert_int_equal(rows_build(&rows, &t.result, false), 0);
	assert_int_equal(rows.n, 3);
	assert_string_equal(rows.items[0].name, "worst");
	assert_string_equal(rows.items[1].name, "churn × 99");
	assert_string_equal(rows.items[2].name, "python3 × 100");
	assert_int_equal(rows.items[2].takes, 400);
	assert_int_equal(rows.items[2].max_hold_ns, 200000);
	assert_int_equal(rows.items[2].life_ns, 30000000);
	assert_ptr_equal(rows_find(&rows, &t.threads[7]), &rows.items[1]);
	rows_done(&rows);
	assert_int_equal(rows_build(&rows, &t.result, true), 0);
	assert_int_equal(rows.n, 200);
	rows_done(&rows);
	totals_done(&t);
}

static void test_the_worst_keep_rows(void **state)
{
	static char names[100][16];
	struct totals_row many[100];
	struct totals t;
	struct rows rows;

	for (size_t i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "worker-%zu", i);
		many[i] = (struct totals_row){
			names[i], .hold = (double)i, .blocked = 100, .takes = 4};
	}
	totals_build(&t, many, 100);
	assert_int_equal(rows_build(&rows, &t.result, false), 0);
	assert_int_equal(rows.n, ROWS_MAX + 1);
	for (size_t i = 0; i < ROWS_MAX; i++)
		assert_string_equal(rows.items[i].name, names[99 - i]);
	assert_string_equal(rows.items[ROWS_MAX].name, "worker-* × 60");
	rows_done(&rows);
	totals_done(&t);
}

/* Names that have nothing in common must not make a row each. */
static void test_many_kinds(void **state)
{
	static char names[100][16];
	struct totals_row many[100];
	struct totals t;
	struct rows rows;

	for (size_t i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "%c%c", (char)('a' + i / 26),
			(char)('a' + i % 26));
		many[i] = (struct totals_row){names[i], .hold = 1, .takes = 4};
	}
	totals_build(&t, many, 100);
	assert_int_equal(rows_build(&rows, &t.result, false), 0);
	assert_int_equal(rows.n, 1);
	assert_string_equal(rows.items[0].name, "others × 100");
	rows_done(&rows);
	totals_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentages),
		cmocka_unit_test(test_few_threads_have_rows),
		cmocka_unit_test(test_short_ones_are_merged),
		cmocka_unit_test(test_the_worst_keep_rows),
		cmocka_unit_test(test_many_kinds),
	};

	return RUN_TESTS(tests);
}

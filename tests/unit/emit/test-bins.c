/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "emit/bins.h"

#include <string.h>

#include "test.h"

#define W BINS_WIDTH_NS

struct log {
	uint64_t start[16], value[16];
	size_t n;
};

static void note(void *user, uint64_t start_ns, uint64_t value)
{
	struct log *log = user;

	assert_true(log->n < 16);
	log->start[log->n] = start_ns;
	log->value[log->n++] = value;
}

static void expect(const struct log *log, size_t at, uint64_t start, uint64_t value)
{
	assert_true(at < log->n);
	assert_int_equal(log->start[at], start);
	assert_int_equal(log->value[at], value);
}

static void averages(void **state)
{
	struct log log = {0};
	struct bins bins = {.scale = 1000, .first_ns = 10 * W, .write = note, .user = &log};

	bins_add(&bins, 10 * W, 10 * W + W / 4, 1);
	bins_add(&bins, 10 * W + W / 2, 10 * W + W, 1); /* bin 10: three quarters */
	bins_add(&bins, 12 * W, 15 * W + W / 2, 2);	/* bin 11: nothing; 12 to 14: two */
	bins_finish(&bins, 15 * W + W / 2);
	assert_int_equal(log.n, 4);
	expect(&log, 0, 10 * W, 750);
	expect(&log, 1, 11 * W, 0);
	expect(&log, 2, 12 * W, 2000);
	expect(&log, 3, 15 * W + W / 2, 0);
}

static void first_and_last_bin_count_only_what_passed(void **state)
{
	struct log log = {0};
	struct bins bins = {.scale = 1000, .first_ns = 3 * W + W / 2, .write = note, .user = &log};

	bins_add(&bins, 3 * W, 4 * W, 1); /* begins before the first bin */
	bins_add(&bins, 4 * W, 4 * W + W / 8, 1);
	bins_finish(&bins, 4 * W + W / 4);
	assert_int_equal(log.n, 3);
	expect(&log, 0, 3 * W + W / 2, 1000);
	expect(&log, 1, 4 * W, 500);
	expect(&log, 2, 4 * W + W / 4, 0);
}

static void centuries_take_no_time(void **state)
{
	struct log log = {0};
	struct bins bins = {.scale = 1000, .write = note, .user = &log};

	bins_add(&bins, 0, UINT64_MAX / 2, 1);
	bins_add(&bins, UINT64_MAX - 10, UINT64_MAX, 1);
	bins_finish(&bins, UINT64_MAX);
	assert_true(log.n >= 3);
	expect(&log, 0, 0, 1000);
}

static void time_does_not_go_back(void **state)
{
	struct log log = {0};
	struct bins bins = {.scale = 1000, .write = note, .user = &log};

	bins_add(&bins, W, 2 * W, 1);
	bins_add(&bins, 0, W, 1);
	bins_add(&bins, W + W / 2, 2 * W, 1);
	bins_finish(&bins, 2 * W);
	assert_int_equal(log.n, 2); /* nothing before it was more than 0 */
	expect(&log, 0, W, 1000);
	expect(&log, 1, 2 * W, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(averages),
		cmocka_unit_test(first_and_last_bin_count_only_what_passed),
		cmocka_unit_test(centuries_take_no_time),
		cmocka_unit_test(time_does_not_go_back),
	};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fold: the histograms' quantiles are within 9 % of the lengths that went in. */
#include "test.h"

#include "fold/hist.h"

static void test_one_length(void **state)
{
	const uint64_t lengths[] = {0, 1, 7, 8, 9, 100, 999, 5000000, 142000000, 200000000000};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct hist hist = {0};
		uint64_t ns = lengths[i], got;

		assert_int_equal(hist_add(&hist, ns), 0);
		got = hist_quantile(&hist, 0.5);
		assert_true(got * 100 >= ns * 91 && got * 100 <= ns * 109);
		hist_done(&hist);
	}
}

static void test_quantiles(void **state)
{
	struct hist hist = {0};

	assert_int_equal(hist_quantile(&hist, 0.5), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(hist_add(&hist, i * 1000), 0);
	assert_in_range(hist_quantile(&hist, 0.5), 455000, 545000);
	assert_in_range(hist_quantile(&hist, 0.99), 900000, 1080000);
	assert_in_range(hist_quantile(&hist, 0), 900, 1090);
	assert_in_range(hist_quantile(&hist, 1), 910000, 1090000);
	hist_done(&hist);
}

static void test_longest(void **state)
{
	struct hist hist = {0};

	assert_int_equal(hist_add(&hist, UINT64_MAX), 0);
	assert_int_equal(hist_quantile(&hist, 0.5), hist_bucket_ns(HIST_BUCKETS - 1));
	hist_done(&hist);
}

static void test_buckets_rise(void **state)
{
	for (size_t i = 1; i < HIST_BUCKETS; i++)
		assert_true(hist_bucket_ns(i) > hist_bucket_ns(i - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_length),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_buckets_rise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

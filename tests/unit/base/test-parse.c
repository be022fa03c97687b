/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parse.h"

#include <errno.h>

#include "test.h"

static void whole_numbers(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t value;
	} cases[] = {
		{"0", 0, 0},
		{"18446744073709551615", 0, UINT64_MAX},
		{"0xFf", 0, 255},
		{"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"0x", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"12a", -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 77;

		assert_int_equal(parse_u64(cases[i].text, &value), cases[i].result);
		assert_int_equal(value, cases[i].result ? 77 : cases[i].value);
	}
}

static void durations_and_sizes(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t ns;
	} cases[] = {
		{"5s", 0, 5000000000},
		{"5", 0, 5000000000},
		{"250ms", 0, 250000000},
		{"1.5s", 0, 1500000000},
		{".5s", 0, 500000000},
		{"2m", 0, 120000000000},
		{"1h", 0, 3600000000000},
		{"20us", 0, 20000},
		{"7ns", 0, 7},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"5 s", -EINVAL, 0},
		{"5sec", -EINVAL, 0},
		{"-5s", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"1e999s", -EINVAL, 0},
		{"99999999999999h", -ERANGE, 0},
	};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = 77;

		assert_int_equal(parse_duration(cases[i].text, &ns), cases[i].result);
		assert_int_equal(ns, cases[i].result ? 77 : cases[i].ns);
	}
	assert_int_equal(parse_size("2M", &bytes), 0);
	assert_int_equal(bytes, 2097152);
	assert_int_equal(parse_size("2X", &bytes), -EINVAL);
}

static void decimals(void **state)
{
	double value;

	assert_int_equal(parse_double("-0.5", &value), 0);
	assert_true(value == -0.5);
	assert_int_equal(parse_double("--1", &value), -EINVAL);
	assert_int_equal(parse_double("inf", &value), -EINVAL);
	assert_int_equal(parse_double("1x", &value), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(durations_and_sizes),
		cmocka_unit_test(decimals),
	};
	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base: numbers for people, at the edges of each unit. */
#include "test.h"

#include "base/human.h"

static void test_durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"},
		{950, "950 ns"},
		{1000, "1.0 µs"},
		{38200, "38 µs"},
		{999499, "999 µs"},
		{999500, "1.0 ms"},
		{5100000, "5.1 ms"},
		{10249999, "10.2 ms"},
		{142000000, "142 ms"},
		{999499999, "999 ms"},
		{999500000, "1.00 s"},
		{1310000000, "1.31 s"},
		{120000000000, "120 s"},
	};
	char text[HUMAN_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(human_ns(cases[i].ns, text), cases[i].text);
}

static void test_counts(void **state)
{
	char text[HUMAN_SIZE];

	assert_string_equal(human_count(0, text), "0");
	assert_string_equal(human_count(999, text), "999");
	assert_string_equal(human_count(1204, text), "1,204");
	assert_string_equal(human_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static void test_bytes(void **state)
{
	char text[HUMAN_SIZE];

	assert_string_equal(human_bytes(95, text), "95 B");
	assert_string_equal(human_bytes(1023, text), "1023 B");
	assert_string_equal(human_bytes(1024, text), "1.0 KiB");
	assert_string_equal(human_bytes(3355443, text), "3.2 MiB");
	assert_string_equal(human_bytes(UINT64_MAX, text), "16777216 TiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

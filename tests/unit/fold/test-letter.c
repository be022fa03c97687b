/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Letters of threads: the edges of each length, and the largest number there can be. */
#include "fold/letter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check(uint32_t number, const char *want)
{
	struct fold_thread thread = {.number = number};
	char text[FOLD_LETTERS];

	assert_string_equal(fold_letter(&thread, text), want);
}

static void letters(void **state)
{
	check(0, "A");
	check(1, "B");
	check(25, "Z");
	check(26, "AA");
	check(51, "AZ");
	check(52, "BA");
	check(701, "ZZ");
	check(702, "AAA");
	check(UINT32_MAX, "MWLQKWV");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(letters)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/strtab.h"

#include <stdio.h>

#include "test.h"

static void equal_texts_share_one_pointer(void **state)
{
	struct strtab tab = {0};
	const char *first[500];
	char text[32];

	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "thread-%d", i);
		first[i] = strtab_intern(&tab, text);
		assert_string_equal(first[i], text);
	}
	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "thread-%d", i);
		assert_ptr_equal(strtab_intern(&tab, text), first[i]);
	}
	assert_ptr_equal(strtab_intern_n(&tab, "thread-12", 8), first[1]);
	assert_string_equal(strtab_intern_n(&tab, "", 0), "");
	strtab_done(&tab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(equal_texts_share_one_pointer)};
	return RUN_TESTS(tests);
}

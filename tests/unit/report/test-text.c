/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report: no name can break the table. */
#include "test.h"

#include "report/text.h"

#include <string.h>

static void cleaned(const char *text, size_t width, const char *want)
{
	char got[64];

	assert_string_equal(text_clean(got, sizeof(got), text, width), want);
}

static void test_clean(void **state)
{
	cleaned("worker-1", 0, "worker-1");
	cleaned("worker-1", 8, "worker-1");
	cleaned("worker-10", 8, "worker-…");
	cleaned("a\033[2Jb", 0, "a?[2Jb");
	cleaned("tab\tnew\nline\x7f", 0, "tab?new?line?");
	cleaned("\xff\xfe", 0, "??");
	cleaned("\xc2\x9b"
		"31m",
		0, "?31m");
	cleaned("größer", 0, "größer");
	cleaned("größer", 4, "grö…");
	cleaned("\xe2\x82", 0, "??");
	cleaned("", 5, "");
}

static void test_clean_fits_its_buffer(void **state)
{
	char got[8];

	assert_string_equal(text_clean(got, sizeof(got), "abcdefghij", 0), "abcd…");
	assert_string_equal(text_clean(got, sizeof(got), "größergrößer", 0), "grö…");
}

static void test_width(void **state)
{
	assert_int_equal(text_width("grö…"), 4);
	assert_int_equal(text_width(""), 0);
}

static void wrapped(unsigned columns, const char *text, const char *want)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	struct page page = {.out = out, .columns = columns};
	const char *got;
	size_t size;

	text_wrap(&page, text, 4, 2);
	got = out_memory_bytes(out, &size);
	assert_int_equal(size, strlen(want));
	assert_memory_equal(got, want, size);
}

static void test_wrap(void **state)
{
	wrapped(0, "one two three four", "one two three four\n");
	wrapped(12, "one two three four", "one two\n  three four\n");
	wrapped(5, "extraordinary words", "extraordinary\n  words\n");
	wrapped(12, "", "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_clean_fits_its_buffer),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_wrap),
	};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "test.h"

static void the_first_text_wins(void **state)
{
	struct err err = {0};

	assert_int_equal(err_set(&err, -EINVAL, "cause %d", 1), -EINVAL);
	assert_int_equal(err_errno(&err, -EIO, "noise"), -EIO);
	assert_string_equal(err.text, "cause 1");
}

static void errno_is_appended(void **state)
{
	struct err err = {0};

	err_errno(&err, -ENOENT, "unable to open '%s'", "x");
	assert_string_equal(err.text, "unable to open 'x': No such file or directory");
}

static void hints_are_lines(void **state)
{
	struct err err = {0};

	err_hint(&err, "one");
	err_hint(&err, "two %d", 2);
	assert_string_equal(err.hint, "one\ntwo 2");
	err_clear(&err);
	assert_string_equal(err.hint, "");
}

static void null_and_long_texts_are_harmless(void **state)
{
	struct err err = {0};
	char wide[3000];

	memset(wide, 'x', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	assert_int_equal(err_set(NULL, -EPERM, "%s", wide), -EPERM);
	err_hint(NULL, "x");
	err_set(&err, -EPERM, "%s", wide);
	err_hint(&err, "%s", wide);
	err_hint(&err, "%s", wide);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(strlen(err.hint), sizeof(err.hint) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_text_wins),
		cmocka_unit_test(errno_is_appended),
		cmocka_unit_test(hints_are_lines),
		cmocka_unit_test(null_and_long_texts_are_harmless),
	};
	return RUN_TESTS(tests);
}

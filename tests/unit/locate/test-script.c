/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of `#!` lines, env's arguments and the words of shell text.
 */
#include "locate/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The words joined by '|'. */
static void assert_words(struct words *words, const char *expected)
{
	char joined[1024] = "";

	for (size_t i = 0; i < words->n; i++)
		snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s",
			i ? "|" : "", words->items[i]);
	words_done(words);
	assert_string_equal(joined, expected);
}

static void check_line(const char *text, const char *expected)
{
	struct words words = {0};

	assert_int_equal(script_interpreter(text, strlen(text), &words), 0);
	assert_words(&words, expected);
}

static void test_lines(void **state)
{
	char text[400];

	check_line("#!/bin/sh\necho", "/bin/sh");
	check_line("#!/bin/sh", "/bin/sh");
	check_line("#! \t/usr/bin/env   python3 -x \r\n", "/usr/bin/env|python3 -x");
	check_line("#!\n", "");
	check_line("#!   \n", "");
	check_line("# !/bin/sh\n", "");
	check_line("", "");
	check_line("#!", "");
	/* the kernel reads 256 bytes */
	memset(text, 'a', sizeof(text));
	memcpy(text, "#!/", 3);
	text[sizeof(text) - 1] = '\0';
	{
		struct words words = {0};

		assert_int_equal(script_interpreter(text, strlen(text), &words), 0);
		assert_int_equal(words.n, 1);
		assert_int_equal(strlen(words.items[0]), 254);
		words_done(&words);
	}
}

static void check_env(const char *arguments, const char *expected)
{
	struct words args = {0}, command = {0};

	assert_int_equal(words_split(&args, arguments, strlen(arguments), 100), 0);
	assert_int_equal(script_env_command(&args, &command), 0);
	words_done(&args);
	assert_words(&command, expected);
}

static void test_env(void **state)
{
	check_env("", "");
	check_env("A=1", "");
	check_env("python3 -x A=1", "python3|-x|A=1");
	check_env("-i A=1 B= python3", "python3");
	check_env("-u PATH --unset HOME --chdir=/ -C / python3", "python3");
	check_env("- -0 -- A=1 python3", "python3");
	check_env("-S 'python3 -x' file", "python3|-x|file");
	check_env("'-S A=1 python3 -x' file", "python3|-x|file");
	check_env("-vS 'python3 \"a b\" c\\_d' file", "python3|a b|c|d|file");
	check_env("--split-string='-i python3' file", "python3|file");
	check_env("--split-string python3 file", "python3|file");
	check_env("-S", "");
	check_env("-u", "");
	/* -S that gives -S for ever */
	check_env("-S '-S -S -S -S -S -S -S -S -S -S -S python3'", "");
}

static void check_split(const char *text, const char *expected)
{
	struct words words = {0};

	assert_int_equal(words_split(&words, text, strlen(text), 100), 0);
	assert_words(&words, expected);
}

static void test_words(void **state)
{
	check_split("a  b\tc\nd", "a|b|c|d");
	check_split("a;b&&c||d|e&(f)>g<h`i`", "a|b|c|d|e|f|g|h|i");
	check_split("# all of it\nx # rest\ny#z", "x|y#z");
	check_split("'a b' \"c 'd'\" e\\ f", "a b|c 'd'|e f");
	check_split("'''exec' \"/a b/python\" \"$0\"\n'''", "exec|/a b/python|$0|");
	check_split("\"a\\\"b\" 'never ends", "a\"b|never ends");
	check_split("a\\\nb", "ab");
	check_split("\\", "\\");
	check_split("''", "");
}

static void test_words_limit(void **state)
{
	struct words words = {0};

	assert_int_equal(words_split(&words, "a b c d", 7, 2), 0);
	assert_words(&words, "a|b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_env),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_words_limit),
	};

	return cmocka_run_group_tests_name("locate/script", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of locate_binary over every interpreter at hand; each is its own oracle for the version.
 */
#include "locate/locate.h"
#include "pythons.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

static size_t count(const struct locate_binary *binary, enum locate_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < binary->n_sites; i++)
		n += binary->sites[i].kind == kind;
	return n;
}

static void check_one(const struct python *python)
{
	struct locate_binary *binary = NULL;
	struct err err = {0};
	int r = locate_binary(python->binary, &binary, &err);

	print_message("%s: %s\n", python->binary, r ? err.text : binary->version);
	if (python->version[0] == '2') {
		assert_int_equal(r, -EOPNOTSUPP);
		assert_non_null(strstr(err.text, "Python 2"));
		return;
	}
	assert_int_equal(r, 0);
	assert_int_equal(strncmp(binary->version, python->version, strlen(python->version)), 0);
	assert_int_equal(binary->free_threaded, python->free_threaded);
	assert_true(count(binary, LOCATE_ACQUIRE) >= 1);
	assert_true(count(binary, LOCATE_SIGNAL) >= 1);
	assert_true(count(binary, LOCATE_TIMEDWAIT) >= 1);
	assert_true(count(binary, LOCATE_WAIT) >= 1);
	assert_true(binary->ino != 0);
	if (binary->minor >= 7 && binary->machine == EM_X86_64)
		assert_int_equal(binary->switch_delta, 88);
	else
		assert_true(binary->switch_delta != 0);
	locate_binary_free(binary);
}

static void test_every_python(void **state)
{
	static struct python pythons[PYTHONS_MAX];
	size_t n = pythons_find(pythons);

	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		check_one(&pythons[i]);
}

static void expect(const char *path, int code, const char *words)
{
	struct locate_binary *binary = NULL;
	struct err err = {0};

	assert_int_equal(locate_binary(path, &binary, &err), code);
	assert_null(binary);
	assert_non_null(strstr(err.text, words));
}

static void test_other_files(void **state)
{
	expect("/nonexistent/python", -ENOENT, "unable to open");
	expect("/", -EISDIR, "not a regular file");
	expect("/dev/null", -EBADMSG, "not a regular file");
	expect("/etc/passwd", -EBADMSG, "not an ELF file");
	expect("/bin/sh", -ENOENT, "holds no CPython interpreter");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_python),
		cmocka_unit_test(test_other_files),
	};

	return cmocka_run_group_tests_name("locate/binary", tests, NULL, NULL);
}

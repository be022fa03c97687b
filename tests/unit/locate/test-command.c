/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of locate_command: PATH, scripts, env, shims, venvs, wrappers, and what cannot be run.
 * One interpreter at hand stands behind all names; PATH holds only what a test puts there.
 */
#include "folder.h"
#include "locate/locate.h"
#include "pythons.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct python pythons[PYTHONS_MAX];
static size_t n_pythons;
static char exe[PATH_MAX]; /* the real executable of pythons[0] */
static struct folder folder;

/* The first binary must be pythons[0]'s; `how` as expected. */
static void expect_how(enum locate_how how, const char *const *argv, const char *python)
{
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	struct err err = {0};
	int r = locate_command((char *const *)argv, python, &target, &err);

	if (r)
		print_message("%s: %s\n", argv[0], err.text);
	assert_int_equal(r, 0);
	assert_true(target->n_binaries >= 1);
	assert_string_equal(target->binaries[0]->path, pythons[0].binary);
	assert_int_equal(target->how, how);
	assert_non_null(target->interpreter);
	for (size_t i = 1; i < target->n_binaries; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(target->binaries[i]->dev == target->binaries[k]->dev &&
				     target->binaries[i]->ino == target->binaries[k]->ino);
}

#define expect(how, ...) expect_how(how, (const char *[]){__VA_ARGS__, NULL}, NULL)

static void expect_error(int code, const char *words, const char *program, const char *python)
{
	const char *argv[] = {program, NULL};
	struct locate_target *target = NULL;
	struct err err = {0};

	assert_int_equal(locate_command((char *const *)argv, python, &target, &err), code);
	assert_null(target);
	assert_non_null(strstr(err.text, words));
}

/* Only the folder's bin and the system's plain tools are in PATH. */
static int setup(void **state)
{
	char path[1024];

	folder_make(&folder);
	folder_link(&folder, "bin/python3", exe);
	folder_link(&folder, "bin/sh", "/bin/sh");
	folder_link(&folder, "bin/env", "/usr/bin/env");
	snprintf(path, sizeof(path), "%s/bin", folder.path);
	setenv("PATH", path, 1);
	setenv("HOME", folder.path, 1);
	unsetenv("VIRTUAL_ENV");
	unsetenv("CONDA_PREFIX");
	unsetenv("PYENV_ROOT");
	unsetenv("PYENV_VERSION");
	return chdir(folder.path);
}

static int teardown(void **state)
{
	folder_remove(&folder);
	return 0;
}

static void test_direct(void **state)
{
	expect(LOCATE_DIRECT, "python3", "x.py");
	expect(LOCATE_DIRECT, exe, "x.py");
	expect(LOCATE_DIRECT, "env", "A=1", "-u", "B", "python3", "x.py");
	folder_link(&folder, "venv/bin/python", exe);
	expect(LOCATE_DIRECT, folder_at(&folder, "venv/bin/python"));
	expect(LOCATE_DIRECT, "venv/bin/python");
}

static void test_shebang(void **state)
{
	char text[PATH_MAX + 64];

	snprintf(text, sizeof(text), "#! %s -x \nprint(1)\n", exe);
	folder_file(&folder, "bin/plain", 0755, text);
	expect(LOCATE_DIRECT, "plain");
	folder_file(&folder, "bin/by-env", 0755, "#!/usr/bin/env python3\n");
	expect(LOCATE_DIRECT, "by-env");
	folder_file(&folder, "bin/by-env-s", 0755, "#!/usr/bin/env -S A=1 python3 -x\n");
	expect(LOCATE_DIRECT, "by-env-s");
	folder_file(&folder, "bin/by-env-vs", 0755, "#!/usr/bin/env -vSpython3 -x\n");
	expect(LOCATE_DIRECT, "by-env-vs");
	snprintf(text, sizeof(text), "#!%s/bin/plain\n", folder.path);
	folder_file(&folder, "bin/nested", 0755, text);
	expect(LOCATE_DIRECT, "nested");
	/* a loop of interpreters ends */
	snprintf(text, sizeof(text), "#!%s/bin/loop\n", folder.path);
	folder_file(&folder, "bin/loop", 0755, text);
	expect(LOCATE_GUESS, "loop");
}

static void test_shell_scripts(void **state)
{
	char text[3 * PATH_MAX];

	folder_file(&folder, "bin/run", 0755, "#!/bin/sh\n# python9\nexec python3 \"$@\"\n");
	expect(LOCATE_LIKELY, "run");
	folder_file(&folder, "bin/no-line", 0755, "exec python3 \"$@\"\n");
	expect(LOCATE_LIKELY, "no-line");
	folder_file(&folder, "bin/outer", 0755, "#!/bin/sh\nrun x\n");
	expect(LOCATE_LIKELY, "outer");
	folder_link(&folder, "with blank/python", exe);
	snprintf(text, sizeof(text),
		"#!/bin/sh\n'''exec' \"%s/with blank/python\" \"$0\" \"$@\"\n'''\n", folder.path);
	folder_file(&folder, "bin/long-pip", 0755, text);
	expect(LOCATE_LIKELY, "long-pip");
	expect(LOCATE_LIKELY, "sh", "-c", "cd / && PYTHON=python3; exec python3 x.py");
	folder_file(&folder, "bin/other", 0755, "#!/bin/sh\necho hello\n");
	expect(LOCATE_GUESS, "other");
}

static void test_words(void **state)
{
	folder_link(&folder, "bin/wrapper", "/bin/sh");
	expect(LOCATE_LIKELY, "wrapper", "5", "python3", "x.py");
	expect(LOCATE_LIKELY, "wrapper", "run", "x.py");
	expect(LOCATE_LIKELY, "wrapper", "--python=python3");
	expect(LOCATE_GUESS, "wrapper", "build");
	expect_how(LOCATE_LIKELY, (const char *[]){"wrapper", "build", NULL}, "python3");
}

static void make_shim(void)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"#!/usr/bin/env sh\nprogram=\"${0##*/}\"\nexport PYENV_ROOT=\"%s/pyenv\"\n"
		"exec \"%s/pyenv/libexec/pyenv\" exec \"$program\" \"$@\"\n",
		folder.path, folder.path);
	folder_file(&folder, "shims/python3", 0755, text);
	folder_link(&folder, "pyenv/versions/3.98.2/bin/python3", "/bin/sh");
	folder_link(&folder, "pyenv/versions/3.99.2/bin/python3", "/bin/sh");
	folder_link(&folder, "pyenv/versions/3.99.10/bin/python3", exe);
	unlink(folder_at(&folder, "bin/python3"));
	snprintf(text, sizeof(text), "%s/shims:%s/bin", folder.path, folder.path);
	setenv("PATH", text, 1);
}

static void test_shim(void **state)
{
	const char *none[] = {"python3", NULL};
	struct locate_target *target = NULL;
	struct err err = {0};

	make_shim();
	setenv("PYENV_VERSION", "3.98.2", 1);
	assert_int_equal(locate_command((char *const *)none, NULL, &target, &err), 0);
	assert_int_equal(target->how, LOCATE_GUESS);
	locate_target_free(target);
	setenv("PYENV_VERSION", "3.98.2:3.99.10", 1);
	expect(LOCATE_LIKELY, "python3");
	setenv("PYENV_VERSION", "python-3.99", 1);
	expect(LOCATE_LIKELY, "python3");
	unsetenv("PYENV_VERSION");
	folder_file(&folder, "pyenv/version", 0644, "3.99.10\n");
	expect(LOCATE_LIKELY, "python3");
	folder_file(&folder, "pyenv/version", 0644, "3.98.2\n");
	folder_file(&folder, "app/.python-version", 0644, "# mine\n3.99\n");
	folder_file(&folder, "app/sub/x.py", 0644, "");
	expect(LOCATE_LIKELY, "python3", "app/sub/x.py");
	assert_int_equal(chdir("app/sub"), 0);
	expect(LOCATE_LIKELY, "python3", "-c", "pass");
	assert_int_equal(chdir(folder.path), 0);
	/* "system" is the same name behind the shims */
	folder_file(&folder, "pyenv/version", 0644, "system\n");
	folder_link(&folder, "bin/python3", exe);
	expect(LOCATE_LIKELY, "python3");
}

static void test_venvs(void **state)
{
	unlink(folder_at(&folder, "bin/python3"));
	folder_link(&folder, "active/bin/python3", exe);
	folder_link(&folder, "bin/tool", "/bin/sh");
	setenv("VIRTUAL_ENV", folder_at(&folder, "active"), 1);
	expect(LOCATE_GUESS, "tool");
	unsetenv("VIRTUAL_ENV");
	folder_link(&folder, "project/.venv/bin/python3", exe);
	folder_file(&folder, "project/src/x", 0644, "");
	assert_int_equal(chdir("project/src"), 0);
	expect(LOCATE_GUESS, "tool", "run");
	assert_int_equal(chdir(folder.path), 0);
}

/* What version managers keep in the home folder is worth a guess. */
static void test_managed(void **state)
{
	unlink(folder_at(&folder, "bin/python3"));
	folder_link(&folder, "bin/tool", "/bin/sh");
	folder_link(&folder, ".local/share/uv/python/cpython-3/bin/python3", exe);
	expect(LOCATE_GUESS, "tool", "run");
}

/* Scripts that are not executable, and commands of the working directory. */
static void test_hints(void **state)
{
	static const char *const cases[][2] = {
		{"x.py", "python3 x.py"}, {"./x.py", "python3 ./x.py"}, {"run-me", "./run-me"}};

	folder_file(&folder, "x.py", 0644, "");
	folder_file(&folder, "run-me", 0755, "#!/bin/sh\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *argv[] = {cases[i][0], NULL};
		struct locate_target *target = NULL;
		struct err err = {0};

		assert_true(locate_command((char *const *)argv, NULL, &target, &err) < 0);
		assert_non_null(strstr(err.hint, cases[i][1]));
	}
}

/* A venv made with --copies: another file, the same libpython, or a second copy of the GIL code. */
static void test_copy(void **state)
{
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	const char *argv[] = {folder_copy(&folder, "copy/bin/python", exe), NULL};
	struct err err = {0};
	bool whole = !strcmp(exe, pythons[0].binary);

	assert_int_equal(locate_command((char *const *)argv, NULL, &target, &err), 0);
	assert_int_equal(target->how, LOCATE_DIRECT);
	assert_string_equal(target->binaries[0]->path, whole ? argv[0] : pythons[0].binary);
}

static void test_nothing_found(void **state)
{
	const char *argv[] = {"tool", NULL};
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	struct err err = {0};

	unlink(folder_at(&folder, "bin/python3"));
	folder_link(&folder, "bin/tool", "/bin/sh");
	assert_int_equal(locate_command((char *const *)argv, NULL, &target, &err), 0);
	assert_int_equal(target->how, LOCATE_GUESS);
	if (!target->n_binaries)
		assert_non_null(strstr(err.hint, "--python"));
}

static void test_errors(void **state)
{
	expect_error(-ENOENT, "no such command in PATH", "nonexistent", NULL);
	expect_error(-ENOENT, "no such command in PATH", "", NULL);
	expect_error(-ENOENT, "no such file", "./nonexistent", NULL);
	expect_error(-EACCES, "not an executable file", "/", NULL);
	folder_file(&folder, "bin/data", 0644, "x");
	expect_error(-EACCES, "not an executable file", "data", NULL);
	expect_error(-ENOENT, "no such file", "python3", "/nonexistent/python");
	expect_error(-EACCES, "not an executable file", "python3", "/etc/passwd");
	expect_error(-EINVAL, "no CPython interpreter", "python3", "/bin/sh");
	folder_file(&folder, "bin/empty", 0755, "");
	expect(LOCATE_GUESS, "empty");
	folder_file(&folder, "bin/broken", 0755, "\177ELF broken");
	expect(LOCATE_GUESS, "broken");
}

static void test_python2(void **state)
{
	for (size_t i = 0; i < n_pythons; i++)
		if (pythons[i].version[0] == '2')
			expect_error(-EOPNOTSUPP, "Python 2", pythons[i].command, NULL);
}

/* Every interpreter is found by the name that starts it. */
static void test_every_python(void **state)
{
	for (size_t i = 0; i < n_pythons; i++) {
		const char *argv[] = {pythons[i].command, "x.py", NULL};
		_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
		struct err err = {0};

		if (pythons[i].version[0] == '2')
			continue;
		assert_int_equal(locate_command((char *const *)argv, NULL, &target, &err), 0);
		assert_true(target->n_binaries >= 1);
		assert_string_equal(target->binaries[0]->path, pythons[i].binary);
		assert_int_not_equal(target->how, LOCATE_GUESS);
	}
}

int main(void)
{
#define in_folder(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_python),
		in_folder(test_direct),
		in_folder(test_shebang),
		in_folder(test_shell_scripts),
		in_folder(test_words),
		in_folder(test_shim),
		in_folder(test_venvs),
		in_folder(test_managed),
		in_folder(test_hints),
		in_folder(test_copy),
		in_folder(test_nothing_found),
		in_folder(test_errors),
		in_folder(test_python2),
	};

	n_pythons = pythons_find(pythons);
	if (!n_pythons || !pythons_executable(&pythons[0], exe, sizeof(exe)))
		return 77; /* nothing to test with: skipped */
	return cmocka_run_group_tests_name("locate/command", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of locate_process and locate_users on living interpreters: plain, deleted, and in another
 * mount namespace.
 */
#include "folder.h"
#include "locate/locate.h"
#include "pythons.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

static struct python pythons[PYTHONS_MAX];
static size_t n_pythons;
static char exe[sizeof(pythons[0].command)];

/* A python that has said that it runs and then waits for the end of its input. */
struct child {
	pid_t pid;
	int in;
};

static const char program[] = "import os, sys\nos.write(1, b'up')\nsys.stdin.read()\n";

/* @newns: a folder to cover with a tmpfs that only the child sees; the executable is copied there.
 */
static struct child start(const char *path, const char *newns)
{
	int in[2], out[2];
	struct child child;
	char up[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	child.pid = fork();
	if (!child.pid) {
		char copy[PATH_MAX];

		dup2(in[0], 0);
		dup2(out[1], 1);
		if (newns) {
			struct folder inner;

			if (unshare(CLONE_NEWNS) ||
				mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
				mount("tmpfs", newns, "tmpfs", 0, NULL))
				_exit(3);
			snprintf(inner.path, sizeof(inner.path), "%s", newns);
			snprintf(copy, sizeof(copy), "%s", folder_copy(&inner, "python", path));
			path = copy;
		}
		execl(path, path, "-c", program, NULL);
		_exit(2);
	}
	close(in[0]);
	close(out[1]);
	child.in = in[1];
	if (read(out[0], up, 2) != 2) {
		close(child.in);
		waitpid(child.pid, NULL, 0);
		child.pid = -1;
	}
	close(out[0]);
	return child;
}

static void stop(struct child *child)
{
	close(child->in);
	waitpid(child->pid, NULL, 0);
}

/* The binary of @pid's map that holds @python's version; its path must open the right file. */
static struct locate_target *look(pid_t pid)
{
	struct locate_target *target = NULL;
	struct err err = {0};
	struct stat st;
	int r = locate_process(pid, &target, &err);

	if (r)
		print_message("%s\n", err.text);
	assert_int_equal(r, 0);
	assert_int_equal(target->n_binaries, 1);
	assert_int_equal(target->how, LOCATE_DIRECT);
	assert_int_equal(stat(target->binaries[0]->path, &st), 0);
	assert_true(st.st_dev == target->binaries[0]->dev);
	assert_true(st.st_ino == target->binaries[0]->ino);
	return target;
}

static bool is_user(const struct locate_binary *binary, pid_t pid)
{
	pid_t pids[256];
	size_t n = locate_users(binary, pids, 256);

	for (size_t i = 0; i < n && i < 256; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static void test_every_python(void **state)
{
	for (size_t i = 0; i < n_pythons; i++) {
		_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
		struct child child;

		if (pythons[i].version[0] == '2')
			continue;
		child = start(pythons[i].command, NULL);
		target = look(child.pid);
		assert_string_equal(target->binaries[0]->path, pythons[i].binary);
		assert_true(is_user(target->binaries[0], child.pid));
		assert_false(is_user(target->binaries[0], getpid()));
		stop(&child);
		assert_false(is_user(target->binaries[0], child.pid));
	}
}

/* The first whole interpreter (not one in a libpython), or NULL. */
static const struct python *whole(void)
{
	for (size_t i = 0; i < n_pythons; i++)
		if (pythons[i].version[0] != '2' && !strstr(pythons[i].binary, "libpython"))
			return &pythons[i];
	return NULL;
}

static void test_deleted(void **state)
{
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	const struct python *python = whole();
	struct folder folder;
	const char *copy;
	struct child child;

	if (!python)
		skip();
	folder_make(&folder);
	copy = folder_copy(&folder, "python", python->binary);
	child = start(copy, NULL);
	unlink(copy);
	/* another file of the same name must not be taken for it */
	folder_copy(&folder, "python", "/bin/sh");
	target = look(child.pid);
	assert_int_equal(strncmp(target->binaries[0]->path, "/proc/", 6), 0);
	stop(&child);
	folder_remove(&folder);
}

static void test_other_namespace(void **state)
{
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	const struct python *python = whole();
	struct folder folder;
	struct child child;

	if (!python || geteuid() != 0)
		skip();
	folder_make(&folder);
	child = start(python->binary, folder.path);
	if (child.pid < 0) {
		folder_remove(&folder);
		skip();
	}
	target = look(child.pid);
	assert_int_equal(strncmp(target->binaries[0]->path, "/proc/", 6), 0);
	assert_true(is_user(target->binaries[0], child.pid));
	stop(&child);
	folder_remove(&folder);
}

static void test_no_python(void **state)
{
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	struct locate_target *none = NULL;
	struct err err = {0};

	assert_int_equal(locate_process(getpid(), &target, &err), 0);
	assert_int_equal(target->n_binaries, 0);
	assert_non_null(strstr(err.hint, "maps no CPython interpreter"));
	assert_int_equal(locate_process(INT_MAX, &none, &err), -ESRCH);
	assert_non_null(strstr(err.text, "there is no process"));
}

static void test_python2(void **state)
{
	for (size_t i = 0; i < n_pythons; i++) {
		struct locate_target *none = NULL;
		struct err err = {0};
		struct child child;

		if (pythons[i].version[0] != '2')
			continue;
		child = start(pythons[i].command, NULL);
		assert_int_equal(locate_process(child.pid, &none, &err), -EOPNOTSUPP);
		assert_non_null(strstr(err.text, "Python 2"));
		stop(&child);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_python),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_other_namespace),
		cmocka_unit_test(test_no_python),
		cmocka_unit_test(test_python2),
	};

	n_pythons = pythons_find(pythons);
	for (size_t i = 0; i < n_pythons; i++) {
		/* a shim would be a process between us and the interpreter for a moment */
		if (pythons_executable(&pythons[i], exe, sizeof(exe)))
			snprintf(pythons[i].command, sizeof(pythons[i].command), "%s", exe);
	}
	if (!n_pythons)
		return 77;
	return cmocka_run_group_tests_name("locate/process", tests, NULL, NULL);
}

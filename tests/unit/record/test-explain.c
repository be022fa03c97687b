/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record: hints are given exactly when the fact that they name holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/explain.h"
#include "record/facts.h"
#include "record/privileges.h"
#include "record/record.h"
#include "record/tracing.h"
#include "recording.h"

#include <errno.h>
#include <linux/capability.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

/* Fails in a child, where cmocka's assertions would not reach the parent. */
#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "line %d: %s\n", __LINE__, #what);                         \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void in_child(void (*child)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void drop_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}};

	for (unsigned i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = (uint32_t)(keep >> 32 * i);
	CHECK(syscall(SYS_capset, &header, data) == 0);
}

static void become_nobody(void)
{
	CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
}

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static struct locate_binary binary = {.path = (char *)"/usr/lib/libpython3.so"};
static const struct source sched = {.group = "sched", .name = "sched_switch"};

static void as_root(void)
{
	struct err err = {0};

	/* nothing that holds could be told */
	CHECK(explain_define(&binary, -EINVAL, &err) == -EINVAL);
	CHECK(has(err.text, "cannot define a uprobe in '/usr/lib/libpython3.so': Invalid"));
	CHECK(!err.hint[0]);
	CHECK(explain_mmap(2 << 20, 2, -EPERM, &err) == -EPERM && !err.hint[0]);
	CHECK(explain_open(&sched, -EINVAL, &err) == -EINVAL && !err.hint[0]);
	explain_tracefs(-EIO, &err);
	CHECK(!err.hint[0]);
	CHECK(explain_define(&binary, -ENOENT, &err) == -ENOENT);
	CHECK(has(err.hint, "CONFIG_UPROBE_EVENTS"));
}

static void as_nobody(void)
{
	struct err err = {0};

	become_nobody();
	CHECK(explain_define(&binary, -EACCES, &err) == -EACCES);
	CHECK(has(err.hint, "writing uprobe_events needs root; you are uid 65534"));
	CHECK(has(err.hint, "sudo gilprobe record"));
	err_clear(&err);
	CHECK(tracing_ready(&err) == -EACCES);
	CHECK(has(err.hint, "tracefs needs root; you are uid 65534"));
	err_clear(&err);
	explain_mmap(2 << 20, 2, -EPERM, &err);
	CHECK(has(err.hint, "without CAP_IPC_LOCK") && has(err.hint, "perf_event_mlock_kb=2052"));
	err_clear(&err);
	explain_mmap(2 << 20, 2, -ENOMEM, &err);
	CHECK(!err.hint[0]);
}

static void as_root_of_a_container(void)
{
	struct facts facts;
	struct err err = {0};

	drop_capabilities(0);
	facts_read(&facts);
	CHECK(facts.euid == 0 && !facts.cap_sys_admin && !facts.cap_perfmon);
	explain_define(&binary, -EPERM, &err);
	CHECK(has(err.hint, "CAP_SYS_ADMIN") && has(err.hint, "--privileged"));
	/* sudo would not help */
	CHECK(!has(err.hint, "sudo"));
	err_clear(&err);
	explain_open(&sched, -EACCES, &err);
	CHECK(has(err.text, "cannot open event 'sched:sched_switch' on every CPU"));
	CHECK(facts.paranoid < 0 || has(err.hint, "kernel.perf_event_paranoid is "));
}

static void without_files(void)
{
	struct rlimit limit = {100, 100};
	struct err err = {0};

	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	explain_open(&sched, -EMFILE, &err);
	CHECK(has(err.hint, "'ulimit -Hn' is 100"));
}

/* Unmounts one file system of @type. False when there is none. */
static bool unmount_one(const char *type)
{
	FILE *f = setmntent("/proc/mounts", "r");
	struct mntent *mount;
	bool done = false;

	CHECK(f);
	while (!done && (mount = getmntent(f)))
		done = !strcmp(mount->mnt_type, type) && umount2(mount->mnt_dir, MNT_DETACH) == 0;
	endmntent(f);
	return done;
}

/* The list shifts under a reader that unmounts, so it is read again for each. */
static void unmount_all(const char *type)
{
	while (unmount_one(type))
		;
}

static void without_tracefs(void)
{
	struct err err = {0};

	CHECK(unshare(CLONE_NEWNS) == 0);
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	unmount_all("tracefs");
	unmount_all("debugfs");
	become_nobody();
	CHECK(tracing_ready(&err) == -ENODEV);
	CHECK(has(err.text, "tracefs is not mounted"));
	CHECK(has(err.hint, "mount -t tracefs"));
}

static const struct privilege *named(const struct privilege *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static void privileges_of_root(void)
{
	struct privilege list[PRIVILEGES_MAX];
	size_t n = privileges_check(list);

	CHECK(n > 4 && n <= PRIVILEGES_MAX);
	for (size_t i = 0; i < n; i++) {
		CHECK(list[i].name && list[i].fact[0]);
		CHECK(list[i].state != PRIVILEGE_OK || !list[i].fix[0]);
		CHECK(list[i].state != PRIVILEGE_MISSING);
	}
}

static void privileges_of_nobody(void)
{
	struct privilege list[PRIVILEGES_MAX];
	const struct privilege *uprobes;
	size_t n;

	become_nobody();
	n = privileges_check(list);
	CHECK(n > 4 && n <= PRIVILEGES_MAX);
	uprobes = named(list, n, "uprobes");
	CHECK(uprobes && uprobes->state == PRIVILEGE_MISSING);
	CHECK(has(uprobes->fact, "uid 65534") && has(uprobes->fix, "sudo"));
	CHECK(named(list, n, "capabilities")->state != PRIVILEGE_OK);
}

static void test_root(void **state)
{
	in_child(as_root);
}

static void test_nobody(void **state)
{
	in_child(as_nobody);
}

static void test_root_of_a_container(void **state)
{
	in_child(as_root_of_a_container);
}

static void test_no_files(void **state)
{
	in_child(without_files);
}

static void test_no_tracefs(void **state)
{
	in_child(without_tracefs);
}

static void test_privileges(void **state)
{
	in_child(privileges_of_root);
	in_child(privileges_of_nobody);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_root_of_a_container),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_no_tracefs),
		cmocka_unit_test(test_privileges),
	};

	recording_needs_root();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

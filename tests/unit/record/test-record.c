/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record: real sessions on PATH's python3: launch, attach, signals, kills, failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS                                                                                    \
	"import threading, time\n"                                                                 \
	"def f():\n"                                                                               \
	"    for i in range(200): time.sleep(0)\n"                                                 \
	"ts = [threading.Thread(target=f) for i in range(3)]\n"                                    \
	"[t.start() for t in ts]; [t.join() for t in ts]\n"

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static void read_file(const char *path, char *ret, size_t size)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	ret[fread(ret, 1, size - 1, f)] = '\0';
	fclose(f);
}

static void test_launch(void **state)
{
	struct recording r;
	struct contents c;

	recording_init(&r, THREADS "raise SystemExit(7)");
	assert_int_equal(recording_run(&r), 0);
	assert_true(r.result.launched);
	assert_int_equal(r.result.exit_code, 7);
	assert_int_equal(r.result.signal, 0);
	assert_false(r.result.interrupted);
	assert_false(recording_has_group(getpid()));
	c = recording_read("x.data");
	assert_false(c.unfinished);
	assert_int_equal(c.n_pids, 1);
	assert_true(c.acquires > 600);
	assert_true(c.releases > 600);
	assert_true(c.switches > 0 && c.wakeups > 0);
	assert_int_equal(c.forks, 3);
	assert_int_equal(c.exits, 4);
	assert_int_equal(c.execs, 1);
	assert_true(c.maps > 1);
	assert_true(r.result.events >= c.acquires + c.releases + c.switches + c.wakeups);
}

static void test_process_tree(void **state)
{
	struct recording r;
	struct contents c;

	recording_init(&r,
		"import os, subprocess, sys\n"
		"for i in range(5):\n"
		"    pid = os.fork()\n"
		"    if not pid: os._exit(0)\n"
		"    os.waitpid(pid, 0)\n"
		"subprocess.check_call(['sh', '-c', 'true; ' + sys.executable + ' -c 1; true'])\n"
		"os.execv(sys.executable, ['python3', '-c', '1'])\n");
	assert_int_equal(recording_run(&r), 0);
	assert_int_equal(r.result.exit_code, 0);
	c = recording_read("x.data");
	/* ourselves (twice, over exec), five children, and the shell's */
	assert_int_equal(c.n_pids, 7);
	assert_true(c.execs >= 4);
}

static void test_interpreter_that_nobody_foresaw(void **state)
{
	struct recording r;
	struct contents c;

	recording_init(&r, "import time\n"
			   "for i in range(3000): time.sleep(0.001)\n");
	r.unforeseen = true;
	assert_int_equal(recording_run(&r), 0);
	assert_int_equal(r.result.exit_code, 0);
	assert_non_null(r.result.late_path);
	free(r.result.late_path);
	c = recording_read("x.data");
	assert_int_equal(c.n_pids, 1);
	assert_true(c.acquires > 100);
	assert_true(c.releases > 100);
	assert_false(recording_has_group(getpid()));
}

static void test_signal_status(void **state)
{
	struct recording r;

	recording_init(&r, "import os; os.kill(os.getpid(), 9)");
	assert_int_equal(recording_run(&r), 0);
	assert_int_equal(r.result.signal, SIGKILL);
	recording_read("x.data");
}

static void test_exec_failures(void **state)
{
	struct recording r;
	char text[64];

	write_file("x.data", "an older recording", 0644);
	unlink("x.data.old");
	recording_init(&r, "");
	r.argv[0] = (char *)"./missing";
	assert_int_equal(recording_run(&r), -ENOENT);
	assert_true(r.result.exec_failed);
	assert_string_equal(r.err.text, "cannot run './missing': No such file or directory");
	write_file("plain", "text", 0644);
	recording_init(&r, "");
	r.argv[0] = (char *)"./plain";
	assert_int_equal(recording_run(&r), -EACCES);
	assert_true(r.result.exec_failed);
	read_file("x.data", text, sizeof(text));
	assert_string_equal(text, "an older recording");
	assert_false(exists("x.data.old"));
	assert_false(recording_has_group(getpid()));
}

static void test_older_file(void **state)
{
	struct recording r;
	char text[64];

	write_file("x.data", "an older recording", 0644);
	recording_init(&r, "");
	assert_int_equal(recording_run(&r), 0);
	read_file("x.data.old", text, sizeof(text));
	assert_string_equal(text, "an older recording");
	recording_read("x.data");
}

static void test_no_place_to_write(void **state)
{
	struct recording r;

	unlink("ran");
	recording_init(&r, "open('ran', 'w')");
	r.options.output = "missing/x.data";
	assert_int_equal(recording_run(&r), -ENOENT);
	assert_false(r.result.exec_failed);
	assert_string_equal(
		r.err.text, "cannot create 'missing/x.data': No such file or directory");
	recording_init(&r, "import time; time.sleep(60)");
	r.options.output = "/dev/full";
	assert_int_equal(recording_run(&r), -ENOSPC);
	assert_false(exists("ran"));
	assert_false(recording_has_group(getpid()));
}

static void test_workload_is_clean(void **state)
{
	struct recording r;
	char text[256], expect[256];

	/* no descriptor, signal mask or priority of the recorder's */
	recording_init(&r,
		"import os, signal\n"
		"def link(f):\n"
		"    try: return os.readlink('/proc/self/fd/' + f)\n"
		"    except OSError: return ''\n"
		"fds = [link(f) for f in os.listdir('/proc/self/fd') if int(f) > 2]\n"
		"bad = [f for f in fds if 'anon' in f or 'x.data' in f]\n"
		"mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])\n"
		"print(bad, len(mask), os.getpriority(os.PRIO_PROCESS, 0), os.getpgrp(),\n"
		"    file=open('state', 'w'))\n");
	assert_int_equal(recording_run(&r), 0);
	read_file("state", text, sizeof(text));
	snprintf(expect, sizeof(expect), "[] 0 %d %d\n", getpriority(PRIO_PROCESS, 0),
		(int)getpgrp());
	assert_string_equal(text, expect);
}

static void test_as_the_user_behind_sudo(void **state)
{
	struct recording r;
	struct stat st;
	char text[128];

	assert_int_equal(chmod(".", 0777), 0);
	/* USER is root's, LOGNAME was set on purpose */
	setenv("USER", "root", 1);
	setenv("LOGNAME", "somebody", 1);
	setenv("HOME", "/tmp", 1);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	/* no Python: a user's own may lie in a home that nobody else can enter */
	recording_init(&r, "(id -u; id -g; id -G; echo $USER $LOGNAME $HOME) > who");
	r.argv[0] = (char *)"sh";
	assert_int_equal(recording_run(&r), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_true(r.result.run_as_user);
	assert_int_equal(r.result.uid, 65534);
	read_file("who", text, sizeof(text));
	assert_string_equal(text, "65534\n65534\n65534\nnobody somebody /tmp\n");
	assert_int_equal(stat("x.data", &st), 0);
	assert_int_equal(st.st_uid, 65534);
}

static void test_duration(void **state)
{
	struct recording r;

	recording_init(&r, "import time\nwhile True: time.sleep(0.001)");
	r.options.duration_ns = 300000000;
	assert_int_equal(recording_run(&r), 0);
	assert_true(r.result.timed_out);
	assert_true(r.result.duration_ns >= 300000000);
	assert_false(recording_read("x.data").unfinished);
}

static pid_t start_python(const char *script)
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		execlp("python3", "python3", "-c", script, NULL);
		_exit(127);
	}
	return pid;
}

static void test_attach(void **state)
{
	struct recording r;
	struct contents c;
	pid_t pid;

	unlink("ready");
	pid = start_python(
		"import threading, time, os\n"
		"def f():\n"
		"    while True: time.sleep(0.001)\n"
		"def g():\n"
		"    while True:\n"
		"        t = threading.Thread(target=time.sleep, args=(0.001,)); t.start(); t.join()\n"
		"if os.fork() == 0:\n"
		"    f()\n"
		"threading.Thread(target=f).start(); threading.Thread(target=g).start()\n"
		"open('ready', 'w')\n");
	while (!exists("ready"))
		pause_ms(10);
	recording_init(&r, "");
	r.options.argv = NULL;
	r.options.pid = pid;
	r.options.duration_ns = 300000000;
	assert_int_equal(recording_run(&r), 0);
	assert_false(r.result.launched);
	assert_int_equal(kill(pid, 0), 0);
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	c = recording_read("x.data");
	/* the process and its child; threads that were there, and new ones */
	assert_int_equal(c.n_pids, 2);
	assert_true(c.forks > 10);
	assert_true(c.maps > 1);
}

static void test_attach_to_nobody(void **state)
{
	struct recording r;

	recording_init(&r, "");
	r.options.argv = NULL;
	r.options.pid = start_python("");
	waitpid(r.options.pid, NULL, 0);
	unlink("x.data");
	assert_int_equal(recording_run(&r), -ESRCH);
	assert_false(exists("x.data"));
}

/* A recorder of its own, for killing. Its exit status: 100 + signal, or the target's. */
static pid_t start_recorder(const char *script)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct recording r;
		int code;

		setpgid(0, 0);
		recording_init(&r, script);
		code = recording_run(&r);
		_exit(code < 0 ? 99 : r.result.signal ? 100 + r.result.signal : r.result.exit_code);
	}
	return pid;
}

static int wait_status(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void wait_for_file(const char *path)
{
	for (unsigned i = 0; i < 3000 && !exists(path); i++)
		pause_ms(10);
	assert_true(exists(path));
}

static void test_signals_go_on_to_the_target(void **state)
{
	/* no file object: an interrupt in its destructor would be swallowed */
	static const char script[] = "import os, time, sys\n"
				     "try:\n"
				     "    os.mknod('ready'); time.sleep(60)\n"
				     "except KeyboardInterrupt: sys.exit(33)\n";
	pid_t pid;

	unlink("ready");
	pid = start_recorder(script);
	wait_for_file("ready");
	kill(pid, SIGINT);
	assert_int_equal(wait_status(pid), 33);
	recording_read("x.data");
	unlink("ready");
	pid = start_recorder(script);
	wait_for_file("ready");
	kill(pid, SIGTERM);
	assert_int_equal(wait_status(pid), 100 + SIGTERM);
	assert_false(recording_read("x.data").unfinished);
	assert_false(recording_has_group(pid));
}

static void test_recorder_is_killed(void **state)
{
	struct contents c;
	pid_t pid;

	unlink("ready");
	unlink("done");
	pid = start_recorder("import time\n"
			     "for i in range(500): time.sleep(0.001)\n"
			     "open('ready', 'w')\n"
			     "for i in range(500): time.sleep(0.001)\n"
			     "open('done', 'w')\n");
	wait_for_file("ready");
	assert_true(recording_has_group(pid));
	kill(pid, SIGKILL);
	assert_int_equal(wait_status(pid), -SIGKILL);
	/* the workload runs on, the janitor cleans up, and the file can be read */
	wait_for_file("done");
	for (unsigned i = 0; i < 3000 && recording_has_group(pid); i++)
		pause_ms(10);
	assert_false(recording_has_group(pid));
	c = recording_read("x.data");
	assert_true(c.unfinished);
	assert_true(c.samples > 100);
	assert_true(c.rounds > 1);
}

static int enter(void **state)
{
	recording_enter();
	return 0;
}

static int leave(void **state)
{
	recording_leave();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launch),
		cmocka_unit_test(test_process_tree),
		cmocka_unit_test(test_interpreter_that_nobody_foresaw),
		cmocka_unit_test(test_signal_status),
		cmocka_unit_test(test_exec_failures),
		cmocka_unit_test(test_older_file),
		cmocka_unit_test(test_no_place_to_write),
		cmocka_unit_test(test_workload_is_clean),
		cmocka_unit_test(test_as_the_user_behind_sudo),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_attach_to_nobody),
		cmocka_unit_test(test_signals_go_on_to_the_target),
		cmocka_unit_test(test_recorder_is_killed),
	};

	recording_needs_root();
	return cmocka_run_group_tests(tests, enter, leave);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: prepares a run, starts it without a recording, reads what it measured.
 *
 * The interpreter is always executed, never embedded by us: only so do sys.path, the virtual
 * environment and sys.executable come out as in `python script.py` for every build of it, be
 * libpython shared or inside the executable. The runner travels as a memfd.
 */
#include "workload/workload.h"

#include "workload/internal.h"
#include "workload/log.h"

#include "runner-bytes.h" /* made by embed.py */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LOG_MAX (64u << 20)

static int write_runner(void)
{
	int fd = memfd_create("gilprobe-runner", MFD_CLOEXEC);
	size_t at = 0;

	if (fd < 0)
		return -errno;
	while (at < runner_bytes_size) {
		ssize_t n = write(fd, runner_bytes + at, runner_bytes_size - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int r = -errno;

			close(fd);
			return r;
		}
		at += (size_t)n;
	}
	return fd;
}

static int open_files(struct workload *w, const struct plan *plan)
{
	w->runner_fd = write_runner();
	if (w->runner_fd < 0)
		return w->runner_fd;
	w->plan_fd = plan_write(plan);
	if (w->plan_fd < 0)
		return w->plan_fd;
	w->log_fd = memfd_create("gilprobe-log", MFD_CLOEXEC);
	if (w->log_fd < 0 || pipe2(w->lines, O_CLOEXEC) < 0)
		return -errno;
	return 0;
}

static void make_argv(struct workload *w)
{
	const int fds[3] = {w->runner_fd, w->plan_fd, w->lines[1]};
	size_t n = 0;

	w->argv[n++] = w->python;
	if (w->libpython)
		w->argv[n++] = (char *)WORKLOAD_LIBPYTHON;
	w->argv[n++] = (char *)"-B"; /* leave no __pycache__ beside the target */
	w->argv[n++] = (char *)"-c";
	w->argv[n++] = (char *)runner_boot;
	for (size_t i = 0; i < 3; i++) {
		snprintf(w->fd_words[i], sizeof(w->fd_words[i]), "%d", fds[i]);
		w->argv[n++] = w->fd_words[i];
	}
	w->argv[n] = NULL;
	snprintf(w->runner_path, sizeof(w->runner_path), "/proc/self/fd/%d", w->runner_fd);
}

static int find_interpreter(struct workload *w, struct err *err)
{
	struct err none = {0};
	int r = workload_python(w->options.python, &w->python, &none);

	if (r == -ENOENT && !w->options.python && (w->libpython = workload_libpython())) {
		w->python = realpath("/proc/self/exe", NULL);
		return w->python ? 0 : err_errno(err, -errno, "cannot find the path of gilprobe");
	}
	if (r < 0)
		*err = none;
	return r;
}

int workload_new(const struct workload_options *options, struct workload **ret, struct err *err)
{
	_cleanup_(cleanup_workload) struct workload *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return err_nomem(err);
	w->options = *options;
	w->runner_fd = w->plan_fd = w->log_fd = w->lines[0] = w->lines[1] = -1;
	r = find_interpreter(w, err);
	if (r < 0)
		return r;
	r = open_files(w, options->plan);
	if (r < 0)
		return err_errno(err, r, "cannot make the files of a run");
	make_argv(w);
	*ret = steal_ptr(w);
	return 0;
}

void workload_free(struct workload *workload)
{
	if (!workload)
		return;
	for (size_t i = 0; i < 2; i++)
		if (workload->lines[i] >= 0)
			close(workload->lines[i]);
	if (workload->log_fd >= 0)
		close(workload->log_fd);
	if (workload->plan_fd >= 0)
		close(workload->plan_fd);
	if (workload->runner_fd >= 0)
		close(workload->runner_fd);
	free(workload->python);
	free(workload->libpython);
	free(workload);
}

char *const *workload_argv(const struct workload *workload)
{
	return workload->argv;
}

const char *workload_interpreter(const struct workload *workload)
{
	return workload->libpython;
}

const char *workload_mark(const struct workload *workload, uint64_t *ret_offset)
{
	*ret_offset = runner_bytes_gilprobe_mark;
	return workload->runner_path;
}

int workload_run(struct workload *workload, struct err *err)
{
	sigset_t wait_for, before;
	pid_t pid;
	int r = 0, status = 0;

	workload_signals(&wait_for);
	sigprocmask(SIG_BLOCK, &wait_for, &before);
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		_exit(workload_supervise(workload));
	}
	if (pid < 0)
		r = err_errno(err, -errno, "cannot start a process");
	while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
		int number = sigwaitinfo(&wait_for, NULL);

		if (number > 0 && number != SIGCHLD)
			kill(pid, number);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

int workload_result(struct workload *workload, struct scale_result *ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t size, at = 0;

	*ret = (struct scale_result){0};
	if (fstat(workload->log_fd, &st) < 0)
		return err_errno(err, -errno, "cannot read the result");
	size = (size_t)st.st_size;
	if (size > LOG_MAX)
		return err_set(err, -EFBIG, "the result is %zu bytes long", size);
	text = malloc(size + 1);
	if (!text)
		return err_nomem(err);
	while (at < size) {
		ssize_t n = pread(workload->log_fd, text + at, size - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(err, n < 0 ? -errno : -EIO, "cannot read the result");
		at += (size_t)n;
	}
	text[size] = 0;
	return log_parse(text, size, ret, err);
}

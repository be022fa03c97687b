/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: launching the workload. In: a command line. Out: a child, held before its exec.
 *
 * Invariant: the child keeps our process group, so that Ctrl-C reaches it, and our standard
 * streams; it gets none of our descriptors, no raised priority and no blocked signal of ours. When
 * the recorder dies before the start it goes away, when it dies later it runs on.
 */
#include "record/launch.h"

#include "base/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void be_child(
	const struct record_options *options, const sigset_t *mask, int go_fd, int failed_fd)
{
	struct owner owner;
	ssize_t n;
	char byte;
	int r = 0;

	sigprocmask(SIG_SETMASK, mask, NULL);
	if (owner_behind_sudo(&owner))
		r = owner_become(&owner);
	do
		n = read(go_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	if (r >= 0 && options->child) {
		close(go_fd);
		close(failed_fd);
		_exit(options->child(options->child_user));
	}
	if (r >= 0) {
		execvp(options->argv[0], options->argv);
		r = -errno;
	}
	if (write(failed_fd, &r, sizeof(r)) < 0)
		_exit(126);
	_exit(127);
}

int launch_fork(struct launch *launch, const struct record_options *options, const sigset_t *mask,
	struct janitor *janitor, struct err *err)
{
	int go[2], failed[2];
	struct owner owner;
	int r = 0;

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "cannot make a pipe");
	if (pipe2(failed, O_CLOEXEC) < 0) {
		r = err_errno(err, -errno, "cannot make a pipe");
		close(go[0]);
		close(go[1]);
		return r;
	}
	launch->pid = fork();
	if (launch->pid == 0) {
		janitor_forget(janitor);
		close(go[1]);
		close(failed[0]);
		be_child(options, mask, go[0], failed[1]);
	}
	if (launch->pid < 0)
		r = err_errno(err, -errno, "cannot start a process for '%s'", options->argv[0]);
	close(go[0]);
	close(failed[1]);
	launch->go_fd = go[1];
	launch->failed_fd = failed[0];
	fcntl(failed[0], F_SETFL, O_NONBLOCK);
	launch->as_user = owner_behind_sudo(&owner);
	launch->uid = launch->as_user ? owner.uid : geteuid();
	if (r < 0) {
		launch->pid = 0;
		launch_end(launch);
	}
	return r;
}

static void close_pipes(struct launch *launch)
{
	if (launch->go_fd >= 0)
		close(launch->go_fd);
	if (launch->failed_fd >= 0)
		close(launch->failed_fd);
	launch->go_fd = launch->failed_fd = -1;
}

void launch_go(struct launch *launch)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;

	/* killed while it waited, it does not read; its wait status says so */
	sigaction(SIGPIPE, &ignore, &old);
	if (write(launch->go_fd, "", 1) != 1)
		close_pipes(launch);
	sigaction(SIGPIPE, &old, NULL);
}

int launch_check(struct launch *launch, const char *name, struct err *err)
{
	ssize_t n;
	int code = 0;

	if (launch->failed_fd < 0)
		return 0;
	n = read(launch->failed_fd, &code, sizeof(code));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	close_pipes(launch);
	if (n != sizeof(code))
		return 0;
	launch_wait(launch);
	return err_errno(err, code, "cannot run '%s'", name);
}

int launch_wait(struct launch *launch)
{
	int status = 0;

	while (launch->pid > 0 && waitpid(launch->pid, &status, 0) < 0 && errno == EINTR)
		;
	launch->pid = 0;
	return status;
}

void launch_end(struct launch *launch)
{
	const struct timespec pause = {0, 20000000};

	close_pipes(launch);
	if (launch->pid <= 0)
		return;
	kill(launch->pid, SIGTERM);
	for (unsigned i = 0; i < 100; i++) {
		if (waitpid(launch->pid, NULL, WNOHANG) == launch->pid) {
			launch->pid = 0;
			return;
		}
		nanosleep(&pause, NULL);
	}
	kill(launch->pid, SIGKILL);
	launch_wait(launch);
}

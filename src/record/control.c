/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: control. In: signals, a pid, perf descriptors. Out: when to read and when to stop.
 *
 * Invariant: a signal never ends the recorder on the spot, and signals that were ignored when we
 * started (nohup, a shell's background job) stay so.
 */
#include "record/control.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* timeout(1) and terminals may send one request twice. */
#define SAME_REQUEST_NS 500000000ull

static const int taken[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int control_init(struct control *control, struct err *err)
{
	struct sigaction action;
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (sigaction(taken[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&mask, taken[i]);
	control->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	control->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (control->signal_fd < 0 || control->epoll_fd < 0)
		return err_errno(err, -errno, "cannot wait for signals");
	sigprocmask(SIG_BLOCK, &mask, &control->old_mask);
	control->masked = true;
	return 0;
}

int control_watch_fd(struct control *control, int fd, struct err *err)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 && errno != EEXIST)
		return err_errno(err, -errno, "cannot wait for events");
	return 0;
}

int control_watch(
	struct control *control, pid_t pid, bool ours, const int *fds, size_t n, struct err *err)
{
	int r;

	control->target = pid;
	control->ours = ours;
	control->pid_fd = pidfd_open(pid, 0);
	if (control->pid_fd < 0)
		return errno == ESRCH ? err_set(err, -ESRCH, "process %d does not exist", (int)pid)
				      : err_errno(err, -errno, "cannot watch process %d", (int)pid);
	r = control_watch_fd(control, control->pid_fd, err);
	if (r >= 0)
		r = control_watch_fd(control, control->signal_fd, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = control_watch_fd(control, fds[i], err);
	return r;
}

static void pass_on(const struct control *control, const struct signalfd_siginfo *info)
{
	if (control->requests > 2)
		kill(control->target, SIGKILL);
	else if (control->requests == 2)
		kill(control->target, SIGTERM);
	else if (info->ssi_code <= 0)
		/* from a process, not from the terminal, which sends to the target as well */
		kill(control->target, (int)info->ssi_signo);
}

static void read_signals(struct control *control)
{
	struct signalfd_siginfo info;

	while (read(control->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		uint64_t now = now_ns();

		if (control->requests && now - control->request_ns < SAME_REQUEST_NS)
			continue;
		control->requests++;
		control->request_ns = now;
		if (control->ours)
			pass_on(control, &info);
		else
			control->stop = true;
	}
}

void control_wait(struct control *control, int timeout_ms)
{
	struct epoll_event events[64];
	int n = epoll_wait(control->epoll_fd, events, 64, timeout_ms);

	for (int i = 0; i < n; i++) {
		int fd = events[i].data.fd;

		if (fd == control->signal_fd)
			read_signals(control);
		else if (fd == control->pid_fd)
			control->target_ended = control->stop = true;
		else if (events[i].events & (EPOLLHUP | EPOLLERR))
			/* its CPU went offline: it would wake us for ever */
			epoll_ctl(control->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	}
}

void control_done(struct control *control)
{
	struct signalfd_siginfo info;

	/* one that came too late to matter must not kill us now */
	while (control->signal_fd >= 0 && read(control->signal_fd, &info, sizeof(info)) > 0)
		;
	if (control->masked)
		sigprocmask(SIG_SETMASK, &control->old_mask, NULL);
	if (control->signal_fd >= 0)
		close(control->signal_fd);
	if (control->epoll_fd >= 0)
		close(control->epoll_fd);
	if (control->pid_fd >= 0)
		close(control->pid_fd);
	*control = CONTROL_NONE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: what can end a recording: the target's end, a signal, the clock.
 */
#ifndef GILPROBE_RECORD_CONTROL_H
#define GILPROBE_RECORD_CONTROL_H

#include "base/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct control {
	int signal_fd, epoll_fd, pid_fd;
	sigset_t old_mask; /* as it was before, and for the workload */
	bool masked;
	pid_t target;
	bool ours;	     /* we launched it: signals go on to it, and its end ends us */
	unsigned requests;   /* to end, by signals that came one after the other */
	uint64_t request_ns; /* when the last one came */
	bool target_ended;
	bool stop; /* recording is to end now */
};

#define CONTROL_NONE ((struct control){.signal_fd = -1, .epoll_fd = -1, .pid_fd = -1})

/* Takes SIGINT, SIGQUIT, SIGTERM and SIGHUP over, those that are not ignored. */
int control_init(struct control *control, struct err *err);

/* Watches process @pid and the @n perf descriptors @fds. -ESRCH: it does not exist. */
int control_watch(
	struct control *control, pid_t pid, bool ours, const int *fds, size_t n, struct err *err);

/* One more descriptor that ends the sleep; it leaves when it is closed. Known ones are fine. */
int control_watch_fd(struct control *control, int fd, struct err *err);

/*
 * Sleeps until a buffer fills, something above happens, or @timeout_ms passed. Passes signals on:
 * the first as it is (unless the terminal has sent it to the target too), the second as SIGTERM,
 * the third as SIGKILL.
 */
void control_wait(struct control *control, int timeout_ms);

/* Gives the signals back. */
void control_done(struct control *control);

#endif

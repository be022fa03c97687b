/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the workload as a child that waits until recording runs.
 *
 * It is forked before any event is opened, since libperf's descriptors survive an exec. Under sudo
 * it becomes the user behind sudo; HOME, USER and LOGNAME follow when they still were root's.
 */
#ifndef GILPROBE_RECORD_LAUNCH_H
#define GILPROBE_RECORD_LAUNCH_H

#include "base/err.h"
#include "record/janitor.h"
#include "record/record.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid;     /* 0: none, or reaped */
	int go_fd;     /* a byte lets it exec; closing ends it */
	int failed_fd; /* execvp's errno, or the end of file when it worked */
	bool as_user;
	uid_t uid;
};

#define LAUNCH_NONE ((struct launch){.go_fd = -1, .failed_fd = -1})

/* Forks the child, which will run the command (or the function) with the signal mask @mask. */
int launch_fork(struct launch *launch, const struct record_options *options, const sigset_t *mask,
	struct janitor *janitor, struct err *err);

/* Lets it run. */
void launch_go(struct launch *launch);

/*
 * Whether its exec worked, without waiting: 0 so far, or the negative errno that stopped it (then
 * it is gone). failed_fd becomes readable when there is news, and -1 when all is known.
 */
int launch_check(struct launch *launch, const char *name, struct err *err);

/* Waits for its end. The wait status. */
int launch_wait(struct launch *launch);

/* Ends a child that is still waiting or running: SIGTERM, and SIGKILL after two seconds. */
void launch_end(struct launch *launch);

#endif

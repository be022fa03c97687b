/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: a small process that outlives the recorder and deletes its probes when it was killed.
 */
#ifndef GILPROBE_RECORD_JANITOR_H
#define GILPROBE_RECORD_JANITOR_H

#include "base/err.h"

#include <sys/types.h>

struct janitor {
	pid_t pid; /* 0: none */
	int fd;	   /* while this is open the janitor waits */
};

#define JANITOR_NONE ((struct janitor){0, -1})

/* Starts one for @group. Call before the probes are defined and before the workload is forked. */
int janitor_start(struct janitor *janitor, const char *group, struct err *err);

/* In a forked child: lets go of the pipe, so that only the recorder's end counts. */
void janitor_forget(struct janitor *janitor);

/* Lets the janitor look once more and end, and waits for it. */
void janitor_stop(struct janitor *janitor);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What workload.c prepares and supervise.c uses.
 */
#ifndef GILPROBE_WORKLOAD_INTERNAL_H
#define GILPROBE_WORKLOAD_INTERNAL_H

#include "workload/workload.h"

#include <signal.h>

#define WORKLOAD_ARGS 9

struct workload {
	struct workload_options options; /* without the plan */
	char *python;
	char *libpython; /* in place of an interpreter that does not exist, or NULL */
	char fd_words[3][16];
	char runner_path[32];
	char *argv[WORKLOAD_ARGS];
	int runner_fd, plan_fd; /* memfds that the interpreter inherits */
	int log_fd;		/* memfd that the supervisor fills */
	int lines[2];		/* pipe from the runner to the supervisor */
};

/* The signals that end a run, but for those that our caller ignores, and SIGCHLD. */
void workload_signals(sigset_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: one recording session, from probes to a finished perf.data.
 *
 * Uprobes on the sites that locate found and scheduler tracepoints are opened on every CPU and
 * filtered here by the traced process tree. The workload starts only when recording runs.
 */
#ifndef GILPROBE_RECORD_RECORD_H
#define GILPROBE_RECORD_RECORD_H

#include "base/err.h"
#include "locate/locate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A function that marks phases by its first argument, in a file that the workload maps. */
struct record_mark {
	const char *path; /* may be /proc/self/fd/N */
	uint64_t offset;  /* of its first instruction, in the file */
};

struct record_options {
	char *const *argv; /* command to launch, or NULL to attach */
	/* runs in the launched process in place of the command, which then only names it; returns
	 * the exit status; may be NULL */
	int (*child)(void *child_user);
	void *child_user;
	const struct record_mark *mark;	    /* or NULL */
	pid_t pid;			    /* process to attach to, or 0 */
	const struct locate_target *target; /* interpreters to probe */
	const char *output;		    /* path of the perf.data to write */
	uint64_t duration_ns;		    /* stop after this; 0: when the target ends */
	uint64_t buffer_bytes;		    /* per CPU; 0: 8 MiB, 256 MiB in all */
	/* said once, when recording runs and before the workload starts; may be NULL */
	void (*started)(void *user, const struct record_options *options);
	void *user;
};

struct record_result {
	bool exec_failed; /* the failure is execvp's: -ENOENT, -EACCES, … */
	bool launched;	  /* a target of ours ran: exit_code or signal is its own */
	int exit_code;
	int signal;	  /* that ended the target, or 0 */
	bool interrupted; /* Ctrl-C or SIGTERM ended the recording */
	bool timed_out;	  /* duration_ns passed first; the target was ended with SIGTERM */
	uint64_t events, lost, bytes;
	uint64_t duration_ns;
	uint64_t cpu_ns;  /* that the recorder itself used */
	bool run_as_user; /* the target ran as the user behind sudo */
	uid_t uid;
	char *late_path; /* the first interpreter that was not among target's: its start is missing
			  */
	struct record_removal *removal; /* of the probes, which still goes on: record_settle */
};

/* 0 with a finished file, or a negative errno with nothing of ours left behind. */
int record_run(const struct record_options *options, struct record_result *ret, struct err *err);

/*
 * Frees what is in @result, and waits until the probes are removed, which takes the kernel up to
 * half a second: call it at the very end, after the results were shown.
 */
void record_settle(struct record_result *result);

/* Deletes probe groups of recorders that are no longer alive. Returns how many. */
int record_clean_stale(void);

#endif

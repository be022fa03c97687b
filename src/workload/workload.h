/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: runs a plan in an interpreter of the user's choice and brings back what it measured.
 *
 * Three processes: gilprobe, a supervisor that it forks (or that a recording forks), and the
 * interpreter with the runner in it. The supervisor adopts whatever the target leaves behind, so
 * that nothing outlives it: not after a timeout, not after Ctrl-C, not after a normal end.
 */
#ifndef GILPROBE_WORKLOAD_WORKLOAD_H
#define GILPROBE_WORKLOAD_WORKLOAD_H

#include "base/cleanup.h"
#include "base/err.h"
#include "workload/plan.h"
#include "workload/result.h"

#include <stdint.h>

struct workload;

struct workload_options {
	const struct plan *plan;
	const char *python;  /* name or path of an interpreter, or NULL: see workload_python */
	uint64_t timeout_ns; /* for everything */
	/* said in the supervisor when a phase begins; may be NULL */
	void (*progress)(void *user, enum scale_mode mode, unsigned workers);
	void *user;
};

/* Names of the built-in workloads, NULL-terminated. */
extern const char *const workload_builtins[];

/* Numbers of workers of the reference when none is given: 2 to 4, as many as usable CPUs. */
unsigned workload_default_workers(void);

/*
 * The absolute path of the interpreter that @wanted names (by path or over PATH); for NULL that
 * of the active virtual environment, else PATH's python3. -ENOENT or -EACCES with words. The
 * caller frees it. (workload_new falls back on libpython.)
 */
int workload_python(const char *wanted, char **ret, struct err *err);

/* The word behind our own name that makes us python3 (see workload_libpython_main). */
#define WORKLOAD_LIBPYTHON "--libpython"

/* `gilprobe --libpython ARG…` is `python3 ARG…` by the libpython that we were built with. */
int workload_libpython_main(int argc, char **argv);

/* The path of that library, for the caller to free, or NULL: there is none. */
char *workload_libpython(void);

/* Prepares; starts nothing. The plan is copied. */
int workload_new(const struct workload_options *options, struct workload **ret, struct err *err);
void workload_free(struct workload *workload);

DEFINE_CLEANUP(struct workload, workload, workload_free)

/* The command that will run, for finding its interpreter. NULL-terminated, the workload's own. */
char *const *workload_argv(const struct workload *workload);

/* The file that holds the interpreter when the command does not lead to it, or NULL. */
const char *workload_interpreter(const struct workload *workload);

/*
 * The supervisor: runs the command to its end or its timeout, in a process that was forked for it.
 * Returns the exit status that the process shall end with, which says nothing: see workload_result.
 */
int workload_supervise(void *workload);

/* Forks the supervisor and waits for it, passing on the signals that end it. */
int workload_run(struct workload *workload, struct err *err);

/*
 * What the run that ended has measured; scale_result_done is due. -EINTR: a signal ended it;
 * -ETIME: the timeout; -ECHILD: the target's fault; each with words.
 */
int workload_result(struct workload *workload, struct scale_result *ret, struct err *err);

/*
 * Where a recording finds the phases: the runner's file as this process sees it (/proc/self/fd/N),
 * and in it the offset of a function whose first argument is the phase that begins, or 0.
 */
const char *workload_mark(const struct workload *workload, uint64_t *ret_offset);

#endif

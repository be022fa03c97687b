/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runner: a shared object that any CPython from 3.6 on loads to run a task serially, in
 * threads, in processes and in sub-interpreters.
 *
 * Two rules make one object serve them all: no macro or inline function that touches an object's
 * layout (Py_DecRef, not Py_DECREF), and everything newer than 3.6 by dlsym.
 */
#ifndef GILPROBE_WORKLOAD_RUNNER_H
#define GILPROBE_WORKLOAD_RUNNER_H

#define Py_LIMITED_API 0x03060000
#include <Python.h>

#include "workload/plan.h"
#include "workload/result.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One per process. */
struct runner {
	struct plan plan;
	pid_t pid; /* a target that forks must not become a second runner */
	int runner_fd, plan_fd;
	int out_fd;	 /* lines for whoever started us: see log.h */
	int standard[3]; /* copies of the standard streams, which a target may close; or -1 */
	uint64_t phase;
	char **argv; /* that led here, without the fds; room for them and the end */
	size_t n_argv;
};

/* The task as one interpreter sees it. */
struct task {
	const struct runner *runner;
	PyObject *prelude; /* dict: prelude.py's globals */
	PyObject *callable, *args;
};

#define RUNNER_ERROR 512
#define RUNNER_LOW_FD 10   /* our own descriptors lie above */
#define RUNNER_LOST_FD 125 /* exit status: nobody can be told any more */

/* --- runner-task.c: needs the GIL of the interpreter concerned */

/* Runs the prelude. 0, or -1 with words. */
int task_init(struct task *task, const struct runner *runner, char error[RUNNER_ERROR]);

/* Loads the target. 0, or -1 with words. */
int task_load(struct task *task, char error[RUNNER_ERROR]);
void task_done(struct task *task);

/*
 * Calls it once. The window in @ret begins at @start_ns (0: now). 0, or -1 with words. Does not
 * return in a child that the task forked.
 */
int task_run(
	struct task *task, uint64_t start_ns, struct scale_task *ret, char error[RUNNER_ERROR]);

/* Calls a function of the prelude without arguments; new reference, or NULL with an exception. */
PyObject *task_prelude(struct task *task, const char *function);

/* The current exception as one line; clears it. */
void task_describe(PyObject *prelude, char error[RUNNER_ERROR]);

/* --- runner-out.c: no GIL needed */

uint64_t runner_now(void); /* CLOCK_MONOTONIC */
uint64_t runner_process_cpu(void);
uint64_t runner_thread_cpu(void);

/* Writes one line; exits when nobody reads any more. */
void runner_say(const struct runner *runner, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void runner_say_run(const struct runner *runner, const struct scale_run *run);

/* The function that a recording probes: phase @phase begins, or (0) the current one ends. */
void gilprobe_mark(uint64_t phase);

/* --- the modes: each runs one phase and says its lines. 0, or -1 when the probe cannot go on. */

int mode_serial(struct runner *runner, struct task *task, unsigned workers);
int mode_threads(struct runner *runner, struct task *task, unsigned workers);
int mode_processes(struct runner *runner, unsigned workers);
int mode_interpreters(struct runner *runner, unsigned workers);

/* Keeps our own command line in @runner, before a target can change it. 0, or -1. */
int worker_argv(struct runner *runner);

/* A worker process: serves runs until the other end of out_fd is closed. */
int worker_main(struct runner *runner);

#endif

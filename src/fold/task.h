/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identity: which thread of which process an id means at this moment. Ids are reused.
 */
#ifndef GILPROBE_FOLD_TASK_H
#define GILPROBE_FOLD_TASK_H

#include "fold/inner.h"

struct process {
	struct fold_process pub;
	struct process *all;
	struct gil *gils, **last_gil;
	struct task *tasks;
	bool kept; /* had GIL events: stays for the result */
	bool begun, visible, leader_gone, closed;
};

struct task {
	int32_t tid;
	struct process *process;
	struct task *next, *prev; /* of its process */
	struct thread *thread;
	const char *name;
	uint64_t exec_ns; /* 0: none */
	uint8_t stream;
};

/* The task of a GIL event, made if need be, with its struct thread. NULL: none of ours. */
int task_thread(struct fold *f, const struct event *event, struct thread **ret);

/* The thread that has @tid now and has had a GIL event, or NULL. */
struct thread *task_find_thread(const struct fold *f, int32_t tid);

/* The process of @tid, or NULL. */
const struct process *task_process(const struct fold *f, int32_t tid);

int task_fork(struct fold *f, const struct event *event);
int task_exit(struct fold *f, const struct event *event);
int task_exec(struct fold *f, const struct event *event);
int task_comm(struct fold *f, const struct event *event);

/* The task is gone: its thread's life ends now. */
int task_gone(struct fold *f, int32_t tid);

/* Gives a process its place in the result. */
int process_show(struct fold *f, struct process *process);

void task_done(struct fold *f);

#endif

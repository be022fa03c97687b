/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fold's own files share: tasks, threads, GILs, and the steps between their states.
 *
 * Every task of the recording has a small struct task; only a task with a GIL event gets a struct
 * thread, only a process with one stays after its exit. Functions return 0 or a negative errno.
 */
#ifndef GILPROBE_FOLD_INNER_H
#define GILPROBE_FOLD_INNER_H

#include "base/map.h"
#include "base/strtab.h"
#include "fold/fold.h"

enum side { SIDE_UNKNOWN, SIDE_NONE, SIDE_WANT, SIDE_HOLD, SIDE_YIELD, SIDES };
enum cpu { CPU_UNKNOWN, CPU_ON, CPU_RUNNABLE, CPU_BLOCKED, CPUS };
enum tick { TICK_ON_CPU, TICK_RUNNABLE, TICK_BLOCKED, TICK_FREE, TICKS }; /* a GIL's holder */
enum input {
	INPUT_WANT,
	INPUT_ACQUIRE,
	INPUT_RELEASE,
	INPUT_YIELD,
	INPUT_DROP_RETURN,
	INPUT_WOKEN, /* it runs again after a sleep */
	INPUT_TAKEN, /* another thread has acquired the GIL */
	INPUTS
};

struct thread;
struct gil;
struct process;
struct task;

struct blame_pair {
	struct fold_blame pub;
	uint64_t wait_serial; /* the last wait counted */
};

/* What a CPU told last, and the last thread that ran on it. */
struct cpu_last {
	uint64_t ns;
	struct thread *thread;
};

struct process_list {
	struct fold_process **items;
	size_t n, cap;
};

struct gil_list {
	struct fold_gil **items;
	size_t n, cap;
};

struct thread_list {
	struct fold_thread **items;
	size_t n, cap;
};

struct fold {
	struct fold_options options;
	struct decode_facts facts;
	struct err *err; /* of the running call */
	uint64_t now;	 /* the running event's time, cut to the window */
	uint64_t newest_ns, start_ns;
	uint64_t before_ns; /* the event before this one */
	struct cpu_last *cpus;
	size_t n_cpus;
	bool uncovered; /* scheduler events are in the recording, but not of this time */
	bool started, entered,
		inside; /* entered: the window has begun; inside: the event is in it */

	struct strtab names;
	struct map tasks;			       /* tid → struct task */
	struct map processes;			       /* pid → struct process */
	struct process *all_processes, **last_process; /* those that stay */
	struct thread *live, *all_threads;
	uint32_t n_serials;
	uint64_t wait_serials, hold_serials;

	struct map blame; /* waiter and holder serial → index in blames */
	struct {
		struct blame_pair *items;
		size_t n, cap;
	} blames;
	struct fold_blame *blame_list;
	struct process_list processes_shown; /* of the result, in order of appearance */
	struct gil_list gils_shown;
	struct thread_list threads_shown;
	struct fold_hold top[FOLD_TOP_HOLDS];
	size_t n_top;
	uint64_t lost;
	struct fold_result result;
};

static inline uint64_t max_ns(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif

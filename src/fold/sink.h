/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface that every consumer of spans implements (trace writers, tests).
 *
 * fold calls a sink while it reads; pointers to threads and GILs stay valid until fold_free, but
 * names and totals are complete only when done() is called. Any callback may be NULL. A negative
 * return stops the run and is passed up.
 */
#ifndef GILPROBE_FOLD_SINK_H
#define GILPROBE_FOLD_SINK_H

#include "base/err.h"
#include "fold/totals.h"

/* One state of one thread. The spans of a thread come in order and tile its life. */
struct span {
	const struct fold_thread *thread;
	enum span_state state;
	uint64_t start_ns, end_ns;
	const struct fold_gil *gil; /* held or waited for; NULL for the other states */
	uint64_t asleep_ns;	    /* part of it spent asleep */
	uint64_t no_cpu_ns;	    /* part of it spent ready, but without a CPU */
	uint64_t sibling_ns; /* of a sleep: all of it, when a thread of the process ended it */
};

#define FOLD_WAIT_HOLDERS 4

/*
 * One wait for a GIL: in take_gil, or (yield) in drop_gil. A yield and the wait that follows it
 * touch: one stretch, which is what totals and histograms count.
 */
struct fold_wait {
	const struct fold_thread *thread;
	const struct fold_gil *gil;
	uint64_t start_ns, end_ns;
	bool yield;	    /* inside drop_gil, after a forced switch */
	bool acquired;	    /* ended by taking it (false: exit, end of recording, yield) */
	uint32_t requests;  /* switch intervals that passed meanwhile (own recordings), or 0 */
	uint32_t n_holders; /* different threads that held it meanwhile; the first ones: */
	const struct fold_thread *holders[FOLD_WAIT_HOLDERS];
	uint64_t holder_on_cpu_ns, holder_blocked_ns, holder_runnable_ns, free_ns;
};

/* A release followed by another thread's acquire of the same GIL. */
struct fold_handoff {
	const struct fold_gil *gil;
	const struct fold_thread *from, *to;
	uint64_t release_ns, acquire_ns;
	bool forced;
	bool waited; /* the taker waited already when it was released */
};

/* A thread's scheduler state as the kernel names it, for the viewers' native rows. */
struct fold_cpu {
	const struct fold_thread *thread;
	uint64_t start_ns, end_ns;
	int cpu;	  /* of a running stretch, or -1 */
	const char *name; /* "Running", "R", "R+", "S", "D", … */
};

struct sink {
	void *user;
	int (*span)(void *user, const struct span *span, struct err *err);
	int (*hold)(void *user, const struct fold_hold *hold, struct err *err);
	/* before the span (one, or one of several in a row) that it is in */
	int (*wait)(void *user, const struct fold_wait *wait, struct err *err);
	/* who holds it changed; NULL: nobody does. Unlike holds, in the order of time */
	int (*holder)(void *user, const struct fold_gil *gil, uint64_t time_ns,
		const struct fold_thread *thread, struct err *err);
	int (*handoff)(void *user, const struct fold_handoff *handoff, struct err *err);
	int (*cpu)(void *user, const struct fold_cpu *cpu, struct err *err);
	/* the number of waiters changed */
	int (*waiters)(void *user, const struct fold_gil *gil, uint64_t time_ns, uint32_t waiters,
		struct err *err);
	int (*mark)(void *user, uint64_t time_ns, uint64_t phase, struct err *err);
	int (*done)(void *user, const struct fold_result *result, struct err *err);
};

#endif

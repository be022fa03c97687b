/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread's time: every nanosecond from its first evidence on is accounted once, to one state.
 */
#ifndef GILPROBE_FOLD_THREAD_H
#define GILPROBE_FOLD_THREAD_H

#include "fold/inner.h"

enum doubt {
	DOUBT_NONE,
	DOUBT_DROP,  /* has released; perhaps waits inside drop_gil */
	DOUBT_RETURN /* out of a forced wait; perhaps about to enter take_gil */
};

struct seg {
	uint64_t start_ns, end_ns;
	enum cpu cpu;
	bool sibling;
};

#define DOUBT_SEGS 8

struct thread {
	struct fold_thread pub;
	struct process *process;
	struct thread *next, *prev; /* threads that live */
	struct thread *all;	    /* threads that ever were, for freeing */
	uint32_t serial;	    /* the key of blame */
	bool begun, visible;	    /* visible: some of its life is inside the window */
	bool alive;

	enum cpu cpu;
	bool slept;	      /* since it was last on a CPU */
	bool preempted;	      /* and cpu is unknown: the recording may not tell when it came back */
	bool sibling;	      /* a thread of its process ended its sleep */
	uint64_t woken_ns;    /* the sleep that a sibling ended, if it proves to have been asleep */
	const char *cpu_name; /* as the kernel names it; NULL: unknown */
	int cpu_number;
	uint64_t cpu_ns; /* since when */

	enum side side;
	enum input last;   /* its last GIL event */
	struct gil *gil;   /* held, wanted, or the last one */
	uint64_t since_ns; /* everything before is accounted, or in doubt */
	struct span span;  /* the open one; empty: none */

	enum doubt doubt;
	struct gil *doubt_gil;
	uint64_t doubt_ns, doubt_ticks[TICKS], doubt_takes;
	bool returned; /* from drop_gil */
	struct seg segs[DOUBT_SEGS];
	unsigned n_segs;
	struct thread *next_dropper, *prev_dropper;

	struct fold_wait wait;
	uint64_t wait_ticks[TICKS], wait_serial, want_ns;
	uint64_t blamed_hold; /* serial of the last hold it was counted as waiter of */
	struct thread *next_waiter, *prev_waiter;
	struct gil *stretch_gil; /* of the stretch that may go on; NULL: none */
	uint64_t stretch_start_ns, stretch_end_ns;

	struct fold_hold hold; /* running, or ended and in doubt whether forced */
	struct gil *hold_gil;
	uint64_t hold_ticks[TICKS], hold_serial;
	bool hold_pending, hold_estimated;
	bool hold_asked;			/* a waiter's switch request stands */
	uint64_t hold_asked_tick, hold_deaf_ns; /* on a CPU after it, when the hold has ended */
};

int thread_new(struct fold *f, struct process *process, int32_t tid, const char *name,
	struct thread **ret);
void thread_free(struct thread *t);

/* Its first GIL event: its life begins now, on @cpu_number. */
int thread_begin(struct fold *f, struct thread *t, int cpu_number);

/* Gives it its place in the result. */
int thread_show(struct fold *f, struct thread *t);

/* Accounts the time up to @ns to its present side and CPU side (or keeps it while in doubt). */
int thread_advance(struct fold *f, struct thread *t, uint64_t ns);

/* Changes the CPU side. @name as the kernel says it (static), NULL: unknown. */
int thread_cpu(struct fold *f, struct thread *t, enum cpu cpu, const char *name, int cpu_number);

/* An event proves that it runs: counts the switch-in that should have told. */
void thread_runs(struct fold *f, const struct thread *t);

/* It was preempted, its CPU side has been unknown since, and now it is switched in. */
void thread_was_runnable(struct fold *f, struct thread *t);

/*
 * Doubt: from now on its time is kept back, since only what follows tells whether it waits for @g.
 * settle: it did not. resume: it did, from the doubt's beginning on; @side is WANT or YIELD.
 */
int doubt_begin(struct fold *f, struct thread *t, struct gil *g, enum doubt doubt);
int doubt_settle(struct fold *f, struct thread *t);
int doubt_resume(struct fold *f, struct thread *t, enum side side);

/* It has slept since the doubt began (as far as is accounted). */
bool doubt_slept(const struct thread *t);

/* How long it was on a CPU or asleep since then; all of it when nothing tells. */
uint64_t doubt_busy_ns(const struct fold *f, const struct thread *t);

/* It has left drop_gil without a sleep. */
void doubt_leave(struct thread *t);

/*
 * What it is doing ends at @end_ns, or at its last sign of life if that is later, without a
 * partner: lost events, exit, end of the recording. From then on to now it is unknown.
 */
int thread_close(struct fold *f, struct thread *t, uint64_t end_ns);

/* Its life ends now. */
int thread_end(struct fold *f, struct thread *t, bool ended);

#endif

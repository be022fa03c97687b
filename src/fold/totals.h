/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fold knows at the end: processes, GILs, threads, holds, blame, quality.
 *
 * All times are nanoseconds. Everything is owned by the fold and lives until fold_free. A thread
 * is one incarnation of a tid inside one incarnation of a process: ids are reused.
 */
#ifndef GILPROBE_FOLD_TOTALS_H
#define GILPROBE_FOLD_TOTALS_H

#include "decode/decode.h"
#include "fold/hist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread's state: the GIL side times the CPU side. */
enum span_state {
	SPAN_UNKNOWN, /* before the first evidence, after lost events, or no CPU evidence */
	SPAN_HAS_GIL, /* holds it, on a CPU (or: holds it, and no CPU evidence in the file) */
	SPAN_HAS_GIL_OFF_CPU, /* holds it while preempted, blocked or runnable */
	SPAN_WAITING,	      /* for the GIL */
	SPAN_NATIVE,	      /* on a CPU without the GIL */
	SPAN_RUNNABLE,	      /* ready, but no CPU */
	SPAN_BLOCKED,	      /* asleep: I/O, lock, sleep */
	SPAN_STATES
};

/* "has-gil", "has-gil-off-cpu", "waiting", … */
const char *span_state_name(enum span_state state);

struct fold_process {
	uint32_t index;
	int32_t pid;
	int32_t parent_pid;	   /* 0: unknown */
	const char *name;	   /* comm of the main thread; "" unknown */
	uint64_t start_ns, end_ns; /* first and last evidence of any of its threads */
	uint32_t n_gils, n_threads;
	bool ended; /* its exit was recorded */
};

struct fold_gil {
	uint32_t index;
	struct fold_process *process;
	uint64_t address;	   /* of gil->cond; 0 when the recording cannot tell */
	uint32_t number;	   /* 1, 2, … within the process, in order of appearance */
	uint64_t start_ns, end_ns; /* first evidence; end of its process or of the recording */
	uint64_t held_ns, held_on_cpu_ns, held_blocked_ns, held_runnable_ns;
	uint64_t contended_ns;	  /* at least one thread waited */
	uint64_t waiters_ns;	  /* sum over waiters of their waiting time */
	uint64_t takes, handoffs; /* handoffs: a release followed by another thread's acquire */
	uint64_t forced;	  /* holds ended by a switch request */
	uint64_t max_hold_ns, max_wait_ns;
	uint64_t overlapping; /* acquires while another thread was the recorded holder */
};

struct fold_thread {
	uint32_t index;
	uint32_t number; /* 0, 1, … within the process, in order of appearance */
	struct fold_process *process;
	int32_t tid;
	const char *name; /* last comm; "" unknown */
	bool main;	  /* tid == pid */
	bool ended;
	uint64_t first_ns, last_ns;	/* first GIL evidence; exit, or the end of the recording */
	uint64_t state_ns[SPAN_STATES]; /* add up to last_ns - first_ns */
	uint64_t hold_blocked_ns, hold_runnable_ns; /* parts of HAS_GIL_OFF_CPU */
	uint64_t takes, forced; /* forced: its holds that a switch request ended */
	uint64_t waits;		/* stretches: a forced wait and the take after it are one */
	uint64_t yield_ns;	/* part of WAITING spent inside drop_gil after a forced switch */
	uint64_t max_hold_ns, max_wait_ns;
	struct hist holds, wait_hist;
	struct hist interval_hist;  /* between the wants of one wait: the switch interval in use;
				     * own recordings only, since only there wants repeat */
	const struct fold_gil *gil; /* of its longest hold, or NULL: it held none */
	/* what the holder did while this thread waited; the four add up to WAITING */
	uint64_t wait_holder_on_cpu_ns, wait_holder_blocked_ns, wait_holder_runnable_ns,
		wait_gil_free_ns;
	uint64_t wait_runnable_ns; /* part of WAITING: woken, but without a CPU */
	uint64_t
		others_waited_ns; /* sum over other threads of their waiting for this one's holds */
	uint64_t long_waited_ns;  /* part of others_waited_ns: for deaf holds */
	uint64_t blocks,
		sibling_wakeups; /* sleeps outside the GIL; ended by a thread of the process */
	uint64_t blocked_by_sibling_ns; /* part of BLOCKED that a thread of the process ended */
	uint64_t natives;		/* stretches of NATIVE */
	uint64_t preempted;
};

/* On a CPU after a waiter's request: bytecode gives way within microseconds. Own recordings. */
#define FOLD_DEAF_NS 10000000
/* In others requests are not seen: six switch intervals, and as much waiting for it. */
#define FOLD_LONG_HOLD_NS 30000000
#define FOLD_HOLD_WAITERS 4
#define FOLD_TOP_HOLDS 20

/* One stretch of holding a GIL. */
struct fold_hold {
	const struct fold_thread *thread;
	const struct fold_gil *gil;
	uint64_t start_ns, end_ns;
	uint64_t on_cpu_ns, blocked_ns, runnable_ns; /* add up to the length, or all 0: unknown */
	uint64_t others_waited_ns;		     /* sum over waiters */
	uint32_t n_waiters; /* different threads that waited meanwhile; the first ones: */
	const struct fold_thread *waiters[FOLD_HOLD_WAITERS];
	bool forced; /* ended by a switch request */
	bool deaf;   /* bytecode would have ended it (FOLD_DEAF_NS, FOLD_LONG_HOLD_NS) */
	bool open;   /* still held when the thread or the recording ended */
};

/* How long @waiter waited while @holder held; in how many of its waits @holder did. */
struct fold_blame {
	const struct fold_thread *waiter, *holder;
	uint64_t wait_ns, waits;
};

struct fold_quality {
	uint64_t events, lost, duplicated, late; /* events: samples, as `perf script` lists them */
	uint64_t unmatched; /* GIL events whose partner never came (normal at exits: not counted) */
	uint64_t overlapping; /* acquires while another thread held the same GIL */
	uint64_t acquires, acquires_while_holding; /* it took what it held: a release is missing */
	uint64_t unknown_ns; /* over all threads, after their first evidence */
	/* probe hits; threads that came to a CPU: as the kernel told, and as it did not */
	uint64_t gil_events, switches_in, switches_in_unseen;
	bool cpu_known;	      /* on-CPU or not can be told */
	bool runnable_known;  /* runnable can be told from blocked */
	bool wait_known;      /* waits can be told (entries of take_gil were recorded) */
	bool forced_known;    /* forced switches can be told */
	bool sampled;	      /* GIL probes were recorded at a frequency: most hits are missing */
	bool release_missing; /* no holds can be told: all but WAITING is UNKNOWN */
	bool release_unprobed, take_unprobed; /* … since not recorded; else drop_gil is inlined */
};

struct fold_result {
	struct fold_process *const *processes; /* those with GIL events only */
	size_t n_processes;
	struct fold_gil *const *gils;
	size_t n_gils;
	struct fold_thread *const *threads; /* those with GIL events only, in order of appearance */
	size_t n_threads;
	const struct fold_hold *holds; /* ≤ FOLD_TOP_HOLDS, by others_waited_ns, then by length */
	size_t n_holds;
	const struct fold_blame *blame; /* by wait_ns, descending; wait_ns > 0 */
	size_t n_blame;
	uint64_t start_ns, end_ns; /* of the recording */
	struct fold_quality quality;
};

#endif

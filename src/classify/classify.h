/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: from totals to a class, how sure, why, and what to do. Pure functions.
 *
 * Only evidence of the recording decides, never a wall-clock speed-up: the answer is the same on
 * a loaded machine and on one CPU.
 */
#ifndef GILPROBE_CLASSIFY_CLASSIFY_H
#define GILPROBE_CLASSIFY_CLASSIFY_H

#include "fold/totals.h"

#include <stddef.h>

enum gil_class {
	CLASS_INCONCLUSIVE,
	CLASS_GIL_BOUND,
	CLASS_CONVOY,	       /* gil-bound/convoy */
	CLASS_LONG_C_CALL,     /* gil-bound/long-c-call */
	CLASS_BLOCKING_CALL,   /* gil-bound/blocking-call-keeps-gil */
	CLASS_SWITCH_INTERVAL, /* gil-bound/switch-interval */
	CLASS_TINY_TASKS,      /* gil-bound/tasks-too-small */
	CLASS_THREAD_STARTS,   /* gil-bound/thread-start-overhead */
	CLASS_DROPPED_TOO_OFTEN,
	CLASS_RELEASES, /* releases-the-gil */
	CLASS_IO_BOUND,
	CLASS_MIXED,
	CLASS_LOCK_CONTENTION, /* lock-contention-not-gil */
	CLASS_CPU_STARVED,
	CLASS_HELD_UNCONTENDED, /* gil-held-uncontended */
	CLASS_SUBINTERPRETERS,	/* scales-with-subinterpreters */
	CLASSES
};

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

#define CLASSIFY_ADVICE 4
#define CLASSIFY_REASON 320

struct verdict {
	enum gil_class class;
	enum confidence confidence;
	char reason[CLASSIFY_REASON]; /* one line with the numbers, lower case, no full stop */
	const char *advice[CLASSIFY_ADVICE]; /* static texts */
	size_t n_advice;
};

/* "gil-bound/convoy", …: the words of design documents, JSON and table. */
const char *class_name(enum gil_class kind);

/* "low", "medium", "high". */
const char *confidence_name(enum confidence confidence);

/* True for gil-bound and its sub-classes: what --fail-if-gil-bound asks. */
bool class_is_gil_bound(enum gil_class kind);

void classify_thread(
	const struct fold_result *result, const struct fold_thread *thread, struct verdict *ret);

/* Many threads as one row: those too short to be judged one by one. */
void classify_merged(const struct fold_result *result, const struct fold_thread *const *threads,
	size_t n_threads, struct verdict *ret);

/* True when @thread lived too briefly for a class of its own. */
bool classify_is_short(const struct fold_thread *thread);

/*
 * Of the CPU time of @gil's threads, the share that held it: 0 to 1, or < 0 when unknown. At most
 * 1 / share of them can run at the same time.
 */
double classify_serial_fraction(const struct fold_result *result, const struct fold_gil *gil);

/* One process, from its threads and GILs. */
void classify_process(
	const struct fold_result *result, const struct fold_process *process, struct verdict *ret);

/* The whole recording. */
void classify_recording(const struct fold_result *result, struct verdict *ret);

#endif

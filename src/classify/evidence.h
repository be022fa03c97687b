/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rules look at: the totals of one thread (or of several merged), freed from what the
 * machine did to it. Private to classify.
 *
 * `machine` is time lost for want of a CPU, its own or the holder's. All shares are of `active`,
 * the life without it, so that a loaded machine gives the same shares as an idle one.
 */
#ifndef GILPROBE_CLASSIFY_EVIDENCE_H
#define GILPROBE_CLASSIFY_EVIDENCE_H

#include "classify/classify.h"
#include "fold/totals.h"

struct evidence {
	const struct fold_result *result;
	const struct fold_thread *thread; /* NULL when several are merged */
	size_t n_threads;

	/* nanoseconds; hold and wait without the machine's part */
	double life, unknown, active, machine, starved;
	double hold, hold_asleep, wait, wait_asleep, native, blocked, by_sibling;
	double others_waited, long_waited;

	double takes, forced, waits, natives, blocks, sibling_wakeups;
	double typical_wait; /* half of all waiting was in waits of at least this length */
	double max_hold, max_wait;
	double interval; /* switch interval seen by its waits or its victim's; 0: none seen */
	double intervals;
	bool interval_late;  /* whoever saw it lacked a CPU meanwhile: it may be shorter */
	double wait_machine; /* waiting that is the machine's part */
	double gil_busy;     /* mean number of GILs held in its process during its life */

	const struct fold_thread *blocker; /* whom it waited for most, or NULL */
	const struct fold_thread *victim;  /* who waited for it most, or NULL */
	double blocker_long; /* of its waiting that blame explains, the share in long holds */
};

void evidence_of_thread(
	const struct fold_result *result, const struct fold_thread *thread, struct evidence *ret);

/* Several merged: begin, add each, end. */
void evidence_begin(struct evidence *e, const struct fold_result *result);
void evidence_add(struct evidence *e, const struct fold_thread *thread);
void evidence_end(struct evidence *e);

/* @part / @e->active, 0 when there is none. */
double evidence_share(const struct evidence *e, double part);

/*
 * For a thread that sleeps until siblings wake it: the work of all such threads alive at the same
 * time, as a number of threads. About 1 when they exclude each other, as on a lock.
 */
double evidence_peers_at_work(const struct evidence *e);

/* Holds and waits in turn: with all the CPUs in the world it would get no further. */
bool evidence_competes(const struct evidence *e);

/* Some other GIL of the process was held by another thread during most of this one's life. */
bool evidence_other_gil_held(const struct evidence *e);

#endif

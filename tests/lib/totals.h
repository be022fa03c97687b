/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a struct fold_result by hand: one row per thread, times in milliseconds.
 *
 * Only what a test is about is written; life is the sum of the states. Names refer to rows.
 */
#ifndef GILPROBE_TESTS_TOTALS_H
#define GILPROBE_TESTS_TOTALS_H

#include "fold/totals.h"

#define TOTALS_MAX 256

struct totals_row {
	const char *name;
	int32_t tid; /* 0: 100 + row */
	unsigned process, gil;
	double from; /* start of its life */
	double hold, hold_asleep, hold_ready;
	double wait; /* in all; while the holder … (the rest: runs) */
	double wait_asleep, wait_ready, wait_free, wait_no_cpu;
	double native, ready, blocked, by_sibling, unknown;
	uint64_t takes, forced, waits, natives, blocks, wakeups;
	double max_hold, max_wait;
	double each_wait; /* 0: wait / waits */
	double interval;  /* between wants; as many as waits */
	double others_waited, in_long;
	const char *waits_for; /* the first in its list of blame */
};

struct totals {
	struct fold_result result;
	struct fold_process processes[4];
	struct fold_gil gils[8];
	struct fold_thread threads[TOTALS_MAX];
	struct fold_hold holds[FOLD_TOP_HOLDS];
	struct fold_blame blame[TOTALS_MAX];
	struct fold_process *process_list[4];
	struct fold_gil *gil_list[8];
	struct fold_thread *thread_list[TOTALS_MAX];
};

/* A result whose quality is perfect; processes are python3 with pids 100, 200, …. */
void totals_build(struct totals *t, const struct totals_row *rows, size_t n_rows);
void totals_done(struct totals *t);

/* The thread of that name. */
struct fold_thread *totals_thread(struct totals *t, const char *name);

/* Adds to the longest holds. */
struct fold_hold *totals_hold(struct totals *t, const char *name, double from, double length,
	double on_cpu, double others_waited);

#endif

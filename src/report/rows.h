/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of the thread table: one per thread, or one for many of the same kind. Private to
 * report.
 */
#ifndef GILPROBE_REPORT_ROWS_H
#define GILPROBE_REPORT_ROWS_H

#include "base/map.h"
#include "classify/classify.h"
#include "fold/totals.h"

/* More threads of one process than this are merged. */
#define ROWS_MAX 40

struct row {
	const struct fold_process *process;
	const struct fold_thread *thread; /* NULL: several */
	size_t n_threads;
	char name[64]; /* clean; of several: "churn × 10,000", "worker-* × 260" */
	uint64_t life_ns, state_ns[SPAN_STATES];
	uint64_t hold_blocked_ns, hold_runnable_ns, takes, max_hold_ns, max_wait_ns;
	struct verdict verdict;
};

struct rows {
	struct row *items; /* by process, then by holding and waiting, the most first */
	size_t n, cap;
	struct map of_thread; /* thread → index */
};

void rows_done(struct rows *rows);

/* 0 or -ENOMEM; rows_done is due in either case. */
int rows_build(struct rows *rows, const struct fold_result *result, bool all_threads);

/* The row that @thread is in. */
const struct row *rows_find(const struct rows *rows, const struct fold_thread *thread);

/*
 * @row's life in tenths of a per cent per state, rounded so that they add up to 1000 (largest
 * remainders first); all 0 when it has no life.
 */
void rows_permille(const struct row *row, unsigned ret[SPAN_STATES]);

#endif

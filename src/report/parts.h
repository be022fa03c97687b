/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the table and of the summary. Private to report.
 */
#ifndef GILPROBE_REPORT_PARTS_H
#define GILPROBE_REPORT_PARTS_H

#include "report/report.h"
#include "report/rows.h"
#include "report/text.h"

/*
 * CPU time per probe hit, half of what a release and the next acquire cost in tests/bench (4.0 µs):
 * sites of emulated calls; a symbol whose first instruction must be single-stepped costs 18 µs.
 */
#define PROBE_HIT_NS 2000

/* All that the parts write from. */
struct sheet {
	struct page page;
	const struct fold_result *result;
	const struct report_recording *recording;
	struct rows rows;
	bool several; /* processes: say which one */
};

/* "GIL of python3 app.py (pid 4711, CPython 3.11.7)  held 97.8 % …": the @most GILs held most. */
void parts_gils(const struct sheet *sheet, const struct fold_process *process, size_t most);

/* "verdict: gil-bound (high): …" and what to try, at most @advice lines. */
void parts_verdict(const struct sheet *sheet, const struct verdict *verdict, size_t advice);

/* The thread table of one process. 0 or -ENOMEM. */
int parts_threads(const struct sheet *sheet, const struct fold_process *process);

/* 0 or -ENOMEM. */
int parts_holds(const struct sheet *sheet);
int parts_blame(const struct sheet *sheet);

void parts_quality(const struct sheet *sheet);

/* "B worker-1": letter and name; with the pid when there are several processes. */
#define PARTS_NAME 80
const char *parts_name(
	const struct sheet *sheet, const struct fold_thread *thread, char ret[PARTS_NAME]);

/* The processes that did most, first. NULL: out of memory. The caller frees it. */
const struct fold_process **parts_processes(const struct fold_result *result);

#endif

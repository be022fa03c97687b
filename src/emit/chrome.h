/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the Chrome JSON writer: private to chrome*.c.
 *
 *   chrome.c           life cycle; which row a slice goes to, and when it can be written
 *   chrome-rows.c      what every slice of a row begins with; labels
 *   chrome-args.c      what is said about holds and waits
 *   chrome-arrows.c    hand-overs
 *   chrome-rapid.c     states in quick succession
 *   chrome-counters.c  waiters and averages
 *   chrome-viztracer.c merging a report of VizTracer
 *   chrome-end.c       names and order of rows, and what stands behind the events
 */
#ifndef GILPROBE_EMIT_CHROME_H
#define GILPROBE_EMIT_CHROME_H

#include "base/map.h"
#include "base/strtab.h"
#include "emit/bins.h"
#include "emit/chrome-arrows.h"
#include "emit/chrome-rapid.h"
#include "emit/emit.h"
#include "emit/line.h"
#include "emit/names.h"

/* What is shorter has no args and no arrows: thousands per millisecond would be solid bands. */
#define CHROME_DETAIL_NS 50000u

/* At most one value of the waiters line in so long: a thrashing program changes it at 50 kHz. */
#define CHROME_WAITERS_NS 500000u

/* A thread's row. */
struct chrome_row {
	const struct fold_thread *thread;
	char head[72]; /* the start of its slices, up to the time */
	size_t head_size;
	const char *label_of;  /* the thread's name when label was made */
	char *label;	       /* "B worker-0", escaped for JSON */
	struct fold_wait wait; /* what is known about the WAITING span to come */
	bool has_wait;
	struct chrome_arrow arrow;     /* from here */
	struct chrome_row *arrow_from; /* whose arrow ends here, or NULL */
	uint64_t held_end_ns;	       /* of the last held slice */
	struct chrome_run states, kernel;
	struct chrome_sum sum;
};

/* A GIL's row and counters. */
struct chrome_gil {
	struct emit_chrome *emit;
	const struct fold_gil *gil;
	char head[72]; /* made at its first slice: before the window it has no number */
	size_t head_size;
	struct bins held, waiting;
	bool is_held;		 /* now */
	uint64_t held_ns;	 /* … since then */
	uint32_t waiters;	 /* now */
	uint64_t waiters_ns;	 /* … since then */
	uint64_t waiters_due_ns; /* when the next value may be written */
	bool waiters_dirty;	 /* the value is not in the file yet */
};

struct emit_chrome {
	struct sink sink;
	struct out *out;
	struct emit_options options;
	struct map rows; /* struct fold_thread * → struct chrome_row * */
	struct map gils; /* struct fold_gil * → struct chrome_gil * */
	uint64_t events, slices, arrows;
	uint64_t rapid_slices, rapid_states, rapid_kernel; /* drawn; in these; not drawn */
	uint64_t rapid_single, rapid_kernel_single;	   /* drawn one by one: they came first */
	bool has_phase;
	uint64_t phase, phase_ns;
	/* of a merged VizTracer report; names by pid << 32 | tid, processes with tid 0 */
	struct map names;
	struct strtab strings;
	struct out *file_info; /* its file_info, or NULL */
	bool merged, overflow;
	uint64_t merged_start_ns, merged_end_ns;
	uint64_t start_ns, end_ns; /* of the recording, once it is over */
};

/* Begins an event's line: the separator. */
static inline void chrome_line(struct emit_chrome *emit, struct line *line)
{
	line->out = emit->out;
	line->n = 0;
	line_mem(line, ",\n", emit->events++ ? 2 : 0);
}

/* Ends the event and gives the line out. */
static inline void chrome_line_end(struct line *line)
{
	line_lit(line, "}");
	line_flush(line);
}

/* Begins a slice's line, up to its name; the name, a quote and args follow. */
void chrome_slice_begin(struct emit_chrome *emit, struct line *line, const char *head,
	size_t head_size, uint64_t start_ns, uint64_t end_ns);

/* The row of @thread, or NULL: out of memory. */
struct chrome_row *chrome_row(struct emit_chrome *emit, const struct fold_thread *thread);

struct chrome_gil *chrome_gil(struct emit_chrome *emit, const struct fold_gil *gil);

void chrome_gil_head(struct chrome_gil *gil);

void chrome_rows_done(struct emit_chrome *emit);

/* The row's up-to-date label. NULL: out of memory. */
const char *chrome_label(struct emit_chrome *emit, struct chrome_row *row);

/* The name to show: VizTracer's, or the kernel's. */
const char *chrome_thread_name(const struct emit_chrome *emit, const struct fold_thread *thread);

/* Writes `,"args":{…}`, or nothing when the wait or hold is short. 0 or -ENOMEM. */
int chrome_wait_args(struct emit_chrome *emit, struct line *line, const struct fold_wait *wait);
int chrome_hold_args(struct emit_chrome *emit, struct line *line, const struct fold_hold *hold);

/*
 * Writes a slice, if the options let its state be drawn; @wait is what is known about a WAITING
 * one, or NULL. 0 or -ENOMEM, which without a wait cannot be.
 */
int chrome_state(struct emit_chrome *emit, struct chrome_row *row, const struct span *span,
	const struct fold_wait *wait);
void chrome_sum(struct emit_chrome *emit, struct chrome_row *row, const struct chrome_sum *sum);
void chrome_kernel_state(struct emit_chrome *emit, const struct fold_cpu *cpu);

void chrome_counters_init(struct chrome_gil *gil);
void chrome_counters_holder(struct chrome_gil *gil, uint64_t time_ns, bool held);
void chrome_counters_waiters(struct chrome_gil *gil, uint64_t time_ns, uint32_t waiters);
void chrome_counters_end(struct chrome_gil *gil, uint64_t end_ns);

/* Metadata events, the end of the list, and the objects behind it. */
int chrome_end(struct emit_chrome *emit, const struct fold_result *result);

#endif

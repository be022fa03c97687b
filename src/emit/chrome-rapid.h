/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States in quick succession: a row's short states are kept until it is known whether so many of
 * them follow one another that they are drawn together, a millisecond to a slice.
 */
#ifndef GILPROBE_EMIT_CHROME_RAPID_H
#define GILPROBE_EMIT_CHROME_RAPID_H

#include "emit/emit.h"
#include "emit/line.h"

/* States shorter than this, so many in a row or more, are drawn in slices of about that length. */
#define CHROME_RAPID_NS 200000u
#define CHROME_RAPID_RUN 32u
#define CHROME_RAPID_SLICE_NS 1000000u

struct emit_chrome;
struct chrome_row;

/* A short state that is not written yet: one of ours, or one of the kernel's. */
struct chrome_item {
	uint32_t ns;
	int16_t cpu;
	uint8_t state;	  /* enum span_state */
	const char *name; /* of the kernel's; static */
};

/* Short states in a row. */
struct chrome_run {
	struct chrome_item *items;
	size_t n, cap;
	uint64_t start_ns, end_ns; /* of the items; of all in a row */
	bool rapid;		   /* so many that none is drawn by itself */
};

/* Several states as one slice. */
struct chrome_sum {
	uint64_t start_ns, end_ns, changes;
	uint64_t state_ns[SPAN_STATES];
	enum span_state last;
};

/* Are states in quick succession drawn together? */
static inline bool chrome_rapid(const struct emit_options *options)
{
	return !options->all && !options->waits_only && !options->min_dur_ns;
}

/* Writes `,"args":{…}`. */
void chrome_sum_args(struct line *line, const struct chrome_sum *sum);

/* Whether chrome_rapid_add is to decide how @span is drawn. */
bool chrome_rapid_state(const struct emit_options *options, const struct span *span);
int chrome_rapid_add(struct emit_chrome *emit, struct chrome_row *row, const struct span *span);

/* Draws what was kept; the next ones are single again. */
void chrome_rapid_end(struct emit_chrome *emit, struct chrome_row *row);

/* Draws what was kept, since short @span is to be drawn by itself; what follows goes on as before.
 */
void chrome_rapid_pass(struct emit_chrome *emit, struct chrome_row *row, const struct span *span);

/* The same for the kernel's states: draws, keeps, or leaves out. 0 or -ENOMEM. */
int chrome_kernel_add(struct emit_chrome *emit, struct chrome_row *row, const struct fold_cpu *cpu);
void chrome_kernel_end(struct emit_chrome *emit, struct chrome_row *row);
void chrome_rapid_done(struct chrome_row *row);

#endif

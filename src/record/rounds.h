/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: emptying the kernel's buffers, round by round.
 */
#ifndef GILPROBE_RECORD_ROUNDS_H
#define GILPROBE_RECORD_ROUNDS_H

#include "base/err.h"
#include "perfdata/writer.h"
#include "record/events.h"
#include "record/filter.h"

#include <stddef.h>
#include <stdint.h>

/* The records of one round, CPU after CPU. */
struct batch {
	uint8_t *items;
	size_t n, cap;
};

struct rounds {
	struct events *events; /* n_events of them */
	size_t n_events;
	struct filter *filter;
	struct perfdata_writer *writer;
	struct batch read;    /* this round's: learned from */
	struct batch waiting; /* the round's before: to be filtered and written */
};

void rounds_done(struct rounds *rounds);

/*
 * Empties every buffer once, writes what concerns the traced tree of the round before, and ends
 * with FINISHED_ROUND. 0 or a negative errno.
 */
int rounds_turn(struct rounds *rounds, struct err *err);

/* After the events were disabled: turns until all is written. */
int rounds_finish(struct rounds *rounds, struct err *err);

#endif

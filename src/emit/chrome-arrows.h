/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arrows of hand-overs: kept until the slices at both ends are certain to be drawn.
 */
#ifndef GILPROBE_EMIT_CHROME_ARROWS_H
#define GILPROBE_EMIT_CHROME_ARROWS_H

#include "fold/sink.h"

#include <stdbool.h>
#include <stdint.h>

struct emit_chrome;
struct chrome_row;

/* A hand-over that is not written yet. */
struct chrome_arrow {
	struct chrome_row *to; /* NULL: none */
	uint64_t release_ns, acquire_ns;
	bool has_from, has_to;
};

static inline bool chrome_is_held(const struct span *span)
{
	return span->state == SPAN_HAS_GIL || span->state == SPAN_HAS_GIL_OFF_CPU;
}

/* A hand-over; it is drawn once both its slices are certain. 0 or -ENOMEM. */
int chrome_arrow_add(struct emit_chrome *emit, const struct fold_handoff *handoff);

/* Does an arrow end where @span begins? */
bool chrome_arrow_ends(const struct chrome_row *row, const struct span *span);

/* A held slice of @row was written, or kept to be drawn alone or with others. */
void chrome_arrow_held(struct emit_chrome *emit, struct chrome_row *row, const struct span *span);

#endif

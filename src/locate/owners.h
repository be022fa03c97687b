/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: the functions that fragments of code were split off from.
 */
#ifndef GILPROBE_LOCATE_OWNERS_H
#define GILPROBE_LOCATE_OWNERS_H

#include "locate/frames.h"
#include "locate/image.h"

/* How many frames that jump into one fragment are told apart. */
#define OWNER_VOTES 16

/* A `.cold` fragment. */
struct piece {
	const struct frame *frame;
	const struct frame *owner; /* out: most direct jumps come from there; NULL: none come */
	const struct frame *voters[OWNER_VOTES];
	size_t votes[OWNER_VOTES];
};

/* Finds the owners of @pieces, which are sorted by address, in one pass over the code. */
void owners_find(struct image *image, const struct frames *frames, struct piece *pieces, size_t n);

/*
 * The frames that call @target directly, each once, up to @max. Returns how many. For a function
 * that an unoptimised build did not inline.
 */
size_t owners_callers(struct image *image, const struct frames *frames, uint64_t target,
	const struct frame **ret, size_t max);

#endif

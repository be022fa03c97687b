/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: what the first argument of a call is, as far as the code before it tells.
 */
#ifndef GILPROBE_LOCATE_ARGS_H
#define GILPROBE_LOCATE_ARGS_H

#include "locate/frames.h"
#include "locate/image.h"

enum arg_kind {
	ARG_UNKNOWN,
	ARG_ADDRESS,  /* a fixed address: value */
	ARG_RELATIVE, /* value past what register `base` held after its definition `version` */
};

struct arg {
	enum arg_kind kind;
	unsigned int base, version;
	uint64_t value;
};

/*
 * The first argument at the call at @vaddr in @frame. The code is read in a straight line, so this
 * is a good guess, not a proof: callers need several that agree.
 */
struct arg arg_at(struct image *image, const struct frame *frame, uint64_t vaddr);

/* True when both are known and differ by a constant, a - b. */
bool arg_distance(const struct arg *a, const struct arg *b, int64_t *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: the functions of an image, from .eh_frame. It survives strip because unwinding needs it.
 */
#ifndef GILPROBE_LOCATE_FRAMES_H
#define GILPROBE_LOCATE_FRAMES_H

#include "locate/image.h"

/* One FDE: the code [lo, hi). */
struct frame {
	uint64_t lo, hi;
	/* Begins in another CFI state than functions do: a piece (.cold) that the compiler split
	 * off from the function that jumps into it. */
	bool fragment;
};

/* Sorted by lo, without overlap. Zero-initialise; frames_done frees. */
struct frames {
	struct frame *items;
	size_t n, cap;
};

/* -EOPNOTSUPP when the file was built without an unwind table, -EBADMSG when it is damaged. */
int frames_read(struct image *image, struct frames *frames, struct err *err);
void frames_done(struct frames *frames);

/* The frame that holds @vaddr, or NULL. */
const struct frame *frames_at(const struct frames *frames, uint64_t vaddr);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: the places in an image that call a given imported function.
 */
#ifndef GILPROBE_LOCATE_CALLS_H
#define GILPROBE_LOCATE_CALLS_H

#include "locate/args.h"
#include "locate/frames.h"
#include "locate/image.h"

/* The imported functions that CPython's GIL is made of. */
enum import { IMPORT_SIGNAL, IMPORT_TIMEDWAIT, IMPORT_WAIT, IMPORTS };

/* An address that belongs to an import: its GOT slot or its PLT stub. */
struct import_at {
	uint64_t vaddr;
	enum import import;
};

struct import_list {
	struct import_at *items;
	size_t n, cap;
};

/* One call instruction. */
struct call {
	uint64_t vaddr;
	enum import import;
	bool indirect;		   /* through the GOT slot (-fno-plt), not a direct call */
	const struct frame *frame; /* that holds it */
	struct arg arg;		   /* its first argument, as far as the code tells */
};

struct call_list {
	struct call *items;
	size_t n, cap;
};

/* The GOT slots of the imports, from the relocations. 0, -ENOMEM, or -EOPNOTSUPP when too many. */
int calls_find_slots(struct image *image, struct import_list *ret, struct err *err);

/*
 * The calls, sorted by address. Only exact instructions inside a frame; on x86-64 only at an
 * instruction boundary of it. 0, -ENOMEM, or -EOPNOTSUPP with words when there are too many.
 */
int calls_find(struct image *image, const struct frames *frames, const struct import_list *slots,
	struct call_list *ret, struct err *err);

#endif

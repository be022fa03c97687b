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

/* A call whose argument is asked for. */
struct arg_query {
	uint64_t vaddr;
	bool exact; /* out: an instruction begins there, or the code before it was not understood */
	struct arg arg; /* out: the first argument */
};

/*
 * Answers all @queries, which lie in @frame and are sorted by address, in one walk. The code is
 * read in a straight line, so an argument is a good guess, not a proof: callers need several that
 * agree.
 */
void args_read(struct image *image, const struct frame *frame, struct arg_query *queries, size_t n);

/*
 * Calls @fn for each `call *register` of @frame (x86-64) whose register was loaded from the fixed
 * address @slot, until it returns non-zero; returns that. Compilers keep a GOT slot in a register
 * when -fno-plt code calls the same function more than once.
 */
typedef int args_loaded_fn(uint64_t vaddr, uint64_t slot, void *user);
int args_loaded_calls(
	struct image *image, const struct frame *frame, args_loaded_fn *fn, void *user);

/* True when both are known and differ by a constant, a - b. */
bool arg_distance(const struct arg *a, const struct arg *b, int64_t *ret);

#endif

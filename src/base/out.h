/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffered byte sink: a file that appears whole or not at all, standard output, or memory.
 *
 * Writes never fail on the spot: the first error sticks and out_commit returns it, so a writer of
 * a million small pieces checks once. A path that ends in ".gz" is compressed.
 */
#ifndef GILPROBE_BASE_OUT_H
#define GILPROBE_BASE_OUT_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct out;

/*
 * Opens @path for writing; "-" is standard output. A regular file is written beside and renamed
 * by out_commit; what is no regular file (a pipe, /dev/null) is written directly. 0 or a negative
 * errno with text and hint.
 */
int out_create(const char *path, struct out **ret, struct err *err);

/* A sink that keeps its bytes in memory; NULL when out of memory. For tests and --json strings. */
struct out *out_memory(void);

/* The bytes of a memory sink so far; they stay the sink's own until the next write. */
const char *out_memory_bytes(struct out *out, size_t *ret_size);

void out_write(struct out *out, const void *bytes, size_t size);
void out_str(struct out *out, const char *text);
void out_printf(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_u64(struct out *out, uint64_t value);

/* @ns divided by 10^@decimals in full, by integer arithmetic: (1234567, 3) prints 1234.567 */
void out_fixed(struct out *out, uint64_t ns, unsigned decimals);

/* The first error so far (0: none), so that a long writer can stop early. */
int out_error(const struct out *out);

/* Bytes given to the sink so far, before compression. */
uint64_t out_written(const struct out *out);

/* Flushes, closes, and gives the file its name. 0 or the first error. out_free is still due. */
int out_commit(struct out *out, struct err *err);

/* Without a commit before it nothing is left on disk. NULL is fine. */
void out_free(struct out *out);

DEFINE_CLEANUP(struct out, out, out_free)

#endif

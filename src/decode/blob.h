/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: the TRACING_DATA blob of a recording, as `perf record` copies it out of tracefs: which
 * event formats it holds and where. Nothing inside a format is read but its name and id.
 *
 * Layout: tools/perf/util/trace-event-info.c of the Linux sources.
 */
#ifndef GILPROBE_DECODE_BLOB_H
#define GILPROBE_DECODE_BLOB_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob_format {
	const char *system; /* such as "sched"; in the blob */
	const char *text;   /* the format file; in the blob, not NUL-terminated */
	size_t size;
	uint64_t id;
};

struct blob {
	bool big_endian; /* of the payloads */
	bool truncated;	 /* ends early: the formats before the end are here */
	uint8_t long_size;
	struct blob_format *items;
	size_t n, cap;
};

/* @bytes must outlive @ret. 0, -EBADMSG (no such blob) or -ENOMEM. */
int blob_init(struct blob *ret, const uint8_t *bytes, size_t size, struct err *err);
void blob_done(struct blob *blob);

/* The format of the event @id, or NULL. */
const struct blob_format *blob_find(const struct blob *blob, uint64_t id);

#endif

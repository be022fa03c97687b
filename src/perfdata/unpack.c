/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: COMPRESSED records. In: pieces of one zstd stream. Out: the records in it, which may
 * straddle pieces. Invariant: at most one buffer of plain bytes exists, however far they expand;
 * the fed bytes must stay put until unpack_next asks for more.
 */
#include "perfdata/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define PLAIN ((size_t)256 << 10)

struct unpack {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	bool more;	 /* the decompressor filled the buffer and may hold back bytes */
	uint64_t offset; /* of the byte at @at, in the plain stream */
	size_t at, end;
	uint8_t plain[PLAIN];
};

static int unpack_new(struct unpack **ret)
{
	struct unpack *u = malloc(sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->in = (ZSTD_inBuffer){0};
	u->more = false;
	u->offset = 0;
	u->at = u->end = 0;
	u->stream = ZSTD_createDStream();
	if (!u->stream) {
		free(u);
		return -ENOMEM;
	}
	*ret = u;
	return 0;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	ZSTD_freeDStream(u->stream);
	free(u);
}

int unpack_feed(struct unpack **u, const uint8_t *bytes, size_t size)
{
	if (!*u) {
		int r = unpack_new(u);

		if (r < 0)
			return r;
	}
	(*u)->in = (ZSTD_inBuffer){bytes, size, 0};
	return 0;
}

/* Decompresses behind what is left of the plain bytes. 1: something came; 0: nothing; -errno. */
static int pump(struct unpack *u)
{
	ZSTD_outBuffer out;
	size_t was, r;

	if (u->in.pos == u->in.size && !u->more)
		return 0;
	memmove(u->plain, u->plain + u->at, u->end - u->at);
	u->end -= u->at;
	u->at = 0;
	out = (ZSTD_outBuffer){u->plain, sizeof(u->plain), u->end};
	was = u->in.pos;
	r = ZSTD_decompressStream(u->stream, &out, &u->in);
	if (ZSTD_isError(r))
		return ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
	u->more = out.pos == out.size;
	if (out.pos == u->end && u->in.pos == was)
		return u->in.pos == u->in.size ? 0 : -EBADMSG;
	u->end = out.pos;
	return 1;
}

int unpack_next(struct unpack *u, bool swap, struct perfdata_record *ret)
{
	for (;;) {
		size_t have = u->end - u->at;
		int r;

		if (have >= 8) {
			size_t size = record_header(u->plain + u->at, swap, ret);

			if (size < 8)
				return -EBADMSG;
			if (size <= have) {
				ret->offset = u->offset;
				u->offset += size;
				u->at += size;
				return 1;
			}
		}
		r = pump(u);
		if (r <= 0)
			return r;
	}
}

bool unpack_torn(const struct unpack *u)
{
	return u->end != u->at;
}

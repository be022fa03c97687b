/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfbuild: the file around the data. In: events and data. Out: a file or a pipe's bytes. */
#include "perfbuild-internal.h"
#include "perfdata/format.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define EVENT_UPDATE_NAME 2u
#define ZSTD_PIECE 4000u

static uint64_t reverse_bits_in_bytes(uint64_t v)
{
	uint64_t ret = 0;

	for (unsigned i = 0; i < 64; i++)
		if (v >> i & 1)
			ret |= 1ull << (i / 8 * 8 + 7 - i % 8);
	return ret;
}

/* Bit fields: little-endian bytes, each bit-reversed on big-endian machines. */
static void put_flags(struct bytes *to, uint64_t flags)
{
	if (to->big_endian)
		flags = __builtin_bswap64(reverse_bits_in_bytes(flags));
	bytes_put(to, flags, 8);
}

static size_t attr_size(const struct perfbuild *b)
{
	return b->flags & PERFBUILD_LARGE_ATTR ? 200 : 112;
}

static void put_attr(const struct perfbuild *b, const struct build_event *e, struct bytes *to)
{
	size_t start = to->n;
	bool software = e->form == FORM_TASK || e->form == FORM_CLOCK;
	bool freq = !software && b->flags & PERFBUILD_FREQ;
	uint64_t flags = 1ull << 18; /* sample_id_all */

	if (!(b->flags & PERFBUILD_NO_CLOCKID))
		flags |= 1ull << 25;
	if (freq)
		flags |= 1ull << 10;
	if (e->form == FORM_TASK) /* comm, task, mmap2, context_switch */
		flags |= 1ull << 9 | 1ull << 13 | 1ull << 23 | 1ull << 26;
	bytes_put(to, software ? PERF_TYPE_SOFTWARE : PERF_TYPE_TRACEPOINT, 4);
	bytes_put(to, attr_size(b), 4);
	bytes_put(to,
		e->form == FORM_TASK	? (uint64_t)PERF_COUNT_SW_DUMMY
		: e->form == FORM_CLOCK ? (uint64_t)PERF_COUNT_SW_CPU_CLOCK
					: e->tracepoint_id,
		8);
	bytes_put(to, freq ? 4000 : 1, 8);
	bytes_put(to, perfbuild_sample_type(b), 8);
	bytes_put(to, PERF_FORMAT_ID | (b->flags & PERFBUILD_READ ? PERF_FORMAT_GROUP : 0), 8);
	put_flags(to, flags);
	bytes_zero(to, 44); /* up to sample_stack_user */
	bytes_put(to, b->flags & PERFBUILD_NO_CLOCKID ? 0 : 1, 4);
	bytes_zero(to, attr_size(b) - (to->n - start));
}

static void put_ids(const struct perfbuild *b, size_t event, struct bytes *to)
{
	if (b->flags & PERFBUILD_NO_IDS)
		return;
	bytes_put(to, PERFBUILD_ID_BASE + 2 * event, 8);
	bytes_put(to, PERFBUILD_ID_BASE + 2 * event + 1, 8);
}

static void put_header(struct bytes *to, uint32_t type, size_t size)
{
	bytes_put(to, type, 4);
	bytes_put(to, 0, 2);
	bytes_put(to, size, 2);
}

static void put_string(struct bytes *to, const char *text)
{
	size_t padded = (strlen(text) + 64) / 64 * 64;

	bytes_put(to, padded, 4);
	bytes_add(to, text, strlen(text));
	bytes_zero(to, padded - strlen(text));
}

/* One zstd stream, cut into records wherever ZSTD_PIECE bytes are full. */
static void put_compressed(const struct perfbuild *b, struct bytes *to)
{
	bool second = b->flags & PERFBUILD_ZSTD2;
	ZSTD_CCtx *stream = ZSTD_createCCtx();
	ZSTD_inBuffer in = {b->data.items, b->data.n, 0};
	size_t left;

	do {
		char piece[ZSTD_PIECE];
		ZSTD_outBuffer out = {piece, sizeof(piece), 0};
		size_t padding;

		left = ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush);
		if (!out.pos)
			continue;
		padding = second ? (8 - out.pos % 8) % 8 : 0;
		if (second) {
			put_header(to, PERFDATA_COMPRESSED2, 16 + out.pos + padding);
			bytes_put(to, out.pos, 8);
		} else {
			put_header(to, PERFDATA_COMPRESSED, 8 + out.pos);
		}
		bytes_add(to, piece, out.pos);
		bytes_zero(to, padding);
	} while (left || in.pos < in.size);
	ZSTD_freeCCtx(stream);
}

void perfbuild_put_data(const struct perfbuild *b, struct bytes *to)
{
	if (b->flags & (PERFBUILD_ZSTD | PERFBUILD_ZSTD2))
		put_compressed(b, to);
	else
		bytes_add(to, b->data.items, b->data.n);
}

static void pipe_event(const struct perfbuild *b, size_t i, struct bytes *to)
{
	size_t n_ids = b->flags & PERFBUILD_NO_IDS ? 0 : 2;
	const char *name = b->events[i].name;
	size_t len = (strlen(name) + 8) / 8 * 8;

	put_header(to, PERFDATA_HEADER_ATTR, 8 + attr_size(b) + 8 * n_ids);
	put_attr(b, &b->events[i], to);
	put_ids(b, i, to);
	if (!n_ids)
		return;
	put_header(to, PERFDATA_EVENT_UPDATE, 24 + len);
	bytes_put(to, EVENT_UPDATE_NAME, 8);
	bytes_put(to, PERFBUILD_ID_BASE + 2 * i, 8);
	bytes_add(to, name, strlen(name));
	bytes_zero(to, len - strlen(name));
}

static void assemble_pipe(struct perfbuild *b)
{
	struct bytes *to = &b->file;
	struct bytes tracing = {.big_endian = to->big_endian};

	bytes_put(to, PERFDATA_MAGIC, 8);
	bytes_put(to, PERFDATA_PIPE_HEADER_SIZE, 8);
	for (size_t i = 0; i < b->n_events; i++)
		pipe_event(b, i, to);
	put_header(to, PERFDATA_HEADER_FEATURE, 16 + 68);
	bytes_put(to, PERFDATA_HOSTNAME, 8);
	put_string(to, "built");
	if (!(b->flags & PERFBUILD_NO_TRACING)) {
		perfbuild_tracing(b, &tracing);
		bytes_pad(&tracing, 8);
		put_header(to, PERFDATA_HEADER_TRACING_DATA, 12);
		bytes_put(to, tracing.n, 4);
		bytes_add(to, tracing.items, tracing.n);
		free(tracing.items);
	}
	perfbuild_put_data(b, to);
}

static void put_event_desc(const struct perfbuild *b, struct bytes *to)
{
	bytes_put(to, b->n_events, 4);
	bytes_put(to, attr_size(b), 4);
	for (size_t i = 0; i < b->n_events; i++) {
		put_attr(b, &b->events[i], to);
		bytes_put(to, b->flags & PERFBUILD_NO_IDS ? 0 : 2, 4);
		put_string(to, b->events[i].name);
		put_ids(b, i, to);
	}
}

/* Three sections: TRACING_DATA (where the blob is already), HOSTNAME, EVENT_DESC. */
static void put_features(struct perfbuild *b, size_t tracing_at, size_t tracing_size)
{
	struct bytes *to = &b->file;
	size_t n = tracing_size ? 3 : 2, table = to->n, start, entry = table;

	bytes_zero(to, n * 16);
	if (tracing_size) {
		bytes_set(to, entry, tracing_at, 8);
		bytes_set(to, entry + 8, tracing_size, 8);
		entry += 16;
	}
	for (unsigned i = 0; i < 2; i++, entry += 16) {
		start = to->n;
		if (i == 0)
			put_string(to, "built");
		else
			put_event_desc(b, to);
		bytes_set(to, entry, start, 8);
		bytes_set(to, entry + 8, to->n - start, 8);
	}
	bytes_set(to, 72,
		1u << PERFDATA_HOSTNAME | 1u << PERFDATA_EVENT_DESC |
			(tracing_size ? 1u << PERFDATA_TRACING_DATA : 0),
		8);
}

static void assemble_file(struct perfbuild *b)
{
	struct bytes *to = &b->file;
	size_t ids_at = PERFDATA_HEADER_SIZE, attrs_at, tracing_at, data_at;

	bytes_put(to, PERFDATA_MAGIC, 8);
	bytes_put(to, PERFDATA_HEADER_SIZE, 8);
	bytes_put(to, attr_size(b) + 16, 8);
	bytes_zero(to, PERFDATA_HEADER_SIZE - 24);
	for (size_t i = 0; i < b->n_events; i++)
		put_ids(b, i, to);
	attrs_at = to->n;
	for (size_t i = 0; i < b->n_events; i++) {
		put_attr(b, &b->events[i], to);
		bytes_put(to, ids_at + 16 * i, 8);
		bytes_put(to, b->flags & PERFBUILD_NO_IDS ? 0 : 16, 8);
	}
	bytes_set(to, 24, attrs_at, 8);
	bytes_set(to, 32, to->n - attrs_at, 8);
	bytes_pad(to, 8);
	tracing_at = to->n;
	if (!(b->flags & PERFBUILD_NO_TRACING))
		perfbuild_tracing(b, to);
	data_at = to->n;
	perfbuild_put_data(b, to);
	bytes_set(to, 40, data_at, 8);
	if (b->flags & PERFBUILD_UNFINISHED)
		return;
	bytes_set(to, 48, to->n - data_at, 8);
	put_features(b, tracing_at, data_at - tracing_at);
}

void perfbuild_assemble(struct perfbuild *b)
{
	if (b->flags & PERFBUILD_PIPE)
		assemble_pipe(b);
	else
		assemble_file(b);
}

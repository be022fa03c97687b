/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata, inside: where bytes come from. A source is a file, a pipe or memory; an input is a
 * window that moves over one section of it. Values in it are unaligned and of either byte order.
 */
#ifndef GILPROBE_PERFDATA_INPUT_H
#define GILPROBE_PERFDATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RECORD_MAX UINT16_MAX

/* A file, a pipe, or the caller's memory. */
struct source {
	int fd; /* -1: memory */
	const uint8_t *mem;
	bool seekable;
	uint64_t size; /* UINT64_MAX: unknown, a pipe */
};

/* A window over a section of a source. Bytes at [at, end) stay put until the next input_fill. */
struct input {
	struct source src;
	uint8_t *buf; /* NULL for memory, whose bytes are looked at in place */
	const uint8_t *at, *end;
	uint64_t offset; /* of @at in the source */
	uint64_t stop;	 /* where the section ends; UINT64_MAX: with the source */
};

static inline size_t input_left(const struct input *in)
{
	return (size_t)(in->end - in->at);
}

static inline void input_advance(struct input *in, size_t n)
{
	in->at += n;
	in->offset += n;
}

void source_close(struct source *src);

/* Exactly @size bytes at @offset of a seekable source. 0, -ENODATA (it ends before), -errno. */
int source_read(const struct source *src, uint64_t offset, void *buf, size_t size);

/* Moves the window to [@offset, @stop) of @src; the buffer is kept. 0 or -ENOMEM. */
int input_section(struct input *in, const struct source *src, uint64_t offset, uint64_t stop);
void input_done(struct input *in);

/* Brings at least @need (≤ RECORD_MAX) bytes into the window, or all that are left. 0, -errno. */
int input_fill(struct input *in, size_t need);

/* Passes over @size bytes. 0, -ENODATA (the section ends before), or -errno. */
int input_skip(struct input *in, uint64_t size);

/* Takes @size bytes out of the section into fresh memory. As input_skip, and -ENOMEM. */
int input_take(struct input *in, uint64_t size, uint8_t **ret);

#define SPOOL_DIR "/var/tmp" /* on a disk, where /tmp may be memory */

/*
 * Copies what is left of a pipe, which only files of the pipe format can be read from, into a
 * file without a name, and makes that the source, with the window at its start. 0 or -errno.
 */
int input_spool(struct input *in, struct source *src);

static inline uint16_t get_u16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t get_u32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t get_u64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

#endif

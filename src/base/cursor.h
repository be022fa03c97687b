/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounds-checked reader over bytes that came from a file, of either byte order.
 *
 * A read past the end returns 0 and sets `bad`; the caller checks `bad` once after a group of
 * reads. Values need not be aligned. The cursor never owns the bytes.
 */
#ifndef GILPROBE_BASE_CURSOR_H
#define GILPROBE_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool swap; /* the bytes are of the other byte order */
	bool bad;  /* a read went past the end */
};

static inline struct cursor cursor_over(const void *bytes, size_t size, bool swap)
{
	return (struct cursor){bytes, (const uint8_t *)bytes + size, swap, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* The next @size bytes, or NULL (and `bad`) when fewer are left. */
static inline const uint8_t *cursor_bytes(struct cursor *c, size_t size)
{
	const uint8_t *p = c->at;

	if (c->bad || size > cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	c->at += size;
	return p;
}

static inline void cursor_skip(struct cursor *c, size_t size)
{
	(void)cursor_bytes(c, size);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 2);
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap64(v) : v;
}

/* A NUL-terminated string that ends inside the bytes, or NULL (and `bad`). Moves past the NUL. */
static inline const char *cursor_str(struct cursor *c)
{
	const uint8_t *nul = c->bad ? NULL : memchr(c->at, 0, cursor_left(c));

	if (!nul) {
		c->bad = true;
		return NULL;
	}
	return (const char *)cursor_bytes(c, (size_t)(nul - c->at) + 1);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: walking the TRACING_DATA blob. In: its bytes. Out: a list of event formats. Invariant:
 * every size is checked against what is left, so a damaged blob ends the walk and no more.
 */
#include "decode/blob.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "\x17\x08\x44tracing";

/* The number behind "\nID: " of a format file; 0 when it is not there. */
static uint64_t id_of(const char *text, size_t size)
{
	const char *at = memmem(text, size, "\nID:", 4);
	const char *end = text + size;
	uint64_t id = 0;

	if (!at)
		return 0;
	for (at += 4; at < end && *at == ' '; at++)
		;
	for (; at < end && *at >= '0' && *at <= '9' && id < UINT32_MAX; at++)
		id = id * 10 + (uint64_t)(*at - '0');
	return id;
}

/* A section of a 64-bit size. */
static const uint8_t *sized(struct cursor *c, size_t *ret_size)
{
	uint64_t size = cursor_u64(c);

	*ret_size = (size_t)size;
	return cursor_bytes(c, size > SIZE_MAX ? SIZE_MAX : (size_t)size);
}

static int read_system(struct blob *blob, struct cursor *c)
{
	const char *system = cursor_str(c);
	uint32_t count = cursor_u32(c);

	while (count-- > 0 && !c->bad) {
		size_t size;
		const char *text = (const char *)sized(c, &size);

		if (!text)
			break;
		if (vec_grow(blob) < 0)
			return -ENOMEM;
		blob->items[blob->n++] =
			(struct blob_format){system, text, size, id_of(text, size)};
	}
	return 0;
}

static bool read_header(struct blob *blob, struct cursor *c)
{
	const uint8_t *start = cursor_bytes(c, sizeof(magic) - 1);
	size_t size;

	if (!start || memcmp(start, magic, sizeof(magic) - 1) != 0)
		return false;
	(void)cursor_str(c); /* version: 0.5 and 0.6 differ behind the formats only */
	blob->big_endian = cursor_u8(c) != 0;
	blob->long_size = cursor_u8(c);
	c->swap = blob->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	cursor_skip(c, 4); /* page size */
	(void)cursor_str(c);
	(void)sized(c, &size); /* header_page */
	(void)cursor_str(c);
	(void)sized(c, &size); /* header_event */
	return true;
}

int blob_init(struct blob *ret, const uint8_t *bytes, size_t size, struct err *err)
{
	struct cursor c = cursor_over(bytes, size, false);
	struct blob blob = {0};
	uint32_t count;
	int r = 0;

	if (!read_header(&blob, &c))
		return err_set(
			err, -EBADMSG, "the recording's tracing data does not begin as such");
	for (count = cursor_u32(&c); count > 0 && !c.bad; count--)
		(void)sized(
			&c, &size); /* formats of ftrace's own events, which perf cannot record */
	for (count = cursor_u32(&c); count > 0 && !c.bad && r == 0; count--)
		r = read_system(&blob, &c);
	if (r < 0) {
		blob_done(&blob);
		return err_nomem(err);
	}
	blob.truncated = c.bad;
	*ret = blob;
	return 0;
}

void blob_done(struct blob *blob)
{
	free(blob->items);
	*blob = (struct blob){0};
}

const struct blob_format *blob_find(const struct blob *blob, uint64_t id)
{
	for (size_t i = 0; id && i < blob->n; i++)
		if (blob->items[i].id == id)
			return &blob->items[i];
	return NULL;
}

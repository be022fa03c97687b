/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line of a trace, put together on the stack before it goes to the sink in one piece: a slice
 * has fifteen parts, and a million slices are common. What does not fit goes to the sink at once.
 */
#ifndef GILPROBE_EMIT_LINE_H
#define GILPROBE_EMIT_LINE_H

#include "base/out.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define LINE_SIZE 1024

struct line {
	struct out *out;
	size_t n;
	char text[LINE_SIZE];
};

static inline void line_flush(struct line *line)
{
	out_write(line->out, line->text, line->n);
	line->n = 0;
}

static inline void line_mem(struct line *line, const char *bytes, size_t size)
{
	if (size > LINE_SIZE - line->n)
		line_flush(line);
	assert(size <= LINE_SIZE);
	memcpy(line->text + line->n, bytes, size);
	line->n += size;
}

/* A string literal. */
#define line_lit(line, text) line_mem(line, "" text, sizeof(text) - 1)

/* Any text, of any length. */
static inline void line_long(struct line *line, const char *text)
{
	size_t size = strlen(text);

	if (size <= LINE_SIZE) {
		line_mem(line, text, size);
		return;
	}
	line_flush(line);
	out_write(line->out, text, size);
}

static inline void line_u64(struct line *line, uint64_t value)
{
	char text[20], *p = text + sizeof(text);

	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	line_mem(line, p, (size_t)(text + sizeof(text) - p));
}

/* Nanoseconds as microseconds with exactly three decimals. */
static inline void line_us(struct line *line, uint64_t ns)
{
	uint32_t part = (uint32_t)(ns % 1000);
	char text[4] = {'.', (char)('0' + part / 100), (char)('0' + part / 10 % 10),
		(char)('0' + part % 10)};

	line_u64(line, ns / 1000);
	line_mem(line, text, sizeof(text));
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text for terminals: width, cutting, wrapping, colour. Private to report.
 */
#ifndef GILPROBE_REPORT_TEXT_H
#define GILPROBE_REPORT_TEXT_H

#include "base/out.h"

#include <stdbool.h>
#include <stddef.h>

enum paint { PAINT_NONE, PAINT_BOLD, PAINT_DIM, PAINT_RED, PAINT_YELLOW, PAINT_GREEN };

/* Where to and how: what every writer of the table needs. */
struct page {
	struct out *out;
	bool color;
	unsigned columns; /* 0: do not cut */
};

/* Columns that @text takes (of clean text: one per code point). */
size_t text_width(const char *text);

/*
 * Copies @text into @ret, fit to print: no control characters, valid UTF-8, at most @width columns
 * ("…" ends what was cut; 0: no limit). Returns @ret.
 */
const char *text_clean(char *ret, size_t size, const char *text, size_t width);

/* Writes @text in a colour, if the page has any. */
void text_paint(const struct page *page, enum paint paint, const char *text);

/* Writes @n blanks. */
void text_blanks(const struct page *page, size_t n);

/*
 * Writes @text from column @at on and a line's end; words that do not fit go to the next line,
 * @indent columns in.
 */
void text_wrap(const struct page *page, const char *text, size_t at, size_t indent);

#endif

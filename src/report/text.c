/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: text for terminals. In: any bytes. Out: printable UTF-8 of a known width. Invariant: a
 * thread's name can neither move the cursor nor break the table.
 */
#include "report/text.h"

#include <string.h>

#define ELLIPSIS "…"

size_t text_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* The length of the UTF-8 sequence at @s; 0 when it is none. */
static size_t sequence(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* One printable character of @s into @ret; how many bytes of @s it was. */
static size_t character(const unsigned char *s, char ret[8])
{
	size_t n = sequence(s);
	bool control = *s < 0x20 || *s == 0x7f || (*s == 0xc2 && n == 2 && s[1] < 0xa0);

	if (!n || control) {
		strcpy(ret, "?");
		return n ? n : 1;
	}
	memcpy(ret, s, n);
	ret[n] = '\0';
	return n;
}

const char *text_clean(char *ret, size_t size, const char *text, size_t width)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t at = 0, columns = 0, cut_at = 0;
	char one[8];

	while (*s) {
		size_t n = character(s, one), bytes = strlen(one);

		if (at + bytes + sizeof(ELLIPSIS) > size || (width && columns == width)) {
			at = cut_at;
			memcpy(ret + at, ELLIPSIS, sizeof(ELLIPSIS) - 1);
			at += sizeof(ELLIPSIS) - 1;
			break;
		}
		if (!width || columns + 1 < width)
			cut_at = at + bytes;
		memcpy(ret + at, one, bytes);
		at += bytes;
		columns++;
		s += n;
	}
	ret[at] = '\0';
	return ret;
}

void text_paint(const struct page *page, enum paint paint, const char *text)
{
	static const char *const codes[] = {
		"", "\033[1m", "\033[2m", "\033[31m", "\033[33m", "\033[32m"};
	bool on = page->color && paint != PAINT_NONE && *text;

	if (on)
		out_str(page->out, codes[paint]);
	out_str(page->out, text);
	if (on)
		out_str(page->out, "\033[0m");
}

void text_blanks(const struct page *page, size_t n)
{
	while (n--)
		out_write(page->out, " ", 1);
}

void text_wrap(const struct page *page, const char *text, size_t at, size_t indent)
{
	bool fresh = true;

	while (*text) {
		size_t bytes = strcspn(text, " "), width = 0;

		/* a number and its sign stay together */
		if (text[bytes] == ' ' && text[bytes + 1] == '%')
			bytes += 1 + strcspn(text + bytes + 1, " ");

		for (size_t i = 0; i < bytes; i++)
			width += (text[i] & 0xc0) != 0x80;
		if (!fresh && page->columns && at + 1 + width > page->columns) {
			out_str(page->out, "\n");
			text_blanks(page, indent);
			at = indent;
			fresh = true;
		}
		if (!fresh)
			out_str(page->out, " ");
		out_write(page->out, text, bytes);
		at += width + !fresh;
		fresh = false;
		text += bytes;
		text += *text == ' ';
	}
	out_str(page->out, "\n");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: reading a format file. In: its text. Out: the event's name and its fields' places.
 * Invariant: only lines of exactly the form that the kernel writes are believed; the print format,
 * a small language of its own, is not looked at.
 *
 * Written by hand because libtraceevent, which reads these files for perf, crashes when memory runs
 * out and leaks on text that it cannot parse (1.7.1); nothing of its print formats is needed here.
 */
#include "decode/layout.h"

#include "base/cursor.h"

#include <ctype.h>
#include <string.h>

static size_t word_length(const struct cursor *c)
{
	size_t n = 0;

	while (n < cursor_left(c) && (isalnum(c->at[n]) || c->at[n] == '_'))
		n++;
	return n;
}

/* Whether @text comes next; moves past it. */
static bool expect(struct cursor *c, const char *text)
{
	const uint8_t *bytes = cursor_bytes(c, strlen(text));

	return bytes && memcmp(bytes, text, strlen(text)) == 0;
}

static bool expect_number(struct cursor *c, uint16_t *ret)
{
	unsigned value = 0;
	size_t n = word_length(c);

	for (size_t i = 0; i < n; i++) {
		if (!isdigit(c->at[i]) || value > UINT16_MAX)
			return false;
		value = value * 10 + (unsigned)(c->at[i] - '0');
	}
	cursor_skip(c, n);
	*ret = (uint16_t)value;
	return n > 0 && value <= UINT16_MAX;
}

static bool copy_word(struct cursor *c, size_t n, char *ret, size_t room)
{
	if (!n || n >= room)
		return false;
	memcpy(ret, cursor_bytes(c, n), n);
	ret[n] = '\0';
	return true;
}

/* "unsigned long x", "char *x", "char comm[16]": the last word is the field's name. */
static bool expect_declaration(struct cursor *c, struct layout_field *ret)
{
	unsigned words = 0;

	for (size_t n; (n = word_length(c)); words++) {
		if (!copy_word(c, n, ret->name, sizeof(ret->name)) || isdigit(ret->name[0]))
			return false;
		while (cursor_left(c) && (*c->at == ' ' || *c->at == '*'))
			cursor_skip(c, 1);
	}
	if (cursor_left(c) && *c->at == '[') {
		cursor_skip(c, 1);
		cursor_skip(c, word_length(c)); /* a number, or TASK_COMM_LEN */
		if (!expect(c, "]"))
			return false;
	}
	return words >= 2;
}

/*
 * "\tfield:DECLARATION;\toffset:8;\tsize:8;\tsigned:0;", of fields with a place of their own
 * (strings of variable length are of no use here).
 */
static bool read_field(struct cursor c, struct layout_field *ret)
{
	uint16_t is_signed = 0;

	if (!expect(&c, "\tfield:") || !expect_declaration(&c, ret) || !expect(&c, ";\toffset:") ||
		!expect_number(&c, &ret->offset) || !expect(&c, ";\tsize:") ||
		!expect_number(&c, &ret->size) || !expect(&c, ";\tsigned:") ||
		!expect_number(&c, &is_signed) || !expect(&c, ";") || cursor_left(&c))
		return false;
	ret->is_signed = is_signed;
	return true;
}

/* The next line without its end; false when there is no whole line left. */
static bool next_line(struct cursor *c, struct cursor *ret)
{
	const uint8_t *newline = memchr(c->at, '\n', cursor_left(c));

	if (!newline)
		return false;
	*ret = cursor_over(c->at, (size_t)(newline - c->at), false);
	c->at = newline + 1;
	return true;
}

static bool read_name(struct cursor line, char *ret, size_t room)
{
	return expect(&line, "name: ") && copy_word(&line, word_length(&line), ret, room) &&
	       !cursor_left(&line);
}

bool layout_read(const struct blob_format *format, struct layout *ret)
{
	struct cursor text = cursor_over(format->text, format->size, false), line;
	struct layout layout = {.system = format->system};

	if (!next_line(&text, &line) || !read_name(line, layout.name, sizeof(layout.name)))
		return false;
	while (layout.n_fields < LAYOUT_MAX_FIELDS && next_line(&text, &line))
		if (read_field(line, &layout.fields[layout.n_fields]))
			layout.n_fields++;
	*ret = layout;
	return layout.n_fields > 0;
}

const struct layout_field *layout_find(const struct layout *layout, const char *name)
{
	for (size_t i = 0; i < layout->n_fields; i++)
		if (strcmp(layout->fields[i].name, name) == 0)
			return &layout->fields[i];
	return NULL;
}

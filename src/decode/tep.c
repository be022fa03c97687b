/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: libtraceevent is used here and nowhere else. In: a format file's text. Out: the places
 * of its fields. Invariant: the library sees only the lines that declare fields, each of the form
 * the kernel writes; the print format, a small language of its own, never reaches it.
 */
#include "decode/tep.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <traceevent/event-parse.h>

#define MAX_TEXT                                                                                   \
	16384 /* the longest format file of Linux 6.18 without its print format has 5 KiB */

struct text {
	char *items;
	size_t n, cap;
};

static int append(struct text *text, const char *bytes, size_t size)
{
	if (vec_reserve(&text->items, &text->cap, text->n + size, 1) < 0)
		return -ENOMEM;
	memcpy(text->items + text->n, bytes, size);
	text->n += size;
	return 0;
}

static size_t word_length(struct cursor *c)
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

static bool expect_number(struct cursor *c, size_t max_digits)
{
	size_t n = word_length(c);

	for (size_t i = 0; i < n; i++)
		if (!isdigit(c->at[i]))
			return false;
	cursor_skip(c, n);
	return n > 0 && n <= max_digits;
}

/* "unsigned long *x", "char comm[16]": two words at least, then maybe one array size. */
static bool expect_declaration(struct cursor *c)
{
	unsigned words = 0;

	for (size_t n; (n = word_length(c)); words++) {
		if (isdigit(c->at[0]))
			return false;
		cursor_skip(c, n);
		while (cursor_left(c) && (*c->at == ' ' || *c->at == '*'))
			cursor_skip(c, 1);
	}
	if (!cursor_left(c) || *c->at != '[')
		return words >= 2;
	cursor_skip(c, 1);
	return words >= 2 && expect_number(c, 5) && expect(c, "]");
}

/*
 * "\tfield:DECLARATION;\toffset:8;\tsize:8;\tsigned:0;", as the kernel writes it, of fields with
 * a place of their own (strings of variable length are of no use here).
 */
static bool is_field_line(const char *line, size_t size)
{
	struct cursor c = cursor_over(line, size, false);

	return expect(&c, "\tfield:") && expect_declaration(&c) && expect(&c, ";\toffset:") &&
	       expect_number(&c, 5) && expect(&c, ";\tsize:") && expect_number(&c, 5) &&
	       expect(&c, ";\tsigned:") && expect_number(&c, 1) && expect(&c, ";") &&
	       !cursor_left(&c);
}

/* What of @format goes to the library: name, id, good field lines, and a print format of ours. */
static int clean_text(const struct blob_format *format, const char *name, struct text *ret)
{
	static const char tail[] = "\nprint fmt: \"\"\n";
	const char *at = format->text, *end = at + format->size;
	char head[160];
	int n = snprintf(
		head, sizeof(head), "name: %s\nID: %u\nformat:\n", name, (unsigned)format->id);
	int r = append(ret, head, (size_t)n);

	while (r == 0 && at < end && ret->n < MAX_TEXT) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (!newline)
			break;
		/* an empty line parts the common fields from the event's own */
		if (at == newline || is_field_line(at, (size_t)(newline - at)))
			r = append(ret, at, (size_t)(newline - at) + 1);
		at = newline + 1;
	}
	return r == 0 ? append(ret, tail, sizeof(tail) - 1) : r;
}

static bool read_name(const struct blob_format *format, char *ret, size_t room)
{
	static const char head[] = "name: ";
	size_t n = 0, skip = sizeof(head) - 1;

	if (format->size < skip || memcmp(format->text, head, skip) != 0)
		return false;
	while (skip + n < format->size && format->text[skip + n] != '\n') {
		char c = format->text[skip + n];

		if (n + 1 >= room || !(isalnum((unsigned char)c) || c == '_' || c == '-'))
			return false;
		ret[n++] = c;
	}
	ret[n] = '\0';
	return n > 0;
}

static void copy_fields(const struct tep_format_field *field, bool is_common, struct layout *ret)
{
	for (; field && ret->n_fields < LAYOUT_MAX_FIELDS; field = field->next) {
		struct layout_field *to = &ret->fields[ret->n_fields];

		if (field->offset < 0 || field->offset > UINT16_MAX || field->size <= 0 ||
			field->size > UINT16_MAX || strlen(field->name) >= sizeof(to->name))
			continue;
		strcpy(to->name, field->name);
		to->offset = (uint16_t)field->offset;
		to->size = (uint16_t)field->size;
		to->is_signed = field->flags & TEP_FIELD_IS_SIGNED;
		to->is_common = is_common;
		ret->n_fields++;
	}
}

static int parse(const struct blob *blob, const struct text *text, struct layout *ret)
{
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event = NULL;

	if (!tep)
		return -ENOMEM;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(tep, blob->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, blob->long_size == 4 ? 4 : 8);
	if (tep_parse_format(tep, &event, text->items, text->n, ret->system) == 0 && event) {
		copy_fields(event->format.common_fields, true, ret);
		copy_fields(event->format.fields, false, ret);
	}
	tep_free(tep);
	return ret->n_fields ? 0 : -EBADMSG;
}

int layout_read(const struct blob *blob, const struct blob_format *format, struct layout *ret,
	struct err *err)
{
	struct layout layout = {0};
	struct text text = {0};
	int r = -EBADMSG;

	if (strlen(format->system) < sizeof(layout.system) &&
		read_name(format, layout.name, sizeof(layout.name))) {
		strcpy(layout.system, format->system);
		r = clean_text(format, layout.name, &text);
		if (r == 0)
			r = parse(blob, &text, &layout);
	}
	free(text.items);
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0)
		return err_set(err, r, "the format of tracepoint %u cannot be understood",
			(unsigned)format->id);
	*ret = layout;
	return 0;
}

const struct layout_field *layout_find(const struct layout *layout, const char *name)
{
	for (size_t i = 0; i < layout->n_fields; i++)
		if (strcmp(layout->fields[i].name, name) == 0)
			return &layout->fields[i];
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: a reader of JSON streams. In: a file that anyone may have made. Out: texts of values.
 * Invariant: nothing leaves that is not valid JSON (of whatever encoding); nesting and the size of
 * one value are limited, so neither stack nor memory is the file's to decide.
 */
#include "emit/json-scan.h"

#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define SCAN_BUFFER (128 * 1024)
#define SCAN_DEPTH 100
#define SCAN_VALUE_MAX (256u << 20)

struct json_scan {
	gzFile in;
	char *path;
	uint64_t offset; /* of the buffer's first byte */
	size_t at, n;
	int error;	   /* of reading */
	struct text *into; /* takes the bytes, or NULL */
	unsigned depth;
	uint8_t buffer[SCAN_BUFFER];
};

void text_done(struct text *text)
{
	free(text->items);
	*text = (struct text){0};
}

int json_scan_open(const char *path, struct json_scan **ret, struct err *err)
{
	_cleanup_(cleanup_json_scan) struct json_scan *scan = calloc(1, sizeof(*scan));
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!scan || !(scan->path = strdup(path)))
		return err_nomem(err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, -errno, "unable to open '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_errno(err, -EISDIR, "unable to read '%s'", path);
	scan->in = gzdopen(fd, "rb");
	if (!scan->in)
		return err_nomem(err);
	(void)steal_fd(&fd);
	*ret = steal_ptr(scan);
	return 0;
}

void json_scan_free(struct json_scan *scan)
{
	if (!scan)
		return;
	if (scan->in)
		gzclose(scan->in);
	free(scan->path);
	free(scan);
}

static bool fill(struct json_scan *scan)
{
	int n;

	if (scan->error)
		return false;
	scan->offset += scan->n;
	scan->at = scan->n = 0;
	n = gzread(scan->in, scan->buffer, sizeof(scan->buffer));
	if (n < 0) {
		int code;

		gzerror(scan->in, &code);
		scan->error = code == Z_ERRNO && errno ? -errno
			      : code == Z_MEM_ERROR    ? -ENOMEM
						       : -EBADMSG;
		return false;
	}
	scan->n = (size_t)n;
	return n > 0;
}

static int peek(struct json_scan *scan)
{
	if (scan->at == scan->n && !fill(scan))
		return -1;
	return scan->buffer[scan->at];
}

static int fail(struct json_scan *scan, const char *what, struct err *err)
{
	if (scan->error && scan->error != -EBADMSG)
		return err_errno(err, scan->error, "unable to read '%s'", scan->path);
	if (scan->error)
		return err_set(err, -EBADMSG, "'%s' is damaged behind byte %llu", scan->path,
			(unsigned long long)scan->offset);
	return err_set(err, -EBADMSG, "'%s' is no JSON: %s at byte %llu", scan->path,
		peek(scan) < 0 ? "it ends" : what, (unsigned long long)(scan->offset + scan->at));
}

/* Takes @size bytes of the buffer. */
static int take(struct json_scan *scan, size_t size, struct err *err)
{
	struct text *into = scan->into;

	if (into) {
		if (into->n + size > SCAN_VALUE_MAX)
			return err_set(err, -E2BIG, "'%s': a value is larger than %u MiB",
				scan->path, SCAN_VALUE_MAX >> 20);
		if (vec_reserve(&into->items, &into->cap, into->n + size + 1, 1) < 0)
			return err_nomem(err);
		memcpy(into->items + into->n, scan->buffer + scan->at, size);
		into->n += size;
		into->items[into->n] = 0;
	}
	scan->at += size;
	return 0;
}

int json_scan_peek(struct json_scan *scan)
{
	int c;

	while ((c = peek(scan)) == ' ' || c == '\n' || c == '\r' || c == '\t')
		scan->at++;
	return c;
}

int json_scan_error(struct json_scan *scan, struct err *err)
{
	return scan->error ? fail(scan, "", err) : 0;
}

int json_scan_expect(struct json_scan *scan, char c, struct err *err)
{
	if (json_scan_peek(scan) != (unsigned char)c)
		return fail(scan, "another sign was expected", err);
	return take(scan, 1, err);
}

int json_scan_more(struct json_scan *scan, char close, bool first, struct err *err)
{
	int c = json_scan_peek(scan), r;

	if (c == close) {
		r = take(scan, 1, err);
		return r < 0 ? r : 0;
	}
	if (first)
		return 1;
	if (c != ',')
		return fail(scan, "a comma is missing", err);
	r = take(scan, 1, err);
	return r < 0 ? r : 1;
}

static int take_escape(struct json_scan *scan, struct err *err)
{
	int c, r = take(scan, 1, err);

	if (r < 0)
		return r;
	c = peek(scan);
	if (c <= 0 || !strchr("\"\\/bfnrtu", c))
		return fail(scan, "an unknown escape", err);
	r = take(scan, 1, err);
	for (int i = 0; c == 'u' && i < 4 && r >= 0; i++) {
		int digit = peek(scan);

		if (digit <= 0 || !strchr("0123456789abcdefABCDEF", digit))
			return fail(scan, "an unknown escape", err);
		r = take(scan, 1, err);
	}
	return r;
}

static int take_string(struct json_scan *scan, struct err *err)
{
	int r = json_scan_expect(scan, '"', err);

	while (r >= 0) {
		int c = peek(scan);
		size_t size = 0;

		if (c < 0x20)
			return fail(scan, "a control character in a string", err);
		if (c == '"')
			return take(scan, 1, err);
		if (c == '\\') {
			r = take_escape(scan, err);
			continue;
		}
		while (scan->at + size < scan->n && scan->buffer[scan->at + size] >= 0x20 &&
			scan->buffer[scan->at + size] != '"' &&
			scan->buffer[scan->at + size] != '\\')
			size++;
		r = take(scan, size, err);
	}
	return r;
}

static int take_digits(struct json_scan *scan, struct err *err)
{
	int c = peek(scan), r = 0;

	if (c < '0' || c > '9')
		return fail(scan, "a digit was expected", err);
	for (; r >= 0 && c >= '0' && c <= '9'; c = peek(scan))
		r = take(scan, 1, err);
	return r;
}

static int take_number(struct json_scan *scan, struct err *err)
{
	int r = peek(scan) == '-' ? take(scan, 1, err) : 0;

	if (r < 0)
		return r;
	r = peek(scan) == '0' ? take(scan, 1, err) : take_digits(scan, err);
	if (r >= 0 && peek(scan) == '.') {
		r = take(scan, 1, err);
		r = r < 0 ? r : take_digits(scan, err);
	}
	if (r >= 0 && (peek(scan) == 'e' || peek(scan) == 'E')) {
		r = take(scan, 1, err);
		if (r >= 0 && (peek(scan) == '+' || peek(scan) == '-'))
			r = take(scan, 1, err);
		r = r < 0 ? r : take_digits(scan, err);
	}
	return r;
}

static int take_word(struct json_scan *scan, const char *word, struct err *err)
{
	int r = 0;

	for (; *word && r >= 0; word++) {
		if (peek(scan) != *word)
			return fail(scan, "an unknown word", err);
		r = take(scan, 1, err);
	}
	return r;
}

static int take_value(struct json_scan *scan, struct err *err);

static int take_items(struct json_scan *scan, bool object, struct err *err)
{
	int r = take(scan, 1, err);

	if (r < 0)
		return r;
	if (++scan->depth > SCAN_DEPTH)
		return fail(scan, "nesting is too deep", err);
	for (bool first = true;; first = false) {
		r = json_scan_more(scan, object ? '}' : ']', first, err);
		if (r <= 0)
			break;
		if (object) {
			r = take_string(scan, err);
			r = r < 0 ? r : json_scan_expect(scan, ':', err);
		}
		r = r < 0 ? r : take_value(scan, err);
		if (r < 0)
			break;
	}
	scan->depth--;
	return r;
}

static int take_value(struct json_scan *scan, struct err *err)
{
	int c = json_scan_peek(scan);

	switch (c) {
	case '{':
	case '[':
		return take_items(scan, c == '{', err);
	case '"':
		return take_string(scan, err);
	case 't':
		return take_word(scan, "true", err);
	case 'f':
		return take_word(scan, "false", err);
	case 'n':
		return take_word(scan, "null", err);
	default:
		return take_number(scan, err);
	}
}

int json_scan_key(struct json_scan *scan, struct text *name, struct err *err)
{
	int r;

	name->n = 0;
	scan->into = name;
	r = take_string(scan, err);
	scan->into = NULL;
	if (r < 0)
		return r;
	name->n -= 2;
	memmove(name->items, name->items + 1, name->n);
	name->items[name->n] = 0;
	return json_scan_expect(scan, ':', err);
}

int json_scan_value(struct json_scan *scan, struct text *into, struct err *err)
{
	int r;

	if (into)
		into->n = 0;
	scan->into = into;
	r = take_value(scan, err);
	scan->into = NULL;
	return r;
}

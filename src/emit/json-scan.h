/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads JSON from a file as a stream, plain or gzip whatever its name says, and keeps the text of
 * the values that are asked for, without the blanks between tokens.
 *
 * What is kept is valid JSON: everything is checked against RFC 8259 on the way. Errors are
 * -EBADMSG with the byte offset; after one the reader must not be used.
 */
#ifndef GILPROBE_EMIT_JSON_SCAN_H
#define GILPROBE_EMIT_JSON_SCAN_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* A growing text; not NUL-terminated unless said. Zero-initialise; text_done frees. */
struct text {
	char *items;
	size_t n, cap;
};

void text_done(struct text *text);

struct json_scan;

/* Opens @path. */
int json_scan_open(const char *path, struct json_scan **ret, struct err *err);
void json_scan_free(struct json_scan *scan);

DEFINE_CLEANUP(struct json_scan, json_scan, json_scan_free)

/* The next byte that is no blank, not taken, or -1 at the end of the file. */
int json_scan_peek(struct json_scan *scan);

/* Whether that -1 was no end but a file that cannot be read. */
int json_scan_error(struct json_scan *scan, struct err *err);

/* Takes the next byte that is no blank, which must be @c. */
int json_scan_expect(struct json_scan *scan, char c, struct err *err);

/*
 * For walking an object or array whose opening bracket was taken: 1 when a member or item follows
 * (the comma before it is taken), 0 when it ended with @close (taken). @first: none was read yet.
 */
int json_scan_more(struct json_scan *scan, char close, bool first, struct err *err);

/* Takes a member's name and the colon: NUL-terminated into @name, escapes as they stand. */
int json_scan_key(struct json_scan *scan, struct text *name, struct err *err);

/* Takes a whole value. Its text replaces @into, with a NUL behind (not counted); NULL: skip it. */
int json_scan_value(struct json_scan *scan, struct text *into, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The error value that every stage hands up to the command line.
 *
 * A function that can fail for a reason worth words takes `struct err *err` as its last
 * parameter. The lowest function that knows the file, offset or name sets text and hint once;
 * callers return the code unchanged. Nothing below src/cli prints.
 */
#ifndef GILPROBE_BASE_ERR_H
#define GILPROBE_BASE_ERR_H

#include <stdbool.h>

struct err {
	char text[512];	 /* one line, lower case, no full stop; "" when nothing was set */
	char hint[1024]; /* up to two lines separated by '\n'; "" when there is none */
};

/* Sets the text unless one is set already, and returns @code (a negative errno). @err may be NULL.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same, with ": strerror(-code)" appended. */
int err_errno(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a line to the hint. Does nothing when @err is NULL. */
void err_hint(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets "out of memory" and returns -ENOMEM. */
int err_nomem(struct err *err);

/* Empties text and hint, for a caller that recovers and goes on. */
void err_clear(struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: the error value. In: a code and words from the place that failed. Out: text and hint for
 * the command line. Invariant: the first text wins, so a caller can add no noise to the cause.
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->text[0])
		return code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

int err_errno(struct err *err, int code, const char *fmt, ...)
{
	char words[400];
	va_list ap;

	if (!err || err->text[0])
		return code;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	/* by one name, whoever ran out of it */
	return err_set(
		err, code, "%s: %s", words, code == -ENOMEM ? "out of memory" : strerror(-code));
}

void err_hint(struct err *err, const char *fmt, ...)
{
	size_t used;
	va_list ap;

	if (!err)
		return;
	used = strlen(err->hint);
	if (used && used + 1 < sizeof(err->hint)) {
		err->hint[used++] = '\n';
		err->hint[used] = '\0';
	}
	va_start(ap, fmt);
	vsnprintf(err->hint + used, sizeof(err->hint) - used, fmt, ap);
	va_end(ap);
}

int err_nomem(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

void err_clear(struct err *err)
{
	if (!err)
		return;
	err->text[0] = '\0';
	err->hint[0] = '\0';
}

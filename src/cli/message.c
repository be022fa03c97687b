/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: messages. In: error values and words. Out: lines on standard error. Invariant: standard
 * output carries only what was asked for, so nothing here writes to it.
 */
#include "cli/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static enum { TALK_QUIET, TALK_NORMAL, TALK_VERBOSE } level = TALK_NORMAL;

void say_level(bool quiet, bool verbose)
{
	level = quiet ? TALK_QUIET : verbose ? TALK_VERBOSE : TALK_NORMAL;
}

static void line(const char *prefix, const char *fmt, va_list ap)
{
	fputs(prefix, stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void say(const char *fmt, ...)
{
	va_list ap;

	if (level == TALK_QUIET)
		return;
	va_start(ap, fmt);
	line("gilprobe: ", fmt, ap);
	va_end(ap);
}

void say_verbose(const char *fmt, ...)
{
	va_list ap;

	if (level != TALK_VERBOSE)
		return;
	va_start(ap, fmt);
	line("gilprobe: ", fmt, ap);
	va_end(ap);
}

void say_hint(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line("gilprobe: hint: ", fmt, ap);
	va_end(ap);
}

void say_error(const struct err *err)
{
	const char *at = err->hint;

	fprintf(stderr, "gilprobe: %s\n", err->text[0] ? err->text : "unknown failure");
	while (*at) {
		size_t n = strcspn(at, "\n");

		say_hint("%.*s", (int)n, at);
		at += n + (at[n] == '\n');
	}
}

int say_usage(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line("gilprobe: ", fmt, ap);
	va_end(ap);
	fprintf(stderr, "gilprobe: hint: try 'gilprobe %s%s-h'\n", command ? command : "",
		command ? " " : "");
	return 2;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about the terminal, and a progress line on standard error.
 */
#ifndef GILPROBE_BASE_TERM_H
#define GILPROBE_BASE_TERM_H

#include <stdbool.h>
#include <stdint.h>

enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

/* Whether text for @fd is to be coloured; auto honours NO_COLOR, TERM=dumb and "no terminal". */
bool term_use_color(enum term_color wish, int fd);

/* Columns of the terminal at @fd, or 0 when it is none. */
unsigned term_columns(int fd);

struct progress {
	const char *what; /* such as "reading perf.data" */
	uint64_t next_ns; /* when the next line may be drawn */
	bool enabled;
	bool shown;
};

/* Enabled only when standard error is a terminal and @wanted. */
void progress_init(struct progress *progress, const char *what, bool wanted);

/* At most ten times a second. @total 0: unknown, the line shows MiB read. */
void progress_update(struct progress *progress, uint64_t done, uint64_t total);

/* Takes the line away. */
void progress_done(struct progress *progress);

#endif

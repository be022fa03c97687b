/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: terminal facts. In: a file descriptor and the environment. Out: whether to colour, how
 * wide, and a progress line. Invariant: nothing is drawn where no person looks.
 */
#include "base/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_FIRST_NS 500000000ull /* short work shows no line */
#define PROGRESS_EVERY_NS 100000000ull

bool term_use_color(enum term_color wish, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (wish != TERM_COLOR_AUTO)
		return wish == TERM_COLOR_ALWAYS;
	return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

unsigned term_columns(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void progress_init(struct progress *progress, const char *what, bool wanted)
{
	*progress = (struct progress){.what = what, .enabled = wanted && isatty(STDERR_FILENO)};
	if (progress->enabled)
		progress->next_ns = now_ns() + PROGRESS_FIRST_NS;
}

void progress_update(struct progress *progress, uint64_t done, uint64_t total)
{
	uint64_t now;

	if (!progress->enabled)
		return;
	now = now_ns();
	if (now < progress->next_ns)
		return;
	progress->next_ns = now + PROGRESS_EVERY_NS;
	progress->shown = true;
	if (total)
		fprintf(stderr, "\r\033[K%s: %.0f %%", progress->what,
			100.0 * (double)done / (double)total);
	else
		fprintf(stderr, "\r\033[K%s: %.0f MiB", progress->what, (double)done / 1048576);
	fflush(stderr);
}

void progress_done(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

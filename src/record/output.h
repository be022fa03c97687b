/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the output file, written in place; an older one becomes FILE.old.
 */
#ifndef GILPROBE_RECORD_OUTPUT_H
#define GILPROBE_RECORD_OUTPUT_H

#include "base/err.h"

#include <stdbool.h>

struct output {
	const char *path; /* the caller's */
	char *old;	  /* where the older file went, or NULL */
	bool made;	  /* the file is ours */
};

/* Makes room and opens @path. The descriptor, or a negative errno with everything as it was. */
int output_open(struct output *output, const char *path, struct err *err);

/* Removes the file and gives the older one its name back. */
void output_undo(struct output *output);

/* The file stays. */
void output_done(struct output *output);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the table and the JSON (schema gilprobe.report/1) of one recording.
 */
#ifndef GILPROBE_REPORT_REPORT_H
#define GILPROBE_REPORT_REPORT_H

#include "base/err.h"
#include "base/out.h"
#include "fold/totals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_interpreter {
	const char *path;
	const char *version;  /* "3.11.7", or NULL: unknown */
	const char *build_id; /* hexadecimal, or NULL */
	bool free_threaded;
};

/* What the table says about the recording beside the totals. Strings may be NULL: unknown. */
struct report_recording {
	const char *const *files;
	size_t n_files;
	const char *command; /* of the recorded program, words joined by blanks */
	const char *hostname, *kernel, *clock;
	bool has_start;
	uint64_t start_unix_ns;
	const struct report_interpreter *interpreters;
	size_t n_interpreters;
	const char *const *notes; /* what is missing from the recording, each a sentence */
	size_t n_notes;
};

struct report_options {
	bool color;
	unsigned columns; /* of the terminal; 0: do not cut */
	bool all_threads; /* do not merge the many short ones */
};

/* The full table of `gilprobe report`. 0 or -ENOMEM, as all of these; errors of @out stick to it.
 */
int report_table(struct out *out, const struct fold_result *result,
	const struct report_recording *recording, const struct report_options *options,
	struct err *err);

/* GIL line, verdict and worst thread: the end of `gilprobe record`. */
int report_summary(struct out *out, const struct fold_result *result,
	const struct report_recording *recording, const struct report_options *options,
	struct err *err);

int report_json(struct out *out, const struct fold_result *result,
	const struct report_recording *recording, struct err *err);

#endif

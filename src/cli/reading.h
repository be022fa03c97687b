/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading recordings for the commands: opens the files, runs the pipeline, draws progress, and
 * gathers what the report says about the recording itself.
 */
#ifndef GILPROBE_CLI_READING_H
#define GILPROBE_CLI_READING_H

#include "base/err.h"
#include "base/strtab.h"
#include "base/term.h"
#include "cli/option.h"
#include "pipeline/pipeline.h"
#include "report/report.h"

#define READING_NOTES 16

struct reading {
	struct pipeline *pipeline;
	struct strtab strings; /* owns the texts below */
	const char **files;    /* names as given; points into the arguments */
	size_t n_files;
	struct report_recording recording;
	struct report_interpreter *interpreters;
	const char *notes[READING_NOTES];
};

/* "perf.data" when the command line names no file. */
int reading_open(struct reading *r, const struct common_args *common,
	const struct pipeline_options *options, struct err *err);

/*
 * Reads everything and fills r->recording. -ENODATA when there is no GIL event in the files,
 * -EINTR after Ctrl-C.
 */
int reading_run(struct reading *r, const struct fold_result **ret, struct err *err);

void reading_done(struct reading *r);

/* The recorded program's command line, or NULL if the file does not tell; owned by @r. */
int reading_command(struct reading *r, const char **ret, struct err *err);

/* How the recording's clock relates to CLOCK_REALTIME; false when the file does not tell. */
bool reading_wall(const struct reading *r, int64_t *ret_realtime_minus_clock_ns);

/* Lets @options draw @progress and stop at a signal. */
void reading_progress(struct pipeline_options *options, struct progress *progress);

/* A timeline's file: *.json or *.json.gz. */
bool reading_is_trace_name(const char *name);

/* SIGINT and SIGTERM make reading_run return -EINTR instead of ending us with half a file. */
void reading_catch_signals(void);

/* The exit status for @code: 130 after Ctrl-C, else @failure; says the error unless it is EPIPE. */
int exit_for(int code, const struct err *err, int failure);

#endif

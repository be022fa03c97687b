/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: sinks that write a timeline.
 */
#ifndef GILPROBE_EMIT_EMIT_H
#define GILPROBE_EMIT_EMIT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/out.h"
#include "fold/sink.h"

#include <stdbool.h>
#include <stdint.h>

#define EMIT_RAPID_AFTER 50000u

struct emit_options {
	bool idle;	      /* write `I/O or sleep` slices too */
	bool all;	      /* write every state, also of threads that change it all the time */
	uint64_t rapid_after; /* … or so many of these states at first (EMIT_RAPID_AFTER) */
	bool waits_only;      /* releases are missing from the recording: draw no holds */
	uint64_t min_dur_ns;  /* drop shorter slices (their time stays in the totals) */
	const char *command;  /* of the recorded program, or NULL */
	const char *version;  /* of gilprobe */
	bool has_wall;	      /* the file tells how its clock relates to CLOCK_REALTIME */
	int64_t realtime_minus_clock_ns;
	bool clock_monotonic;		/* times are CLOCK_MONOTONIC: a VizTracer report fits */
	const char *const *phase_names; /* of marks, by number, or NULL; a NULL name: no phase */
	size_t n_phase_names;
};

struct emit_chrome;

/* A Chrome JSON trace onto @out (the caller's, committed by the caller after fold_finish). */
int emit_chrome_new(struct out *out, const struct emit_options *options, struct emit_chrome **ret,
	struct err *err);
void emit_chrome_free(struct emit_chrome *emit);

DEFINE_CLEANUP(struct emit_chrome, emit_chrome, emit_chrome_free)

/* The sink to give to fold; lives as long as @emit. Its done() completes the JSON. */
struct sink *emit_chrome_sink(struct emit_chrome *emit);

/* Replaces the options by what is known once the recording was opened, or read. Before done(). */
void emit_chrome_describe(struct emit_chrome *emit, const struct emit_options *options);

/*
 * Puts the events of VizTracer's report @path (plain or gzip, whatever its name) into the trace,
 * before the run. Its names of processes and threads are used for our rows too. -EBADMSG: it is
 * none; -EOPNOTSUPP: the recording's clock is not VizTracer's.
 */
int emit_chrome_merge_viztracer(struct emit_chrome *emit, const char *path, struct err *err);

/* After the run: false when recording and report have no moment in common (other runs). */
bool emit_chrome_merge_fits(const struct emit_chrome *emit);

/* Short states that are not drawn by themselves, but several in a slice. */
uint64_t emit_chrome_rapid(const struct emit_chrome *emit);

/* Slices written so far. */
uint64_t emit_chrome_slices(const struct emit_chrome *emit);

#endif

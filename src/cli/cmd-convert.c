/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: gilprobe convert. In: recordings. Out: a timeline file that appears whole or not at all.
 */
#include "cli/option.h"

#include "base/out.h"
#include "base/term.h"
#include "cli/message.h"
#include "cli/reading.h"
#include "emit/emit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct convert_args {
	struct common_args common;
	const char *output, *viztracer;
	bool idle, all;
	uint32_t pid, rapid_after;
	uint64_t min_dur_ns, from_ns, to_ns;
};

#define OPT(name, letter, type, field, metavar, help, value)                                       \
	{                                                                                          \
		name, letter, type, offsetof(struct convert_args, field), metavar, help, value,    \
			NULL                                                                       \
	}

static const struct option_def options[] = {
	OPT("output", 'o', OPTION_STRING, output, "FILE",
		"trace.json, trace.json.gz (default), or - for standard output", VALUE_FILE),
	OPT("viztracer", 0, OPTION_STRING, viztracer, "FILE",
		"merge this VizTracer report of the same run", VALUE_FILE),
	OPT("pid", 'p', OPTION_PID, pid, "PID", "only this process", VALUE_PID),
	OPT("from", 0, OPTION_DURATION, from_ns, "T", "leave out what came before T (5s, 250ms)",
		VALUE_NONE),
	OPT("to", 0, OPTION_DURATION, to_ns, "T", "leave out what came after T", VALUE_NONE),
	OPT("min-dur", 0, OPTION_DURATION, min_dur_ns, "T", "leave out shorter slices (20us)",
		VALUE_NONE),
	OPT("all", 0, OPTION_FLAG, all, NULL,
		"draw every state of threads that change it all the time", VALUE_NONE),
	OPT("rapid-after", 0, OPTION_U32, rapid_after, "N",
		"draw the first N of these states (50000)", VALUE_NONE),
	OPT("no-idle", 0, OPTION_NO, idle, NULL, "leave out the slices of I/O and sleep",
		VALUE_NONE),
};

static void defaults(void *arguments)
{
	struct convert_args *args = arguments;

	args->idle = true;
	args->rapid_after = EMIT_RAPID_AFTER;
	args->to_ns = UINT64_MAX;
	args->output = "trace.json.gz";
}

/* A timeline of waits alone is worth drawing, one of nothing is not. */
static int check_drawable(const struct fold_quality *q, struct err *err)
{
	if (q->wait_known || !q->release_missing)
		return 0;
	if (q->sampled) {
		err_hint(err,
			"record every hit: perf record -c 1, or gilprobe record -- python3 app.py");
		return err_set(err, -EOPNOTSUPP,
			"the probes were sampled at a frequency (perf record -F): most hits are missing");
	}
	err_hint(err, "record with: gilprobe record -- python3 app.py");
	return err_set(err, -EOPNOTSUPP,
		"the recording can tell neither holds nor waits: %s of the GIL are missing",
		q->take_unprobed ? "takes" : "releases and wants");
}

/*
 * Reads the opened recordings into @out. 1: that releases are missing was seen only at the end, so
 * holds were drawn that are none, and nothing was committed.
 */
static int write_trace(struct reading *reading, const struct convert_args *args, bool waits_only,
	struct out *out, struct sink **sink, struct progress *progress, struct err *err)
{
	struct emit_options look = {
		.idle = args->idle,
		.all = args->all,
		.rapid_after = args->rapid_after,
		.waits_only = waits_only,
		.min_dur_ns = args->min_dur_ns,
		.version = GILPROBE_VERSION,
		.has_wall = reading_wall(reading, &look.realtime_minus_clock_ns),
		.clock_monotonic = pipeline_facts(reading->pipeline)->clock_monotonic,
	};
	_cleanup_(cleanup_emit_chrome) struct emit_chrome *emit = NULL;
	const struct fold_result *result;
	int r = reading_command(reading, &look.command, err);

	if (r >= 0)
		r = emit_chrome_new(out, &look, &emit, err);
	if (r >= 0 && args->viztracer)
		r = emit_chrome_merge_viztracer(emit, args->viztracer, err);
	if (r < 0)
		return r;
	*sink = emit_chrome_sink(emit);
	r = reading_run(reading, &result, err);
	progress_done(progress);
	if (r >= 0)
		r = check_drawable(&result->quality, err);
	if (r >= 0 && result->quality.release_missing && !waits_only)
		return 1;
	if (r >= 0)
		r = out_commit(out, err);
	if (r < 0)
		return r;
	if (waits_only) {
		say("releases of the GIL are missing from the recording: only waits are drawn");
		say_hint("for holds record with: gilprobe record -- python3 app.py");
	}
	say("%llu slices of %zu threads in '%s'", (unsigned long long)emit_chrome_slices(emit),
		result->n_threads, args->output);
	if (emit_chrome_rapid(emit))
		say("%llu short states in quick succession are drawn together (each: --all)",
			(unsigned long long)emit_chrome_rapid(emit));
	if (args->viztracer && !emit_chrome_merge_fits(emit))
		say("'%s' and the recording have no moment in common: are they of the same run?",
			args->viztracer);
	return 0;
}

static int convert(
	struct convert_args *args, bool waits_only, struct progress *progress, struct err *err)
{
	struct sink *sink = NULL;
	struct pipeline_options how = {
		.sinks = &sink,
		.n_sinks = 1,
		.only_pid = (int32_t)args->pid,
		.from_ns = args->from_ns,
		.to_ns = args->to_ns,
	};
	_cleanup_(cleanup_out) struct out *out = NULL;
	struct reading reading = {0};
	int r = out_create(args->output, &out, err);

	reading_progress(&how, progress);
	if (r >= 0)
		r = reading_open(&reading, &args->common, &how, err);
	if (r >= 0)
		r = write_trace(&reading, args, waits_only, out, &sink, progress, err);
	reading_done(&reading);
	return r;
}

/* Once more, without holds; what comes or goes through a pipe cannot be taken back. */
static int convert_waits(struct convert_args *args, struct progress *progress, struct err *err)
{
	bool from_stdin = false;

	for (size_t i = 0; i < args->common.n_rest; i++)
		from_stdin |= !strcmp(args->common.rest[i], "-");
	if (!from_stdin && strcmp(args->output, "-") != 0)
		return convert(args, true, progress, err);
	err_hint(err, "convert from a file to a file: then the waits are drawn");
	return err_set(err, -EOPNOTSUPP,
		"releases of the GIL are missing from the recording: its holds cannot be drawn");
}

static int run(void *arguments)
{
	struct convert_args *args = arguments;
	bool to_stdout = !strcmp(args->output, "-");
	struct progress progress;
	struct err err = {0};
	int r;

	if (!to_stdout && !reading_is_trace_name(args->output))
		return say_usage("convert", "'%s': the name must end in .json or .json.gz, or be -",
			args->output);
	if (args->from_ns >= args->to_ns)
		return say_usage("convert", "--from must be before --to");
	reading_catch_signals();
	progress_init(&progress, "converting", !args->common.quiet);
	r = convert(args, false, &progress, &err);
	if (r > 0)
		r = convert_waits(args, &progress, &err);
	progress_done(&progress);
	if (r < 0)
		return exit_for(r, &err, 2);
	if (!to_stdout)
		say("next: open it in https://ui.perfetto.dev, or run: vizviewer %s", args->output);
	return 0;
}

const struct command command_convert = {
	.name = "convert",
	.synopsis = "[OPTION]... [FILE...|-]",
	.summary = "a timeline for Perfetto, VizTracer and chrome://tracing",
	.examples = {{"gilprobe convert perf.data -o trace.json", "for ui.perfetto.dev, vizviewer"},
		{"perf record -o - ... | gilprobe convert - -o t.json.gz", "from a pipe"},
		{"gilprobe convert perf-gil.data perf-sched.data", "giltracer's two files"}},
	.about =
		"Each process shows a row per thread, `NAME GIL`, whose slices are its states, and a row\n"
		"per GIL with its holder. Arrows are hand-overs; counters show how many threads wait\n"
		"and, in bins of 50 ms, how much of the time the GIL is held.\n"
		"\n"
		"Every hold stands in the GIL's row. A thread that changes its state all the time (32 or\n"
		"more in a row are shorter than 200 us, waits shorter than 50 us) would make the file\n"
		"huge: after the first 50,000 such states they become slices `rapid switching` of about\n"
		"1 ms, whose args say how long each state was, and the kernel's states of such threads\n"
		"are left out. --all draws each. Holds and waits below 50 us have no args, hand-overs\n"
		"below 50 us no arrow.\n"
		"\n"
		"Times are CLOCK_MONOTONIC, which is VizTracer's clock:\n"
		"  viztracer --combine viz.json trace.json -o both.json\n"
		"aligns the two. Do not use --align_combine: it shifts them.",
	.options = options,
	.n_options = sizeof(options) / sizeof(options[0]),
	.args_size = sizeof(struct convert_args),
	.rest_value = VALUE_FILE,
	.run = run,
	.defaults = defaults,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: gilprobe report. In: recordings. Out: the table, or JSON, on standard output.
 */
#include "cli/option.h"

#include "base/out.h"
#include "base/term.h"
#include "classify/classify.h"
#include "cli/message.h"
#include "cli/reading.h"

#include <unistd.h>

struct report_args {
	struct common_args common;
	const char *output;
	bool json, gate, all_threads;
	uint32_t pid;
	uint64_t from_ns, to_ns;
};

#define OPT(name, letter, type, field, metavar, help, value)                                       \
	{                                                                                          \
		name, letter, type, offsetof(struct report_args, field), metavar, help, value,     \
			NULL                                                                       \
	}

static const struct option_def options[] = {
	OPT("json", 0, OPTION_FLAG, json, NULL, "one JSON object, schema gilprobe.report/1",
		VALUE_NONE),
	OPT("output", 'o', OPTION_STRING, output, "FILE", "write there instead of standard output",
		VALUE_FILE),
	OPT("fail-if-gil-bound", 0, OPTION_FLAG, gate, NULL,
		"exit with 1 when the verdict is gil-bound or a sub-class of it", VALUE_NONE),
	OPT("pid", 'p', OPTION_PID, pid, "PID", "only this process", VALUE_PID),
	OPT("from", 0, OPTION_DURATION, from_ns, "T", "leave out what came before T (5s, 250ms)",
		VALUE_NONE),
	OPT("to", 0, OPTION_DURATION, to_ns, "T", "leave out what came after T", VALUE_NONE),
	OPT("all-threads", 0, OPTION_FLAG, all_threads, NULL, "do not merge rows of many threads",
		VALUE_NONE),
};

static void defaults(void *args)
{
	((struct report_args *)args)->to_ns = UINT64_MAX;
}

static int write_report(struct reading *reading, const struct report_args *args,
	const struct fold_result *result, struct err *err)
{
	const char *path = args->output ? args->output : "-";
	struct report_options look = {
		.color = !args->output && term_use_color(args->common.color, STDOUT_FILENO),
		.columns = args->output ? 0 : term_columns(STDOUT_FILENO),
		.all_threads = args->all_threads,
	};
	_cleanup_(cleanup_out) struct out *out = NULL;
	int r = out_create(path, &out, err);

	if (r < 0)
		return r;
	if (args->json)
		r = report_json(out, result, &reading->recording, err);
	else
		r = report_table(out, result, &reading->recording, &look, err);
	return r < 0 ? r : out_commit(out, err);
}

static int run(void *arguments)
{
	struct report_args *args = arguments;
	struct pipeline_options how = {
		.only_pid = (int32_t)args->pid, .from_ns = args->from_ns, .to_ns = args->to_ns};
	const struct fold_result *result;
	struct verdict verdict = {0};
	struct progress progress;
	struct reading reading;
	struct err err = {0};
	int r;

	if (args->json && !args->output && isatty(STDOUT_FILENO))
		return say_usage(
			"report", "--json to a terminal: add '-o FILE', or '-o -' to see it");
	if (args->from_ns >= args->to_ns)
		return say_usage("report", "--from must be before --to");
	reading_catch_signals();
	progress_init(&progress, "reading", !args->common.quiet);
	reading_progress(&how, &progress);
	r = reading_open(&reading, &args->common, &how, &err);
	if (r >= 0)
		r = reading_run(&reading, &result, &err);
	progress_done(&progress);
	if (r >= 0) {
		classify_recording(result, &verdict);
		r = write_report(&reading, args, result, &err);
	}
	reading_done(&reading);
	if (r < 0)
		return exit_for(r, &err, 2);
	return args->gate && class_is_gil_bound(verdict.class) ? 1 : 0;
}

const struct command command_report = {
	.name = "report",
	.synopsis = "[OPTION]... [FILE...|-]",
	.summary = "who held the GIL, who waited, and the verdict",
	.examples = {{"gilprobe report", "of ./perf.data"},
		{"gilprobe report --json app.data > app.json", "for programs"},
		{"gilprobe report --fail-if-gil-bound app.data", "as a gate in CI"}},
	.about =
		"Columns of the table, in per cent of a thread's life (its first GIL event to its end):\n"
		"  has GIL   it held the GIL and was on a CPU\n"
		"  off-CPU   it held the GIL while preempted or asleep: nobody could run Python\n"
		"  waiting   it waited for the GIL, forced switches included\n"
		"  native    it ran on a CPU without the GIL\n"
		"  runnable  it was ready, but no CPU was free: the machine's fault, not the GIL's\n"
		"  blocked   it slept without the GIL: I/O, a lock, sleep\n"
		"  takes     how often it took the GIL\n"
		"  max hold, max wait   its longest single hold and wait\n"
		"\n"
		"held: share of the GIL's life in which some thread held it. contended: share in which\n"
		"at least one thread waited. hand-offs: releases followed by another thread's take.\n"
		"Holds are ranked by how long others waited meanwhile, summed over the waiters.\n"
		"A dash means that the recording cannot tell.",
	.options = options,
	.n_options = sizeof(options) / sizeof(options[0]),
	.args_size = sizeof(struct report_args),
	.rest_value = VALUE_FILE,
	.run = run,
	.defaults = defaults,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: gilprobe scale. In: a function to call. Out: how it scales with threads, processes and
 * sub-interpreters, and why: by the evidence of a recording where one is allowed.
 */
#include "cli/option.h"

#include "base/parse.h"
#include "base/term.h"
#include "cli/message.h"
#include "cli/reading.h"
#include "cli/scale.h"
#include "report/scale.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define OPT(name, letter, type, field, metavar, help, value)                                       \
	{                                                                                          \
		name, letter, type, offsetof(struct scale_args, field), metavar, help, value, NULL \
	}

static const struct option_def options[] = {
	OPT("target", 't', OPTION_STRING, target, "MODULE:FUNC",
		"the function: package.module:func or path/to/file.py:func, imported and called",
		VALUE_NONE),
	{"builtin", 'b', OPTION_STRING, offsetof(struct scale_args, builtin), "NAME",
		"a built-in workload: pure-python, native-release, native-hold, io, mixed",
		VALUE_WORDS, "pure-python native-release native-hold io mixed"},
	OPT("arg", 'a', OPTION_LIST, args, "VALUE",
		"argument for --target: a Python literal, else a string; may be repeated",
		VALUE_NONE),
	OPT("workers", 'w', OPTION_STRING, workers, "N[,N...]",
		"workers and tasks per run (2 to 4, as CPUs are); several give a curve",
		VALUE_NONE),
	OPT("repeat", 'r', OPTION_U32, repeat, "N", "runs per mode; the fastest counts (3)",
		VALUE_NONE),
	OPT("scale", 0, OPTION_DOUBLE, scale, "X", "work multiplier for --builtin (1.0)",
		VALUE_NONE),
	OPT("interpreters", 'i', OPTION_FLAG, interpreters, NULL,
		"sub-interpreters with their own GIL, too (CPython 3.12 and later)", VALUE_NONE),
	OPT("timeout", 0, OPTION_DURATION, timeout_ns, "T",
		"for the whole probe; then everything is killed (300s)", VALUE_NONE),
	OPT("python", 0, OPTION_STRING, python, "PATH",
		"the interpreter (the virtual environment's, else PATH's python3)", VALUE_FILE),
	OPT("output", 'o', OPTION_STRING, output, "FILE", "keep the recording", VALUE_FILE),
	OPT("trace", 0, OPTION_STRING, trace, "FILE", "write its timeline: trace.json[.gz]",
		VALUE_FILE),
	OPT("no-recording", 0, OPTION_NO, record, NULL,
		"measure wall-clock time only, as a user without the right to record", VALUE_NONE),
	OPT("json", 0, OPTION_FLAG, json, NULL, "one JSON object, schema gilprobe.scale/1",
		VALUE_NONE),
	OPT("fail-if-gil-bound", 0, OPTION_FLAG, gate, NULL,
		"exit with 1 when the class is gil-bound or a sub-class of it", VALUE_NONE),
};

static void defaults(void *arguments)
{
	struct scale_args *args = arguments;

	args->repeat = 3;
	args->scale = 1;
	args->timeout_ns = 300000000000u;
	args->record = true;
}

static int parse_workers(struct scale_args *args, struct plan *plan)
{
	_cleanup_free_ char *text = NULL;
	char *rest;

	if (!args->workers) {
		plan->workers[plan->n_workers++] = workload_default_workers();
		return 0;
	}
	text = strdup(args->workers);
	rest = text;
	for (const char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
		uint32_t n;
		size_t at = plan->n_workers;

		if (parse_u32(word, PLAN_WORKERS_MAX, &n) < 0 || n < 1)
			return say_usage("scale", "--workers must be between 1 and %d, not '%s'",
				PLAN_WORKERS_MAX, word);
		if (plan->n_workers == PLAN_COUNTS)
			return say_usage("scale", "--workers: more than %d numbers", PLAN_COUNTS);
		/* ascending, each once */
		while (at > 0 && plan->workers[at - 1] >= n)
			at--;
		if (at < plan->n_workers && plan->workers[at] == n)
			continue;
		memmove(&plan->workers[at + 1], &plan->workers[at],
			(plan->n_workers - at) * sizeof(plan->workers[0]));
		plan->workers[at] = n;
		plan->n_workers++;
	}
	return 0;
}

static int check_builtin(const char *name)
{
	size_t n = 0;
	const char *near;

	while (workload_builtins[n] && strcmp(workload_builtins[n], name) != 0)
		n++;
	if (workload_builtins[n])
		return 0;
	near = nearest_name(name, workload_builtins, n);
	return say_usage("scale", "--builtin: no workload '%s'%s%s%s", name,
		near ? "; nearest is '" : "", near ? near : "", near ? "'" : "");
}

/* 0, or 2 after saying what is wrong. */
static int make_plan(struct scale_args *args, struct plan *plan)
{
	if (args->common.n_rest)
		return say_usage("scale", "unexpected argument '%s'", args->common.rest[0]);
	if (!args->target && !args->builtin)
		return say_usage("scale", "what to run? one of --target, --builtin");
	if (args->target && args->builtin)
		return say_usage("scale", "--target and --builtin exclude each other");
	if (args->builtin && check_builtin(args->builtin))
		return 2;
	if (args->args.n && !args->target)
		return say_usage("scale", "--arg only applies to --target");
	if (args->target && (!strchr(args->target, ':') || args->target[0] == ':' ||
				    args->target[strlen(args->target) - 1] == ':'))
		return say_usage("scale",
			"--target must look like module:function or path/to/file.py:function");
	if (args->repeat < 1 || args->repeat > PLAN_REPEAT_MAX)
		return say_usage("scale", "--repeat must be between 1 and %d", PLAN_REPEAT_MAX);
	if (!args->timeout_ns)
		return say_usage("scale", "--timeout must be > 0");
	if ((args->output || args->trace) && !args->record)
		return say_usage("scale", "--no-recording leaves nothing for --output or --trace");
	if (args->trace && !reading_is_trace_name(args->trace))
		return say_usage("scale", "--trace '%s': the name must end in .json or .json.gz",
			args->trace);
	*plan = (struct plan){.target = args->target,
		.builtin = args->builtin,
		.args = args->args.items,
		.n_args = args->args.n,
		.scale = args->scale,
		.repeat = args->repeat,
		.interpreters = args->interpreters};
	return parse_workers(args, plan);
}

static int write_result(
	const struct scale_args *args, const struct report_scale *scale, struct err *err)
{
	struct report_options look = {
		.color = term_use_color(args->common.color, STDOUT_FILENO),
		.columns = term_columns(STDOUT_FILENO),
	};
	_cleanup_(cleanup_out) struct out *out = NULL;
	int r = out_create("-", &out, err);

	if (r >= 0)
		r = args->json ? report_scale_json(out, scale, err)
			       : report_scale_table(out, scale, &look, err);
	return r < 0 ? r : out_commit(out, err);
}

static int run(void *arguments)
{
	struct scale_args *args = arguments;
	struct scaling_verdict verdict = {0};
	struct scale_result result = {0};
	struct scale_facts_beside beside = {0};
	struct plan plan = {0};
	struct err err = {0};
	int r;

	if (make_plan(args, &plan))
		return 2;
	r = scale_measure(args, &plan, &result, &beside, &err);
	if (r >= 0) {
		struct report_scale scale = {
			.target = args->target ? args->target : args->builtin,
			.repeat = args->repeat,
			.result = &result,
			.verdict = &verdict,
			.no_evidence = beside.no_evidence[0] ? beside.no_evidence : NULL,
			.quality = beside.read ? &beside.quality : NULL,
			.recording = beside.recorded ? args->output : NULL,
			.trace = beside.traced ? args->trace : NULL,
		};

		scaling_classify(&result, &verdict);
		r = write_result(args, &scale, &err);
	}
	scale_result_done(&result);
	if (r == -EINTR)
		say_error(&err);
	if (r < 0)
		return exit_for(r, &err, 2);
	return args->gate && class_is_gil_bound(verdict.verdict.class) ? 1 : 0;
}

const struct command command_scale = {
	.name = "scale",
	.synopsis = "(--target MODULE:FUNC | --builtin NAME) [OPTION]...",
	.summary = "does a function scale with threads, processes, sub-interpreters, and why",
	.examples = {{"gilprobe scale --builtin pure-python", "a loop that the GIL serialises"},
		{"sudo gilprobe scale -t bench.py:score -a 2000 -w 1,2,4,8",
			"a curve, with evidence"},
		{"gilprobe scale -t pkg.text:clean -a \"'some text'\" --json", "for programs"}},
	.about =
		"THIS EXECUTES CODE: the target is imported and called many times: one task after the\n"
		"other, then in N threads, in N fresh processes and, with --interpreters, in N\n"
		"sub-interpreters. What it prints goes to standard error. Everything runs in processes\n"
		"that are killed at the timeout and on Ctrl-C, whatever they have started.\n"
		"\n"
		"sys.path, the working directory, the virtual environment and __main__ are as in\n"
		"`python file.py`, but the main block does not run.\n"
		"\n"
		"Where recording is allowed (gilprobe check), every mode is recorded, and the class is told\n"
		"by what the workers did, in per cent of their time: has GIL, off-CPU (held while asleep\n"
		"or without a CPU), waiting (for the GIL), native, runnable (no CPU free), blocked. So\n"
		"it is the same on a busy machine and on one CPU. Else wall-clock time decides.\n"
		"\n"
		"Exit status: 0 measured, 1 --fail-if-gil-bound and it is, 2 wrong usage, the target's\n"
		"error or the timeout, 130 Ctrl-C.",
	.options = options,
	.n_options = sizeof(options) / sizeof(options[0]),
	.args_size = sizeof(struct scale_args),
	.run = run,
	.defaults = defaults,
};

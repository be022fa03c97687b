/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: gilprobe record. In: a command line or a pid. Out: perf.data, a summary on standard error,
 * and the target's exit status.
 */
#include "cli/option.h"

#include "base/term.h"
#include "cli/message.h"
#include "cli/reading.h"
#include "locate/locate.h"
#include "record/record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define EXIT_FAILED 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

struct record_args {
	struct common_args common;
	const char *output, *python;
	uint32_t pid;
	uint64_t duration_ns, buffer_bytes;
	bool no_summary;
};

#define OPT(name, letter, type, field, metavar, help, value)                                       \
	{                                                                                          \
		name, letter, type, offsetof(struct record_args, field), metavar, help, value,     \
			NULL                                                                       \
	}

static const struct option_def options[] = {
	OPT("output", 'o', OPTION_STRING, output, "FILE",
		"where to write (perf.data; an older one becomes FILE.old)", VALUE_FILE),
	OPT("pid", 'p', OPTION_PID, pid, "PID", "attach to a running process, until Ctrl-C",
		VALUE_PID),
	OPT("duration", 0, OPTION_DURATION, duration_ns, "T", "stop recording after T (5s, 250ms)",
		VALUE_NONE),
	OPT("python", 0, OPTION_STRING, python, "PATH",
		"the interpreter that will run, where the command does not show it", VALUE_FILE),
	OPT("buffer", 'm', OPTION_SIZE, buffer_bytes, "SIZE",
		"of buffer per CPU (8M, with many CPUs 256M in all)", VALUE_NONE),
	OPT("no-summary", 0, OPTION_FLAG, no_summary, NULL, "do not read the recording at the end",
		VALUE_NONE),
};

static void defaults(void *arguments)
{
	((struct record_args *)arguments)->output = "perf.data";
}

static void say_started(void *user, const struct record_options *how)
{
	const struct record_args *args = user;
	const struct locate_binary *first = how->target->binaries[0];
	size_t others = locate_users(first, NULL, 0);

	say("recording %s with CPython %s (%s) into '%s'",
		args->pid ? "the process" : args->common.rest[0],
		first->version[0] ? first->version : "of unknown version", first->path,
		how->output);
	if (how->target->how == LOCATE_GUESS)
		say("'%s' is no Python program: only interpreters that it may start are recorded",
			args->common.rest[0]);
	for (size_t i = 1; i < how->target->n_binaries; i++)
		say_verbose("also probing CPython %s (%s)", how->target->binaries[i]->version,
			how->target->binaries[i]->path);
	if (!args->pid && others)
		say("%zu other process%s this interpreter and pay%s for the probes meanwhile",
			others, others == 1 ? " maps" : "es map", others == 1 ? "s" : "");
}

static int find_target(struct record_args *args, struct locate_target **ret, struct err *err)
{
	int r = args->pid ? locate_process((pid_t)args->pid, ret, err)
			  : locate_command(args->common.rest, args->python, ret, err);

	if (r < 0 || (*ret)->n_binaries)
		return r;
	return err_set(err, -ENODEV, "no CPython found for '%s'",
		args->pid ? "this process" : args->common.rest[0]);
}

/* Reads the recording back for the table. A recording without GIL events is said, not a failure. */
static int summarise(const struct record_args *args)
{
	char *rest[] = {(char *)(uintptr_t)args->output};
	struct common_args common = {.rest = rest, .n_rest = 1};
	struct report_options look = {
		.color = term_use_color(args->common.color, STDERR_FILENO),
		.columns = term_columns(STDERR_FILENO),
	};
	struct pipeline_options how = {.to_ns = UINT64_MAX};
	const struct fold_result *fold;
	struct out *out = NULL;
	struct progress progress;
	struct reading reading = {0};
	struct err err = {0};
	const char *text;
	size_t size;
	int r;

	progress_init(&progress, "reading", !args->common.quiet);
	reading_progress(&how, &progress);
	r = reading_open(&reading, &common, &how, &err);
	if (r >= 0)
		r = reading_run(&reading, &fold, &err);
	progress_done(&progress);
	if (r >= 0 && (out = out_memory()))
		r = report_summary(out, fold, &reading.recording, &look, &err);
	if (r >= 0 && out) {
		text = out_memory_bytes(out, &size);
		fwrite(text, 1, size, stderr);
	}
	if (r < 0 && r != -EINTR)
		say_error(&err);
	out_free(out);
	reading_done(&reading);
	return r;
}

/* What there is now, and what to do with it. */
static void say_end(const struct record_args *args, const struct record_result *result)
{
	say("%llu events, %llu lost, %.1f s, %.1f MiB in '%s'", (unsigned long long)result->events,
		(unsigned long long)result->lost, (double)result->duration_ns / 1e9,
		(double)result->bytes / 1048576, args->output);
	say_verbose("the recorder used %.3f s of CPU", (double)result->cpu_ns / 1e9);
}

static void say_next(const struct record_args *args)
{
	bool standard = !strcmp(args->output, "perf.data");
	const char *blank = standard ? "" : " ", *file = standard ? "" : args->output;

	say("next: gilprobe report%s%s; gilprobe convert%s%s -o trace.json.gz", blank, file, blank,
		file);
}

/* Of a target that could not be run; a bad --python is our own failure. */
static int failure_status(const struct record_args *args, int code)
{
	if (args->pid || (args->python && access(args->python, X_OK) < 0))
		return EXIT_FAILED;

	return code == -ENOENT	 ? EXIT_NOT_FOUND
	       : code == -EACCES ? EXIT_NOT_EXECUTABLE
				 : EXIT_FAILED;
}

static int run(void *arguments)
{
	struct record_args *args = arguments;
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	struct record_result result = {0};
	struct record_options how = {
		.pid = (pid_t)args->pid,
		.output = args->output,
		.duration_ns = args->duration_ns,
		.buffer_bytes = args->buffer_bytes,
		.started = say_started,
		.user = args,
	};
	struct err err = {0};
	int r;

	if (!args->pid == !args->common.n_rest)
		return say_usage("record", args->pid ? "both a command and --pid were given"
						     : "what to record? a command, or --pid PID");
	how.argv = args->pid ? NULL : args->common.rest;
	r = find_target(args, &target, &err);
	if (r < 0) {
		say_error(&err);
		return failure_status(args, r);
	}
	how.target = target;
	r = record_run(&how, &result, &err);
	if (r < 0) {
		say_error(&err);
		return result.exec_failed ? failure_status(args, r) : EXIT_FAILED;
	}
	reading_catch_signals(); /* an exit now would stop the removal of the probes half-way */
	if (result.run_as_user)
		say("'%s' ran as uid %u, and '%s' belongs to that user", args->common.rest[0],
			(unsigned)result.uid, args->output);
	if (result.late_path)
		say("'%s' was not foreseen and got its probes after it had started; to see its "
		    "start add --python",
			result.late_path);
	if (!args->no_summary && !args->common.quiet)
		r = summarise(args);
	say_end(args, &result);
	if (r >= 0)
		say_next(args);
	record_settle(&result);
	if (!result.launched)
		return 0;
	return result.signal ? 128 + result.signal : result.exit_code;
}

const struct command command_record = {
	.name = "record",
	.synopsis = "[OPTION]... [--] COMMAND [ARG...]",
	.summary = "run a program and record its GIL into perf.data",
	.examples = {{"sudo gilprobe record -- python3 app.py", "app.py runs as you"},
		{"sudo gilprobe record -p 4711 --duration 10s", "a running service"},
		{"sudo gilprobe record -o w.data -- gunicorn app:app", "with its workers"}},
	.about =
		"Every process of the tree is recorded: forks, execs, multiprocessing. The file is an\n"
		"ordinary perf.data: perf script, perf report and perf evlist read it too.\n"
		"\n"
		"Probes sit on the interpreter file, so other processes that map the same file run into\n"
		"them while the recording lasts (about 2 us per take or release); their events are\n"
		"not kept. All probes are removed at the end, also after a crash.\n"
		"\n"
		"Exit status: the target's own, 128+n when a signal ended it; 125 gilprobe itself failed,\n"
		"126 the target is not executable, 127 it was not found.",
	.options = options,
	.n_options = sizeof(options) / sizeof(options[0]),
	.args_size = sizeof(struct record_args),
	.target = true,
	.run = run,
	.defaults = defaults,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: one measurement. In: a plan. Out: its result with evidence. Invariant: the target runs
 * once; whether a recording watches it is decided before it starts.
 */
#include "cli/scale.h"

#include "base/out.h"
#include "base/term.h"
#include "classify/scaling.h"
#include "cli/message.h"
#include "cli/reading.h"
#include "emit/emit.h"
#include "locate/locate.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PHASE_NAME 32
#define BUFFER (8u << 20) /* per CPU: the target may keep every CPU busy */

/* The timeline that was asked for. Its file is opened before anything runs. */
struct trace {
	struct out *out; /* NULL: none */
	struct emit_chrome *emit;
	char (*names)[PHASE_NAME];
	const char **phases;
};

static void show_phase(void *user, enum scale_mode mode, unsigned workers)
{
	(void)user;
	fprintf(stderr, "\r\033[Kgilprobe: %s with %u ...", scale_mode_name(mode), workers);
}

static void hide_phase(const struct workload_options *options)
{
	if (options->progress)
		fputs("\r\033[K", stderr);
}

/* One measurement on its way. */
struct measuring {
	const struct scale_args *args;
	const char *path; /* of the recording, or NULL: none is wanted */
	struct workload *workload;
	struct trace trace;
	struct scale_result *result;
	struct scale_facts_beside *beside;
	struct record_result recorded; /* its probes are being removed while we read */
};

static void keep_reason(struct scale_facts_beside *beside, const struct err *err)
{
	char hint[sizeof(err->hint)];

	memcpy(hint, err->hint, sizeof(hint));
	hint[strcspn(hint, "\n")] = '\0';
	snprintf(beside->no_evidence, sizeof(beside->no_evidence), "%.400s%s%.200s", err->text,
		hint[0] ? "; " : "", hint);
}

static void note_started(void *user, const struct record_options *options)
{
	(void)options;
	*(bool *)user = true;
}

/* A directory of our own for a recording that nobody wants to keep. */
static int make_room(char *dir, size_t size, struct err *err)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, size, "%s/gilprobe-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return err_errno(err, -errno, "cannot make a directory '%s'", dir);
	return 0;
}

/* Which files to probe. A library of our own process is no command that locate could follow. */
static int find_target(const struct workload *workload, struct locate_target **ret, struct err *err)
{
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	const char *library = workload_interpreter(workload);
	int r;

	if (!library)
		return locate_command(workload_argv(workload), NULL, ret, err);
	target = calloc(1, sizeof(*target));
	if (!target)
		return err_nomem(err);
	target->program = strdup(library);
	target->binaries = calloc(1, sizeof(struct locate_binary *));
	if (!target->program || !target->binaries)
		return err_nomem(err);
	r = locate_binary(library, &target->binaries[0], err);
	if (r < 0)
		return r;
	target->n_binaries = 1;
	*ret = steal_ptr(target);
	return 0;
}

/* 1: recorded; 0: not allowed or not possible, and nothing has run; negative: failed. */
static int record(struct measuring *m, struct err *err)
{
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	const struct scale_args *args = m->args;
	char *shown[] = {(char *)"gilprobe", (char *)"scale",
		(char *)(args->target ? "--target" : "--builtin"),
		(char *)(uintptr_t)(args->target ? args->target : args->builtin), NULL};
	struct record_mark mark;
	struct err why = {0};
	bool started = false;
	int r = find_target(m->workload, &target, &why);

	if (r >= 0 && !target->n_binaries)
		r = err_set(
			&why, -ENODEV, "no CPython found for '%s'", workload_argv(m->workload)[0]);
	if (r >= 0) {
		struct record_options how = {
			.argv = shown,
			.child = workload_supervise,
			.child_user = m->workload,
			.mark = &mark,
			.target = target,
			.output = m->path,
			.buffer_bytes = BUFFER,
			.started = note_started,
			.user = &started,
		};

		mark.path = workload_mark(m->workload, &mark.offset);
		r = record_run(&how, &m->recorded, &why);
	}
	if (r >= 0) {
		if (m->recorded.run_as_user)
			say("the target ran as uid %u", (unsigned)m->recorded.uid);
		return 1;
	}
	if (started || args->output || args->trace) { /* what was asked for cannot be */
		*err = why;
		return r;
	}
	keep_reason(m->beside, &why);
	return 0;
}

static void trace_done(struct trace *trace)
{
	emit_chrome_free(trace->emit);
	out_free(trace->out);
	free(trace->names);
	free(trace->phases);
}

static int trace_begin(struct trace *trace, const struct scale_result *result, struct err *err)
{
	struct emit_options look = {.idle = true,
		.version = GILPROBE_VERSION,
		.command = "gilprobe scale",
		.clock_monotonic = true};

	trace->names = calloc(result->n_phases + 1, sizeof(*trace->names));
	trace->phases = calloc(result->n_phases + 1, sizeof(*trace->phases));
	if (!trace->names || !trace->phases)
		return err_nomem(err);
	for (size_t i = 0; i < result->n_phases; i++) {
		snprintf(trace->names[i + 1], PHASE_NAME, "%s %u",
			scale_mode_name(result->phases[i].mode), result->phases[i].workers);
		trace->phases[i + 1] = trace->names[i + 1];
	}
	look.phase_names = trace->phases;
	look.n_phase_names = result->n_phases + 1;
	return emit_chrome_new(trace->out, &look, &trace->emit, err);
}

static void take_evidence(struct measuring *m, const struct scaling_evidence *evidence)
{
	const struct scale_phase *serial, *threads;

	scaling_evidence_take(evidence, m->result);
	m->beside->quality = *scaling_evidence_quality(evidence);
	m->beside->read = true;
	serial = scale_find(m->result, SCALE_SERIAL, 0);
	threads = scale_find(m->result, SCALE_THREADS, 0);
	if (!serial || !threads || !serial->evidence.known || !threads->evidence.known)
		snprintf(m->beside->no_evidence, sizeof(m->beside->no_evidence),
			"the recording does not tell what the workers did (%llu events lost)",
			(unsigned long long)m->beside->quality.lost);
}

/* Reads the recording once, for the evidence and for the trace. */
static int read_back(struct measuring *m, struct err *err)
{
	_cleanup_(cleanup_scaling_evidence) struct scaling_evidence *evidence = NULL;
	char *rest[] = {(char *)(uintptr_t)m->path};
	struct common_args common = {.rest = rest, .n_rest = 1};
	struct pipeline_options how = {.to_ns = UINT64_MAX};
	struct sink *sinks[2];
	struct reading reading = {0};
	const struct fold_result *fold;
	struct progress progress;
	int r = scaling_evidence_new(m->result, &evidence);

	if (r < 0)
		return err_nomem(err);
	sinks[how.n_sinks++] = scaling_evidence_sink(evidence);
	if (!m->result->facts.gil_enabled) {
		how.watch = scaling_evidence_watch;
		how.watch_user = evidence;
	}
	if (m->trace.out) {
		r = trace_begin(&m->trace, m->result, err);
		if (r >= 0)
			sinks[how.n_sinks++] = emit_chrome_sink(m->trace.emit);
	}
	how.sinks = sinks;
	reading_catch_signals();
	progress_init(&progress, "reading", !m->args->common.quiet);
	reading_progress(&how, &progress);
	if (r >= 0)
		r = reading_open(&reading, &common, &how, err);
	if (r >= 0)
		r = reading_run(&reading, &fold, err);
	progress_done(&progress);
	if (r >= 0 && m->trace.out) {
		r = out_commit(m->trace.out, err);
		m->beside->traced = r >= 0;
	}
	if (r >= 0)
		take_evidence(m, evidence);
	reading_done(&reading);
	return r;
}

/* Nothing about a GIL in the recording is no failure, unless a timeline was to be made of it. */
static int use_recording(struct measuring *m, struct err *err)
{
	struct err why = {0};
	int r = read_back(m, &why);

	if (r == -ENODATA && !m->args->trace) {
		keep_reason(m->beside, &why);
		return 0;
	}
	if (r < 0)
		*err = why;
	return r;
}

static int measure(struct measuring *m, const struct plan *plan, struct err *err)
{
	const struct workload_options options = {
		.plan = plan,
		.python = m->args->python,
		.timeout_ns = m->args->timeout_ns,
		.progress = !m->args->common.quiet && isatty(STDERR_FILENO) ? show_phase : NULL,
	};
	int r = workload_new(&options, &m->workload, err), recorded = 0;

	if (r >= 0 && m->args->trace)
		r = out_create(m->args->trace, &m->trace.out, err);
	if (r < 0)
		return r;
	if (m->path)
		recorded = record(m, err);
	else
		keep_reason(m->beside, &(struct err){.text = "--no-recording"});
	if (recorded < 0)
		return recorded;
	if (!recorded) {
		if (m->path)
			say("not recorded: %s", m->beside->no_evidence);
		r = workload_run(m->workload, err);
	}
	hide_phase(&options);
	if (r >= 0)
		r = workload_result(m->workload, m->result, err);
	m->beside->recorded = recorded;
	return r >= 0 && recorded ? use_recording(m, err) : r;
}

int scale_measure(const struct scale_args *args, const struct plan *plan, struct scale_result *ret,
	struct scale_facts_beside *ret_beside, struct err *err)
{
	struct measuring m = {.args = args, .result = ret, .beside = ret_beside};
	char dir[256] = "", file[280];
	int r = 0;

	if (args->record && args->output) {
		m.path = args->output;
	} else if (args->record) {
		r = make_room(dir, sizeof(dir), err);
		snprintf(file, sizeof(file), "%s/perf.data", dir);
		m.path = file;
	}
	if (r >= 0)
		r = measure(&m, plan, err);
	trace_done(&m.trace);
	workload_free(m.workload);
	record_settle(&m.recorded);
	if (m.path == file) {
		unlink(file);
		rmdir(dir);
	}
	return r;
}

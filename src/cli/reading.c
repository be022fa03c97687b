/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: reading recordings. In: file names. Out: a fold_result and the facts beside it.
 * Invariant: what a recording cannot tell becomes a note, once, never a wrong number.
 */
#include "cli/reading.h"

#include "base/term.h"
#include "cli/message.h"
#include "locate/locate.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

void reading_catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int exit_for(int code, const struct err *err, int failure)
{
	if (code == -EINTR)
		return 130;
	if (code != -EPIPE)
		say_error(err);
	return failure;
}

static int on_progress(void *user, uint64_t done, uint64_t total)
{
	if (interrupted)
		return -EINTR;
	progress_update(user, done, total);
	return 0;
}

static int open_file(struct reading *r, const char *path, struct err *err)
{
	_cleanup_(cleanup_perfdata) struct perfdata *pd = NULL;
	int code = perfdata_open(path, &pd, err);

	if (code < 0)
		return code;
	return pipeline_add(r->pipeline, steal_ptr(pd), path, err);
}

int reading_open(struct reading *r, const struct common_args *common,
	const struct pipeline_options *options, struct err *err)
{
	static const char *standard[] = {"perf.data"};
	int code;

	*r = (struct reading){.files = standard, .n_files = 1};
	if (common->n_rest) {
		r->files = (const char **)common->rest;
		r->n_files = common->n_rest;
	}
	code = pipeline_new(options, &r->pipeline, err);
	for (size_t i = 0; i < r->n_files && code >= 0; i++)
		code = open_file(r, r->files[i], err);
	if (code == -ENOENT && !common->n_rest)
		err_hint(err, "make one with: gilprobe record -- python3 app.py");
	return code;
}

static void note(struct reading *r, const char *text)
{
	if (r->recording.n_notes < READING_NOTES)
		r->notes[r->recording.n_notes++] = text;
}

static void note_inputs(struct reading *r)
{
	bool truncated = false, unfinished = false, damaged = false;

	for (size_t i = 0; i < r->n_files; i++) {
		const struct perfdata_info *info = pipeline_info(r->pipeline, i);

		truncated |= info->truncated && !info->unfinished;
		unfinished |= info->unfinished;
		damaged |= info->skipped_bytes > 0;
	}
	if (unfinished)
		note(r, "the recorder was killed: what it had not yet written is missing, and so are "
			"the features at the end of the file");
	if (truncated)
		note(r, "the file is cut short: what came behind the cut is missing");
	if (damaged)
		note(r, "damaged bytes were passed over");
}

/* Switches that were not seen are worth a note above this number, and more than one in so many. */
#define UNSEEN_MANY 10
#define UNSEEN_ONE_IN 20

static void note_facts(
	struct reading *r, const struct decode_facts *facts, const struct fold_quality *quality)
{
	uint64_t unseen = quality->switches_in_unseen;

	if (facts->formats_guessed)
		note(r, "the file has no event formats: they were inferred from the samples");
	if (facts->sampled_probes)
		note(r, "the probes were sampled at a frequency (perf record -F): most hits are "
			"missing; record with -c 1");
	if (!quality->wait_known && !facts->sampled_probes)
		note(r, "waiting for the GIL cannot be told: no entries of take_gil were recorded");
	if (!quality->cpu_known)
		note(r, "no scheduler events: on-CPU, runnable and blocked cannot be told");
	else if (!quality->runnable_known)
		note(r, "no system-wide wakeups: runnable cannot be told from blocked");
	else if (!quality->lost && unseen > UNSEEN_MANY &&
		 UNSEEN_ONE_IN * unseen > unseen + quality->switches_in)
		note(r, "the kernel did not tell of many switches (out of a CPU's idle task, mostly): "
			"sleeps seem to last until the thread's next event");
	if (!quality->forced_known)
		note(r, "forced switches cannot be told: their waiting counts as blocked");
	if (facts->lost)
		note(r, "events were lost: record with a larger buffer (gilprobe record -m 32M)");
}

/* The recorded program: what stands behind "--" in perf's command, or all of it. */
int reading_command(struct reading *r, const char **ret, struct err *err)
{
	const struct perfdata_info *info = pipeline_info(r->pipeline, 0);
	_cleanup_free_ char *text = NULL;
	size_t from = 0, size = 1;

	for (size_t i = 0; i < info->n_cmdline; i++) {
		if (!strcmp(info->cmdline[i], "--") && i + 1 < info->n_cmdline) {
			from = i + 1;
			break;
		}
	}
	for (size_t i = from; i < info->n_cmdline; i++)
		size += strlen(info->cmdline[i]) + 1;
	*ret = NULL;
	if (from == info->n_cmdline)
		return 0;
	text = malloc(size);
	if (!text)
		return err_nomem(err);
	*text = '\0';
	for (size_t i = from; i < info->n_cmdline; i++) {
		if (i > from)
			strcat(text, " ");
		strcat(text, info->cmdline[i]);
	}
	*ret = strtab_intern(&r->strings, text);
	return *ret ? 0 : err_nomem(err);
}

bool reading_wall(const struct reading *r, int64_t *ret_realtime_minus_clock_ns)
{
	const struct perfdata_info *info = pipeline_info(r->pipeline, 0);

	if (!info->has_clock_data)
		return false;
	*ret_realtime_minus_clock_ns = (int64_t)(info->clock_wall_ns - info->clock_ref_ns);
	return true;
}

static const char *clock_name(const struct decode_facts *facts)
{
	if (!facts->clock_known)
		return "perf";
	switch (facts->clockid) {
	case CLOCK_MONOTONIC:
		return "CLOCK_MONOTONIC";
	case CLOCK_MONOTONIC_RAW:
		return "CLOCK_MONOTONIC_RAW";
	case CLOCK_REALTIME:
		return "CLOCK_REALTIME";
	case CLOCK_BOOTTIME:
		return "CLOCK_BOOTTIME";
	case CLOCK_TAI:
		return "CLOCK_TAI";
	default:
		return NULL;
	}
}

/* Version and build id can be read only where the recording was made. */
static int fill_interpreter(struct reading *r, struct report_interpreter *it, const char *path)
{
	_cleanup_(cleanup_locate_binary) struct locate_binary *binary = NULL;
	int code = locate_binary(path, &binary, NULL);

	if (code < 0)
		return code == -ENOMEM ? code : 0;
	it->free_threaded = binary->free_threaded;
	if (binary->version[0]) {
		it->version = strtab_intern(&r->strings, binary->version);
		if (!it->version)
			return -ENOMEM;
	}
	if (binary->build_id[0]) {
		it->build_id = strtab_intern(&r->strings, binary->build_id);
		if (!it->build_id)
			return -ENOMEM;
	}
	return 0;
}

static int fill_interpreters(struct reading *r, const struct perfdata_info *info, struct err *err)
{
	struct utsname here;
	bool same_host =
		uname(&here) == 0 && info->hostname && !strcmp(here.nodename, info->hostname);

	for (size_t i = 0; i < r->n_files; i++) {
		const char *const *paths;
		size_t n = pipeline_interpreters(r->pipeline, i, &paths);
		struct report_interpreter *grown = realloc(
			r->interpreters, (r->recording.n_interpreters + n + 1) * sizeof(*grown));

		if (!grown)
			return err_nomem(err);
		r->interpreters = grown;
		for (size_t k = 0; k < n; k++) {
			struct report_interpreter *it = &grown[r->recording.n_interpreters++];

			*it = (struct report_interpreter){.path = paths[k]};
			if (same_host && fill_interpreter(r, it, paths[k]) < 0)
				return err_nomem(err);
		}
	}
	r->recording.interpreters = r->interpreters;
	return 0;
}

static int no_gil_events(const struct reading *r, struct err *err)
{
	const struct decode_facts *facts = pipeline_facts(r->pipeline);

	if (facts->own)
		err_hint(err,
			"did the target run a CPython that was probed? gilprobe check -- COMMAND");
	else
		err_hint(err, "record with: gilprobe record -- python3 app.py");
	return err_set(err, -ENODATA, "no GIL event in '%s' (%llu samples)", r->files[0],
		(unsigned long long)facts->samples);
}

int reading_run(struct reading *r, const struct fold_result **ret, struct err *err)
{
	const struct perfdata_info *info;
	const struct decode_facts *facts;
	const struct fold_result *result;
	int64_t wall = 0;
	int code = pipeline_run(r->pipeline, &result, err);

	if (code < 0)
		return code;
	facts = pipeline_facts(r->pipeline);
	if (result->n_threads == 0)
		return no_gil_events(r, err);
	info = pipeline_info(r->pipeline, 0);
	r->recording = (struct report_recording){
		.files = r->files,
		.n_files = r->n_files,
		.hostname = info->hostname,
		.kernel = info->osrelease,
		.clock = clock_name(facts),
		.has_start = reading_wall(r, &wall),
		.notes = r->notes,
	};
	code = reading_command(r, &r->recording.command, err);
	if (code < 0)
		return code;
	if (r->recording.has_start)
		r->recording.start_unix_ns = result->start_ns + (uint64_t)wall;
	note_inputs(r);
	note_facts(r, facts, &result->quality);
	code = fill_interpreters(r, info, err);
	if (code < 0)
		return code;
	*ret = result;
	return 0;
}

bool reading_is_trace_name(const char *name)
{
	static const char *const ends[] = {".json", ".json.gz"};
	size_t n = strlen(name);

	for (size_t i = 0; i < 2; i++)
		if (n > strlen(ends[i]) && !strcmp(name + n - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

void reading_done(struct reading *r)
{
	pipeline_free(steal_ptr(r->pipeline));
	free(steal_ptr(r->interpreters));
	strtab_done(&r->strings);
}

void reading_progress(struct pipeline_options *options, struct progress *progress)
{
	options->progress = on_progress;
	options->progress_user = progress;
}

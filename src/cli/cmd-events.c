/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: gilprobe events. In: recordings. Out: one decoded event per line, in time order:
 * TIME_NS PID TID CPU KIND [GIL] [DETAIL].
 */
#include "cli/option.h"

#include "base/out.h"
#include "cli/reading.h"

#include <errno.h>
#include <inttypes.h>

struct events_args {
	struct common_args common;
	const char *output;
	uint32_t pid;
};

static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, offsetof(struct events_args, output), "FILE",
		"write there instead of standard output", VALUE_FILE, NULL},
	{"pid", 'p', OPTION_PID, offsetof(struct events_args, pid), "PID",
		"only events of this process", VALUE_PID, NULL},
};

struct lines {
	struct out *out;
	int32_t pid;
};

/* An event stays one line, and a name cannot speak to a terminal. */
static void write_text(struct out *out, const char *key, const char *text)
{
	out_printf(out, " %s=", key);
	while (*text) {
		size_t n = 0;

		while ((unsigned char)text[n] >= ' ' && text[n] != '\x7f')
			n++;
		out_write(out, text, n);
		text += n;
		if (*text)
			out_printf(out, "\\x%02x", (unsigned char)*text++);
	}
}

static void write_detail(struct out *out, const struct event *e)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_WANT:
	case EVENT_ACQUIRE:
	case EVENT_RELEASE:
	case EVENT_YIELD:
	case EVENT_DROP_RETURN:
		if (e->gil)
			out_printf(out, " gil=0x%" PRIx64, e->gil);
		break;
	case EVENT_SWITCH_OUT:
		out_printf(out, " state=%c%s", e->out.state ? e->out.state : '?',
			e->out.preempted ? "+" : "");
		break;
	case EVENT_WAKEUP:
		out_printf(out, " by=%d", e->by);
		break;
	case EVENT_FORK:
		out_printf(out, " child=%d/%d", e->fork.pid, e->fork.tid);
		break;
	case EVENT_EXEC:
	case EVENT_COMM:
		write_text(out, "comm", e->comm ? e->comm : "");
		break;
	case EVENT_MMAP:
		if (e->mmap)
			write_text(out, "path", e->mmap->path);
		break;
	case EVENT_LOST:
		out_printf(out, " lost=%" PRIu64, e->lost);
		break;
	case EVENT_MARK:
		out_printf(out, " phase=%" PRIu64, e->mark);
		break;
	case EVENT_SAMPLE:
		out_printf(out, " ip=0x%" PRIx64, e->ip);
		break;
	case EVENT_SWITCH_IN:
	case EVENT_EXIT:
	case EVENT_KINDS:
		break;
	}
}

static int write_event(void *user, const struct event *e, struct err *err)
{
	struct lines *lines = user;

	(void)err;
	if (lines->pid && e->pid != lines->pid)
		return 0;
	out_u64(lines->out, e->time_ns);
	out_printf(lines->out, " %d %d %d %s", e->pid, e->tid, e->cpu,
		event_kind_name((enum event_kind)e->kind));
	write_detail(lines->out, e);
	out_write(lines->out, "\n", 1);
	return out_error(lines->out);
}

static int run(void *arguments)
{
	struct events_args *args = arguments;
	struct lines lines = {.pid = (int32_t)args->pid};
	struct pipeline_options how = {
		.to_ns = UINT64_MAX, .event = write_event, .event_user = &lines};
	_cleanup_(cleanup_out) struct out *out = NULL;
	const struct fold_result *result;
	struct progress progress;
	struct reading reading = {0};
	struct err err = {0};
	int r;

	reading_catch_signals();
	progress_init(&progress, "reading", args->output && !args->common.quiet);
	reading_progress(&how, &progress);
	r = out_create(args->output ? args->output : "-", &out, &err);
	lines.out = out;
	if (r >= 0)
		r = reading_open(&reading, &args->common, &how, &err);
	if (r >= 0)
		r = pipeline_run(reading.pipeline, &result, &err);
	progress_done(&progress);
	if (r >= 0)
		r = out_commit(out, &err);
	reading_done(&reading);
	return r < 0 ? exit_for(r, &err, 2) : 0;
}

const struct command command_events = {
	.name = "events",
	.synopsis = "[OPTION]... [FILE...|-]",
	.summary = "one decoded event per line, for grep and for checking",
	.examples = {{"gilprobe events perf.data | grep acquire", "every take of the GIL"},
		{"gilprobe events -p 4711 perf.data", "one process"}},
	.about =
		"Lines are TIME_NS PID TID CPU KIND [GIL] [DETAIL], in time order. PID 0: the record\n"
		"does not tell; CPU -1: the same. Kinds: want, acquire, release, yield, drop-return,\n"
		"switch-in, switch-out, wakeup, fork, exit, exec, comm, mmap, lost, mark, sample.",
	.options = options,
	.n_options = sizeof(options) / sizeof(options[0]),
	.args_size = sizeof(struct events_args),
	.rest_value = VALUE_FILE,
	.run = run,
};

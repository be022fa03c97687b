/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: the end of a Chrome trace. In: fold's result, when names are complete. Out: metadata
 * events (names and order of rows) and the objects behind the list. Invariant: a name that a merged
 * report gave to a process or thread is not overwritten.
 */
#include "emit/chrome.h"

#include "base/json.h"

#include <errno.h>

/* Begins a metadata event; @key is "name" or "sort_index". The caller writes the value. */
static void begin(
	struct emit_chrome *emit, uint32_t pid, uint32_t tid, const char *name, const char *key)
{
	struct line line;

	chrome_line(emit, &line);
	line_lit(&line, "{\"ph\":\"M\",\"pid\":");
	line_u64(&line, pid);
	line_lit(&line, ",\"tid\":");
	line_u64(&line, tid);
	line_lit(&line, ",\"name\":\"");
	line_long(&line, name);
	line_lit(&line, "\",\"args\":{\"");
	line_long(&line, key);
	line_lit(&line, "\":");
	line_flush(&line);
}

static void name_event(struct emit_chrome *emit, uint32_t pid, uint32_t tid, const char *name,
	const char *text, const char *suffix)
{
	begin(emit, pid, tid, name, "name");
	out_str(emit->out, "\"");
	json_escape(emit->out, text);
	out_str(emit->out, suffix);
	out_str(emit->out, "\"}}");
}

static void order_event(
	struct emit_chrome *emit, uint32_t pid, uint32_t tid, const char *name, uint64_t index)
{
	begin(emit, pid, tid, name, "sort_index");
	out_u64(emit->out, index);
	out_str(emit->out, "}}");
}

static bool merged_name(const struct emit_chrome *emit, uint32_t pid, uint32_t tid)
{
	return map_get(&emit->names, (uint64_t)pid << 32 | tid);
}

static void describe_phases(struct emit_chrome *emit)
{
	if (!emit->has_phase)
		return;
	name_event(emit, EMIT_PHASES_PID, EMIT_ROWS, "process_name", "phase", "");
	name_event(emit, EMIT_PHASES_PID, EMIT_ROWS, "thread_name", "phase", "");
	order_event(emit, EMIT_PHASES_PID, EMIT_ROWS, "process_sort_index", 0);
}

static void describe_process(struct emit_chrome *emit, const struct fold_process *process)
{
	uint32_t pid = (uint32_t)process->pid;

	if (!merged_name(emit, pid, 0))
		name_event(emit, pid, pid, "process_name",
			process->name && *process->name ? process->name : "python", "");
	order_event(emit, pid, pid, "process_sort_index", process->index + 1ull);
}

static void describe_gil(struct emit_chrome *emit, const struct fold_gil *gil)
{
	uint32_t pid = (uint32_t)gil->process->pid, row = emit_gil_row(gil);
	char name[EMIT_GIL_NAME];

	name_event(emit, pid, row, "thread_name", emit_gil_name(gil, name), "");
	order_event(emit, pid, row, "thread_sort_index", gil->number);
}

/* GILs first, then each thread's GIL row with its native row below. */
static void describe_thread(struct emit_chrome *emit, const struct fold_thread *thread)
{
	const struct fold_process *process = thread->process;
	uint32_t pid = (uint32_t)process->pid, tid = (uint32_t)thread->tid;
	uint64_t order = process->n_gils + 2ull * thread->number + 1;
	const char *name = chrome_thread_name(emit, thread);

	name_event(
		emit, pid, emit_thread_row(thread), "thread_name", *name ? name : "thread", " GIL");
	order_event(emit, pid, emit_thread_row(thread), "thread_sort_index", order);
	if (!merged_name(emit, pid, tid) && *name)
		name_event(emit, pid, tid, "thread_name", name, "");
	order_event(emit, pid, tid, "thread_sort_index", order + 1);
}

static void write_thread(struct json *json, const struct fold_thread *thread)
{
	static const struct {
		enum span_state state;
		const char *key;
	} states[] = {
		{SPAN_HAS_GIL, "has_gil_ns"},
		{SPAN_HAS_GIL_OFF_CPU, "has_gil_off_cpu_ns"},
		{SPAN_WAITING, "waiting_ns"},
		{SPAN_NATIVE, "native_ns"},
		{SPAN_RUNNABLE, "runnable_ns"},
		{SPAN_BLOCKED, "blocked_ns"},
		{SPAN_UNKNOWN, "unknown_ns"},
	};

	json_object_begin(json);
	json_put_u64(json, "pid", (uint32_t)thread->process->pid);
	json_put_u64(json, "tid", (uint32_t)thread->tid);
	json_put_u64(json, "first_ns", thread->first_ns);
	json_put_u64(json, "last_ns", thread->last_ns);
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		json_put_u64(json, states[i].key, thread->state_ns[states[i].state]);
	json_put_u64(json, "takes", thread->takes);
	json_object_end(json);
}

static void write_gil(struct json *json, const struct fold_gil *gil)
{
	json_object_begin(json);
	json_put_u64(json, "pid", (uint32_t)gil->process->pid);
	json_put_u64(json, "number", gil->number);
	json_put_u64(json, "held_ns", gil->held_ns);
	json_put_u64(json, "contended_ns", gil->contended_ns);
	json_put_u64(json, "takes", gil->takes);
	json_put_u64(json, "handoffs", gil->handoffs);
	json_object_end(json);
}

static void write_quality(struct json *json, const struct fold_quality *q)
{
	json_key(json, "quality");
	json_object_begin(json);
	json_put_u64(json, "events", q->events);
	json_put_u64(json, "lost", q->lost);
	json_put_u64(json, "duplicated", q->duplicated);
	json_put_u64(json, "late", q->late);
	json_put_u64(json, "unmatched", q->unmatched);
	json_put_u64(json, "overlapping_holds", q->overlapping);
	json_put_u64(json, "unknown_ns", q->unknown_ns);
	json_key(json, "release_missing");
	json_bool(json, q->release_missing);
	json_object_end(json);
}

/* What stands in the trace in another form, or not at all. */
static void write_rapid(const struct emit_chrome *emit, struct json *json)
{
	json_key(json, "rapid_switching");
	if (!chrome_rapid(&emit->options)) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	json_put_u64(json, "below_ns", CHROME_RAPID_NS);
	json_put_u64(json, "in_a_row", CHROME_RAPID_RUN);
	json_put_u64(json, "after", emit->options.rapid_after);
	json_put_u64(json, "slices", emit->rapid_slices);
	json_put_u64(json, "states", emit->rapid_states);
	json_put_u64(json, "kernel_states_left_out", emit->rapid_kernel);
	json_object_end(json);
}

/* What the trace was made of, so that its rows can be checked against the totals. */
static void write_own(struct emit_chrome *emit, const struct fold_result *result)
{
	struct json json = json_to(emit->out);

	out_str(emit->out, ",\n\"gilprobe\":");
	json_object_begin(&json);
	json_key(&json, "version");
	json_str(&json, emit->options.version);
	json_key(&json, "command");
	json_str(&json, emit->options.command);
	json_key(&json, "idle");
	json_bool(&json, emit->options.idle);
	json_key(&json, "merged");
	json_bool(&json, emit->merged);
	json_put_u64(&json, "min_dur_ns", emit->options.min_dur_ns);
	write_rapid(emit, &json);
	json_put_u64(&json, "start_ns", result->start_ns);
	json_put_u64(&json, "end_ns", result->end_ns);
	write_quality(&json, &result->quality);
	json_key(&json, "gils");
	json_array_begin(&json);
	for (size_t i = 0; i < result->n_gils; i++)
		write_gil(&json, result->gils[i]);
	json_array_end(&json);
	json_key(&json, "threads");
	json_array_begin(&json);
	for (size_t i = 0; i < result->n_threads; i++)
		write_thread(&json, result->threads[i]);
	json_array_end(&json);
	json_object_end(&json);
}

/* VizTracer's tools want this object; its base is what turns times into dates. */
static void write_viztracer_metadata(struct emit_chrome *emit)
{
	struct json json = json_to(emit->out);

	out_str(emit->out, "\n],\n\"viztracer_metadata\":");
	json_object_begin(&json);
	json_key(&json, "version");
	json_str(&json, emit->options.version ? emit->options.version : "");
	json_key(&json, "overflow");
	json_bool(&json, emit->overflow);
	if (emit->options.has_wall) {
		json_key(&json, "baseTimeNanoseconds");
		json_i64(&json, emit->options.realtime_minus_clock_ns);
	}
	json_object_end(&json);
}

int chrome_end(struct emit_chrome *emit, const struct fold_result *result)
{
	describe_phases(emit);
	for (size_t i = 0; i < result->n_processes; i++)
		describe_process(emit, result->processes[i]);
	for (size_t i = 0; i < result->n_gils; i++)
		describe_gil(emit, result->gils[i]);
	for (size_t i = 0; i < result->n_threads; i++)
		describe_thread(emit, result->threads[i]);
	write_viztracer_metadata(emit);
	write_own(emit, result);
	if (emit->file_info) {
		size_t size;
		const char *text = out_memory_bytes(emit->file_info, &size);

		out_str(emit->out, ",\n\"file_info\":");
		out_write(emit->out, text, size);
	}
	out_str(emit->out, "}\n");
	return 0;
}

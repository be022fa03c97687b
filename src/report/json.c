/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the JSON, schema gilprobe.report/1. In: the result of fold. Out: one object. Invariant:
 * every key is always there; null stands for what the recording cannot tell.
 */
#include "report/report.h"

#include "base/json.h"
#include "classify/classify.h"
#include "report/parts.h"

static void key_s(struct json *json, const char *key, bool known, uint64_t ns)
{
	json_key(json, key);
	if (known)
		json_ns_as_s(json, ns);
	else
		json_null(json);
}

static void key_double(struct json *json, const char *key, bool known, double value)
{
	json_key(json, key);
	if (known)
		json_double(json, value);
	else
		json_null(json);
}

static void write_interpreters(struct json *json, const struct report_recording *recording)
{
	json_key(json, "interpreters");
	json_array_begin(json);
	for (size_t i = 0; i < recording->n_interpreters; i++) {
		const struct report_interpreter *it = &recording->interpreters[i];

		json_object_begin(json);
		json_put_str(json, "path", it->path);
		json_put_str(json, "version", it->version);
		json_put_str(json, "build_id", it->build_id);
		json_key(json, "free_threaded");
		json_bool(json, it->free_threaded);
		json_object_end(json);
	}
	json_array_end(json);
}

static void write_recording(struct json *json, const struct fold_result *result,
	const struct report_recording *recording)
{
	json_key(json, "recording");
	json_object_begin(json);
	json_key(json, "files");
	json_array_begin(json);
	for (size_t i = 0; i < recording->n_files; i++)
		json_str(json, recording->files[i]);
	json_array_end(json);
	json_put_str(json, "command", recording->command);
	key_s(json, "start_unix_s", recording->has_start, recording->start_unix_ns);
	key_s(json, "duration_s", true, result->end_ns - result->start_ns);
	json_put_str(json, "hostname", recording->hostname);
	json_put_str(json, "kernel", recording->kernel);
	json_put_str(json, "clock", recording->clock);
	write_interpreters(json, recording);
	json_object_end(json);
}

static void write_quality(
	struct json *json, const struct fold_quality *q, const struct report_recording *recording)
{
	json_key(json, "quality");
	json_object_begin(json);
	json_put_u64(json, "events", q->events);
	json_put_u64(json, "lost", q->lost);
	json_put_u64(json, "duplicated", q->duplicated);
	json_put_u64(json, "late", q->late);
	json_put_u64(json, "unmatched", q->unmatched);
	json_put_u64(json, "overlapping_holds", q->overlapping);
	key_s(json, "unknown_s", true, q->unknown_ns);
	json_put_u64(json, "probe_hits", q->gil_events);
	key_s(json, "probe_cost_s", true, q->gil_events * PROBE_HIT_NS);
	json_key(json, "notes");
	json_array_begin(json);
	for (size_t i = 0; i < recording->n_notes; i++)
		json_str(json, recording->notes[i]);
	json_array_end(json);
	json_object_end(json);
}

static void key_count(struct json *json, const char *key, bool known, uint64_t n)
{
	json_key(json, key);
	if (known)
		json_u64(json, n);
	else
		json_null(json);
}

static void write_gil(struct json *json, const struct fold_result *result, const struct fold_gil *g)
{
	const struct fold_quality *q = &result->quality;
	uint64_t life = g->end_ns > g->start_ns ? g->end_ns - g->start_ns : 0;
	double serial = classify_serial_fraction(result, g);
	bool holds = !q->release_missing, cpu = holds && q->cpu_known;

	json_object_begin(json);
	json_put_i64(json, "pid", g->process->pid);
	json_put_u64(json, "interpreter", g->number);
	key_s(json, "held_s", holds, g->held_ns);
	key_s(json, "held_on_cpu_s", cpu, g->held_on_cpu_ns);
	key_s(json, "contended_s", q->wait_known, g->contended_ns);
	key_s(json, "life_s", true, life);
	json_put_u64(json, "takes", g->takes);
	key_count(json, "handoffs", holds, g->handoffs);
	key_count(json, "forced", holds && q->forced_known, g->forced);
	key_s(json, "max_hold_s", holds, g->max_hold_ns);
	key_s(json, "max_wait_s", q->wait_known, g->max_wait_ns);
	key_double(json, "waiters_mean", q->wait_known && life,
		life ? (double)g->waiters_ns / (double)life : 0);
	key_double(json, "serial_fraction", serial >= 0, serial);
	key_double(json, "max_useful_threads", serial > 0, serial > 0 ? 1 / serial : 0);
	json_object_end(json);
}

static void write_states(
	struct json *json, const struct fold_thread *t, const struct fold_quality *q)
{
	bool holds = !q->release_missing, cpu = holds && q->cpu_known;
	bool runnable = cpu && q->runnable_known;
	/* a file without wakeups cannot tell these apart, so the sleep has both */
	uint64_t hold_blocked = t->hold_blocked_ns + (runnable ? 0 : t->hold_runnable_ns);
	uint64_t blocked = t->state_ns[SPAN_BLOCKED] + (runnable ? 0 : t->state_ns[SPAN_RUNNABLE]);

	key_s(json, "life_s", true, t->last_ns - t->first_ns);
	key_s(json, "has_gil_s", holds, t->state_ns[SPAN_HAS_GIL]);
	key_s(json, "has_gil_off_cpu_s", cpu, t->state_ns[SPAN_HAS_GIL_OFF_CPU]);
	key_s(json, "has_gil_blocked_s", cpu, hold_blocked);
	key_s(json, "has_gil_runnable_s", runnable, t->hold_runnable_ns);
	key_s(json, "waiting_s", q->wait_known, t->state_ns[SPAN_WAITING]);
	key_s(json, "native_s", cpu, t->state_ns[SPAN_NATIVE]);
	key_s(json, "runnable_s", runnable, t->state_ns[SPAN_RUNNABLE]);
	key_s(json, "blocked_s", cpu, blocked);
	key_s(json, "unknown_s", true,
		t->state_ns[SPAN_UNKNOWN] + (q->wait_known ? 0 : t->state_ns[SPAN_WAITING]));
}

static void write_thread(
	struct json *json, const struct fold_result *result, const struct fold_thread *t)
{
	const struct fold_quality *q = &result->quality;
	struct verdict verdict;

	classify_thread(result, t, &verdict);
	json_object_begin(json);
	json_put_i64(json, "pid", t->process->pid);
	json_put_i64(json, "tid", t->tid);
	json_put_str(json, "name", t->name);
	json_put_str(json, "process", t->process->name);
	write_states(json, t, q);
	json_put_u64(json, "takes", t->takes);
	key_s(json, "max_hold_s", !q->release_missing, t->max_hold_ns);
	key_s(json, "max_wait_s", q->wait_known, t->max_wait_ns);
	key_s(json, "wait_p50_s", q->wait_known, hist_quantile(&t->wait_hist, 0.5));
	key_s(json, "wait_p99_s", q->wait_known, hist_quantile(&t->wait_hist, 0.99));
	json_put_str(json, "class", class_name(verdict.class));
	json_put_str(json, "reason", verdict.reason);
	json_object_end(json);
}

static void write_hold(
	struct json *json, const struct fold_result *result, const struct fold_hold *hold)
{
	bool known = hold->on_cpu_ns + hold->blocked_ns + hold->runnable_ns > 0;
	bool runnable = known && result->quality.runnable_known;
	size_t n = hold->n_waiters < FOLD_HOLD_WAITERS ? hold->n_waiters : FOLD_HOLD_WAITERS;

	json_object_begin(json);
	json_put_i64(json, "pid", hold->thread->process->pid);
	json_put_i64(json, "tid", hold->thread->tid);
	json_put_str(json, "name", hold->thread->name);
	key_s(json, "start_s", true, hold->start_ns - result->start_ns);
	key_s(json, "dur_s", true, hold->end_ns - hold->start_ns);
	key_s(json, "on_cpu_s", known, hold->on_cpu_ns);
	key_s(json, "blocked_s", known, hold->blocked_ns + (runnable ? 0 : hold->runnable_ns));
	key_s(json, "runnable_s", runnable, hold->runnable_ns);
	key_s(json, "others_waited_s", result->quality.wait_known, hold->others_waited_ns);
	json_key(json, "waiters");
	json_array_begin(json);
	for (size_t i = 0; i < n; i++) {
		json_object_begin(json);
		json_put_i64(json, "tid", hold->waiters[i]->tid);
		json_put_str(json, "name", hold->waiters[i]->name);
		json_object_end(json);
	}
	json_array_end(json);
	json_key(json, "stack");
	json_null(json);
	json_object_end(json);
}

static void write_verdict(struct json *json, const struct fold_result *result)
{
	struct verdict verdict;

	classify_recording(result, &verdict);
	json_key(json, "verdict");
	json_object_begin(json);
	json_put_str(json, "class", class_name(verdict.class));
	json_put_str(json, "confidence", confidence_name(verdict.confidence));
	json_put_str(json, "reason", verdict.reason);
	json_key(json, "advice");
	json_array_begin(json);
	for (size_t i = 0; i < verdict.n_advice; i++)
		json_str(json, verdict.advice[i]);
	json_array_end(json);
	json_object_end(json);
}

static void write_lists(struct json *json, const struct fold_result *result)
{
	json_key(json, "gils");
	json_array_begin(json);
	for (size_t i = 0; i < result->n_gils; i++)
		write_gil(json, result, result->gils[i]);
	json_array_end(json);
	json_key(json, "threads");
	json_array_begin(json);
	for (size_t i = 0; i < result->n_threads; i++)
		write_thread(json, result, result->threads[i]);
	json_array_end(json);
	json_key(json, "holds");
	json_array_begin(json);
	for (size_t i = 0; i < result->n_holds && !result->quality.release_missing; i++)
		write_hold(json, result, &result->holds[i]);
	json_array_end(json);
	json_key(json, "blame");
	json_array_begin(json);
	for (size_t i = 0; i < result->n_blame && !result->quality.release_missing; i++) {
		const struct fold_blame *blame = &result->blame[i];

		json_object_begin(json);
		json_put_i64(json, "waiter_tid", blame->waiter->tid);
		json_put_i64(json, "holder_tid", blame->holder->tid);
		key_s(json, "wait_s", true, blame->wait_ns);
		json_put_u64(json, "waits", blame->waits);
		json_object_end(json);
	}
	json_array_end(json);
}

int report_json(struct out *out, const struct fold_result *result,
	const struct report_recording *recording, struct err *err)
{
	struct json json = json_to(out);

	(void)err;
	json_object_begin(&json);
	json_put_str(&json, "schema", "gilprobe.report/1");
	write_recording(&json, result, recording);
	write_quality(&json, &result->quality, recording);
	write_lists(&json, result);
	write_verdict(&json, result);
	json_object_end(&json);
	out_str(out, "\n");
	return 0;
}

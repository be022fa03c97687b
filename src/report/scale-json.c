/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: JSON of `gilprobe scale`. In: what was measured, the verdict. Out: one object. Invariant:
 * every key of the reference script's object is there with the same meaning; seconds are floats.
 */
#include "report/scale.h"

#include "base/json.h"

static void put_seconds(struct json *json, const char *key, uint64_t ns)
{
	json_key(json, key);
	json_ns_as_s(json, ns);
}

static void put_double(struct json *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

static void put_str(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_str(json, text);
}

static void put_u64(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

static void put_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

static void write_interpreter(struct json *json, const struct scale_facts *facts)
{
	json_key(json, "interpreter");
	json_object_begin(json);
	put_str(json, "python", facts->python);
	put_str(json, "implementation", facts->implementation);
	put_str(json, "executable", facts->executable);
	put_bool(json, "free_threaded_build", facts->free_threaded_build);
	put_bool(json, "gil_enabled", facts->gil_enabled);
	put_bool(json, "gil_enabled_at_end", facts->gil_enabled_at_end);
	put_double(json, "switch_interval_s", facts->switch_interval_s);
	put_u64(json, "cpu_count", facts->cpu_count);
	put_u64(json, "usable_cpus", facts->usable_cpus);
	put_double(json, "cpu_availability", facts->cpu_availability);
	json_object_end(json);
}

static void write_evidence(struct json *json, const struct scale_evidence *e)
{
	json_key(json, "gil");
	if (!e->known) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	put_seconds(json, "life_s", e->life_ns);
	put_seconds(json, "held_s", e->held_ns);
	put_seconds(json, "has_gil_off_cpu_s", e->held_asleep_ns + e->held_no_cpu_ns);
	put_seconds(json, "has_gil_blocked_s", e->held_asleep_ns);
	put_seconds(json, "has_gil_runnable_s", e->held_no_cpu_ns);
	put_seconds(json, "waiting_s", e->waiting_ns);
	put_seconds(json, "native_s", e->native_ns);
	put_seconds(json, "runnable_s", e->runnable_ns);
	put_seconds(json, "blocked_s", e->blocked_ns);
	put_seconds(json, "blocked_by_sibling_s", e->blocked_by_sibling_ns);
	put_seconds(json, "unknown_s", e->unknown_ns);
	put_u64(json, "takes", e->takes);
	put_u64(json, "handoffs", e->handoffs);
	put_u64(json, "forced", e->forced);
	put_seconds(json, "max_hold_s", e->max_hold_ns);
	put_seconds(json, "max_wait_s", e->max_wait_ns);
	json_object_end(json);
}

static void write_runs(struct json *json, const struct scale_phase *phase)
{
	const struct scale_run *best = scale_best(phase);
	uint64_t wall_ns = best->end_ns - best->start_ns;

	put_seconds(json, "wall_s", wall_ns);
	put_seconds(json, "median_wall_s", scale_median_ns(phase));
	put_seconds(json, "cpu_s", best->cpu_ns);
	put_double(json, "cpu_per_wall", wall_ns ? (double)best->cpu_ns / (double)wall_ns : 0);
	json_key(json, "worker_cpu_s");
	json_array_begin(json);
	for (size_t i = 0; i < best->n_tasks; i++)
		json_ns_as_s(json, best->tasks[i].cpu_ns);
	json_array_end(json);
	json_key(json, "task_wall_s");
	json_array_begin(json);
	for (size_t i = 0; i < best->n_tasks; i++)
		json_ns_as_s(json, best->tasks[i].end_ns - best->tasks[i].start_ns);
	json_array_end(json);
	put_u64(json, "runs", phase->n_runs);
	json_key(json, "runs_wall_s");
	json_array_begin(json);
	for (size_t i = 0; i < phase->n_runs; i++)
		json_ns_as_s(json, phase->runs[i].end_ns - phase->runs[i].start_ns);
	json_array_end(json);
}

static void write_mode(
	struct json *json, const struct scale_result *result, const struct scale_phase *phase)
{
	double speedup = scale_speedup(result, phase);

	json_key(json, scale_mode_name(phase->mode));
	json_object_begin(json);
	put_str(json, "mode", scale_mode_name(phase->mode));
	put_u64(json, "workers", phase->workers);
	if (phase->unavailable || !phase->n_runs) {
		put_str(json, "error", phase->unavailable ? phase->unavailable : "not measured");
	} else {
		write_runs(json, phase);
		if (phase->mode != SCALE_SERIAL) {
			json_key(json, "speedup");
			if (speedup > 0)
				json_double(json, speedup);
			else
				json_null(json);
		}
		write_evidence(json, &phase->evidence);
	}
	json_object_end(json);
}

static void write_curve(struct json *json, const struct scale_result *result)
{
	struct scaling_fit fit;

	json_key(json, "curve");
	json_array_begin(json);
	for (size_t i = 0; i < result->n_phases; i++) {
		const struct scale_phase *phase = &result->phases[i];
		double speedup = scale_speedup(result, phase);

		if (phase->mode == SCALE_SERIAL || phase->unavailable || speedup <= 0)
			continue;
		json_object_begin(json);
		put_u64(json, "workers", phase->workers);
		put_str(json, "mode", scale_mode_name(phase->mode));
		put_double(json, "speedup", speedup);
		json_object_end(json);
	}
	json_array_end(json);
	json_key(json, "fit");
	if (!scaling_fit(result, SCALE_THREADS, &fit)) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	put_str(json, "mode", "threads");
	put_double(json, "amdahl_serial_fraction", fit.amdahl_serial_fraction);
	put_double(json, "usl_contention", fit.usl_contention);
	put_double(json, "usl_coherence", fit.usl_coherence);
	put_u64(json, "best_workers", fit.best_workers);
	json_object_end(json);
}

static void write_verdict(struct json *json, const struct report_scale *scale)
{
	const struct verdict *verdict = &scale->verdict->verdict;
	double share = scaling_gil_share(scale->result);

	put_str(json, "classification", scale->verdict->label);
	put_str(json, "confidence", confidence_name(verdict->confidence));
	put_str(json, "class", class_name(verdict->class));
	put_str(json, "reason", verdict->reason);
	put_str(json, "evidence", scale->verdict->by_evidence ? "recording" : "wall-clock");
	put_str(json, "evidence_note", scale->no_evidence);
	json_key(json, "gil_share");
	if (share >= 0)
		json_double(json, share);
	else
		json_null(json);
	json_key(json, "advice");
	json_array_begin(json);
	for (size_t i = 0; i < verdict->n_advice; i++)
		json_str(json, verdict->advice[i]);
	json_array_end(json);
}

static void write_quality(struct json *json, const struct fold_quality *q)
{
	json_key(json, "quality");
	if (!q) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	put_u64(json, "events", q->events);
	put_u64(json, "lost", q->lost);
	put_u64(json, "duplicated", q->duplicated);
	put_u64(json, "late", q->late);
	put_u64(json, "unmatched", q->unmatched);
	put_u64(json, "overlapping_holds", q->overlapping);
	put_seconds(json, "unknown_s", q->unknown_ns);
	put_u64(json, "probe_hits", q->gil_events);
	json_object_end(json);
}

int report_scale_json(struct out *out, const struct report_scale *scale, struct err *err)
{
	const struct scale_result *result = scale->result;
	struct json json = json_to(out);

	json_object_begin(&json);
	put_str(&json, "schema", "gilprobe.scale/1");
	put_str(&json, "target", scale->target);
	put_u64(&json, "repeat", scale->repeat);
	write_interpreter(&json, &result->facts);
	json_key(&json, "modes");
	json_object_begin(&json);
	for (enum scale_mode mode = 0; mode < SCALE_MODES; mode++) {
		const struct scale_phase *phase = scale_find(result, mode, 0);

		if (phase)
			write_mode(&json, result, phase);
	}
	json_object_end(&json);
	write_curve(&json, result);
	write_verdict(&json, scale);
	write_quality(&json, scale->quality);
	put_str(&json, "recording", scale->recording);
	put_str(&json, "trace", scale->trace);
	json_object_end(&json);
	out_str(out, "\n");
	return out_error(out);
}

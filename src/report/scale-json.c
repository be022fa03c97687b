/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: JSON of `gilprobe scale`. In: what was measured, the verdict. Out: one object. Invariant:
 * every key of the reference script's object is there with the same meaning; seconds are floats.
 */
#include "report/scale.h"

#include "base/json.h"

static void write_interpreter(struct json *json, const struct scale_facts *facts)
{
	json_key(json, "interpreter");
	json_object_begin(json);
	json_put_str(json, "python", facts->python);
	json_put_str(json, "implementation", facts->implementation);
	json_put_str(json, "executable", facts->executable);
	json_put_bool(json, "free_threaded_build", facts->free_threaded_build);
	json_put_bool(json, "gil_enabled", facts->gil_enabled);
	json_put_bool(json, "gil_enabled_at_end", facts->gil_enabled_at_end);
	json_put_double(json, "switch_interval_s", facts->switch_interval_s);
	json_put_u64(json, "cpu_count", facts->cpu_count);
	json_put_u64(json, "usable_cpus", facts->usable_cpus);
	json_put_double(json, "cpu_availability", facts->cpu_availability);
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
	json_put_ns_as_s(json, "life_s", e->life_ns);
	json_put_ns_as_s(json, "held_s", e->held_ns);
	json_put_ns_as_s(json, "has_gil_off_cpu_s", e->held_asleep_ns + e->held_no_cpu_ns);
	json_put_ns_as_s(json, "has_gil_blocked_s", e->held_asleep_ns);
	json_put_ns_as_s(json, "has_gil_runnable_s", e->held_no_cpu_ns);
	json_put_ns_as_s(json, "waiting_s", e->waiting_ns);
	json_put_ns_as_s(json, "native_s", e->native_ns);
	json_put_ns_as_s(json, "runnable_s", e->runnable_ns);
	json_put_ns_as_s(json, "blocked_s", e->blocked_ns);
	json_put_ns_as_s(json, "blocked_by_sibling_s", e->blocked_by_sibling_ns);
	json_put_ns_as_s(json, "unknown_s", e->unknown_ns);
	json_put_u64(json, "takes", e->takes);
	json_put_u64(json, "handoffs", e->handoffs);
	json_put_u64(json, "forced", e->forced);
	json_put_ns_as_s(json, "max_hold_s", e->max_hold_ns);
	json_put_ns_as_s(json, "max_wait_s", e->max_wait_ns);
	json_object_end(json);
}

static void write_runs(struct json *json, const struct scale_phase *phase)
{
	const struct scale_run *best = scale_best(phase);
	uint64_t wall_ns = best->end_ns - best->start_ns;

	json_put_ns_as_s(json, "wall_s", wall_ns);
	json_put_ns_as_s(json, "median_wall_s", scale_median_ns(phase));
	json_put_ns_as_s(json, "cpu_s", best->cpu_ns);
	json_put_double(json, "cpu_per_wall", wall_ns ? (double)best->cpu_ns / (double)wall_ns : 0);
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
	json_put_u64(json, "runs", phase->n_runs);
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
	json_put_str(json, "mode", scale_mode_name(phase->mode));
	json_put_u64(json, "workers", phase->workers);
	if (phase->unavailable || !phase->n_runs) {
		json_put_str(
			json, "error", phase->unavailable ? phase->unavailable : "not measured");
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
		json_put_u64(json, "workers", phase->workers);
		json_put_str(json, "mode", scale_mode_name(phase->mode));
		json_put_double(json, "speedup", speedup);
		json_object_end(json);
	}
	json_array_end(json);
	json_key(json, "fit");
	if (!scaling_fit(result, SCALE_THREADS, &fit)) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	json_put_str(json, "mode", "threads");
	json_put_double(json, "amdahl_serial_fraction", fit.amdahl_serial_fraction);
	json_put_double(json, "usl_contention", fit.usl_contention);
	json_put_double(json, "usl_coherence", fit.usl_coherence);
	json_put_u64(json, "best_workers", fit.best_workers);
	json_object_end(json);
}

static void write_verdict(struct json *json, const struct report_scale *scale)
{
	const struct verdict *verdict = &scale->verdict->verdict;
	double share = scaling_gil_share(scale->result);

	json_put_str(json, "classification", scale->verdict->label);
	json_put_str(json, "confidence", confidence_name(verdict->confidence));
	json_put_str(json, "class", class_name(verdict->class));
	json_put_str(json, "reason", verdict->reason);
	json_put_str(json, "evidence", scale->verdict->by_evidence ? "recording" : "wall-clock");
	json_put_str(json, "evidence_note", scale->no_evidence);
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
	json_put_u64(json, "events", q->events);
	json_put_u64(json, "lost", q->lost);
	json_put_u64(json, "duplicated", q->duplicated);
	json_put_u64(json, "late", q->late);
	json_put_u64(json, "unmatched", q->unmatched);
	json_put_u64(json, "overlapping_holds", q->overlapping);
	json_put_ns_as_s(json, "unknown_s", q->unknown_ns);
	json_put_u64(json, "probe_hits", q->gil_events);
	json_object_end(json);
}

int report_scale_json(struct out *out, const struct report_scale *scale, struct err *err)
{
	const struct scale_result *result = scale->result;
	struct json json = json_to(out);

	json_object_begin(&json);
	json_put_str(&json, "schema", "gilprobe.scale/1");
	json_put_str(&json, "target", scale->target);
	json_put_u64(&json, "repeat", scale->repeat);
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
	json_put_str(&json, "recording", scale->recording);
	json_put_str(&json, "trace", scale->trace);
	json_object_end(&json);
	out_str(out, "\n");
	return out_error(out);
}

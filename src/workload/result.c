/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: questions that can be answered from the measured numbers alone.
 */
#include "workload/result.h"

#include <stdlib.h>

static const char *const mode_names[SCALE_MODES] = {
	"serial", "threads", "processes", "interpreters"};

const char *scale_mode_name(enum scale_mode mode)
{
	return mode < SCALE_MODES ? mode_names[mode] : "unknown";
}

void scale_result_done(struct scale_result *result)
{
	for (size_t i = 0; i < result->n_phases; i++) {
		struct scale_phase *phase = &result->phases[i];

		for (size_t k = 0; k < phase->n_runs; k++)
			free(phase->runs[k].tasks);
		free(phase->runs);
		free(phase->unavailable);
	}
	free(result->phases);
	free(result->facts.python);
	free(result->facts.implementation);
	free(result->facts.executable);
	*result = (struct scale_result){0};
}

const struct scale_phase *scale_find(
	const struct scale_result *result, enum scale_mode mode, unsigned workers)
{
	const struct scale_phase *found = NULL;

	for (size_t i = 0; i < result->n_phases; i++) {
		const struct scale_phase *phase = &result->phases[i];

		if (phase->mode == mode && (!workers || phase->workers == workers))
			found = phase;
	}
	return found;
}

static uint64_t wall_ns(const struct scale_run *run)
{
	return run->end_ns - run->start_ns;
}

const struct scale_run *scale_best(const struct scale_phase *phase)
{
	const struct scale_run *best = NULL;

	for (size_t i = 0; i < phase->n_runs; i++)
		if (!best || wall_ns(&phase->runs[i]) < wall_ns(best))
			best = &phase->runs[i];
	return best;
}

uint64_t scale_median_ns(const struct scale_phase *phase)
{
	/* few runs: the one that half of the others are below */
	for (size_t i = 0; i < phase->n_runs; i++) {
		uint64_t wall = wall_ns(&phase->runs[i]);
		size_t below = 0, equal = 0;

		for (size_t k = 0; k < phase->n_runs; k++) {
			below += wall_ns(&phase->runs[k]) < wall;
			equal += wall_ns(&phase->runs[k]) == wall;
		}
		if (below <= phase->n_runs / 2 && phase->n_runs / 2 < below + equal)
			return wall;
	}
	return 0;
}

double scale_speedup(const struct scale_result *result, const struct scale_phase *phase)
{
	const struct scale_phase *serial = scale_find(result, SCALE_SERIAL, 0);
	const struct scale_run *one = serial ? scale_best(serial) : NULL;
	const struct scale_run *many = scale_best(phase);

	if (!one || !many || wall_ns(many) == 0 || serial->workers == 0)
		return 0;
	return (double)wall_ns(one) / serial->workers * phase->workers / (double)wall_ns(many);
}

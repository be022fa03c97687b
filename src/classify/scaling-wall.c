/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: without a recording. In: wall and CPU times of serial, threads and processes. Out: the
 * answer that the reference script gives to the same numbers. A ratio of CPU to wall time is less
 * disturbed by a busy machine than a speed-up, but not undisturbed: hence the confidences.
 */
#include "classify/scaling-rules.h"

#include <math.h>
#include <stdio.h>

struct numbers {
	double speedup; /* against serial */
	double cpu_per_wall;
	bool known;
};

static struct numbers numbers_of(const struct scale_result *result, enum scale_mode mode)
{
	const struct scale_phase *phase = scale_find(result, mode, 0);
	const struct scale_run *best = phase && !phase->unavailable ? scale_best(phase) : NULL;
	struct numbers ret = {0};

	if (!best || best->end_ns <= best->start_ns)
		return ret;
	ret.known = true;
	ret.speedup = scale_speedup(result, phase);
	ret.cpu_per_wall = (double)best->cpu_ns / (double)(best->end_ns - best->start_ns);
	return ret;
}

static void answer(struct scaling_verdict *ret, enum gil_class kind, enum confidence confidence,
	const char *label)
{
	ret->verdict.class = kind;
	ret->verdict.confidence = confidence;
	ret->label = label;
}

static void asleep(struct scaling_verdict *ret, double speedup, unsigned n)
{
	if (speedup >= fmax(1.5, 0.5 * n))
		answer(ret, CLASS_IO_BOUND, CONFIDENCE_HIGH, LABEL_IO);
	else
		answer(ret, CLASS_IO_BOUND, CONFIDENCE_MEDIUM, LABEL_IO_SERIAL);
}

static void parallel(struct scaling_verdict *ret, double speedup, double bar)
{
	if (speedup >= bar)
		answer(ret, CLASS_RELEASES, CONFIDENCE_HIGH, LABEL_RELEASES);
	else if (speedup >= 1.2)
		answer(ret, CLASS_RELEASES, CONFIDENCE_MEDIUM, LABEL_RELEASES_FEW_CORES);
	else
		answer(ret, CLASS_LOCK_CONTENTION, CONFIDENCE_MEDIUM, LABEL_NO_SPEEDUP);
}

static void one_at_a_time(struct scaling_verdict *ret, bool gil, const struct numbers *processes,
	double more_cores, double bar)
{
	if (!gil)
		answer(ret, CLASS_INCONCLUSIVE, CONFIDENCE_LOW, LABEL_PARTLY);
	else if (!processes->known)
		answer(ret, CLASS_GIL_BOUND, CONFIDENCE_MEDIUM, LABEL_GIL_NO_PROCESSES);
	else if (more_cores >= 1.25)
		answer(ret, CLASS_GIL_BOUND,
			processes->speedup >= bar ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, LABEL_GIL);
	else
		answer(ret, CLASS_GIL_BOUND, CONFIDENCE_LOW, LABEL_GIL_LIKELY);
}

void scaling_by_wall(const struct scale_result *result, unsigned n, struct scaling_verdict *ret)
{
	struct numbers serial = numbers_of(result, SCALE_SERIAL);
	struct numbers threads = numbers_of(result, SCALE_THREADS);
	struct numbers processes = numbers_of(result, SCALE_PROCESSES);
	double available = result->facts.cpu_availability;
	double busy = available > 0 ? serial.cpu_per_wall / available : serial.cpu_per_wall;
	double bar = fmax(1.5, 0.4 * n);
	double cores = serial.cpu_per_wall > 0 ? threads.cpu_per_wall / serial.cpu_per_wall : 0;

	if (busy < 0.25)
		asleep(ret, threads.speedup, n);
	else if (busy <= 0.7)
		answer(ret, CLASS_MIXED, CONFIDENCE_MEDIUM,
			threads.speedup > 1.2 ? LABEL_MIXED : LABEL_MIXED_SERIAL);
	else if (cores >= 1.4)
		parallel(ret, threads.speedup, bar);
	else if (cores < 1.2)
		one_at_a_time(ret, result->facts.gil_enabled_at_end, &processes,
			processes.known ? processes.cpu_per_wall / serial.cpu_per_wall : 0, bar);
	else
		answer(ret, CLASS_INCONCLUSIVE, CONFIDENCE_LOW, LABEL_PARTLY);
	snprintf(ret->verdict.reason, sizeof(ret->verdict.reason),
		"by wall-clock time: serial keeps %.2f cores busy, %u threads %.2f with a speed-up of "
		"%.2f, processes %.2f with %.2f",
		serial.cpu_per_wall, n, threads.cpu_per_wall, threads.speedup,
		processes.cpu_per_wall, processes.speedup);
}

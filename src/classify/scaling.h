/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: does a workload scale, and why? From what `gilprobe scale` measured, and, where it
 * was recorded, from the evidence of the recording. Pure functions but for the sink.
 *
 * With evidence no wall-clock time decides; without, the rules of the reference script do.
 */
#ifndef GILPROBE_CLASSIFY_SCALING_H
#define GILPROBE_CLASSIFY_SCALING_H

#include "base/cleanup.h"
#include "base/err.h"
#include "classify/classify.h"
#include "fold/sink.h"
#include "workload/result.h"

struct scaling_verdict {
	struct verdict verdict;
	const char *label; /* in the words of the reference script; static */
	bool by_evidence;
};

/* The whole verdict. */
void scaling_classify(const struct scale_result *result, struct scaling_verdict *ret);

/* A curve of speed-ups over numbers of workers, fitted by least squares. */
struct scaling_fit {
	double amdahl_serial_fraction;
	double usl_contention, usl_coherence;
	unsigned
		best_workers; /* fewest measured workers that come within 5 % of the model's best */
};

/* False when @mode was measured with fewer than two numbers of workers. */
bool scaling_fit(const struct scale_result *result, enum scale_mode mode, struct scaling_fit *ret);

/* The GIL's share of the work of one task, from serial mode: 0 to 1, < 0 unknown. */
double scaling_gil_share(const struct scale_result *result);

/*
 * Lays the workers' windows over the spans of a recording. Give the sink to the pipeline; when it
 * has run, scaling_evidence_take puts what was seen into the phases of @result.
 */
struct scaling_evidence;

int scaling_evidence_new(const struct scale_result *result, struct scaling_evidence **ret);
void scaling_evidence_free(struct scaling_evidence *evidence);

DEFINE_CLEANUP(struct scaling_evidence, scaling_evidence, scaling_evidence_free)

struct sink *scaling_evidence_sink(struct scaling_evidence *evidence);

/* Whether @tid is a worker: fold's watch, for interpreters without a GIL. */
bool scaling_evidence_watch(void *evidence, int32_t tid);

/* Of the recording, after the run. */
const struct fold_quality *scaling_evidence_quality(const struct scaling_evidence *evidence);
void scaling_evidence_take(const struct scaling_evidence *evidence, struct scale_result *result);

#endif

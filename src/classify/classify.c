/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: threads. In: totals. Out: a verdict. Invariant: the class comes from the rules alone;
 * the confidence from the amount of evidence, its distance from the threshold, and the quality of
 * the recording.
 */
#include "classify/classify.h"

#include "classify/conclude.h"
#include "classify/evidence.h"
#include "classify/rules.h"
#include "classify/thresholds.h"
#include "classify/words.h"

#include <string.h>

static enum confidence least(enum confidence a, enum confidence b)
{
	return a < b ? a : b;
}

static enum confidence by_amount(const struct evidence *e, const struct finding *f)
{
	if (e->active < MEDIUM_ACTIVE_NS || f->samples < FEW_SAMPLES)
		return CONFIDENCE_LOW;
	if (e->active < HIGH_ACTIVE_NS || f->samples < SOME_SAMPLES)
		return CONFIDENCE_MEDIUM;
	return CONFIDENCE_HIGH;
}

static enum confidence by_margin(const struct finding *f)
{
	return f->margin < MEDIUM_MARGIN ? CONFIDENCE_LOW
	       : f->margin < HIGH_MARGIN ? CONFIDENCE_MEDIUM
					 : CONFIDENCE_HIGH;
}

static enum confidence by_quality(const struct evidence *e)
{
	const struct fold_quality *q = &e->result->quality;

	/* one in a hundred: the table may be off by whole holds */
	if (q->overlapping > q->gil_events / 100 ||
		(!q->runnable_known && q->lost > q->events / 100))
		return CONFIDENCE_LOW;
	if (!q->cpu_known || !q->wait_known || !q->runnable_known || q->lost > q->events / 1000 ||
		(q->cpu_known && e->unknown > PART * e->life))
		return CONFIDENCE_MEDIUM;
	return CONFIDENCE_HIGH;
}

void conclude(const struct evidence *e, struct verdict *ret)
{
	struct finding f = {0};

	rules_apply(e, &f);
	*ret = (struct verdict){.class = f.class};
	memcpy(ret->reason, f.reason, sizeof(ret->reason));
	ret->confidence = f.class == CLASS_INCONCLUSIVE
				  ? CONFIDENCE_LOW
				  : least(by_amount(e, &f), least(by_margin(&f), by_quality(e)));
	words_advise(ret);
}

bool classify_is_short(const struct fold_thread *thread)
{
	return (double)(thread->last_ns - thread->first_ns) < MIN_LIFE_NS;
}

void classify_thread(
	const struct fold_result *result, const struct fold_thread *thread, struct verdict *ret)
{
	struct evidence e;

	evidence_of_thread(result, thread, &e);
	conclude(&e, ret);
}

void classify_merged(const struct fold_result *result, const struct fold_thread *const *threads,
	size_t n_threads, struct verdict *ret)
{
	struct evidence e;

	evidence_begin(&e, result);
	for (size_t i = 0; i < n_threads; i++)
		evidence_add(&e, threads[i]);
	evidence_end(&e);
	conclude(&e, ret);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: a sink that lays windows over spans. In: who worked when, and the spans of a recording
 * by the same clock. Out: time per state for each phase. Invariant: a span counts for a window
 * only as far as it lies in it; what is known of the whole span counts in proportion.
 */
#include "classify/scaling.h"

#include <stdlib.h>

struct window {
	int32_t tid;
	uint64_t start_ns, end_ns;
	size_t phase;
};

struct scaling_evidence {
	struct sink sink;
	struct window *windows; /* by tid, then by start */
	size_t n_windows;
	struct scale_evidence *phases;
	size_t n_phases;
	struct fold_quality quality;
};

static int compare(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The first window of @tid that ends after @ns, or the end of the array. */
static const struct window *first_window(const struct scaling_evidence *e, int32_t tid, uint64_t ns)
{
	size_t low = 0, high = e->n_windows;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct window *w = &e->windows[middle];

		if (w->tid < tid || (w->tid == tid && w->end_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return &e->windows[low];
}

/* The windows that a stretch of a thread's time meets. */
struct meeting {
	struct scaling_evidence *evidence;
	const struct window *next;
	int32_t tid;
	uint64_t start_ns, end_ns;
	/* the current one */
	struct scale_evidence *into;
	uint64_t ns; /* length of what both share */
};

static struct meeting meet(struct scaling_evidence *e, const struct fold_thread *thread,
	uint64_t start_ns, uint64_t end_ns)
{
	return (struct meeting){.evidence = e,
		.next = first_window(e, thread->tid, start_ns),
		.tid = thread->tid,
		.start_ns = start_ns,
		.end_ns = end_ns};
}

static bool meeting_next(struct meeting *m)
{
	const struct window *w = m->next++;
	uint64_t from, to;

	if (w >= m->evidence->windows + m->evidence->n_windows || w->tid != m->tid ||
		w->start_ns >= m->end_ns)
		return false;
	from = w->start_ns > m->start_ns ? w->start_ns : m->start_ns;
	to = w->end_ns < m->end_ns ? w->end_ns : m->end_ns;
	m->ns = to > from ? to - from : 0;
	m->into = &m->evidence->phases[w->phase];
	return true;
}

/* @part of a span of @whole, for @ns of it */
static uint64_t in_proportion(uint64_t part, uint64_t ns, uint64_t whole)
{
	return whole ? (uint64_t)((double)part * (double)ns / (double)whole) : 0;
}

static void add_span(struct scale_evidence *into, const struct span *span, uint64_t ns)
{
	uint64_t whole = span->end_ns - span->start_ns;
	uint64_t asleep = in_proportion(span->asleep_ns, ns, whole);

	into->life_ns += ns;
	switch (span->state) {
	case SPAN_HAS_GIL:
		into->held_ns += ns;
		break;
	case SPAN_HAS_GIL_OFF_CPU:
		into->held_asleep_ns += asleep;
		into->held_no_cpu_ns += ns - asleep;
		break;
	case SPAN_WAITING:
		into->waiting_ns += ns;
		into->wait_no_cpu_ns += in_proportion(span->no_cpu_ns, ns, whole);
		break;
	case SPAN_NATIVE:
		into->native_ns += ns;
		break;
	case SPAN_RUNNABLE:
		into->runnable_ns += ns;
		break;
	case SPAN_BLOCKED:
		into->blocked_ns += ns;
		into->blocked_by_sibling_ns += in_proportion(span->sibling_ns, ns, whole);
		break;
	case SPAN_UNKNOWN:
	case SPAN_STATES:
		into->unknown_ns += ns;
		break;
	}
}

static int on_span(void *user, const struct span *span, struct err *err)
{
	struct meeting m = meet(user, span->thread, span->start_ns, span->end_ns);

	while (meeting_next(&m))
		add_span(m.into, span, m.ns);
	return 0;
}

static int on_wait(void *user, const struct fold_wait *wait, struct err *err)
{
	struct meeting m = meet(user, wait->thread, wait->start_ns, wait->end_ns);
	uint64_t whole = wait->end_ns - wait->start_ns;

	while (meeting_next(&m)) {
		struct scale_evidence *into = m.into;

		into->waits++;
		into->wait_asleep_ns += in_proportion(wait->holder_blocked_ns, m.ns, whole);
		into->wait_holder_no_cpu_ns += in_proportion(wait->holder_runnable_ns, m.ns, whole);
		into->wait_free_ns += in_proportion(wait->free_ns, m.ns, whole);
		if (into->max_wait_ns < m.ns)
			into->max_wait_ns = m.ns;
	}
	return 0;
}

static int on_hold(void *user, const struct fold_hold *hold, struct err *err)
{
	struct meeting m = meet(user, hold->thread, hold->start_ns, hold->end_ns);
	uint64_t whole = hold->end_ns - hold->start_ns;

	while (meeting_next(&m)) {
		struct scale_evidence *into = m.into;

		into->takes++;
		into->forced += hold->forced;
		if (hold->deaf)
			into->long_waited_ns += in_proportion(hold->others_waited_ns, m.ns, whole);
		if (into->max_hold_ns < m.ns)
			into->max_hold_ns = m.ns;
	}
	return 0;
}

static int on_handoff(void *user, const struct fold_handoff *handoff, struct err *err)
{
	struct meeting m = meet(user, handoff->to, handoff->acquire_ns, handoff->acquire_ns + 1);

	while (meeting_next(&m))
		m.into->handoffs++;
	return 0;
}

static int on_done(void *user, const struct fold_result *result, struct err *err)
{
	struct scaling_evidence *e = user;

	e->quality = result->quality;
	return 0;
}

int scaling_evidence_new(const struct scale_result *result, struct scaling_evidence **ret)
{
	_cleanup_(cleanup_scaling_evidence) struct scaling_evidence *e = calloc(1, sizeof(*e));
	size_t n = 0;

	if (!e)
		return -ENOMEM;
	for (size_t i = 0; i < result->n_phases; i++)
		for (size_t k = 0; k < result->phases[i].n_runs; k++)
			n += result->phases[i].runs[k].n_tasks;
	e->windows = calloc(n + 1, sizeof(*e->windows));
	e->phases = calloc(result->n_phases + 1, sizeof(*e->phases));
	if (!e->windows || !e->phases)
		return -ENOMEM;
	e->n_phases = result->n_phases;
	for (size_t i = 0; i < result->n_phases; i++)
		for (size_t k = 0; k < result->phases[i].n_runs; k++)
			for (size_t t = 0; t < result->phases[i].runs[k].n_tasks; t++) {
				const struct scale_task *task = &result->phases[i].runs[k].tasks[t];

				e->windows[e->n_windows++] =
					(struct window){task->tid, task->start_ns, task->end_ns, i};
			}
	qsort(e->windows, e->n_windows, sizeof(*e->windows), compare);
	e->sink = (struct sink){.user = e,
		.span = on_span,
		.wait = on_wait,
		.hold = on_hold,
		.handoff = on_handoff,
		.done = on_done};
	*ret = steal_ptr(e);
	return 0;
}

void scaling_evidence_free(struct scaling_evidence *evidence)
{
	if (!evidence)
		return;
	free(evidence->windows);
	free(evidence->phases);
	free(evidence);
}

struct sink *scaling_evidence_sink(struct scaling_evidence *evidence)
{
	return &evidence->sink;
}

bool scaling_evidence_watch(void *evidence, int32_t tid)
{
	const struct scaling_evidence *e = evidence;
	const struct window *first = first_window(e, tid, 0);

	return first < e->windows + e->n_windows && first->tid == tid;
}

const struct fold_quality *scaling_evidence_quality(const struct scaling_evidence *evidence)
{
	return &evidence->quality;
}

void scaling_evidence_take(const struct scaling_evidence *evidence, struct scale_result *result)
{
	for (size_t i = 0; i < result->n_phases && i < evidence->n_phases; i++) {
		struct scale_evidence *e = &result->phases[i].evidence;

		*e = evidence->phases[i];
		/* a thread that never met its GIL has no spans; what is half unknown tells nothing
		 */
		e->known = !evidence->quality.release_missing && evidence->quality.runnable_known &&
			   e->life_ns > 0 && e->unknown_ns * 2 < e->life_ns;
	}
}

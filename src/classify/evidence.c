/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: evidence. In: totals of threads. Out: struct evidence. Invariant: every part is ≥ 0,
 * and hold + wait + native + blocked + (other) = active = life - unknown - machine.
 */
#include "classify/evidence.h"

#include "classify/thresholds.h"

/* Blame is sorted by time: what comes behind these explains next to nothing. */
#define BLAME_LOOK 20000

/* More of a waiter's waiting than this without a CPU: its timer may have been late. */
#define LATE 0.15

double evidence_share(const struct evidence *e, double part)
{
	return e->active > 0 ? part / e->active : 0;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double on_cpu(const struct fold_thread *t)
{
	return (double)(t->state_ns[SPAN_HAS_GIL] + t->state_ns[SPAN_NATIVE]);
}

static double life_of(const struct fold_thread *t)
{
	return t->last_ns > t->first_ns ? (double)(t->last_ns - t->first_ns) : 0;
}

static double overlap(const struct fold_thread *a, const struct fold_thread *b)
{
	uint64_t from = a->first_ns > b->first_ns ? a->first_ns : b->first_ns;
	uint64_t to = a->last_ns < b->last_ns ? a->last_ns : b->last_ns;

	return to > from ? (double)(to - from) : 0;
}

/* Time that @t lost for want of a CPU. What it waits for a GIL that is free is its own wake-up. */
static double machine_of(const struct fold_thread *t)
{
	double late = least((double)t->wait_runnable_ns, (double)t->wait_gil_free_ns);

	return (double)(t->state_ns[SPAN_RUNNABLE] + t->hold_runnable_ns +
			t->wait_holder_runnable_ns) +
	       late;
}

void evidence_add(struct evidence *e, const struct fold_thread *t)
{
	double late = least((double)t->wait_runnable_ns, (double)t->wait_gil_free_ns);

	e->n_threads++;
	e->life += life_of(t);
	e->unknown += (double)t->state_ns[SPAN_UNKNOWN];
	e->machine += machine_of(t);
	e->hold += (double)t->state_ns[SPAN_HAS_GIL] + (double)t->state_ns[SPAN_HAS_GIL_OFF_CPU] -
		   (double)t->hold_runnable_ns;
	e->hold_asleep += (double)t->hold_blocked_ns;
	e->wait += (double)t->state_ns[SPAN_WAITING] - (double)t->wait_holder_runnable_ns - late;
	e->wait_machine += (double)t->wait_holder_runnable_ns + late;
	e->wait_asleep += (double)t->wait_holder_blocked_ns;
	e->native += (double)t->state_ns[SPAN_NATIVE];
	e->blocked += (double)t->state_ns[SPAN_BLOCKED];
	e->by_sibling += (double)t->blocked_by_sibling_ns;
	e->others_waited += (double)t->others_waited_ns;
	e->long_waited += (double)t->long_waited_ns;
	e->takes += (double)t->takes;
	e->forced += (double)t->forced;
	e->waits += (double)t->waits;
	e->natives += (double)t->natives;
	e->blocks += (double)t->blocks;
	e->sibling_wakeups += (double)t->sibling_wakeups;
	if ((double)t->max_hold_ns > e->max_hold)
		e->max_hold = (double)t->max_hold_ns;
	if ((double)t->max_wait_ns > e->max_wait)
		e->max_wait = (double)t->max_wait_ns;
}

/* The length above which half of the time (not of the number) lies. */
static double time_median(const struct hist *hist)
{
	double total = 0, seen = 0;

	if (!hist->counts)
		return 0;
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		total += (double)hist->counts[i] * (double)hist_bucket_ns(i);
	for (size_t i = HIST_BUCKETS; i-- > 0;) {
		seen += (double)hist->counts[i] * (double)hist_bucket_ns(i);
		if (seen > 0 && seen >= total / 2)
			return (double)hist_bucket_ns(i);
	}
	return 0;
}

/*
 * Want of a CPU that the process's own threads do not explain. Siblings that ran while this one
 * was ready (four threads on one CPU) are not the machine's fault; their running is taken as
 * spread evenly over their lives.
 */
static double starved_of(const struct fold_result *result, const struct fold_thread *t)
{
	double machine = machine_of(t), life = life_of(t), wanted, siblings = 0;

	if (machine <= 0 || life <= 0)
		return 0;
	wanted = least(1, (machine + on_cpu(t)) / life);
	for (size_t i = 0; i < result->n_threads; i++) {
		const struct fold_thread *u = result->threads[i];

		if (u != t && u->process == t->process && life_of(u) > 0)
			siblings += on_cpu(u) * overlap(t, u) / life_of(u);
	}
	return machine - least(machine, wanted * siblings);
}

static double gil_busy_of(const struct fold_result *result, const struct fold_thread *t)
{
	double held = 0;

	for (size_t i = 0; i < result->n_threads; i++) {
		const struct fold_thread *u = result->threads[i];

		if (u->process == t->process && life_of(u) > 0)
			held += (double)(u->state_ns[SPAN_HAS_GIL] +
					 u->state_ns[SPAN_HAS_GIL_OFF_CPU]) *
				overlap(t, u) / life_of(u);
	}
	return life_of(t) > 0 ? held / life_of(t) : 0;
}

/* Who blocked whom, and whether in long holds. */
static void add_blame(struct evidence *e, const struct fold_thread *t)
{
	const struct fold_result *r = e->result;
	double explained = 0, in_long = 0;

	for (size_t i = 0; i < r->n_blame && i < BLAME_LOOK; i++) {
		const struct fold_blame *b = &r->blame[i];

		if (b->holder == t && !e->victim)
			e->victim = b->waiter;
		if (b->waiter != t)
			continue;
		if (!e->blocker)
			e->blocker = b->holder;
		explained += (double)b->wait_ns;
		if (b->holder->others_waited_ns)
			in_long += (double)b->wait_ns * (double)b->holder->long_waited_ns /
				   (double)b->holder->others_waited_ns;
	}
	e->blocker_long = explained > 0 ? in_long / explained : 0;
}

/* By time, since waiters that lose a race want again early; a long interval outweighs them. */
static void add_interval(struct evidence *e, const struct fold_thread *t)
{
	double interval = time_median(&t->interval_hist);

	if (interval <= e->interval)
		return;
	e->interval = interval;
	e->intervals = (double)t->interval_hist.n;
	e->interval_late = (double)t->wait_runnable_ns > LATE * (double)t->state_ns[SPAN_WAITING];
}

void evidence_end(struct evidence *e)
{
	double all_wait = e->wait + e->wait_machine;

	e->active = e->life - e->machine;
	/* without CPU evidence "unknown" is all that is neither holding nor waiting */
	if (e->result->quality.cpu_known)
		e->active -= e->unknown;
	if (e->active < 0)
		e->active = 0;
	if (e->wait < 0)
		e->wait = 0;
	if (e->hold < 0)
		e->hold = 0;
	if (e->typical_wait > 0 && all_wait > 0)
		e->typical_wait *= e->wait / all_wait;
	else if (e->waits > 0)
		e->typical_wait = e->wait / e->waits;
}

void evidence_begin(struct evidence *e, const struct fold_result *result)
{
	*e = (struct evidence){.result = result};
}

void evidence_of_thread(
	const struct fold_result *result, const struct fold_thread *thread, struct evidence *ret)
{
	evidence_begin(ret, result);
	ret->thread = thread;
	evidence_add(ret, thread);
	/* what follows is for the rules about threads that live; thousands do not */
	if (classify_is_short(thread)) {
		evidence_end(ret);
		return;
	}
	ret->starved = starved_of(result, thread);
	ret->typical_wait = time_median(&thread->wait_hist);
	ret->gil_busy = gil_busy_of(result, thread);
	add_blame(ret, thread);
	add_interval(ret, thread);
	if (ret->victim && ret->victim->wait_hist.n)
		add_interval(ret, ret->victim);
	evidence_end(ret);
}

double evidence_peers_at_work(const struct evidence *e)
{
	const struct fold_thread *t = e->thread;
	double work = 0;

	if (!t)
		return 0;
	for (size_t i = 0; i < e->result->n_threads; i++) {
		const struct fold_thread *u = e->result->threads[i];
		double active = life_of(u) - machine_of(u) - (double)u->state_ns[SPAN_UNKNOWN];
		double asleep = (double)u->blocked_by_sibling_ns;

		if (u->process != t->process || asleep * 2 < active || u->sibling_wakeups < 2 ||
			active <= 0)
			continue;
		work += (active - asleep) / active * overlap(t, u) / life_of(t);
	}
	return work;
}

bool evidence_other_gil_held(const struct evidence *e)
{
	const struct fold_thread *t = e->thread;

	if (!t || !t->gil)
		return false;
	for (size_t i = 0; i < e->result->n_threads; i++) {
		const struct fold_thread *u = e->result->threads[i];
		double hold = (double)u->state_ns[SPAN_HAS_GIL];

		if (u->process == t->process && u->gil && u->gil != t->gil &&
			hold * 2 >= life_of(u) - machine_of(u) && overlap(t, u) * 2 >= life_of(t))
			return true;
	}
	return false;
}

bool evidence_competes(const struct evidence *e)
{
	return evidence_share(e, e->hold) >= PART && evidence_share(e, e->wait) >= PART &&
	       e->wait + e->wait_machine >= PART * e->life;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: entry. In: events in time order, facts about the recording. Out: sinks called, the result.
 * Invariant: O(1) work per event (plus one step per thread that waits for the GIL concerned, and
 * per thread when events were lost); memory grows with threads, never with time.
 *
 * The window is made by cutting times: what happened before it happens at its start, what came
 * later at its end, so all lengths outside are zero and nothing else has to know.
 */
#include "fold/fold.h"

#include "base/vec.h"
#include "fold/blame.h"
#include "fold/gil.h"
#include "fold/sched.h"
#include "fold/sinks.h"
#include "fold/state.h"
#include "fold/task.h"
#include "fold/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int fold_new(const struct fold_options *options, struct fold **ret, struct err *err)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		return err_nomem(err);
	f->options = *options;
	f->last_process = &f->all_processes;
	if (f->options.to_ns < f->options.from_ns)
		f->options.to_ns = f->options.from_ns;
	*ret = f;
	return 0;
}

void fold_free(struct fold *fold)
{
	if (!fold)
		return;
	task_done(fold);
	blame_done(fold);
	strtab_done(&fold->names);
	free(fold->cpus);
	free(fold->processes_shown.items);
	free(fold->gils_shown.items);
	free(fold->threads_shown.items);
	free(fold);
}

void fold_facts(struct fold *fold, const struct decode_facts *facts)
{
	fold->facts = *facts;
}

/* The window begins: what lives already is in it. */
static int enter(struct fold *f)
{
	struct thread *t = f->live;
	int r = 0;

	f->entered = true;
	for (struct process *p = f->all_processes; p && r >= 0; p = p->all)
		for (struct gil *g = p->closed ? NULL : p->gils; g && r >= 0; g = g->next)
			r = gil_show(f, g);
	/* the newest is first: start at the end, so that they are numbered as they appeared */
	while (t && t->next)
		t = t->next;
	for (; t && r >= 0; t = t->prev)
		if (t->begun)
			r = thread_show(f, t);
	return r;
}

static int set_time(struct fold *f, uint64_t time_ns)
{
	/* a late event happens now */
	uint64_t at_ns = f->newest_ns = max_ns(f->newest_ns, time_ns);

	f->now = max_ns(at_ns, f->options.from_ns);
	if (f->now > f->options.to_ns)
		f->now = f->options.to_ns;
	f->inside = at_ns == f->now;
	if (time_ns && !f->started) {
		f->started = true;
		f->start_ns = f->now;
	}
	return !f->entered && at_ns >= f->options.from_ns ? enter(f) : 0;
}

static int make_cpu(struct fold *f, int cpu)
{
	size_t need = (size_t)(cpu + 1), had = f->n_cpus;
	int r;

	if (cpu < 0 || need <= had)
		return 0;
	r = vec_reserve(&f->cpus, &f->n_cpus, need, sizeof(*f->cpus));
	if (r < 0)
		return r;
	memset(f->cpus + had, 0, (f->n_cpus - had) * sizeof(*f->cpus));
	return 0;
}

/*
 * Events were lost between what this CPU told last and now; whose, nobody knows. Whatever a thread
 * was doing then ends there, or at its last sign of life on another CPU. First the waiters, while
 * those they wait for still hold; and a hold lasts as long as it was waited for.
 */
static int lost(struct fold *f, const struct event *event)
{
	uint64_t end_ns = f->before_ns;
	int r = 0;

	if (event->cpu >= 0 && f->cpus[event->cpu].ns)
		end_ns = f->cpus[event->cpu].ns;
	f->lost += event->lost;
	for (struct thread *t = f->live; t && r >= 0; t = t->next)
		if (t->begun && (t->side == SIDE_WANT || t->side == SIDE_YIELD))
			r = thread_close(f, t, max_ns(end_ns, t->gil->tick_since_ns));
	for (struct thread *t = f->live; t && r >= 0; t = t->next) {
		if (!t->begun)
			continue;
		r = thread_close(f, t,
			t->side == SIDE_HOLD ? max_ns(end_ns, t->gil->idle_since_ns) : end_ns);
		if (t->gil)
			t->gil->releaser = NULL; /* others may have held it since */
	}
	return r;
}

static int dispatch(struct fold *f, const struct event *event)
{
	switch ((enum event_kind)event->kind) {
	case EVENT_WANT:
	case EVENT_ACQUIRE:
	case EVENT_RELEASE:
	case EVENT_YIELD:
	case EVENT_DROP_RETURN:
		return state_event(f, event);
	case EVENT_SWITCH_IN:
		return sched_in(f, event);
	case EVENT_SWITCH_OUT:
		return sched_out(f, event);
	case EVENT_WAKEUP:
		return sched_wakeup(f, event);
	case EVENT_FORK:
		return task_fork(f, event);
	case EVENT_EXIT:
		return task_exit(f, event);
	case EVENT_EXEC:
		return task_exec(f, event);
	case EVENT_COMM:
		return task_comm(f, event);
	case EVENT_LOST:
		return lost(f, event);
	case EVENT_MARK:
		return f->inside ? sinks_call(f, mark, f->now, event->mark) : 0;
	case EVENT_MMAP:
	case EVENT_SAMPLE:
	case EVENT_KINDS:
		return 0;
	}
	return 0;
}

static int done(struct fold *f, int r, struct err *err)
{
	f->err = NULL;
	if (r == -ENOMEM)
		return err_nomem(err);
	return r < 0 ? r : 0;
}

int fold_feed(struct fold *fold, const struct event *event, struct err *err)
{
	int r;

	fold->err = err;
	fold->before_ns = fold->now;
	r = set_time(fold, event->time_ns);
	if (r >= 0)
		r = make_cpu(fold, event->cpu);
	if (r >= 0)
		r = dispatch(fold, event);
	if (r >= 0 && event->cpu >= 0)
		fold->cpus[event->cpu].ns = fold->now;
	return done(fold, r, err);
}

int fold_covered(struct fold *fold, bool covered, struct err *err)
{
	int r = 0;

	if (fold->uncovered == !covered)
		return 0;
	fold->uncovered = !covered;
	fold->err = err;
	for (struct thread *t = fold->live; t && r >= 0; t = t->next)
		if (t->begun)
			r = thread_cpu(fold, t, CPU_UNKNOWN, NULL, -1);
	return done(fold, r, err);
}

/* Without releases every take seems to hold for ever: only waiting is known. */
static void forget_holds(struct fold_thread *t)
{
	for (int state = 0; state < SPAN_STATES; state++) {
		if (state == SPAN_UNKNOWN || state == SPAN_WAITING)
			continue;
		t->state_ns[SPAN_UNKNOWN] += t->state_ns[state];
		t->state_ns[state] = 0;
	}
	t->hold_blocked_ns = t->hold_runnable_ns = t->blocked_by_sibling_ns = 0;
	t->blocks = t->sibling_wakeups = t->natives = 0;
}

static void finish_quality(struct fold *f, uint64_t duplicated, uint64_t late)
{
	struct fold_quality *q = &f->result.quality;
	const struct decode_facts *facts = &f->facts;
	/* one that took what it held, and two that held it at once: a release was not seen */
	uint64_t missing = q->acquires_while_holding + q->overlapping;

	q->events = facts->samples;
	q->duplicated = duplicated;
	q->late = late;
	q->lost = max_ns(facts->lost, f->lost);
	q->cpu_known = facts->has_sched_switch || facts->has_switch_record;
	q->runnable_known = facts->has_wakeup && facts->sched_cpu_wide;
	q->wait_known = facts->has_want && !facts->sampled_probes;
	q->forced_known = facts->has_drop_return || facts->has_yield;
	q->sampled = facts->sampled_probes;
	q->release_unprobed = facts->has_acquire && !facts->has_release;
	q->take_unprobed = !facts->has_acquire && !facts->has_want;
	q->release_missing = q->release_unprobed || q->take_unprobed || q->sampled ||
			     (missing >= 10 && missing * 5 > q->acquires);
	for (size_t i = 0; i < f->threads_shown.n; i++) {
		struct fold_thread *t = f->threads_shown.items[i];

		if (q->release_missing)
			forget_holds(t);
		q->unknown_ns +=
			t->state_ns[SPAN_UNKNOWN] + (q->wait_known ? 0 : t->state_ns[SPAN_WAITING]);
	}
}

static void finish_gils(struct fold *f)
{
	for (struct process *p = f->all_processes; p; p = p->all)
		for (struct gil *g = p->gils; g; g = g->next)
			g->pub.end_ns = p->pub.end_ns;
}

int fold_finish(struct fold *fold, uint64_t duplicated, uint64_t late,
	const struct fold_result **ret, struct err *err)
{
	struct fold_result *result = &fold->result;
	int r = 0;

	fold->err = err;
	while (fold->live && r >= 0)
		r = thread_end(fold, fold->live, false);
	finish_gils(fold);
	finish_quality(fold, duplicated, late);
	if (r >= 0)
		r = blame_finish(fold);
	if (r < 0)
		return done(fold, r, err);
	result->processes = fold->processes_shown.items;
	result->n_processes = fold->processes_shown.n;
	result->gils = fold->gils_shown.items;
	result->n_gils = fold->gils_shown.n;
	result->threads = fold->threads_shown.items;
	result->n_threads = fold->threads_shown.n;
	result->holds = fold->top;
	result->n_holds = fold->n_top;
	result->blame = fold->blame_list;
	result->n_blame = fold->blames.n;
	result->start_ns = fold->start_ns;
	result->end_ns = fold->now;
	r = sinks_call(fold, done, result);
	if (r >= 0)
		*ret = result;
	return done(fold, r, err);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: one thread's time. In: "up to here it was so". Out: spans, state totals, CPU rows.
 * Invariant: spans tile the life; a span is given out when the next one begins, so neighbours of
 * the same state are one span, and the totals are the sums of the spans.
 */
#include "fold/thread.h"

#include "base/vec.h"
#include "fold/gil.h"
#include "fold/hist.h"
#include "fold/sinks.h"
#include "fold/task.h"

#include <errno.h>
#include <stdlib.h>

static const enum span_state states[SIDES][CPUS] = {
	[SIDE_UNKNOWN] = {SPAN_UNKNOWN, SPAN_UNKNOWN, SPAN_UNKNOWN, SPAN_UNKNOWN},
	[SIDE_NONE] = {SPAN_UNKNOWN, SPAN_NATIVE, SPAN_RUNNABLE, SPAN_BLOCKED},
	[SIDE_WANT] = {SPAN_WAITING, SPAN_WAITING, SPAN_WAITING, SPAN_WAITING},
	[SIDE_HOLD] = {SPAN_HAS_GIL, SPAN_HAS_GIL, SPAN_HAS_GIL_OFF_CPU, SPAN_HAS_GIL_OFF_CPU},
	[SIDE_YIELD] = {SPAN_WAITING, SPAN_WAITING, SPAN_WAITING, SPAN_WAITING},
};

int thread_new(
	struct fold *f, struct process *process, int32_t tid, const char *name, struct thread **ret)
{
	struct thread *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->pub.process = &process->pub;
	t->pub.tid = tid;
	t->pub.name = name;
	t->pub.main = tid == process->pub.pid;
	t->process = process;
	t->serial = f->n_serials++;
	t->cpu_number = -1;
	t->alive = true;
	t->all = f->all_threads;
	f->all_threads = t;
	t->next = f->live;
	if (f->live)
		f->live->prev = t;
	f->live = t;
	*ret = t;
	return 0;
}

void thread_free(struct thread *t)
{
	if (!t)
		return;
	hist_done(&t->pub.holds);
	hist_done(&t->pub.wait_hist);
	hist_done(&t->pub.interval_hist);
	free(t);
}

int thread_show(struct fold *f, struct thread *t)
{
	int r;

	if (t->visible)
		return 0;
	r = process_show(f, t->process);
	if (r >= 0)
		r = vec_grow(&f->threads_shown);
	if (r < 0)
		return r;
	t->visible = true;
	t->pub.index = (uint32_t)f->threads_shown.n;
	t->pub.number = t->process->pub.n_threads++;
	f->threads_shown.items[f->threads_shown.n++] = &t->pub;
	return 0;
}

/* @t runs on @cpu: whoever was running there has left it, when, the recording did not tell. */
static int occupy(struct fold *f, struct thread *t, int cpu)
{
	struct thread *before = cpu >= 0 ? f->cpus[cpu].thread : NULL;

	if (cpu >= 0)
		f->cpus[cpu].thread = t;
	if (!before || before == t || !before->alive || before->cpu != CPU_ON ||
		before->cpu_number != cpu)
		return 0;
	return thread_cpu(f, before, CPU_UNKNOWN, NULL, -1);
}

int thread_begin(struct fold *f, struct thread *t, int cpu_number)
{
	t->begun = true;
	t->pub.first_ns = t->pub.last_ns = t->since_ns = t->cpu_ns = f->now;
	if (!t->process->begun)
		t->process->pub.start_ns = t->process->pub.end_ns = f->now;
	t->process->begun = true;
	if (cpu_known(f)) {
		int r = occupy(f, t, cpu_number);

		if (r < 0)
			return r;
		t->cpu = CPU_ON;
		t->cpu_name = "Running";
		t->cpu_number = cpu_number;
	}
	return f->entered && f->inside ? thread_show(f, t) : 0;
}

static int span_flush(struct fold *f, struct thread *t)
{
	struct span span = t->span;

	t->span = (struct span){0};
	return span.end_ns > span.start_ns ? sinks_call(f, span, &span) : 0;
}

static int span_add(struct fold *f, struct thread *t, enum span_state state, const struct gil *g,
	const struct seg *seg)
{
	const struct fold_gil *gil = g ? &g->pub : NULL;
	struct span *span = &t->span;
	uint64_t ns = seg->end_ns - seg->start_ns;
	int r = 0;

	if (!span->thread || span->state != state || span->gil != gil) {
		r = span_flush(f, t);
		*span = (struct span){&t->pub, state, seg->start_ns, seg->end_ns, gil};
		t->pub.natives += state == SPAN_NATIVE;
	}
	span->end_ns = seg->end_ns;
	span->asleep_ns += seg->cpu == CPU_BLOCKED ? ns : 0;
	span->no_cpu_ns += seg->cpu == CPU_RUNNABLE ? ns : 0;
	span->sibling_ns += seg->cpu == CPU_BLOCKED && seg->sibling ? ns : 0;
	return r;
}

/* Adds @seg, spent on @side, to totals and spans. */
static int account(
	struct fold *f, struct thread *t, enum side side, struct gil *g, const struct seg *seg)
{
	enum span_state state = states[side][seg->cpu];
	uint64_t ns = seg->end_ns - seg->start_ns;

	if (!ns)
		return 0;
	t->pub.state_ns[state] += ns;
	if (state == SPAN_HAS_GIL_OFF_CPU && seg->cpu == CPU_BLOCKED)
		t->pub.hold_blocked_ns += ns;
	else if (state == SPAN_HAS_GIL_OFF_CPU)
		t->pub.hold_runnable_ns += ns;
	else if (state == SPAN_WAITING && seg->cpu == CPU_RUNNABLE)
		t->pub.wait_runnable_ns += ns;
	if (side == SIDE_YIELD)
		t->pub.yield_ns += ns;
	if (state == SPAN_BLOCKED) {
		t->pub.blocks++;
		t->pub.sibling_wakeups += seg->sibling;
		t->pub.blocked_by_sibling_ns += seg->sibling ? ns : 0;
	}
	return span_add(f, t, state, side >= SIDE_WANT ? g : NULL, seg);
}

static int keep(struct fold *f, struct thread *t, const struct seg *seg)
{
	struct seg *last = t->n_segs ? &t->segs[t->n_segs - 1] : NULL;
	int r;

	if (last && last->cpu == seg->cpu && last->sibling == seg->sibling) {
		last->end_ns = seg->end_ns;
		return 0;
	}
	if (t->n_segs == DOUBT_SEGS) {
		r = doubt_settle(f, t);
		return r < 0 ? r : account(f, t, t->side, t->gil, seg);
	}
	t->segs[t->n_segs++] = *seg;
	return 0;
}

int thread_advance(struct fold *f, struct thread *t, uint64_t ns)
{
	struct seg seg = {t->since_ns, ns, t->cpu, t->sibling};

	if (ns <= t->since_ns)
		return 0;
	t->since_ns = ns;
	return t->doubt ? keep(f, t, &seg) : account(f, t, t->side, t->gil, &seg);
}

static int cpu_flush(struct fold *f, struct thread *t, uint64_t end_ns)
{
	struct fold_cpu row = {
		&t->pub, t->cpu_ns, end_ns, t->cpu == CPU_ON ? t->cpu_number : -1, t->cpu_name};

	t->cpu_ns = f->now;
	return t->cpu_name && row.end_ns > row.start_ns ? sinks_call(f, cpu, &row) : 0;
}

/* The last part of what is kept in doubt becomes a sleep that a sibling ended. */
static void confirm_kept(struct thread *t)
{
	struct seg *last = t->n_segs ? &t->segs[t->n_segs - 1] : NULL;
	uint64_t from_ns = last ? last->end_ns - t->woken_ns : 0;

	if (!last || last->cpu != CPU_BLOCKED)
		return;
	if (from_ns > last->start_ns && t->n_segs < DOUBT_SEGS) {
		t->segs[t->n_segs++] = (struct seg){from_ns, last->end_ns, CPU_BLOCKED, true};
		last->end_ns = from_ns;
	} else if (from_ns <= last->start_ns) {
		last->sibling = true;
	}
}

/* It was asleep indeed when a sibling woke it: now totals and the open span tell by whom. */
static void confirm_waker(struct thread *t)
{
	if (t->doubt) {
		confirm_kept(t);
		return;
	}
	t->span.sibling_ns += t->woken_ns;
	if (t->span.state == SPAN_BLOCKED) {
		t->pub.sibling_wakeups++;
		t->pub.blocked_by_sibling_ns += t->woken_ns;
	}
}

int thread_cpu(struct fold *f, struct thread *t, enum cpu cpu, const char *name, int cpu_number)
{
	int r;

	if (t->woken_ns && t->cpu == CPU_RUNNABLE && cpu == CPU_ON)
		confirm_waker(t);
	t->woken_ns = 0;
	r = thread_advance(f, t, f->now);
	if (r >= 0)
		r = cpu_flush(f, t, f->now);
	if (r >= 0 && cpu == CPU_ON)
		r = occupy(f, t, cpu_number);
	t->cpu = cpu;
	t->cpu_name = name;
	t->cpu_number = cpu_number;
	t->preempted = false;
	if (cpu == CPU_ON)
		t->slept = false;
	if (cpu != CPU_RUNNABLE)
		t->sibling = false;
	if (t->side == SIDE_HOLD)
		gil_holder_cpu(f, t->gil);
	return r;
}

void thread_runs(struct fold *f, const struct thread *t)
{
	f->result.quality.switches_in_unseen +=
		f->facts.sched_cpu_wide && (t->cpu == CPU_BLOCKED || t->cpu == CPU_RUNNABLE);
}

void thread_was_runnable(struct fold *f, struct thread *t)
{
	uint64_t ns;

	t->cpu = CPU_RUNNABLE;
	t->cpu_name = "R+";
	if (t->side != SIDE_HOLD)
		return;
	/* the GIL's ticks were counted as on a CPU, and others have read them since */
	ns = f->now - max_ns(t->cpu_ns, t->hold.start_ns);
	t->hold_ticks[TICK_ON_CPU] += ns;
	t->hold_ticks[TICK_RUNNABLE] -= ns;
}

int doubt_begin(struct fold *f, struct thread *t, struct gil *g, enum doubt doubt)
{
	gil_advance(f, g);
	t->doubt = doubt;
	t->doubt_gil = g;
	t->doubt_ns = f->now;
	t->doubt_takes = g->takes;
	t->returned = !f->facts.has_drop_return;
	t->n_segs = 0;
	for (int i = 0; i < TICKS; i++)
		t->doubt_ticks[i] = g->ticks[i];
	if (doubt != DOUBT_DROP || !f->facts.has_drop_return)
		return 0;
	t->prev_dropper = NULL;
	t->next_dropper = g->droppers;
	if (g->droppers)
		g->droppers->prev_dropper = t;
	g->droppers = t;
	return 0;
}

void doubt_leave(struct thread *t)
{
	struct gil *g = t->doubt_gil;

	if (t->prev_dropper)
		t->prev_dropper->next_dropper = t->next_dropper;
	else if (g->droppers == t)
		g->droppers = t->next_dropper;
	if (t->next_dropper)
		t->next_dropper->prev_dropper = t->prev_dropper;
	t->next_dropper = t->prev_dropper = NULL;
	t->returned = true;
}

/* Ends the doubt; what was kept back is accounted to @side. */
static int doubt_end(struct fold *f, struct thread *t, enum side side)
{
	struct gil *g = t->doubt_gil;
	int r = 0;

	doubt_leave(t);
	t->doubt = DOUBT_NONE;
	for (unsigned i = 0; i < t->n_segs && r >= 0; i++)
		r = account(f, t, side, g, &t->segs[i]);
	t->n_segs = 0;
	return r < 0 ? r : hold_flush(f, t);
}

int doubt_settle(struct fold *f, struct thread *t)
{
	return t->doubt ? doubt_end(f, t, SIDE_NONE) : 0;
}

int doubt_resume(struct fold *f, struct thread *t, enum side side)
{
	struct gil *g = t->doubt_gil;
	int r;

	if (side == SIDE_YIELD)
		gil_forced(g, t);
	r = doubt_end(f, t, side);
	if (r < 0)
		return r;
	return wait_begin(f, t, g, side, t->doubt_ns, t->doubt_ticks);
}

bool doubt_slept(const struct thread *t)
{
	for (unsigned i = 0; i < t->n_segs; i++)
		if (t->segs[i].cpu == CPU_BLOCKED)
			return true;
	return false;
}

uint64_t doubt_busy_ns(const struct fold *f, const struct thread *t)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < t->n_segs; i++)
		if (!cpu_known(f) || t->segs[i].cpu == CPU_ON || t->segs[i].cpu == CPU_BLOCKED)
			ns += t->segs[i].end_ns - t->segs[i].start_ns;
	return ns;
}

int thread_close(struct fold *f, struct thread *t, uint64_t end_ns)
{
	int r;

	end_ns = max_ns(end_ns, t->since_ns);
	r = thread_advance(f, t, end_ns);
	if (r >= 0)
		r = doubt_settle(f, t);
	if (r >= 0 && t->side == SIDE_HOLD)
		r = hold_end(f, t, end_ns, true);
	if (r >= 0 && (t->side == SIDE_WANT || t->side == SIDE_YIELD))
		r = wait_end(f, t, end_ns, false);
	if (r >= 0)
		r = hold_flush(f, t);
	if (r >= 0)
		r = cpu_flush(f, t, end_ns);
	t->side = SIDE_UNKNOWN;
	t->cpu = CPU_UNKNOWN;
	t->cpu_name = NULL;
	t->slept = t->sibling = t->preempted = false;
	t->woken_ns = 0;
	return r < 0 ? r : thread_advance(f, t, f->now);
}

int thread_end(struct fold *f, struct thread *t, bool ended)
{
	int r = 0;

	if (t->next)
		t->next->prev = t->prev;
	if (t->prev)
		t->prev->next = t->next;
	else if (f->live == t)
		f->live = t->next;
	t->next = t->prev = NULL;
	t->alive = false;
	t->pub.ended = ended;
	if (!t->begun)
		return 0;
	t->pub.last_ns = f->now;
	t->process->pub.end_ns = max_ns(t->process->pub.end_ns, f->now);
	r = thread_close(f, t, f->now);
	if (r >= 0)
		r = stretch_flush(f, t);
	return r < 0 ? r : span_flush(f, t);
}

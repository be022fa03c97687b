/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: one GIL. In: acquires, releases, waits, the holder's CPU side. Out: its totals.
 * Invariant: its four ticks (holder on a CPU, runnable, blocked; nobody holds) add up to its life,
 * so the difference between two readings tells in O(1) what the holders did in between.
 */
#include "fold/gil.h"

#include "base/vec.h"
#include "fold/blame.h"
#include "fold/hist.h"
#include "fold/sinks.h"
#include "fold/task.h"
#include "fold/thread.h"

#include <errno.h>
#include <stdlib.h>

#define SWITCH_INTERVAL_NS 4900000 /* sys.getswitchinterval() unless changed, less some slack */

static const enum tick holder_ticks[CPUS] = {
	[CPU_UNKNOWN] = TICK_ON_CPU,
	[CPU_ON] = TICK_ON_CPU,
	[CPU_RUNNABLE] = TICK_RUNNABLE,
	[CPU_BLOCKED] = TICK_BLOCKED,
};

int gil_show(struct fold *f, struct gil *g)
{
	struct fold_process *process = g->pub.process;
	int r;

	if (g->visible)
		return 0;
	r = vec_grow(&f->gils_shown);
	if (r < 0)
		return r;
	g->visible = true;
	g->pub.index = (uint32_t)f->gils_shown.n;
	g->pub.number = ++process->n_gils;
	f->gils_shown.items[f->gils_shown.n++] = &g->pub;
	return 0;
}

static struct gil *find(const struct thread *t, uint64_t address)
{
	struct gil *first = t->process->gils;

	if (t->gil && (!address || t->gil->pub.address == address))
		return t->gil;
	if (!address)
		return first;
	/* one event names it, another does not: while there is one, it is that one */
	if (first && !first->next && !first->pub.address)
		first->pub.address = address;
	for (struct gil *g = first; g; g = g->next)
		if (g->pub.address == address)
			return g;
	return NULL;
}

int gil_get(struct fold *f, struct thread *t, uint64_t address, struct gil **ret)
{
	struct gil *g = find(t, address);

	if (!g) {
		g = calloc(1, sizeof(*g));
		if (!g)
			return -ENOMEM;
		g->pub.process = &t->process->pub;
		g->pub.address = address;
		g->pub.start_ns = g->pub.end_ns = g->ticks_ns = f->now;
		g->idle_since_ns = g->free_since_ns = f->now;
		g->tick = TICK_FREE;
		*t->process->last_gil = g;
		t->process->last_gil = &g->next;
	}
	*ret = g;
	return f->entered && f->inside ? gil_show(f, g) : 0;
}

void gil_advance(struct fold *f, struct gil *g)
{
	g->ticks[g->tick] += f->now - g->ticks_ns;
	g->ticks_ns = f->now;
}

void gil_holder_cpu(struct fold *f, struct gil *g)
{
	enum tick tick = g->holder ? holder_ticks[g->holder->cpu] : TICK_FREE;

	gil_advance(f, g);
	if (tick != g->tick)
		g->tick_since_ns = f->now;
	g->tick = tick;
}

/* What @tick had counted at @ns: now, or earlier if the same has ticked since. */
static uint64_t tick_at(const struct fold *f, const struct gil *g, enum tick tick, uint64_t ns)
{
	return g->ticks[tick] - (tick == g->tick ? f->now - ns : 0);
}

void gil_forced(struct gil *g, struct thread *t)
{
	if (g->releaser == t)
		g->release_forced = true;
	if (t->hold_pending)
		t->hold.forced = true;
}

void gil_released(struct fold *f, struct gil *g, struct thread *t)
{
	g->holder = NULL;
	gil_holder_cpu(f, g);
	g->free_since_ns = g->release_ns = f->now;
	g->releaser = t;
	g->release_forced = false;
}

static int waiters_changed(struct fold *f, const struct gil *g)
{
	return f->inside ? sinks_call(f, waiters, &g->pub, f->now, g->n_waiters) : 0;
}

int wait_begin(struct fold *f, struct thread *t, struct gil *g, enum side side, uint64_t start_ns,
	const uint64_t *ticks)
{
	int r = 0;

	gil_advance(f, g);
	if (t->stretch_gil != g || t->stretch_end_ns != start_ns) {
		r = stretch_flush(f, t);
		t->stretch_start_ns = start_ns;
	}
	t->stretch_gil = g;
	t->side = side;
	t->gil = g;
	t->wait = (struct fold_wait){.thread = &t->pub,
		.gil = &g->pub,
		.start_ns = start_ns,
		.yield = side == SIDE_YIELD};
	t->wait_serial = ++f->wait_serials;
	t->want_ns = f->now;
	for (int i = 0; i < TICKS; i++)
		t->wait_ticks[i] = ticks ? ticks[i] : g->ticks[i];

	t->next_waiter = NULL;
	t->prev_waiter = g->last_waiter;
	if (g->last_waiter)
		g->last_waiter->next_waiter = t;
	else
		g->waiters = t;
	g->last_waiter = t;
	g->n_yielders += t->wait.yield;
	if (g->n_waiters++ == 0) {
		/* it may have begun before now: add the part in which nobody else waited */
		g->pub.contended_ns += f->now - max_ns(start_ns, g->idle_since_ns);
		g->contended_since_ns = f->now;
	}
	return r < 0 ? r : waiters_changed(f, g);
}

static void unlink_waiter(struct gil *g, struct thread *t)
{
	if (t->prev_waiter)
		t->prev_waiter->next_waiter = t->next_waiter;
	else
		g->waiters = t->next_waiter;
	if (t->next_waiter)
		t->next_waiter->prev_waiter = t->prev_waiter;
	else
		g->last_waiter = t->prev_waiter;
	t->next_waiter = t->prev_waiter = NULL;
	g->n_waiters--;
	g->n_yielders -= t->wait.yield;
}

int wait_end(struct fold *f, struct thread *t, uint64_t end_ns, bool acquired)
{
	struct gil *g = t->gil;
	struct fold_wait *wait = &t->wait;
	int r = 0;

	gil_advance(f, g);
	if (g->holder && g->holder != t)
		r = blame_wait(f, t, g->holder, end_ns);
	wait->end_ns = end_ns;
	wait->acquired = acquired;
	wait->holder_on_cpu_ns = tick_at(f, g, TICK_ON_CPU, end_ns) - t->wait_ticks[TICK_ON_CPU];
	wait->holder_runnable_ns =
		tick_at(f, g, TICK_RUNNABLE, end_ns) - t->wait_ticks[TICK_RUNNABLE];
	wait->holder_blocked_ns = tick_at(f, g, TICK_BLOCKED, end_ns) - t->wait_ticks[TICK_BLOCKED];
	wait->free_ns = tick_at(f, g, TICK_FREE, end_ns) - t->wait_ticks[TICK_FREE];
	t->pub.wait_holder_on_cpu_ns += wait->holder_on_cpu_ns;
	t->pub.wait_holder_runnable_ns += wait->holder_runnable_ns;
	t->pub.wait_holder_blocked_ns += wait->holder_blocked_ns;
	t->pub.wait_gil_free_ns += wait->free_ns;
	t->stretch_end_ns = end_ns;
	t->side = SIDE_NONE;
	unlink_waiter(g, t);
	g->pub.waiters_ns += end_ns - wait->start_ns;
	g->idle_since_ns = max_ns(g->idle_since_ns, end_ns);
	if (g->n_waiters == 0 && g->idle_since_ns > g->contended_since_ns)
		g->pub.contended_ns += g->idle_since_ns - g->contended_since_ns;
	if (r >= 0)
		r = waiters_changed(f, g);
	if (r >= 0 && (f->inside || end_ns > wait->start_ns))
		r = sinks_call(f, wait, wait);
	return r;
}

int stretch_flush(struct fold *f, struct thread *t)
{
	uint64_t ns = t->stretch_end_ns - t->stretch_start_ns;
	struct gil *g = t->stretch_gil;

	t->stretch_gil = NULL;
	if (!g || (!ns && !f->inside))
		return 0;
	t->pub.waits++;
	t->pub.max_wait_ns = max_ns(t->pub.max_wait_ns, ns);
	g->pub.max_wait_ns = max_ns(g->pub.max_wait_ns, ns);
	return hist_add(&t->pub.wait_hist, ns);
}

static int handoff(struct fold *f, struct thread *t, struct gil *g, uint64_t start_ns)
{
	struct fold_handoff move = {
		.gil = &g->pub,
		.to = &t->pub,
		.release_ns = g->release_ns,
		.acquire_ns = start_ns,
		.forced = g->release_forced,
	};

	if (!g->releaser || g->releaser == t || !f->inside)
		return 0;
	move.from = &g->releaser->pub;
	move.waited = t->wait.end_ns == start_ns && t->wait.start_ns <= g->release_ns &&
		      t->wait.gil == &g->pub;
	g->pub.handoffs++;
	return sinks_call(f, handoff, &move);
}

int hold_begin(struct fold *f, struct thread *t, struct gil *g, uint64_t start_ns)
{
	int r = stretch_flush(f, t);

	if (r >= 0)
		r = handoff(f, t, g, start_ns);
	g->releaser = NULL;
	g->takes++;
	g->holder = t;
	t->side = SIDE_HOLD;
	t->gil = g;
	gil_holder_cpu(f, g);
	t->hold = (struct fold_hold){.thread = &t->pub, .gil = &g->pub, .start_ns = start_ns};
	t->hold_gil = g;
	t->hold_serial = ++f->hold_serials;
	t->hold_estimated = start_ns < f->now;
	t->hold_asked = false;
	for (int i = 0; i < TICKS; i++)
		t->hold_ticks[i] = g->ticks[i];
	if (f->inside) {
		g->pub.takes++;
		t->pub.takes++;
	}
	return r < 0 ? r : sinks_call(f, holder, &g->pub, start_ns, &t->pub);
}

/* What the holder's CPU side was; an estimated hold was on a CPU all along. */
static void split_hold(const struct fold *f, struct thread *t, const struct gil *g)
{
	struct fold_hold *hold = &t->hold;

	if (!cpu_known(f))
		return;
	if (t->hold_estimated) {
		hold->on_cpu_ns = hold->end_ns - hold->start_ns;
		return;
	}
	hold->on_cpu_ns = tick_at(f, g, TICK_ON_CPU, hold->end_ns) - t->hold_ticks[TICK_ON_CPU];
	hold->runnable_ns =
		tick_at(f, g, TICK_RUNNABLE, hold->end_ns) - t->hold_ticks[TICK_RUNNABLE];
	hold->blocked_ns = tick_at(f, g, TICK_BLOCKED, hold->end_ns) - t->hold_ticks[TICK_BLOCKED];
}

/* Where requests are not seen: held and waited for through a whole default switch interval. */
static bool surely_asked(const struct fold *f, const struct gil *g, const struct fold_hold *hold)
{
	const struct thread *oldest = g->waiters;

	return !f->facts.own && oldest && hold->end_ns >= hold->start_ns + SWITCH_INTERVAL_NS &&
	       hold->end_ns >= oldest->wait.start_ns + SWITCH_INTERVAL_NS;
}

int hold_end(struct fold *f, struct thread *t, uint64_t end_ns, bool open)
{
	struct gil *g = t->gil;
	struct fold_hold *hold = &t->hold;
	int r = 0;

	gil_advance(f, g);
	hold->end_ns = end_ns;
	hold->open = open;
	split_hold(f, t, g);
	t->hold_deaf_ns =
		t->hold_asked ? tick_at(f, g, TICK_ON_CPU, end_ns) - t->hold_asked_tick : 0;
	t->hold_asked |= surely_asked(f, g, hold);
	for (struct thread *w = g->waiters; w && r >= 0; w = w->next_waiter)
		r = blame_wait(f, w, t, end_ns);
	t->side = SIDE_NONE;
	t->hold_pending = true;
	gil_released(f, g, NULL);
	g->pub.held_ns += hold->end_ns - hold->start_ns;
	g->pub.held_on_cpu_ns += hold->on_cpu_ns;
	g->pub.held_runnable_ns += hold->runnable_ns;
	g->pub.held_blocked_ns += hold->blocked_ns;
	return r < 0 ? r : sinks_call(f, holder, &g->pub, end_ns, NULL);
}

void hold_ask(struct fold *f, struct gil *g, uint64_t waited_since_ns)
{
	struct thread *holder = g->holder;

	/* after a switch since then the waiter starts anew, as take_gil does */
	if (!holder || holder->hold_asked || holder->hold.start_ns > waited_since_ns)
		return;
	gil_advance(f, g);
	holder->hold_asked = true;
	holder->hold_asked_tick = g->ticks[TICK_ON_CPU];
}

static bool is_long(const struct fold *f, const struct thread *t, uint64_t cpu_ns)
{
	if (f->facts.own)
		return t->hold_deaf_ns >= FOLD_DEAF_NS;
	return cpu_ns >= FOLD_LONG_HOLD_NS && t->hold.others_waited_ns >= FOLD_LONG_HOLD_NS;
}

int hold_flush(struct fold *f, struct thread *t)
{
	const struct fold_hold *hold = &t->hold;
	uint64_t ns = hold->end_ns - hold->start_ns, cpu_ns = ns;
	struct fold_gil *gil;
	int r;

	if (!t->hold_pending)
		return 0;
	t->hold_pending = false;
	if (!ns && !f->inside)
		return 0;
	gil = &t->hold_gil->pub;
	if (!t->pub.gil || ns > t->pub.max_hold_ns)
		t->pub.gil = gil;
	t->pub.max_hold_ns = max_ns(t->pub.max_hold_ns, ns);
	gil->max_hold_ns = max_ns(gil->max_hold_ns, ns);
	t->pub.forced += hold->forced;
	gil->forced += hold->forced;
	t->pub.others_waited_ns += hold->others_waited_ns;
	if (hold->on_cpu_ns + hold->runnable_ns + hold->blocked_ns)
		cpu_ns = hold->on_cpu_ns;
	t->hold.deaf = is_long(f, t, cpu_ns);
	if (hold->deaf)
		t->pub.long_waited_ns += hold->others_waited_ns;
	r = hist_add(&t->pub.holds, ns);
	if (r < 0)
		return r;
	blame_rank(f, hold);
	return sinks_call(f, hold, hold);
}

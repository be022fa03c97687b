/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: the GIL side of a thread, as a table. In: GIL events, wake-ups, others' takes. Out: waits
 * and holds begun and ended. Invariant: no input needs a partner; each proves what its cell says.
 *
 *            want          acquire       release       yield         drop-return   woken      taken
 * unknown    begin wait    begin hold    was holding   begin yield   outside       -          -
 * none       begin wait*   begin hold*   stray         begin yield*  forced?*      - forced?* want
 * again         got it        missed take   missed both   -             -          - hold missed
 * drop   missed drop   drop          missed drop   missed drop   -          - yield      retake got
 * it        missed take   -             yield over    yield over yield over
 *
 * unknown: before the first evidence, and after lost events. none: outside. want: in take_gil.
 * yield: waits inside drop_gil after a forced switch; woken and taken end it only in recordings
 * without drop-returns, taken only if it has not gone to sleep (or nobody can tell).
 * (*) depends on the doubt that a release or the end of a yield leaves: see thread.h.
 */
#include "fold/state.h"

#include "fold/gil.h"
#include "fold/hist.h"
#include "fold/task.h"
#include "fold/thread.h"

#include <errno.h>

/* From the end of a forced wait to take_gil: more than this, and the thread did something else. */
#define RETAKE_NS 200000
#define RETAKE_UNSEEN_NS 1000000 /* when only another's take told that the wait was over */

typedef int action(struct fold *f, struct thread *t, struct gil *g);

static int nothing(struct fold *f, struct thread *t, struct gil *g)
{
	return 0;
}

static int wait_now(struct fold *f, struct thread *t, struct gil *g, enum side side)
{
	return wait_begin(f, t, g, side, f->now, NULL);
}

/* Forced switches show in this recording, so a release leaves a doubt. */
static int dropped(struct fold *f, struct thread *t, struct gil *g)
{
	t->side = SIDE_NONE;
	t->gil = g;
	if (!f->facts.has_drop_return && !f->facts.has_yield)
		return hold_flush(f, t);
	return doubt_begin(f, t, g, DOUBT_DROP);
}

/* It has just come out of a forced wait for @g: this take continues it. */
static bool retakes(const struct fold *f, const struct thread *t, const struct gil *g)
{
	bool seen = cpu_known(f) || f->facts.has_drop_return;

	return t->doubt == DOUBT_RETURN && t->doubt_gil == g &&
	       doubt_busy_ns(f, t) <= (seen ? RETAKE_NS : RETAKE_UNSEEN_NS);
}

/*
 * It has released @g after a request, another thread has taken @g before this one could go to sleep
 * for that (often by taking its CPU, too), and it takes again at once: a forced switch that needed
 * no sleep.
 */
static bool was_overtaken(const struct fold *f, const struct thread *t, const struct gil *g)
{
	return t->doubt == DOUBT_DROP && t->doubt_gil == g && t->hold_pending && t->hold_asked &&
	       g->takes != t->doubt_takes && doubt_busy_ns(f, t) <= RETAKE_NS;
}

static int unknown_want(struct fold *f, struct thread *t, struct gil *g)
{
	return wait_now(f, t, g, SIDE_WANT);
}

static int unknown_acquire(struct fold *f, struct thread *t, struct gil *g)
{
	return hold_begin(f, t, g, f->now);
}

/* It held, nobody knows since when. */
static int unknown_release(struct fold *f, struct thread *t, struct gil *g)
{
	if (g->holder) { /* signalled by a thread that does not hold it */
		t->side = SIDE_NONE;
		return 0;
	}
	gil_released(f, g, t);
	return dropped(f, t, g);
}

static int unknown_yield(struct fold *f, struct thread *t, struct gil *g)
{
	return wait_now(f, t, g, SIDE_YIELD);
}

static int unknown_return(struct fold *f, struct thread *t, struct gil *g)
{
	t->side = SIDE_NONE;
	return 0;
}

static int retake(struct fold *f, struct thread *t, struct gil *g)
{
	int r = wait_end(f, t, f->now, false);

	return r < 0 ? r : wait_now(f, t, g, SIDE_WANT);
}

static int got_it(struct fold *f, struct thread *t, struct gil *g)
{
	int r = wait_end(f, t, f->now, true);

	return r < 0 ? r : hold_begin(f, t, g, f->now);
}

static int none_want(struct fold *f, struct thread *t, struct gil *g)
{
	int r;

	if (retakes(f, t, g))
		return doubt_resume(f, t, SIDE_WANT);
	if (was_overtaken(f, t, g)) {
		r = doubt_resume(f, t, SIDE_YIELD);
		return r < 0 ? r : retake(f, t, g);
	}
	r = doubt_settle(f, t);
	return r < 0 ? r : wait_now(f, t, g, SIDE_WANT);
}

static int none_acquire(struct fold *f, struct thread *t, struct gil *g)
{
	enum side side = was_overtaken(f, t, g) ? SIDE_YIELD : SIDE_WANT;
	int r;

	/* the recipe of take_gil's entry shows every want, our own only those that wait */
	f->result.quality.unmatched += f->facts.has_want && !f->facts.own;
	if (side == SIDE_WANT && !retakes(f, t, g)) {
		r = doubt_settle(f, t);
		return r < 0 ? r : hold_begin(f, t, g, f->now);
	}
	r = doubt_resume(f, t, side);
	return r < 0 ? r : got_it(f, t, g);
}

/* A release without a hold: its take was missed, or another thread holds it and it means nothing.
 */
static int none_release(struct fold *f, struct thread *t, struct gil *g)
{
	int r = doubt_settle(f, t);

	f->result.quality.unmatched++;
	if (r < 0 || g->holder)
		return r;
	gil_released(f, g, t);
	return dropped(f, t, g);
}

static int none_yield(struct fold *f, struct thread *t, struct gil *g)
{
	int r;

	if (t->doubt == DOUBT_DROP && t->doubt_gil == g)
		return doubt_resume(f, t, SIDE_YIELD);
	f->result.quality.unmatched += t->last != INPUT_RELEASE;
	r = doubt_settle(f, t);
	return r < 0 ? r : wait_now(f, t, g, SIDE_YIELD);
}

static int yield_over(struct fold *f, struct thread *t, struct gil *g)
{
	int r = wait_end(f, t, f->now, false);

	return r < 0 ? r : doubt_begin(f, t, t->gil, DOUBT_RETURN);
}

/* drop_gil is left: it waited inside if it slept there. */
static int none_return(struct fold *f, struct thread *t, struct gil *g)
{
	int r;

	if (t->doubt != DOUBT_DROP || t->returned)
		return 0;
	if (!doubt_slept(t)) {
		doubt_leave(t);
		return t->hold_asked ? 0 : doubt_settle(f, t);
	}
	r = doubt_resume(f, t, SIDE_YIELD);
	return r < 0 ? r : yield_over(f, t, g);
}

/* Another took the GIL while this one was inside drop_gil: what a forced switch waits for. */
static int none_taken(struct fold *f, struct thread *t, struct gil *g)
{
	if (t->doubt != DOUBT_DROP || t->doubt_gil != g || (cpu_known(f) && !doubt_slept(t)))
		return 0;
	return doubt_resume(f, t, SIDE_YIELD);
}

static int want_again(struct fold *f, struct thread *t, struct gil *g)
{
	if (!f->facts.own) {
		f->result.quality.unmatched++;
		return 0;
	}
	t->wait.requests++;
	hold_ask(f, g, t->want_ns);
	if (f->inside && hist_add(&t->pub.interval_hist, f->now - t->want_ns) < 0)
		return -ENOMEM;
	t->want_ns = f->now;
	return 0;
}

/*
 * It has waited and it releases, so it held in between. At the earliest since the GIL was free and
 * since its last sign of life while it waited.
 */
static int missed_take(struct fold *f, struct thread *t, struct gil *g)
{
	uint64_t since_ns = max_ns(g->free_since_ns, t->since_ns);
	int r;

	f->result.quality.unmatched += f->facts.has_acquire;
	if (g->holder)
		since_ns = f->now;
	r = thread_advance(f, t, since_ns);
	if (r >= 0)
		r = wait_end(f, t, since_ns, !g->holder);
	if (r < 0)
		return r;
	if (g->holder) /* another one, by all we know */
		return thread_advance(f, t, f->now);
	r = hold_begin(f, t, g, since_ns);
	if (r >= 0)
		r = thread_advance(f, t, f->now);
	if (r >= 0)
		r = hold_end(f, t, f->now, false);
	if (r < 0)
		return r;
	gil_released(f, g, t);
	return dropped(f, t, g);
}

static int missed_both(struct fold *f, struct thread *t, struct gil *g)
{
	int r = wait_end(f, t, f->now, false);

	f->result.quality.unmatched++;
	return r < 0 ? r : wait_now(f, t, g, SIDE_YIELD);
}

static int drop(struct fold *f, struct thread *t, struct gil *g)
{
	int r = hold_end(f, t, f->now, false);

	if (r < 0)
		return r;
	gil_released(f, g, t);
	return dropped(f, t, g);
}

/* It does what only a thread that does not hold can do: its release was missed. */
static int end_missed_hold(struct fold *f, struct thread *t)
{
	int r = hold_end(f, t, f->now, false);

	return r < 0 ? r : hold_flush(f, t);
}

static int hold_want(struct fold *f, struct thread *t, struct gil *g)
{
	int r = end_missed_hold(f, t);

	f->result.quality.acquires_while_holding++;
	return r < 0 ? r : wait_now(f, t, g, SIDE_WANT);
}

static int hold_acquire(struct fold *f, struct thread *t, struct gil *g)
{
	int r = end_missed_hold(f, t);

	f->result.quality.acquires_while_holding++;
	return r < 0 ? r : hold_begin(f, t, g, f->now);
}

static int hold_yield(struct fold *f, struct thread *t, struct gil *g)
{
	int r;

	f->result.quality.unmatched++;
	r = hold_end(f, t, f->now, false);
	t->hold.forced = true;
	if (r >= 0)
		r = hold_flush(f, t);
	return r < 0 ? r : wait_now(f, t, g, SIDE_YIELD);
}

static int hold_return(struct fold *f, struct thread *t, struct gil *g)
{
	f->result.quality.unmatched++;
	return end_missed_hold(f, t);
}

static int yield_woken(struct fold *f, struct thread *t, struct gil *g)
{
	return f->facts.has_drop_return ? 0 : yield_over(f, t, g);
}

/* Without drop-returns: what it waits for has happened, unless its waking up will tell. */
static int yield_taken(struct fold *f, struct thread *t, struct gil *g)
{
	bool will_tell = f->facts.has_drop_return || (cpu_known(f) && t->slept);

	return will_tell ? 0 : yield_over(f, t, g);
}

/* clang-format off */
static action *const table[SIDES][INPUTS] = {
	[SIDE_UNKNOWN] = {unknown_want, unknown_acquire, unknown_release, unknown_yield,
		unknown_return, nothing, nothing},
	[SIDE_NONE] = {none_want, none_acquire, none_release, none_yield,
		none_return, nothing, none_taken},
	[SIDE_WANT] = {want_again, got_it, missed_take, missed_both,
		nothing, nothing, nothing},
	[SIDE_HOLD] = {hold_want, hold_acquire, drop, hold_yield,
		hold_return, nothing, nothing},
	[SIDE_YIELD] = {retake, got_it, missed_take, nothing,
		yield_over, yield_woken, yield_taken},
};
/* clang-format on */

int state_input(struct fold *f, struct thread *t, struct gil *g, enum input input)
{
	action *act = table[t->side][input];
	int r;

	/* the one action that ends a state earlier than now */
	r = act == missed_take ? 0 : thread_advance(f, t, f->now);
	return r < 0 ? r : act(f, t, g);
}

/* @t acquires @g: nobody else holds it any more, and who was forced to drop it may go on. */
static int take_from_others(struct fold *f, struct thread *t, struct gil *g)
{
	struct thread *holder = g->holder, *next;
	int r = 0;

	if (holder && holder != t) {
		if (f->facts.has_release) {
			f->result.quality.overlapping++;
			g->pub.overlapping++;
		}
		r = thread_advance(f, holder, f->now);
		if (r >= 0)
			r = end_missed_hold(f, holder);
	}
	for (struct thread *d = g->droppers; d && r >= 0; d = next) {
		next = d->next_dropper;
		if (d != t)
			r = state_input(f, d, g, INPUT_TAKEN);
	}
	for (struct thread *w = g->n_yielders ? g->waiters : NULL; w && r >= 0; w = next) {
		next = w->next_waiter;
		if (w != t && w->side == SIDE_YIELD)
			r = state_input(f, w, g, INPUT_TAKEN);
	}
	return r;
}

/* It holds or waits for another GIL than @g, which this input is about: that has ended. */
static int leave_other(struct fold *f, struct thread *t, enum input input)
{
	int r = thread_advance(f, t, f->now);

	if (r < 0)
		return r;
	if (t->side != SIDE_HOLD) {
		f->result.quality.unmatched++;
		return wait_end(f, t, f->now, false);
	}
	f->result.quality.acquires_while_holding += input == INPUT_WANT || input == INPUT_ACQUIRE;
	return end_missed_hold(f, t);
}

/* It runs on another CPU than was known: it has been switched, unseen. */
static bool moved(const struct thread *t, int cpu)
{
	return cpu >= 0 && t->cpu_number >= 0 && t->cpu_number != cpu;
}

int state_event(struct fold *f, const struct event *event)
{
	static const enum input inputs[] = {
		[EVENT_WANT] = INPUT_WANT,
		[EVENT_ACQUIRE] = INPUT_ACQUIRE,
		[EVENT_RELEASE] = INPUT_RELEASE,
		[EVENT_YIELD] = INPUT_YIELD,
		[EVENT_DROP_RETURN] = INPUT_DROP_RETURN,
	};
	enum input input = inputs[event->kind];
	struct thread *t;
	struct gil *g;
	int r = task_thread(f, event, &t);

	f->result.quality.gil_events++;
	f->result.quality.acquires += input == INPUT_ACQUIRE;
	if (r < 0 || !t)
		return r;
	thread_runs(f, t);
	if (!t->begun)
		r = thread_begin(f, t, event->cpu);
	else if (cpu_known(f) && (t->cpu != CPU_ON || moved(t, event->cpu)))
		r = thread_cpu(f, t, CPU_ON, "Running", event->cpu);
	if (r >= 0)
		r = gil_get(f, t, event->gil, &g);
	if (r < 0)
		return r;
	if (t->side >= SIDE_WANT && t->gil != g && input != INPUT_DROP_RETURN) {
		if (input == INPUT_RELEASE) {
			f->result.quality.unmatched++;
			return 0;
		}
		r = leave_other(f, t, input);
	}
	if (r >= 0 && input == INPUT_ACQUIRE)
		r = take_from_others(f, t, g);
	if (r >= 0)
		r = state_input(f, t, g, input);
	t->last = input;
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: the rules about the GIL. In: evidence. Out: a finding. Invariant: waiting counts only
 * as far as the machine is not to blame (evidence.h), and what the holder did meanwhile decides.
 */
#include "classify/rules.h"

#include "classify/thresholds.h"

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

bool rule_holds_asleep(const struct evidence *e, struct finding *ret)
{
	double share = evidence_share(e, e->hold_asleep), margin;

	if (e->hold_asleep < MOST * e->hold || share < PART)
		return false;
	margin = smaller(e->hold_asleep / e->hold / MOST, share / PART);
	if (e->others_waited <= 0)
		return rule_found(ret, CLASS_BLOCKING_CALL, margin, SOME_SAMPLES,
			"asleep during %.0f %% of the %s that it holds the GIL (longest hold %s); "
			"nobody waited for it",
			100 * e->hold_asleep / e->hold, rule_ns(e->hold).s, rule_ns(e->max_hold).s);
	return rule_found(ret, CLASS_BLOCKING_CALL, margin, SOME_SAMPLES,
		"asleep during %.0f %% of the %s that it holds the GIL (longest hold %s); others "
		"waited %s for it, %s most",
		100 * e->hold_asleep / e->hold, rule_ns(e->hold).s, rule_ns(e->max_hold).s,
		rule_ns(e->others_waited).s, rule_name(e->victim).s);
}

/* Short operations that wait an interval each; a thread that holds for long is no such thing. */
static bool is_convoy(const struct evidence *e)
{
	double hold = rule_per_take(e, e->hold);

	return evidence_share(e, e->hold) < PART && hold <= INTERVAL_NS / 5 &&
	       e->typical_wait >= CONVOY_WAIT_NS && e->typical_wait <= CONVOY_WAIT_MAX_NS &&
	       e->typical_wait >= CONVOY_RATIO * hold;
}

bool rule_dropped_too_often(const struct evidence *e, struct finding *ret)
{
	double released = e->natives > 0 ? e->native / e->natives : 0;
	double hold = rule_per_take(e, e->hold), rate = rule_take_rate(e);
	double wait = evidence_share(e, e->wait), native = e->native / (e->hold + e->native);
	bool contended;

	if (e->natives < SOME_SAMPLES || rate < MANY_TAKES_PER_S || released > HANDOVER_NS ||
		hold > SHORT_HOLD_NS || evidence_share(e, e->blocked) > 1 - ASLEEP)
		return false;
	if (is_convoy(e)) /* its imports released often; its waits are another matter */
		return false;
	contended = wait >= WAIT_MUCH || e->others_waited >= HARM_MUCH * e->hold;
	if (native < DROPPED_NATIVE && (native < CHATTY_NATIVE || !contended))
		return false;
	return rule_found(ret, CLASS_DROPPED_TOO_OFTEN,
		smaller(rate / MANY_TAKES_PER_S,
			smaller(HANDOVER_NS / released, SHORT_HOLD_NS / hold)),
		e->natives,
		"releases the GIL %s times per second for %s each and holds it for %s each; a "
		"hand-over costs about 50 µs; GIL waiting %.0f %%",
		rule_count(rate).s, rule_ns(released).s, rule_ns(hold).s, rule_percent(e, e->wait));
}

bool rule_tiny_tasks(const struct evidence *e, struct finding *ret)
{
	double hold = rule_per_take(e, e->hold), wakeups = e->sibling_wakeups;
	double rate = e->active > 0 ? wakeups * 1e9 / e->active : 0;

	if (!e->thread || rate < TINY_WAKEUPS_PER_S || hold > SHORT_HOLD_NS ||
		e->by_sibling < MOST * e->blocked)
		return false;
	/* a lock's convoy looks the same, but its GIL is idle */
	if (e->gil_busy < MOST && evidence_share(e, e->hold + e->wait) < PART)
		return false;
	if (evidence_share(e, e->wait) >= WAIT_MUCH && is_convoy(e))
		return false;
	return rule_found(ret, CLASS_TINY_TASKS,
		smaller(rate / TINY_WAKEUPS_PER_S, SHORT_HOLD_NS / hold), wakeups,
		"woken by sibling threads %s times for holds of %s each: asleep %.0f %%, GIL "
		"waiting %.0f %%, Python %.0f %% of its time",
		rule_count(wakeups).s, rule_ns(hold).s, rule_percent(e, e->blocked),
		rule_percent(e, e->wait), rule_percent(e, e->hold));
}

bool rule_thread_starts(const struct evidence *e, struct finding *ret)
{
	if (e->n_threads < MANY_SHORT_THREADS)
		return false;
	return rule_found(ret, CLASS_THREAD_STARTS, (double)e->n_threads / MANY_SHORT_THREADS,
		(double)e->n_threads,
		"%zu threads lived for %s on average and held the GIL for %s each: starting one "
		"costs more than its work",
		e->n_threads, rule_ns(e->life / (double)e->n_threads).s,
		rule_ns(e->hold / (double)e->n_threads).s);
}

static bool other_interval(const struct evidence *e)
{
	if (e->interval >= INTERVAL_LONG_NS)
		return !e->interval_late;
	/* who loses a race for a free GIL wants it again early, too: the holds must end by request
	 */
	return e->interval > 0 && e->interval <= INTERVAL_SHORT_NS &&
	       e->intervals >= SOME_SAMPLES && e->forced >= MOST * e->takes &&
	       rule_per_take(e, e->hold) <= INTERVAL_SHORT_NS;
}

/* Half the waiting for it, or half of its waiting, was in holds that bytecode would not make. */
static double long_call(const struct evidence *e)
{
	double own = e->others_waited > 0 && e->others_waited >= HARM_MUCH * e->hold
			     ? e->long_waited / e->others_waited
			     : 0;
	double suffered = evidence_share(e, e->wait) >= WAIT_MUCH ? e->blocker_long : 0;

	return larger(own, suffered);
}

static bool say_long_call(const struct evidence *e, struct finding *ret, double margin)
{
	if (e->long_waited >= MOST * e->others_waited && e->others_waited > 0 && e->hold >= e->wait)
		return rule_found(ret, CLASS_LONG_C_CALL, margin, SOME_SAMPLES,
			"holds the GIL on the CPU for up to %s at a time, which bytecode would not; "
			"others waited %s for it, %s most",
			rule_ns(e->max_hold).s, rule_ns(e->others_waited).s,
			rule_name(e->victim).s);
	return rule_found(ret, CLASS_LONG_C_CALL, margin, e->waits,
		"waits for the GIL for %.0f %% of its time, up to %s at once, while %s holds it on "
		"the CPU without a break",
		rule_percent(e, e->wait), rule_ns(e->max_wait).s, rule_name(e->blocker).s);
}

/* Enough native work, or sleep beside work, that the GIL is only one of its limits. */
static bool is_mixture(const struct evidence *e)
{
	if (evidence_share(e, e->native) >= MOST)
		return true;
	return evidence_share(e, e->wait) < WAIT_DROWNS && evidence_share(e, e->blocked) >= PART &&
	       evidence_share(e, e->hold + e->native) >= PART;
}

/* A pool's worker: sleeps for want of work that threads short of the GIL would give it. */
static bool feeds_on_busy_gil(const struct evidence *e)
{
	return e->thread && e->gil_busy >= BUSY && e->by_sibling >= MOST * e->blocked &&
	       evidence_share(e, e->wait) >= WAIT_MUCH / 3 && e->wait >= e->hold;
}

bool rule_gil_bound(const struct evidence *e, struct finding *ret)
{
	double wait = evidence_share(e, e->wait), hold = evidence_share(e, e->hold);
	double harm = e->hold > 0 ? e->others_waited / e->hold : 0;
	double margin, in_long;
	bool waits = wait >= WAIT_MUCH;

	if (!waits && feeds_on_busy_gil(e))
		return rule_found(ret, CLASS_GIL_BOUND, wait / (WAIT_MUCH / 3), e->waits,
			"asleep for %.0f %% of its time until threads of the same process wake it, "
			"but those keep the GIL busy (%.0f %%): awake it waits for it %.0f %% and has "
			"it %.0f %% of its time",
			rule_percent(e, e->blocked), 100 * smaller(e->gil_busy, 1), 100 * wait,
			100 * hold);
	if (!waits && !(hold >= MOST && harm >= HARM_MUCH))
		return false;
	margin = waits ? wait / WAIT_MUCH : smaller(hold / MOST, harm / HARM_MUCH);
	if (waits && e->wait_asleep >= MOST * e->wait)
		return rule_found(ret, CLASS_BLOCKING_CALL, margin, e->waits,
			"waits for the GIL for %.0f %% of its time (up to %s at once), mostly while "
			"%s holds it asleep",
			100 * wait, rule_ns(e->max_wait).s, rule_name(e->blocker).s);
	if (other_interval(e))
		return rule_found(ret, CLASS_SWITCH_INTERVAL, margin, e->intervals,
			"holds the GIL for %.0f %% of its time and waits for it for %.0f %%; waiters "
			"ask for it after %s: the switch interval is not the usual 5 ms",
			100 * hold, 100 * wait, rule_ns(e->interval).s);
	in_long = long_call(e);
	if (in_long >= MOST)
		return say_long_call(e, ret, smaller(margin, in_long / MOST));
	if (waits && is_convoy(e))
		return rule_found(ret, CLASS_CONVOY, margin, e->waits,
			"waits for the GIL for %.0f %% of its time, mostly %s each, for holds of %s; "
			"%s holds it meanwhile",
			100 * wait, rule_ns(e->typical_wait).s,
			rule_ns(rule_per_take(e, e->hold)).s, rule_name(e->blocker).s);
	if (waits && is_mixture(e))
		return false;
	if (!waits)
		return rule_found(ret, CLASS_GIL_BOUND, margin, e->takes,
			"holds the GIL for %.0f %% of its time while others wait %s for it, %s most",
			100 * hold, rule_ns(e->others_waited).s, rule_name(e->victim).s);
	return rule_found(ret, CLASS_GIL_BOUND, margin, e->waits,
		"holds the GIL for %.0f %% of its time and waits for it for %.0f %%, mostly for %s",
		100 * hold, 100 * wait, rule_name(e->blocker).s);
}

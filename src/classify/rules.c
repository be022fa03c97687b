/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: the rules. In: evidence. Out: a finding. Invariant: the first rule of the list that
 * holds decides, special ones stand before general ones, and the last one always holds.
 */
#include "classify/rules.h"

#include "classify/thresholds.h"

#include <stdarg.h>
#include <stdio.h>

struct rule_text rule_ns(double ns)
{
	struct rule_text t;

	human_ns(ns > 0 ? (uint64_t)ns : 0, t.s);
	return t;
}

struct rule_text rule_count(double n)
{
	struct rule_text t;

	human_count(n > 0 ? (uint64_t)(n + 0.5) : 0, t.s);
	return t;
}

struct rule_text rule_name(const struct fold_thread *thread)
{
	struct rule_text t;

	if (!thread)
		snprintf(t.s, sizeof(t.s), "other threads");
	else if (thread->name && *thread->name)
		snprintf(t.s, sizeof(t.s), "%s", thread->name);
	else
		snprintf(t.s, sizeof(t.s), "thread %d", thread->tid);
	return t;
}

double rule_percent(const struct evidence *e, double part)
{
	return 100 * evidence_share(e, part);
}

double rule_per_take(const struct evidence *e, double total)
{
	return e->takes > 0 ? total / e->takes : total;
}

double rule_take_rate(const struct evidence *e)
{
	return e->active > 0 ? e->takes * 1e9 / e->active : 0;
}

bool rule_found(struct finding *ret, enum gil_class kind, double margin, double samples,
	const char *fmt, ...)
{
	va_list args;

	ret->class = kind;
	ret->margin = margin;
	ret->samples = samples;
	va_start(args, fmt);
	vsnprintf(ret->reason, sizeof(ret->reason), fmt, args);
	va_end(args);
	return true;
}

/* Of all threads' lives, the share in which their state is unknown. */
static double unknown_share(const struct fold_result *result)
{
	double life = 0;

	for (size_t i = 0; i < result->n_threads; i++)
		life += (double)(result->threads[i]->last_ns - result->threads[i]->first_ns);
	return life > 0 ? (double)result->quality.unknown_ns / life : 0;
}

bool rules_bad_recording(const struct fold_result *result, struct finding *ret)
{
	const struct fold_quality *q = &result->quality;
	double lost = (double)q->lost / (double)(q->events + q->lost + !q->events);

	if (q->sampled)
		return rule_found(ret, CLASS_INCONCLUSIVE, 1, 0,
			"the GIL probes were recorded at a frequency, so most hits are missing");
	if (q->release_unprobed)
		return rule_found(ret, CLASS_INCONCLUSIVE, 1, 0,
			"no releases of the GIL were recorded, so nobody's holds are known (record "
			"with gilprobe record)");
	if (q->take_unprobed)
		return rule_found(ret, CLASS_INCONCLUSIVE, 1, 0,
			"no takes of the GIL were recorded, so nobody's holds are known (record with "
			"gilprobe record)");
	if (q->release_missing)
		return rule_found(ret, CLASS_INCONCLUSIVE, 1, 0,
			"most releases of the GIL are missing: drop_gil is inlined in this "
			"interpreter, so its symbol does not see them: %llu of %llu takes came while "
			"it was held (record with gilprobe record)",
			(unsigned long long)(q->acquires_while_holding + q->overlapping),
			(unsigned long long)q->acquires);
	if (lost < LOST_MANY)
		return false;
	/* system-wide most of what is lost is other programs' scheduling: what fold had to leave
	 * unknown tells the damage */
	if (q->runnable_known && unknown_share(result) < UNKNOWN_MUCH)
		return false;
	return rule_found(
		ret, CLASS_INCONCLUSIVE, 1, 0, "%.0f %% of the events were lost", 100 * lost);
}

static bool bad_recording(const struct evidence *e, struct finding *ret)
{
	return rules_bad_recording(e->result, ret);
}

static bool too_little(const struct evidence *e, struct finding *ret)
{
	if (e->life < MIN_LIFE_NS)
		return rule_found(ret, CLASS_INCONCLUSIVE, 1, 0,
			"lived for %s, less than four switch intervals (20 ms)",
			rule_ns(e->life).s);
	if (e->result->quality.cpu_known && e->unknown > MOST * e->life)
		return rule_found(ret, CLASS_INCONCLUSIVE, 1, 0,
			"its state is unknown for %.0f %% of its life", 100 * e->unknown / e->life);
	return false;
}

/* The rules behind cpu_starved, in the list at the end. */
#define RULE_AFTER_MACHINE 4
static void apply_from(size_t first, const struct evidence *e, struct finding *ret);

static bool cpu_starved(const struct evidence *e, struct finding *ret)
{
	double wanted = e->hold + e->native + e->wait + e->starved;
	double share = wanted > 0 ? e->starved / wanted : 0;
	struct finding otherwise = {0};

	if (share < STARVED || e->starved < PART * e->life || e->starved < e->blocked)
		return false;
	apply_from(RULE_AFTER_MACHINE, e, &otherwise);
	if (otherwise.class == CLASS_GIL_BOUND && evidence_competes(e))
		return false;
	return rule_found(ret, CLASS_CPU_STARVED, (1 - STARVED) / (1.001 - share),
		e->takes + e->waits,
		"of %s in which it could have run, %.0f %% passed without a CPU for it or for the "
		"holder of the GIL (apart from that: %s)",
		rule_ns(wanted).s, 100 * share, class_name(otherwise.class));
}

static bool own_interpreters(const struct evidence *e, struct finding *ret)
{
	double hold = evidence_share(e, e->hold);

	if (hold < MOST || evidence_share(e, e->wait) >= WAIT_MUCH || !evidence_other_gil_held(e))
		return false;
	return rule_found(ret, CLASS_SUBINTERPRETERS, hold / MOST, SOME_SAMPLES,
		"holds the GIL of interpreter %u for %.0f %% of its time while another thread "
		"holds another one",
		e->thread->gil->number, 100 * hold);
}

static bool held_uncontended(const struct evidence *e, struct finding *ret)
{
	double hold = evidence_share(e, e->hold);

	if (hold < MOST)
		return false;
	if (e->others_waited <= 0 && e->wait <= 0)
		return rule_found(ret, CLASS_HELD_UNCONTENDED, hold / MOST, SOME_SAMPLES,
			"holds the GIL for %.0f %% of its time; nobody waited for it, and it waited "
			"for nobody",
			100 * hold);
	return rule_found(ret, CLASS_HELD_UNCONTENDED, hold / MOST, SOME_SAMPLES,
		"holds the GIL for %.0f %% of its time; others waited %s for it, it waited %s",
		100 * hold, rule_ns(e->others_waited).s, rule_ns(e->wait).s);
}

static bool lock_contention(const struct evidence *e, struct finding *ret)
{
	double share = evidence_share(e, e->by_sibling), work;

	if (share < MOST || e->sibling_wakeups < LOCK_WAKEUPS || e->gil_busy >= MOST)
		return false;
	work = evidence_peers_at_work(e);
	if (work < LOCK_WORK_MIN || work > LOCK_WORK_MAX)
		return false;
	return rule_found(ret, CLASS_LOCK_CONTENTION, share / MOST, e->sibling_wakeups,
		"asleep for %.0f %% of its time until a thread of the same process woke it (%s "
		"times), GIL waiting %.1f %%; such threads do the work of %.2f together",
		100 * share, rule_count(e->sibling_wakeups).s, rule_percent(e, e->wait), work);
}

static bool io_bound(const struct evidence *e, struct finding *ret)
{
	double asleep = evidence_share(e, e->blocked);

	if (asleep < ASLEEP)
		return false;
	if (e->by_sibling > MOST * e->blocked)
		return rule_found(ret, CLASS_IO_BOUND, asleep / ASLEEP, e->blocks,
			"asleep for %.0f %% of its time, mostly until a thread of the same process "
			"woke it (%s times); GIL waiting %.1f %%",
			100 * asleep, rule_count(e->sibling_wakeups).s, rule_percent(e, e->wait));
	return rule_found(ret, CLASS_IO_BOUND, asleep / ASLEEP, e->blocks,
		"asleep for %.0f %% of its time (%s sleeps), GIL waiting %.1f %%", 100 * asleep,
		rule_count(e->blocks).s, rule_percent(e, e->wait));
}

static bool releases(const struct evidence *e, struct finding *ret)
{
	double cpu = e->hold + e->native, native = cpu > 0 ? e->native / cpu : 0;

	if (native < MOST || evidence_share(e, cpu) < 1 - ASLEEP)
		return false;
	return rule_found(ret, CLASS_RELEASES, native / MOST, e->natives,
		"%.0f %% of its CPU time is native, without the GIL; GIL waiting %.1f %%; such "
		"threads keep up to %.1f cores busy",
		100 * native, rule_percent(e, e->wait), cpu / (e->hold > 0 ? e->hold : cpu / 99));
}

static bool mixed(const struct evidence *e, struct finding *ret)
{
	if (!e->result->quality.cpu_known)
		return false;
	return rule_found(ret, CLASS_MIXED, 1.2, e->takes + e->blocks,
		"holds the GIL %.0f %%, waits for it %.0f %%, native %.0f %%, asleep %.0f %% of its "
		"time",
		rule_percent(e, e->hold), rule_percent(e, e->wait), rule_percent(e, e->native),
		rule_percent(e, e->blocked));
}

static bool nothing_known(const struct evidence *e, struct finding *ret)
{
	return rule_found(ret, CLASS_INCONCLUSIVE, 1, 0,
		"no scheduler events in this recording, so what it does for the %.0f %% outside "
		"the GIL is unknown",
		100 - rule_percent(e, e->hold + e->wait));
}

static const rule_fn rules[] = {
	bad_recording,
	rule_thread_starts,
	too_little,
	cpu_starved,
	rule_holds_asleep, /* RULE_AFTER_MACHINE */
	own_interpreters,
	rule_dropped_too_often,
	rule_tiny_tasks,
	rule_gil_bound,
	held_uncontended,
	lock_contention,
	io_bound,
	releases,
	mixed,
	nothing_known,
};

static void apply_from(size_t first, const struct evidence *e, struct finding *ret)
{
	for (size_t i = first; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i](e, ret))
			return;
}

void rules_apply(const struct evidence *e, struct finding *ret)
{
	apply_from(0, e, ret);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: the verdict of `gilprobe scale`. In: evidence of serial and of threads mode. Out:
 * class, label, reason.
 *
 * Serial mode tells what one task is made of, threads mode what they do to each other. All shares
 * are of `active`, the time without what the machine took (no CPU for the thread or for the holder
 * of the GIL), so that neighbours and affinity do not change the answer.
 */
#include "classify/scaling.h"

#include "classify/scaling-rules.h"
#include "classify/thresholds.h"
#include "classify/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What threads add to sleeping until a sibling wakes them: less is joins and queues. */
#define LOCK_MUCH 0.20

/* Shares of active time, 0 to 1. */
struct shares {
	double active;	/* ns */
	double machine; /* of life: without a CPU, itself or the holder */
	double hold, hold_asleep, wait, native, blocked, by_sibling;
	double wait_asleep, long_waited;      /* of the waiting */
	double takes_per_s, hold_ns, wait_ns; /* hold and wait: the mean of one */
	double native_ns;		      /* per hold */
};

/*
 * Who keeps a thread asleep is a thread like it, and so short of CPU as often: that part of the
 * sleep is the machine's too. (A mutex whose owner is preempted is no contended mutex.)
 */
static double sibling_without_cpu(const struct scale_evidence *e, double machine)
{
	double sibling = (double)e->blocked_by_sibling_ns, rest = (double)e->life_ns - sibling;

	return rest > 0 ? sibling * fmin(1, machine / rest) : 0;
}

static struct shares shares_of(const struct scale_phase *phase)
{
	const struct scale_evidence *e = &phase->evidence;
	double late = fmin((double)e->wait_no_cpu_ns, (double)e->wait_free_ns);
	double wait = fmax(0, (double)e->waiting_ns - (double)e->wait_holder_no_cpu_ns - late);
	double hold = (double)(e->held_ns + e->held_asleep_ns);
	double machine =
		(double)(e->runnable_ns + e->held_no_cpu_ns + e->wait_holder_no_cpu_ns) + late;
	double foreign = sibling_without_cpu(e, machine), life = (double)e->life_ns;
	double active = fmax(1, life - machine - foreign - (double)e->unknown_ns);

	return (struct shares){
		.active = active,
		.machine = life > 0 ? (machine + foreign) / life : 0,
		.hold = hold / active,
		.hold_asleep = (double)e->held_asleep_ns / active,
		.wait = wait / active,
		.native = (double)e->native_ns / active,
		.blocked = ((double)e->blocked_ns - foreign) / active,
		.by_sibling = ((double)e->blocked_by_sibling_ns - foreign) / active,
		.wait_asleep = wait > 0 ? (double)e->wait_asleep_ns / wait : 0,
		.long_waited = wait > 0 ? (double)e->long_waited_ns / wait : 0,
		.takes_per_s = (double)e->takes * 1e9 / active,
		.hold_ns = e->takes ? hold / (double)e->takes : hold,
		.native_ns = e->takes ? (double)e->native_ns / (double)e->takes : 0,
		.wait_ns = e->waits ? wait / (double)e->waits : 0,
	};
}

struct scene {
	struct shares one, many; /* serial, threads */
	double interval_ns;
	double speedup; /* for the wording of a label only, never for a class */
	bool processes;
	bool gil;	   /* is on */
	double apart_wait; /* among sub-interpreters; < 0: not measured */
	unsigned n;
};

static enum gil_class kind_of_gil_bound(const struct scene *s)
{
	const struct shares *t = &s->many;

	if (t->wait_asleep >= MOST || s->one.hold_asleep >= MOST * s->one.hold)
		return CLASS_BLOCKING_CALL;
	if (s->interval_ns > INTERVAL_LONG_NS)
		return CLASS_SWITCH_INTERVAL;
	if (t->long_waited >= MOST)
		return CLASS_LONG_C_CALL;
	if (t->wait_ns >= s->interval_ns / 2 && t->wait_ns >= CONVOY_RATIO * t->hold_ns)
		return CLASS_CONVOY;
	return CLASS_GIL_BOUND;
}

/* Of the work that one task does, the share that needs the GIL. */
static double gil_share(const struct shares *one)
{
	double work = one->hold + one->native;

	return work > 0 ? one->hold / work : 0;
}

/* What is done without the GIL is shorter than handing it over would take. */
static bool dropped_too_often(const struct shares *one)
{
	return one->takes_per_s >= MANY_TAKES_PER_S && one->native >= PART &&
	       one->native_ns <= HANDOVER_NS && one->hold_ns <= SHORT_HOLD_NS;
}

static enum gil_class decide(const struct scene *s)
{
	const struct shares *one = &s->one, *many = &s->many;
	double added = many->by_sibling - one->by_sibling;

	if (added >= LOCK_MUCH && added >= many->wait)
		return CLASS_LOCK_CONTENTION;
	if (one->hold_asleep >= MOST)
		return CLASS_BLOCKING_CALL;
	if (one->blocked >= ASLEEP)
		return many->wait >= WAIT_MUCH ? CLASS_MIXED : CLASS_IO_BOUND;
	if (one->blocked >= PART && one->hold >= PART)
		return CLASS_MIXED;
	if (dropped_too_often(one))
		return CLASS_DROPPED_TOO_OFTEN;
	if (gil_share(one) < MOST)
		return many->wait >= WAIT_MUCH ? kind_of_gil_bound(s) : CLASS_RELEASES;
	return kind_of_gil_bound(s);
}

static const char *label_for(enum gil_class kind, const struct scene *s)
{
	switch (kind) {
	case CLASS_IO_BOUND:
		return LABEL_IO;
	case CLASS_LOCK_CONTENTION:
		return s->one.blocked >= MOST ? LABEL_IO_SERIAL : LABEL_NO_SPEEDUP;
	case CLASS_MIXED:
		return LABEL_MIXED;
	case CLASS_RELEASES:
		return s->speedup >= fmax(1.5, 0.4 * s->n) ? LABEL_RELEASES
							   : LABEL_RELEASES_FEW_CORES;
	case CLASS_DROPPED_TOO_OFTEN:
		return LABEL_DROPPED;
	case CLASS_INCONCLUSIVE:
		return LABEL_SHORT;
	default:
		return s->processes ? LABEL_GIL : LABEL_GIL_NO_PROCESSES;
	}
}

/* How far the evidence lies from another answer, 1 being on the border. */
static double margin_of(enum gil_class kind, const struct scene *s)
{
	const struct shares *one = &s->one, *many = &s->many;

	switch (kind) {
	case CLASS_IO_BOUND:
		return one->blocked / ASLEEP;
	case CLASS_LOCK_CONTENTION:
		return (many->by_sibling - one->by_sibling) / LOCK_MUCH;
	case CLASS_MIXED:
		return fmin(one->blocked, one->hold) / PART;
	case CLASS_RELEASES:
		return fmin((1 - gil_share(one)) / MOST, (1 - many->wait) / (1 - WAIT_MUCH) * 1.2);
	case CLASS_DROPPED_TOO_OFTEN:
		return fmin(HANDOVER_NS / one->native_ns, one->takes_per_s / MANY_TAKES_PER_S);
	case CLASS_BLOCKING_CALL:
		return fmax(one->hold_asleep, many->wait_asleep) / MOST;
	default:
		return fmax(many->wait / WAIT_MUCH, gil_share(one) / MOST);
	}
}

static enum confidence confidence_of(enum gil_class kind, const struct scene *s)
{
	double active = fmin(s->one.active, s->many.active), margin = margin_of(kind, s);

	if (active >= HIGH_ACTIVE_NS && margin >= HIGH_MARGIN)
		return CONFIDENCE_HIGH;
	if (active >= MEDIUM_ACTIVE_NS && margin >= MEDIUM_MARGIN)
		return CONFIDENCE_MEDIUM;
	return CONFIDENCE_LOW;
}

__attribute__((format(printf, 2, 3))) static void add(struct verdict *verdict, const char *fmt, ...)
{
	size_t n = strlen(verdict->reason);
	va_list args;

	va_start(args, fmt);
	vsnprintf(verdict->reason + n, sizeof(verdict->reason) - n, fmt, args);
	va_end(args);
}

static void explain(const struct scene *s, struct verdict *verdict)
{
	const struct shares *one = &s->one, *many = &s->many;

	add(verdict,
		"%sone task alone holds the GIL %.0f %%, runs native code %.0f %%, sleeps %.0f %% of "
		"its time; among %u threads it waits for the GIL %.0f %%",
		s->gil ? "" : "the GIL is off; ", 100 * one->hold, 100 * one->native,
		100 * one->blocked, s->n, 100 * many->wait);
	if (verdict->class == CLASS_BLOCKING_CALL && one->hold > 0)
		add(verdict, ", and of the holding %.0f %% is asleep",
			100 * one->hold_asleep / one->hold);
	if (verdict->class == CLASS_DROPPED_TOO_OFTEN)
		add(verdict, ", and it drops the GIL %.0f times a second, for %.1f us each",
			one->takes_per_s, one->native_ns / 1e3);
	if (verdict->class == CLASS_LOCK_CONTENTION)
		add(verdict, ", and sleeps %.0f %% until another thread wakes it",
			100 * many->by_sibling);
	if (class_is_gil_bound(verdict->class) && s->apart_wait >= 0)
		add(verdict, ", among sub-interpreters %.0f %%", 100 * s->apart_wait);
	if (many->machine >= PART)
		add(verdict, " (not counted: %.0f %% of the threads' time without a CPU)",
			100 * many->machine);
}

void scaling_by_evidence(const struct scale_result *result, unsigned n, struct scaling_verdict *ret)
{
	const struct scale_phase *serial = scale_find(result, SCALE_SERIAL, 0);
	const struct scale_phase *threads = scale_find(result, SCALE_THREADS, 0);
	const struct scale_phase *processes = scale_find(result, SCALE_PROCESSES, 0);
	const struct scale_phase *apart = scale_find(result, SCALE_INTERPRETERS, 0);
	double interval_ns = result->facts.switch_interval_s * 1e9;
	struct scene scene = {
		.one = shares_of(serial),
		.many = shares_of(threads),
		.interval_ns = interval_ns > 0 ? interval_ns : INTERVAL_NS,
		.speedup = scale_speedup(result, threads),
		.gil = result->facts.gil_enabled_at_end,
		.processes = processes && !processes->unavailable,
		.apart_wait = apart && apart->evidence.known ? shares_of(apart).wait : -1,
		.n = n,
	};

	ret->verdict.class = decide(&scene);
	ret->verdict.confidence = confidence_of(ret->verdict.class, &scene);
	ret->label = label_for(ret->verdict.class, &scene);
	explain(&scene, &ret->verdict);
}

void scaling_classify(const struct scale_result *result, struct scaling_verdict *ret)
{
	const struct scale_phase *serial = scale_find(result, SCALE_SERIAL, 0);
	const struct scale_phase *threads = scale_find(result, SCALE_THREADS, 0);

	*ret = (struct scaling_verdict){0};
	if (!serial || !threads || threads->workers < 2) {
		ret->label = LABEL_FEW_WORKERS;
		snprintf(ret->verdict.reason, sizeof(ret->verdict.reason),
			"one worker cannot show how several get on with each other");
	} else if (serial->evidence.known && threads->evidence.known) {
		ret->by_evidence = true;
		scaling_by_evidence(result, threads->workers, ret);
	} else {
		scaling_by_wall(result, threads->workers, ret);
	}
	words_advise(&ret->verdict);
}

double scaling_gil_share(const struct scale_result *result)
{
	const struct scale_phase *serial = scale_find(result, SCALE_SERIAL, 0);
	struct shares one;

	if (!serial || !serial->evidence.known)
		return -1;
	one = shares_of(serial);
	return gil_share(&one);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: processes and the whole recording. In: the threads' verdicts. Out: one verdict.
 * Invariant: threads vote with the time that they did or wanted something; sleep counts a tenth,
 * so that idle threads do not outvote the busy ones. The classes of the GIL vote together, and
 * the most telling of them names the result.
 */
#include "classify/classify.h"
#include "classify/conclude.h"
#include "classify/evidence.h"
#include "classify/rules.h"
#include "classify/thresholds.h"
#include "classify/words.h"

#include <stdio.h>
#include <string.h>

/* A second of sleep weighs as much as this many seconds of work or of waiting. */
#define SLEEP_WEIGHT 0.1

/* A sub-class names the whole when it has at least this part of the GIL's votes. */
#define TELLING 0.2

/* Another class with this part of all votes is worth a mention. */
#define ALSO 0.25

/* Below the first no class speaks for the whole; below the second it does not speak alone. */
#define MIXTURE 0.4
#define CLEAR 0.6

struct vote {
	double weight;
	size_t threads;
	double heaviest, hold, native;
	enum confidence confidence;	  /* the best of its threads */
	const struct fold_thread *thread; /* the heaviest */
	struct verdict verdict;		  /* of that */
};

struct tally {
	struct vote votes[CLASSES];
	double total, gil;
	double plain_waiters; /* plain gil-bound threads that wait: they compete, holders do not */
	size_t n_processes;
};

/*
 * What the machine took counts for the class that is about it, and for threads that would have
 * fought for the GIL meanwhile; elsewhere a loaded machine would let the idle threads win.
 */
static double weight_of(const struct evidence *e, const struct verdict *verdict)
{
	double idle = e->blocked, weight = e->active;

	/* without CPU evidence all that is outside the GIL may be sleep */
	if (!e->result->quality.cpu_known)
		idle += e->unknown;
	if (verdict->class == CLASS_CPU_STARVED ||
		(verdict->class == CLASS_GIL_BOUND && evidence_competes(e)))
		weight += e->machine;
	weight -= (1 - SLEEP_WEIGHT) * idle;
	return weight > 0 ? weight : 0;
}

static bool waits_much(const struct fold_thread *t)
{
	return (double)t->state_ns[SPAN_WAITING] >= WAIT_MUCH * (double)(t->last_ns - t->first_ns);
}

static void add_vote(struct tally *tally, const struct evidence *e, const struct verdict *verdict)
{
	struct vote *vote = &tally->votes[verdict->class];
	const struct fold_thread *thread = e->thread;
	double weight = weight_of(e, verdict);

	vote->weight += weight;
	vote->threads += e->n_threads;
	vote->hold += e->hold;
	vote->native += e->native;
	if (verdict->confidence > vote->confidence)
		vote->confidence = verdict->confidence;
	if (weight >= vote->heaviest) {
		vote->heaviest = weight;
		vote->thread = thread;
		vote->verdict = *verdict;
	}
	tally->total += weight;
	if (class_is_gil_bound(verdict->class))
		tally->gil += weight;
	if (verdict->class == CLASS_GIL_BOUND && thread && waits_much(thread))
		tally->plain_waiters += weight;
}

static void add_process(
	struct tally *tally, const struct fold_result *result, const struct fold_process *process)
{
	struct evidence e, brief; /* brief: those too short for a verdict each vote as one */
	struct verdict verdict;

	tally->n_processes++;
	evidence_begin(&brief, result);
	for (size_t i = 0; i < result->n_threads; i++) {
		const struct fold_thread *t = result->threads[i];

		if (t->process != process)
			continue;
		if (classify_is_short(t)) {
			evidence_add(&brief, t);
			continue;
		}
		evidence_of_thread(result, t, &e);
		conclude(&e, &verdict);
		add_vote(tally, &e, &verdict);
	}
	if (!brief.n_threads)
		return;
	evidence_end(&brief);
	conclude(&brief, &verdict);
	add_vote(tally, &brief, &verdict);
}

/* The sub-class with the most votes, unless more threads compete in the plain way. */
static enum gil_class name_of_gil(const struct tally *tally)
{
	enum gil_class best = CLASS_GIL_BOUND;
	bool plain = tally->votes[best].weight > 0;
	double most = tally->plain_waiters;

	for (enum gil_class c = 0; c < CLASSES; c++) {
		double weight = tally->votes[c].weight;

		if (!class_is_gil_bound(c) || c == CLASS_GIL_BOUND ||
			(plain && weight < TELLING * tally->gil))
			continue;
		if (weight > most) {
			most = weight;
			best = c;
		}
	}
	return best;
}

static double weight_of_class(const struct tally *tally, enum gil_class kind)
{
	return class_is_gil_bound(kind) ? tally->gil : tally->votes[kind].weight;
}

/* The class with the most votes; the GIL's count as one. CLASSES: none. */
static enum gil_class most_votes(const struct tally *tally)
{
	enum gil_class best = CLASSES;
	double most = 0;

	for (enum gil_class c = 0; c < CLASSES; c++) {
		double weight = weight_of_class(tally, c);

		if (weight > most) {
			most = weight;
			best = class_is_gil_bound(c) ? name_of_gil(tally) : c;
		}
	}
	return best;
}

/* What else is worth a mention beside @first. CLASSES: nothing. */
static enum gil_class runner_up(const struct tally *tally, enum gil_class first)
{
	enum gil_class best = CLASSES;
	double most = ALSO * tally->total;

	/* thousands of short threads weigh little, but whoever starts them pays */
	if (tally->votes[CLASS_THREAD_STARTS].threads && first != CLASS_THREAD_STARTS)
		return CLASS_THREAD_STARTS;
	for (enum gil_class c = 0; c < CLASSES; c++) {
		if (c == first || (c == CLASS_GIL_BOUND && class_is_gil_bound(first)))
			continue;
		if (tally->votes[c].weight >= most) {
			most = tally->votes[c].weight;
			best = c;
		}
	}
	return best;
}

double classify_serial_fraction(const struct fold_result *result, const struct fold_gil *gil)
{
	double hold = 0, cpu = 0;

	if (!gil || !result->quality.cpu_known || result->quality.release_missing)
		return -1;
	for (size_t i = 0; i < result->n_threads; i++) {
		const struct fold_thread *t = result->threads[i];

		if (t->gil != gil)
			continue;
		hold += (double)t->state_ns[SPAN_HAS_GIL];
		cpu += (double)(t->state_ns[SPAN_HAS_GIL] + t->state_ns[SPAN_NATIVE]);
	}
	return cpu > 0 ? hold / cpu : -1;
}

static const struct fold_gil *busiest_gil(
	const struct fold_result *result, const struct fold_process *process)
{
	const struct fold_gil *best = NULL;

	for (size_t i = 0; i < result->n_gils; i++) {
		const struct fold_gil *g = result->gils[i];

		if (g->process == process && (!best || g->held_ns > best->held_ns))
			best = g;
	}
	return best;
}

/* "2 threads compete for the GIL, …": what plain gil-bound says of a process. */
static int say_compete(char *text, size_t size, const struct tally *tally,
	const struct fold_result *result, const struct vote *vote)
{
	const struct fold_process *process = vote->thread->process;
	const struct fold_gil *gil = busiest_gil(result, process);
	double life =
		gil && gil->end_ns > gil->start_ns ? (double)(gil->end_ns - gil->start_ns) : 0;
	int n = snprintf(text, size, "%zu threads want the GIL at the same time", vote->threads);

	if (tally->n_processes > 1)
		n += snprintf(text + n, size - (size_t)n, ", %s of pid %d most",
			rule_name(vote->thread).s, process->pid);
	else if (life > 0)
		n += snprintf(text + n, size - (size_t)n,
			", held %.0f %% and contended %.0f %% of the time",
			100 * (double)gil->held_ns / life, 100 * (double)gil->contended_ns / life);
	if (vote->hold > 0 && result->quality.cpu_known)
		n += snprintf(text + n, size - (size_t)n,
			"; such threads keep at most %.2f cores busy",
			1 + vote->native / vote->hold);
	return n;
}

static int say_thread(char *text, size_t size, const struct tally *tally, const struct vote *vote)
{
	char more[48] = "";
	const struct fold_thread *t = vote->thread;

	if (vote->threads > 1)
		snprintf(more, sizeof(more), " (and %zu more thread%s)", vote->threads - 1,
			vote->threads > 2 ? "s" : "");
	if (!t)
		return snprintf(text, size, "%s", vote->verdict.reason);
	if (tally->n_processes > 1)
		return snprintf(text, size, "%s of pid %d%s: %s", rule_name(t).s, t->process->pid,
			more, vote->verdict.reason);
	return snprintf(text, size, "%s%s: %s", rule_name(t).s, more, vote->verdict.reason);
}

static void say(const struct tally *tally, const struct fold_result *result, enum gil_class first,
	enum gil_class second, struct verdict *ret)
{
	const struct vote *vote = &tally->votes[first];
	size_t size = sizeof(ret->reason);
	int n;

	/* plain gil-bound may win with the votes of sub-classes alone */
	if (first == CLASS_GIL_BOUND && vote->thread && vote->threads > 1)
		n = say_compete(ret->reason, size, tally, result, vote);
	else
		n = say_thread(ret->reason, size, tally, vote);
	if (second == CLASSES || n < 0 || (size_t)n >= size)
		return;
	vote = &tally->votes[second];
	if (!vote->thread)
		snprintf(ret->reason + n, size - (size_t)n, "; also %s (%zu threads)",
			class_name(second), vote->threads);
	else
		snprintf(ret->reason + n, size - (size_t)n, "; also %s (%s%s)", class_name(second),
			rule_name(vote->thread).s, vote->threads > 1 ? " and others" : "");
}

/* The kinds of work with most weight, when none speaks for the whole. */
static void say_mixture(const struct tally *tally, struct verdict *ret)
{
	char *text = ret->reason;
	size_t size = sizeof(ret->reason), n;
	bool said[CLASSES] = {false};

	n = (size_t)snprintf(text, size, "several kinds of work:");
	for (int i = 0; i < 3 && n < size; i++) {
		const struct vote *vote;
		enum gil_class best = CLASSES;

		for (enum gil_class c = 0; c < CLASSES; c++)
			if (!said[c] && tally->votes[c].weight > 0 &&
				(best == CLASSES ||
					tally->votes[c].weight > tally->votes[best].weight))
				best = c;
		if (best == CLASSES)
			break;
		said[best] = true;
		vote = &tally->votes[best];
		n += (size_t)snprintf(text + n, size - n, "%s %.0f %% %s (%s%s)", i ? "," : "",
			100 * vote->weight / tally->total, class_name(best),
			vote->thread ? rule_name(vote->thread).s : "short threads",
			vote->thread && vote->threads > 1 ? " and others" : "");
	}
}

static void conclude_tally(
	const struct tally *tally, const struct fold_result *result, struct verdict *ret)
{
	enum gil_class first = most_votes(tally), second;
	struct finding f;
	double share;

	if (rules_bad_recording(result, &f)) {
		*ret = (struct verdict){.class = f.class};
		memcpy(ret->reason, f.reason, sizeof(ret->reason));
		words_advise(ret);
		return;
	}
	if (first == CLASSES) {
		*ret = (struct verdict){.class = CLASS_INCONCLUSIVE,
			.reason = "no thread took a GIL in this recording"};
		words_advise(ret);
		return;
	}
	second = runner_up(tally, first);
	share = weight_of_class(tally, first) / tally->total;
	*ret = (struct verdict){.class = first, .confidence = tally->votes[first].confidence};
	say(tally, result, first, second, ret);
	if (first == CLASS_INCONCLUSIVE) {
		ret->confidence = CONFIDENCE_LOW;
	} else if (share < MIXTURE) {
		ret->class = CLASS_MIXED;
		ret->confidence = CONFIDENCE_MEDIUM;
		say_mixture(tally, ret);
	} else if (share < CLEAR && ret->confidence > CONFIDENCE_MEDIUM) {
		ret->confidence = CONFIDENCE_MEDIUM;
	}
	words_advise(ret);
}

void classify_process(
	const struct fold_result *result, const struct fold_process *process, struct verdict *ret)
{
	struct tally tally = {0};

	add_process(&tally, result, process);
	conclude_tally(&tally, result, ret);
}

void classify_recording(const struct fold_result *result, struct verdict *ret)
{
	struct tally tally = {0};

	for (size_t i = 0; i < result->n_processes; i++)
		add_process(&tally, result, result->processes[i]);
	conclude_tally(&tally, result, ret);
}

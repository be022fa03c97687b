/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules, in the order in which they are asked. Private to classify.
 */
#ifndef GILPROBE_CLASSIFY_RULES_H
#define GILPROBE_CLASSIFY_RULES_H

#include "base/human.h"
#include "classify/evidence.h"

struct finding {
	enum gil_class class;
	double margin;	/* the evidence divided by its threshold: 1 is just so */
	double samples; /* how many waits, takes or sleeps it rests on */
	char reason[CLASSIFY_REASON];
};

typedef bool (*rule_fn)(const struct evidence *e, struct finding *ret);

/* Applies the first rule that holds; there is always one. */
void rules_apply(const struct evidence *e, struct finding *ret);

/* Whether no thread of this recording can be judged; then @ret says why. */
bool rules_bad_recording(const struct fold_result *result, struct finding *ret);

/* The GIL's part of the list (rules-gil.c). */
bool rule_holds_asleep(const struct evidence *e, struct finding *ret);
bool rule_dropped_too_often(const struct evidence *e, struct finding *ret);
bool rule_tiny_tasks(const struct evidence *e, struct finding *ret);
bool rule_thread_starts(const struct evidence *e, struct finding *ret);
bool rule_gil_bound(const struct evidence *e, struct finding *ret);

/* Fills in @ret and the reason; returns true, so that a rule can end with it. */
bool rule_found(struct finding *ret, enum gil_class kind, double margin, double samples,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* A length for a sentence, by value so that several fit into one call. */
struct rule_text {
	char s[HUMAN_SIZE];
};

struct rule_text rule_ns(double ns);

/* With separators. */
struct rule_text rule_count(double n);

/* "worker-1", "thread 4712" when it has no name, "other threads" for NULL. */
struct rule_text rule_name(const struct fold_thread *thread);

/* Of active time, in percent. */
double rule_percent(const struct evidence *e, double part);

/* @total divided by the number of takes. */
double rule_per_take(const struct evidence *e, double total);

/* Takes per second of active time. */
double rule_take_rate(const struct evidence *e);

#endif

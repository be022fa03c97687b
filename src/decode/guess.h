/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: events whose formats are not in the recording, because its recorder was killed or its
 * end was cut off before `perf record` wrote them.
 *
 * Told from the samples themselves: a payload begins with the event's own number; sched_switch and
 * sched_wakeup have layouts that have not changed since Linux 2.6 and that contradict other
 * payloads; a uprobe's payload repeats the sample's instruction pointer, an entry's as its first
 * value, a return's as its second. Which function was probed shows in the order of its calls: the
 * first that a new thread does is take_gil, and take_gil and drop_gil alternate. Where no new
 * thread is seen, the live tracefs may still have the probes by their numbers.
 */
#ifndef GILPROBE_DECODE_GUESS_H
#define GILPROBE_DECODE_GUESS_H

#include "base/map.h"
#include "decode/recipe.h"
#include "perfdata/perfdata.h"

struct guess {
	struct map calls;     /* tid → enum guess_call: the latest */
	struct map functions; /* process and address of an entry → 1: take_gil, 0: drop_gil */
	struct map live;      /* event number → the same, from tracefs */
	bool has_live;	      /* tracefs was asked */
};

void guess_done(struct guess *guess);

/* A task begins to run a program, or is new. */
int guess_start(struct guess *guess, int32_t tid);

/* The recipe of @sample's attr. 1: set; 0: this sample does not tell it; or -ENOMEM. */
int guess_recipe(
	struct guess *guess, const struct perfdata_sample *sample, bool swap, struct recipe *ret);

/* To be told of each sample whose recipe was guessed to be a GIL event. 0 or -ENOMEM. */
int guess_note(
	struct guess *guess, const struct perfdata_sample *sample, const struct recipe *recipe);

#endif

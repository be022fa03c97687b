/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order: the window of events that cannot leave yet, as ascending runs (one per CPU's buffer,
 * mostly), and the stable merge that makes one run of them.
 */
#ifndef GILPROBE_ORDER_RUNS_H
#define GILPROBE_ORDER_RUNS_H

#include "decode/event.h"

#include <stddef.h>

struct runs {
	struct event *items; /* the window, in arrival order until it is merged */
	size_t n, cap;
	struct {
		size_t *items; /* where each run begins */
		size_t n, cap;
	} starts;
	struct event *spare; /* the other side of the merge */
	size_t spare_cap;
};

void runs_done(struct runs *runs);

/* Appends @event. 0 or -ENOMEM. */
int runs_add(struct runs *runs, const struct event *event);

/* Sorts the window by time; equal times keep their order of arrival. 0 or -ENOMEM. */
int runs_merge(struct runs *runs);

/* Of a merged window: how many events have a time up to @limit_ns. */
size_t runs_upto(const struct runs *runs, uint64_t limit_ns);

/* Takes the first @n events out of a merged window. */
void runs_drop(struct runs *runs, size_t n);

#endif

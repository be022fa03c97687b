/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order: merging of runs. In: events as they come. Out: the same by time, stable. Invariant: inside
 * a run times never fall; runs lie in order of arrival, so that only neighbours are ever merged.
 */
#include "order/runs.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void runs_done(struct runs *runs)
{
	free(runs->items);
	free(runs->starts.items);
	free(runs->spare);
	*runs = (struct runs){0};
}

int runs_add(struct runs *runs, const struct event *event)
{
	bool new_run = !runs->n || event->time_ns < runs->items[runs->n - 1].time_ns;

	if (vec_grow(runs) < 0 || (new_run && vec_grow(&runs->starts) < 0))
		return -ENOMEM;
	if (new_run)
		runs->starts.items[runs->starts.n++] = runs->n;
	runs->items[runs->n++] = *event;
	return 0;
}

/* Merges from[a..b) and from[b..c) into to[a..c). */
static void merge_two(const struct event *from, struct event *to, size_t a, size_t b, size_t c)
{
	size_t left = a, right = b;

	while (left < b && right < c) {
		if (from[right].time_ns < from[left].time_ns)
			to[a++] = from[right++];
		else
			to[a++] = from[left++];
	}
	memcpy(to + a, from + left, (b - left) * sizeof(*to));
	memcpy(to + a + (b - left), from + right, (c - right) * sizeof(*to));
}

/* Merges each pair of neighbouring runs from items into spare, then makes spare the items. */
static void merge_pass(struct runs *runs)
{
	size_t *starts = runs->starts.items;
	size_t n = runs->starts.n;
	struct event *merged = runs->spare;
	size_t cap = runs->spare_cap;

	for (size_t i = 0; i < n; i += 2) {
		size_t begin = starts[i];
		size_t middle = i + 1 < n ? starts[i + 1] : runs->n;
		size_t end = i + 2 < n ? starts[i + 2] : runs->n;

		merge_two(runs->items, merged, begin, middle, end);
		starts[i / 2] = begin;
	}
	runs->starts.n = (n + 1) / 2;
	runs->spare = runs->items;
	runs->spare_cap = runs->cap;
	runs->items = merged;
	runs->cap = cap;
}

int runs_merge(struct runs *runs)
{
	if (runs->starts.n < 2)
		return 0;
	if (vec_reserve(&runs->spare, &runs->spare_cap, runs->n, sizeof(*runs->spare)) < 0)
		return -ENOMEM;
	while (runs->starts.n > 1)
		merge_pass(runs);
	return 0;
}

size_t runs_upto(const struct runs *runs, uint64_t limit_ns)
{
	size_t low = 0, high = runs->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runs->items[middle].time_ns <= limit_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void runs_drop(struct runs *runs, size_t n)
{
	if (!n)
		return;
	runs->n -= n;
	memmove(runs->items, runs->items + n, runs->n * sizeof(*runs->items));
	runs->starts.n = runs->n ? 1 : 0; /* what is left is one run, from the front */
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: who waited for whom. In: pairs of a wait and a hold when the first of the two ends. Out:
 * the sums per pair of threads, the worst holds. Invariant: each moment of a wait is blamed on at
 * most one holder, so the pairs of a waiter add up to its waits minus the time nobody held.
 */
#include "fold/blame.h"

#include "base/vec.h"
#include "fold/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int pair(struct fold *f, const struct thread *waiter, const struct thread *holder,
	struct blame_pair **ret)
{
	uint64_t key = (uint64_t)waiter->serial << 32 | holder->serial;
	uint64_t *index = map_get(&f->blame, key);
	int r;

	if (!index) {
		r = vec_grow(&f->blames);
		if (r >= 0)
			r = map_put(&f->blame, key, f->blames.n);
		if (r < 0)
			return r;
		*ret = &f->blames.items[f->blames.n++];
		**ret = (struct blame_pair){
			.pub = {.waiter = &waiter->pub, .holder = &holder->pub}};
		return 0;
	}
	*ret = &f->blames.items[*index];
	return 0;
}

int blame_wait(struct fold *f, struct thread *waiter, struct thread *holder, uint64_t end_ns)
{
	struct fold_hold *hold = &holder->hold;
	struct fold_wait *wait = &waiter->wait;
	uint64_t start_ns = max_ns(hold->start_ns, wait->start_ns);
	struct blame_pair *p;
	int r;

	if (end_ns <= start_ns)
		return 0;
	r = pair(f, waiter, holder, &p);
	if (r < 0)
		return r;
	hold->others_waited_ns += end_ns - start_ns;
	p->pub.wait_ns += end_ns - start_ns;
	if (waiter->blamed_hold != holder->hold_serial) {
		waiter->blamed_hold = holder->hold_serial;
		if (hold->n_waiters < FOLD_HOLD_WAITERS)
			hold->waiters[hold->n_waiters] = &waiter->pub;
		hold->n_waiters++;
	}
	if (p->wait_serial != waiter->wait_serial) {
		p->wait_serial = waiter->wait_serial;
		p->pub.waits++;
		if (wait->n_holders < FOLD_WAIT_HOLDERS)
			wait->holders[wait->n_holders] = &holder->pub;
		wait->n_holders++;
	}
	return 0;
}

/* Positive: @a was worse. */
static int compare_holds(const struct fold_hold *a, const struct fold_hold *b)
{
	uint64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;

	if (a->others_waited_ns != b->others_waited_ns)
		return a->others_waited_ns > b->others_waited_ns ? 1 : -1;
	return a_ns > b_ns ? 1 : a_ns < b_ns ? -1 : 0;
}

void blame_rank(struct fold *f, const struct fold_hold *hold)
{
	size_t at = f->n_top;

	while (at > 0 && compare_holds(hold, &f->top[at - 1]) > 0)
		at--;
	if (at == FOLD_TOP_HOLDS)
		return;
	if (f->n_top < FOLD_TOP_HOLDS)
		f->n_top++;
	memmove(&f->top[at + 1], &f->top[at], (f->n_top - 1 - at) * sizeof(*f->top));
	f->top[at] = *hold;
}

static int compare_pairs(const void *va, const void *vb)
{
	const struct fold_blame *a = va, *b = vb;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns < b->wait_ns ? 1 : -1;
	if (a->waiter != b->waiter)
		return a->waiter->index < b->waiter->index ? -1 : 1;
	return a->holder->index < b->holder->index ? -1 : a->holder->index > b->holder->index;
}

int blame_finish(struct fold *f)
{
	if (!f->blames.n)
		return 0;
	f->blame_list = calloc(f->blames.n, sizeof(*f->blame_list));
	if (!f->blame_list)
		return -ENOMEM;
	for (size_t i = 0; i < f->blames.n; i++)
		f->blame_list[i] = f->blames.items[i].pub;
	qsort(f->blame_list, f->blames.n, sizeof(*f->blame_list), compare_pairs);
	return 0;
}

void blame_done(struct fold *f)
{
	map_done(&f->blame);
	free(f->blames.items);
	free(f->blame_list);
}

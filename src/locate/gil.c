/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: from calls to sites.
 *
 * In: an image that is known to hold CPython. Out: sites with their kinds, and the distance
 * &switch_cond - &cond. take_gil is the function, inlined or not, that both waits with a timeout
 * and signals. Where the code shows two arguments, their distance decides; else the ABI's sizes.
 */
#include "locate/gil.h"

#include "locate/calls.h"
#include "locate/owners.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

/* sizeof(pthread_cond_t) + sizeof(pthread_mutex_t) */
#define DELTA_X86_64 88
#define DELTA_AARCH64 96
/* farther apart than this, two addresses are not members of one GIL */
#define DELTA_MAX 4096

/* A call and what is known about it. */
struct found {
	const struct call *call;
	const struct frame *owner; /* the function, for a .cold fragment its parent */
	bool take;		   /* owner is take_gil, or holds a copy of it */
};

struct finder {
	struct image *image;
	struct frames frames;
	struct import_list slots;
	struct call_list calls;
	struct found *found; /* one per call */
};

static void finder_done(struct finder *f)
{
	frames_done(&f->frames);
	free(f->slots.items);
	free(f->calls.items);
	free(f->found);
}

static bool imports_all(const struct import_list *slots)
{
	unsigned int seen = 0;

	for (size_t i = 0; i < slots->n; i++)
		seen |= 1U << slots->items[i].import;
	return seen & (1U << IMPORT_SIGNAL) && seen & (1U << IMPORT_TIMEDWAIT);
}

int gil_imports(struct image *image, bool *ret, struct err *err)
{
	struct import_list slots = {0};
	int r = calls_find_slots(image, &slots, err);

	if (!r)
		*ret = imports_all(&slots);
	free(slots.items);
	return r;
}

static bool is_take(const struct finder *f, const struct frame *owner)
{
	bool signals = false, waits = false;

	for (size_t i = 0; i < f->calls.n; i++) {
		if (f->found[i].owner != owner)
			continue;
		signals = signals || f->calls.items[i].import == IMPORT_SIGNAL;
		waits = waits || f->calls.items[i].import == IMPORT_TIMEDWAIT;
	}
	return signals && waits;
}

/* How many functions that call one wrapper are looked at. */
#define MAX_CALLERS 16

/*
 * Without inlining take_gil waits through a function of its own (PyCOND_TIMEDWAIT): then the
 * caller that signals is take_gil, and the wrapper's wait is its wait.
 */
static void adopt_wrapper(struct finder *f, struct found *wait)
{
	const struct frame *callers[MAX_CALLERS];
	size_t n = owners_callers(f->image, &f->frames, wait->owner->lo, callers, MAX_CALLERS);

	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < f->calls.n; i++) {
			struct found *found = &f->found[i];

			if (found->owner != callers[k] || found->call->import != IMPORT_SIGNAL)
				continue;
			found->take = true;
			wait->take = true;
		}
	}
}

static void find_takes(struct finder *f)
{
	bool any = false;

	for (size_t i = 0; i < f->calls.n; i++) {
		f->found[i].take = is_take(f, f->found[i].owner);
		any = any || f->found[i].take;
	}
	for (size_t i = 0; !any && i < f->calls.n; i++)
		if (f->found[i].call->import == IMPORT_TIMEDWAIT)
			adopt_wrapper(f, &f->found[i]);
}

/* Every call's owner is its frame, but a fragment's owner is the function it was split off. */
static int find_owners(struct finder *f)
{
	_cleanup_free_ struct piece *pieces = calloc(f->calls.n + 1, sizeof(*pieces));
	const struct frame *last = NULL;
	size_t n = 0;

	if (!pieces)
		return -ENOMEM;
	for (size_t i = 0; i < f->calls.n; i++) {
		const struct call *call = &f->calls.items[i];

		f->found[i] = (struct found){.call = call, .owner = call->frame};
		if (call->frame->fragment && call->frame != last)
			pieces[n++].frame = call->frame;
		last = call->frame;
	}
	owners_find(f->image, &f->frames, pieces, n);
	for (size_t i = 0; i < f->calls.n; i++)
		for (size_t k = 0; k < n; k++)
			if (pieces[k].frame == f->found[i].owner && pieces[k].owner)
				f->found[i].owner = pieces[k].owner;
	find_takes(f);
	return 0;
}

/*
 * In take_gil: signalled switch_cond minus awaited cond. In drop_gil: awaited switch_cond minus
 * signalled cond.
 */
static bool pair_delta(const struct found *a, const struct found *b, int64_t *ret)
{
	enum import awaited = a->take ? IMPORT_TIMEDWAIT : IMPORT_WAIT;
	int64_t d;

	if (a->take != b->take || a->call->import != IMPORT_SIGNAL || b->call->import != awaited)
		return false;
	/* a register's version means something in one function only */
	if (a->call->arg.kind != ARG_ADDRESS && a->call->frame != b->call->frame)
		return false;
	if (!arg_distance(&a->call->arg, &b->call->arg, &d))
		return false;
	*ret = a->take ? d : -d;
	return d != 0 && d < DELTA_MAX && d > -DELTA_MAX;
}

/* A distance and how many pairs show it. */
struct tally {
	int64_t delta;
	size_t n;
};

/* The distance that most pairs show, or @usual when any shows that. 0: none shows any. */
static int64_t measured_delta(const struct finder *f, int64_t usual)
{
	struct tally tally[16] = {0}, *best = tally;
	size_t n = 0, k;
	int64_t d;

	for (size_t i = 0; i < f->calls.n; i++) {
		for (size_t j = 0; j < f->calls.n; j++) {
			if (!pair_delta(&f->found[i], &f->found[j], &d))
				continue;
			if (d == usual)
				return usual;
			for (k = 0; k < n && tally[k].delta != d; k++)
				;
			if (k == sizeof(tally) / sizeof(tally[0]))
				continue;
			tally[k].delta = d;
			tally[k].n++;
			n = k == n ? n + 1 : n;
		}
	}
	for (k = 1; k < n; k++)
		if (tally[k].n > best->n)
			best = &tally[k];
	return best->delta;
}

static int set_delta(const struct finder *f, struct locate_binary *binary, struct err *err)
{
	int64_t usual = f->image->machine == EM_AARCH64 ? DELTA_AARCH64 : DELTA_X86_64;

	binary->switch_delta = measured_delta(f, usual);
	/* one structure since 3.7: its layout is the ABI's, unless the code says otherwise */
	if (!binary->switch_delta && (!binary->major || binary->minor >= 7))
		binary->switch_delta = usual;
	if (binary->switch_delta)
		return 0;
	return err_set(err, -EOPNOTSUPP,
		"'%s' (CPython %s) keeps its GIL in variables whose addresses cannot be told",
		f->image->name, binary->version);
}

/* In a function with a copy of both: a signal of what is awaited there is a release. */
static bool signals_awaited(const struct finder *f, const struct found *signal)
{
	for (size_t i = 0; i < f->calls.n; i++) {
		const struct found *wait = &f->found[i];
		int64_t d;

		if (wait->call->import == IMPORT_TIMEDWAIT && wait->take &&
			(signal->call->arg.kind == ARG_ADDRESS ||
				wait->call->frame == signal->call->frame) &&
			arg_distance(&signal->call->arg, &wait->call->arg, &d) && d == 0)
			return true;
	}
	return false;
}

static enum locate_kind kind_of(const struct finder *f, const struct found *found)
{
	switch (found->call->import) {
	case IMPORT_TIMEDWAIT:
		return LOCATE_TIMEDWAIT;
	case IMPORT_WAIT:
		return LOCATE_WAIT;
	default:
		return found->take && !signals_awaited(f, found) ? LOCATE_ACQUIRE : LOCATE_SIGNAL;
	}
}

static int set_sites(const struct finder *f, struct locate_binary *binary, struct err *err)
{
	size_t n[LOCATE_WAIT + 1] = {0};

	binary->sites = calloc(f->calls.n + 1, sizeof(binary->sites[0]));
	if (!binary->sites)
		return err_nomem(err);
	for (size_t i = 0; i < f->calls.n; i++) {
		const struct found *found = &f->found[i];
		struct locate_site *site = &binary->sites[binary->n_sites];

		/* a timed wait outside take_gil is no GIL's */
		if (found->call->import == IMPORT_TIMEDWAIT && !found->take)
			continue;
		site->kind = kind_of(f, found);
		site->vaddr = found->call->vaddr;
		site->function = found->owner->lo;
		site->slow = found->call->indirect;
		if (!image_offset(f->image, site->vaddr, &site->offset))
			continue;
		n[site->kind]++;
		binary->n_sites++;
	}
	if (!n[LOCATE_ACQUIRE] || !n[LOCATE_TIMEDWAIT] || !n[LOCATE_SIGNAL])
		return err_set(err, -EOPNOTSUPP,
			"'%s' holds CPython, but no calls of its GIL could be found",
			f->image->name);
	return 0;
}

int gil_find(struct image *image, struct locate_binary *binary, struct err *err)
{
	_cleanup_(finder_done) struct finder f = {.image = image};
	int r;

	r = calls_find_slots(image, &f.slots, err);
	if (!r)
		r = frames_read(image, &f.frames, err);
	if (!r)
		r = calls_find(image, &f.frames, &f.slots, &f.calls, err);
	if (r < 0)
		return r;
	f.found = calloc(f.calls.n + 1, sizeof(f.found[0]));
	if (!f.found)
		return err_nomem(err);
	if (find_owners(&f) < 0)
		return err_nomem(err);
	r = set_sites(&f, binary, err);
	return r < 0 ? r : set_delta(&f, binary, err);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order: sorting. In: events in file order and the ends of rounds. Out: events in time order,
 * without duplicates and without signals of condition variables that are no GIL. Invariant: an
 * event leaves when every stream has passed its time by a whole round, or at the end.
 */
#include "order/order.h"

#include "base/map.h"
#include "order/runs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Events of one time that are compared for duplicates: enough for any real block. */
#define MAX_NEIGHBOURS 64

struct stream {
	uint64_t newest_ns; /* newest event so far */
	uint64_t round_ns;  /* newest event when the last round ended */
	uint64_t limit_ns;  /* newest event of the round before: what is as old may leave */
	bool ended;
};

struct order {
	order_emit emit;
	void *user;
	struct runs window;
	struct map gils; /* process and GIL, as far as events introduced them */
	uint64_t last_gil;
	struct order_stats stats;
	uint64_t left_ns; /* newest time that has left */
	size_t n_streams;
	struct stream streams[];
};

int order_new(order_emit emit, void *user, size_t n_streams, struct order **ret, struct err *err)
{
	struct order *o = calloc(1, sizeof(*o) + n_streams * sizeof(o->streams[0]));

	if (!o)
		return err_nomem(err);
	o->emit = emit;
	o->user = user;
	o->n_streams = n_streams;
	*ret = o;
	return 0;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	runs_done(&o->window);
	map_done(&o->gils);
	free(o);
}

/* A process's GIL as a key. Addresses use 47 bits and pids 22; that two pairs meet is no concern.
 */
static uint64_t gil_key(const struct event *event)
{
	return event->gil + ((uint64_t)(uint32_t)event->pid << 42);
}

/*
 * A GIL stays known for its pid, whatever becomes of the process: another one of the same pid
 * would need another condition variable at the same address to be mistaken. Learning on arrival
 * lets a release be recognised that stands before the acquire in the file, or even in time.
 */
static int learn_gil(struct order *o, const struct event *event)
{
	uint64_t key = gil_key(event);

	if (key == o->last_gil)
		return 0;
	o->last_gil = key;
	return map_put(&o->gils, key, 1);
}

int order_feed(struct order *o, const struct event *event, struct err *err)
{
	struct stream *stream = &o->streams[event->stream];
	int r = 0;

	assert(event->stream < o->n_streams);
	if ((event->kind == EVENT_ACQUIRE || event->kind == EVENT_WANT) && event->gil)
		r = learn_gil(o, event);
	if (r == 0)
		r = runs_add(&o->window, event);
	if (r < 0)
		return err_nomem(err);
	if (event->time_ns > stream->newest_ns)
		stream->newest_ns = event->time_ns;
	return 0;
}

static bool same_payload(const struct event *a, const struct event *b)
{
	switch (a->kind) {
	case EVENT_SWITCH_OUT:
		return a->out.state == b->out.state && a->out.preempted == b->out.preempted;
	case EVENT_WAKEUP:
		return a->by == b->by;
	case EVENT_SWITCH_IN:
	case EVENT_EXIT:
		return true;
	case EVENT_COMM:
	case EVENT_EXEC:
		return strcmp(a->comm, b->comm) == 0;
	case EVENT_MMAP:
		return strcmp(a->mmap->path, b->mmap->path) == 0 &&
		       a->mmap->start == b->mmap->start && a->mmap->size == b->mmap->size;
	case EVENT_FORK:
		return a->fork.pid == b->fork.pid && a->fork.tid == b->fork.tid;
	default:
		return a->gil == b->gil; /* eight bytes, whatever they mean */
	}
}

/* The event that events[at] repeats, or NULL. */
static const struct event *duplicate_of(const struct event *events, size_t at)
{
	const struct event *event = &events[at];
	size_t first = at > MAX_NEIGHBOURS ? at - MAX_NEIGHBOURS : 0;

	if (!event->time_ns)
		return NULL;
	for (size_t i = at; i-- > first && events[i].time_ns == event->time_ns;) {
		const struct event *other = &events[i];

		if (other->tid == event->tid && other->kind == event->kind &&
			other->pid == event->pid && other->cpu == event->cpu &&
			same_payload(other, event))
			return other;
	}
	return NULL;
}

/* Makes release and yield of candidates. False: it concerns no GIL. */
static bool resolve(const struct order *o, struct event *event)
{
	if (event->kind < EVENT_KINDS)
		return true;
	if (!map_get(&o->gils, gil_key(event)))
		return false;
	event->kind = event->kind == EVENT_SIGNAL ? EVENT_RELEASE : EVENT_YIELD;
	return true;
}

/* What was there before the recording gets the time of the first event, or of the latest. */
static uint64_t time_of_timeless(const struct order *o)
{
	size_t first = runs_upto(&o->window, 0);

	if (o->left_ns || first == o->window.n)
		return o->left_ns;
	return o->window.items[first].time_ns;
}

static int let_go(struct order *o, struct event *event, struct err *err)
{
	if (!event->time_ns)
		event->time_ns = time_of_timeless(o);
	if (event->time_ns < o->left_ns)
		o->stats.late++;
	else
		o->left_ns = event->time_ns;
	o->stats.events++;
	return o->emit(o->user, event, err);
}

/* Gives out what is as old as @limit_ns. */
static int emit_upto(struct order *o, uint64_t limit_ns, struct err *err)
{
	size_t n;
	int r = runs_merge(&o->window);

	if (r < 0)
		return err_nomem(err);
	n = runs_upto(&o->window, limit_ns);
	for (size_t i = 0; i < n && r >= 0; i++) {
		struct event event = o->window.items[i];
		const struct event *twin = duplicate_of(o->window.items, i);

		if (twin) /* inputs recorded side by side share the tasks' records: no fault */
			o->stats.duplicated += twin->stream == event.stream;
		else if (!resolve(o, &event))
			o->stats.foreign++;
		else
			r = let_go(o, &event, err);
	}
	runs_drop(&o->window, n);
	return r < 0 ? r : 0;
}

/* What all streams have passed. */
static uint64_t common_limit(const struct order *o)
{
	uint64_t limit_ns = UINT64_MAX;

	for (size_t i = 0; i < o->n_streams; i++)
		if (!o->streams[i].ended && o->streams[i].limit_ns < limit_ns)
			limit_ns = o->streams[i].limit_ns;
	return limit_ns;
}

int order_round(struct order *o, uint8_t stream, struct err *err)
{
	struct stream *s = &o->streams[stream];
	uint64_t before_ns = common_limit(o);
	uint64_t limit_ns;

	s->limit_ns = s->round_ns;
	s->round_ns = s->newest_ns;
	limit_ns = common_limit(o);
	return limit_ns > before_ns ? emit_upto(o, limit_ns, err) : 0;
}

int order_end(struct order *o, uint8_t stream, struct err *err)
{
	uint64_t limit_ns;

	o->streams[stream].ended = true;
	limit_ns = common_limit(o);
	return limit_ns ? emit_upto(o, limit_ns, err) : 0;
}

int order_flush(struct order *o, struct err *err)
{
	return emit_upto(o, UINT64_MAX, err);
}

const struct order_stats *order_stats(const struct order *o)
{
	return &o->stats;
}

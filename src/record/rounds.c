/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: rounds. In: one buffer per CPU. Out: the traced tree's records, in perf.data.
 *
 *   round 1   read A (all CPUs)   learn A
 *   round 2   read B              learn B   filter and write A
 *   round 3   read C              learn C   filter and write B
 *
 * Invariant: when A is filtered, everything that happened before the end of A was learned: a FORK
 * that CPU 0 wrote just after it was read, and whose child is in A already on CPU 1, is in B.
 */
#include "record/rounds.h"

#include "base/vec.h"

#include <errno.h>
#include <perf/evlist.h>
#include <perf/mmap.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void rounds_done(struct rounds *rounds)
{
	free(rounds->read.items);
	free(rounds->waiting.items);
	rounds->read = rounds->waiting = (struct batch){0};
}

static int take_record(struct rounds *rounds, const struct perf_event_header *record)
{
	struct batch *batch = &rounds->read;

	if (vec_reserve(&batch->items, &batch->cap, batch->n + record->size, 1) < 0)
		return -ENOMEM;
	memcpy(batch->items + batch->n, record, record->size);
	batch->n += record->size;
	return filter_take(rounds->filter, record);
}

/*
 * At most a buffer's worth, since perf_mmap__read_event goes on for as long as events arrive.
 * perf_mmap__read_done is not called: it would skip what arrived since the last read.
 */
static int empty_buffer(struct rounds *rounds, struct perf_mmap *map, size_t buffer_bytes)
{
	size_t before = rounds->read.n;
	union perf_event *event;
	int r = 0;

	if (perf_mmap__read_init(map) < 0)
		return 0;
	while (r >= 0 && rounds->read.n - before < buffer_bytes &&
		(event = perf_mmap__read_event(map)))
		r = take_record(rounds, (const struct perf_event_header *)event);
	perf_mmap__consume(map);
	return r;
}

static int empty_buffers(struct rounds *rounds, struct events *events)
{
	struct perf_mmap *map;
	int r = 0;

	perf_evlist__for_each_mmap(events->evlist, map, false)
	{
		r = empty_buffer(rounds, map, events->buffer_bytes);
		if (r < 0)
			break;
	}
	return r;
}

static bool write_waiting(struct rounds *rounds)
{
	const struct batch *batch = &rounds->waiting;
	bool any = false;

	for (size_t at = 0; at < batch->n;) {
		struct perf_event_header *record = (struct perf_event_header *)(batch->items + at);

		at += record->size;
		if (!filter_keep(rounds->filter, record))
			continue;
		perfdata_writer_record(rounds->writer, record, record->size);
		any = true;
	}
	return any;
}

static int learn_batch(struct rounds *rounds, const struct batch *batch)
{
	int r = 0;

	for (size_t at = 0; r >= 0 && at < batch->n;) {
		const struct perf_event_header *record =
			(const struct perf_event_header *)(batch->items + at);

		at += record->size;
		r = filter_learn(rounds->filter, record);
	}
	return r;
}

static int read_and_learn(struct rounds *rounds, uint64_t until_ns)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < rounds->n_events; i++)
		r = empty_buffers(rounds, &rounds->events[i]);
	if (r < 0)
		return r;
	r = filter_settle(rounds->filter, until_ns);
	/* what waits may be of tasks that became known just now */
	if (r > 0)
		r = learn_batch(rounds, &rounds->waiting);
	return r < 0 ? r : learn_batch(rounds, &rounds->read);
}

static int turn(struct rounds *rounds, uint64_t until_ns, struct err *err)
{
	struct batch written = rounds->waiting;
	int r = 0;

	if (read_and_learn(rounds, until_ns) < 0)
		return err_nomem(err);
	if (write_waiting(rounds))
		r = perfdata_writer_round(rounds->writer, err);
	tree_next_round(&rounds->filter->tree);
	rounds->waiting = rounds->read;
	rounds->read = written;
	rounds->read.n = 0;
	return r;
}

int rounds_turn(struct rounds *rounds, struct err *err)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return turn(rounds, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, err);
}

int rounds_finish(struct rounds *rounds, struct err *err)
{
	int r;

	do
		r = turn(rounds, UINT64_MAX, err);
	while (r >= 0 && rounds->waiting.n);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the filter. In: records of all tasks of the machine. Out: those of the traced tree.
 *
 * Invariant: every event has EVENTS_SAMPLE_TYPE, so the fields lie at fixed places: those of a
 * sample at its start, those of any other record at its end.
 */
#include "record/filter.h"

#include <errno.h>
#include <string.h>

/* The body of a sample. */
struct sample {
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint32_t raw_size;
	uint8_t raw[];
};

/* The end of any other record. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t id;
};

/* The body of FORK and EXIT. */
struct task {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

#define SAMPLE_SIZE offsetof(struct sample, raw)

int filter_init(struct filter *filter, const struct events *events)
{
	*filter = (struct filter){0};
	for (size_t i = 0; i < events->n; i++)
		for (size_t cpu = 0; cpu < events->n_cpus; cpu++)
			if (map_put(&filter->ids, events->items[i].ids[cpu],
				    (uint64_t)(uintptr_t)&events->items[i]) < 0)
				return -ENOMEM;
	return 0;
}

void filter_done(struct filter *filter)
{
	tree_done(&filter->tree);
	map_done(&filter->ids);
}

/* NULL when the record is too short. */
static const void *body(const struct perf_event_header *record, size_t size)
{
	return record->size >= sizeof(*record) + size ? record + 1 : NULL;
}

static uint64_t time_of(const struct perf_event_header *record)
{
	struct trailer trailer;

	if (!body(record, sizeof(trailer)))
		return 0;
	memcpy(&trailer, (const uint8_t *)record + record->size - sizeof(trailer), sizeof(trailer));
	return trailer.time_ns;
}

static const struct source *source_of(const struct filter *filter,
	const struct perf_event_header *record, const uint8_t **ret_raw, struct sample *ret)
{
	const uint8_t *bytes = body(record, SAMPLE_SIZE);

	if (!bytes)
		return NULL;
	memcpy(ret, bytes, SAMPLE_SIZE);
	if (ret->raw_size > record->size - sizeof(*record) - SAMPLE_SIZE)
		return NULL;
	*ret_raw = bytes + SAMPLE_SIZE;
	return map_get_ptr(&filter->ids, ret->id);
}

static bool raw_u32(const struct sample *sample, const uint8_t *raw, unsigned offset, uint32_t *ret)
{
	if (offset > sample->raw_size || sample->raw_size - offset < sizeof(*ret))
		return false;
	memcpy(ret, raw + offset, sizeof(*ret));
	return true;
}

/* The address of the condition variable `cond` of the GIL that the argument names. */
static bool raw_cond(
	const struct sample *sample, const uint8_t *raw, const struct source *source, uint64_t *ret)
{
	unsigned offset = source->offsets[0];

	if (offset > sample->raw_size || sample->raw_size - offset < sizeof(*ret))
		return false;
	memcpy(ret, raw + offset, sizeof(*ret));
	if (source->site == LOCATE_ACQUIRE || source->site == LOCATE_WAIT)
		*ret -= (uint64_t)source->switch_delta;
	return true;
}

static int learn_sample(struct filter *filter, const struct perf_event_header *record)
{
	struct sample sample;
	const uint8_t *raw;
	const struct source *source = source_of(filter, record, &raw, &sample);
	uint64_t cond;

	/* only take_gil's own sites prove that the argument is a GIL's */
	if (!source || source->kind != SOURCE_GIL ||
		(source->site != LOCATE_ACQUIRE && source->site != LOCATE_TIMEDWAIT) ||
		!raw_cond(&sample, raw, source, &cond))
		return 0;
	return tree_learn_gil(&filter->tree, sample.pid, cond, sample.time_ns);
}

int filter_learn(struct filter *filter, const struct perf_event_header *record)
{
	const void *bytes = NULL;
	struct task task;
	uint32_t pid;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return learn_sample(filter, record);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		bytes = body(record, sizeof(task));
		if (!bytes)
			return 0;
		memcpy(&task, bytes, sizeof(task));
		return record->type == PERF_RECORD_FORK
			       ? tree_fork(&filter->tree, task.pid, task.tid, task.ppid, task.ptid)
			       : tree_exit(&filter->tree, task.pid, task.tid, task.time_ns);
	case PERF_RECORD_COMM:
		bytes = body(record, sizeof(pid));
		if (!bytes || !(record->misc & PERF_RECORD_MISC_COMM_EXEC))
			return 0;
		memcpy(&pid, bytes, sizeof(pid));
		return tree_exec(&filter->tree, pid, time_of(record));
	default:
		return 0;
	}
}

static bool keep_sample(struct filter *filter, const struct perf_event_header *record)
{
	struct sample sample;
	const uint8_t *raw;
	const struct source *source = source_of(filter, record, &raw, &sample);
	const struct tree *tree = &filter->tree;
	uint32_t tids[2] = {0};
	uint64_t cond;
	bool keep = false;

	if (!source)
		return false;
	switch (source->kind) {
	case SOURCE_TASK:
		break;
	case SOURCE_SWITCH:
		keep = raw_u32(&sample, raw, source->offsets[0], &tids[0]) &&
		       raw_u32(&sample, raw, source->offsets[1], &tids[1]) &&
		       (tree_has_task(tree, tids[0]) || tree_has_task(tree, tids[1]));
		break;
	case SOURCE_WAKEUP:
		keep = raw_u32(&sample, raw, source->offsets[0], &tids[0]) &&
		       tree_has_task(tree, tids[0]);
		break;
	case SOURCE_GIL:
		keep = raw_cond(&sample, raw, source, &cond) &&
		       tree_has_gil(tree, sample.pid, cond);
		break;
	case SOURCE_MARK:
		keep = tree_has_process(tree, sample.pid);
		break;
	}
	if (!keep)
		return false;
	filter->samples++;
	if (!filter->first_ns || sample.time_ns < filter->first_ns)
		filter->first_ns = sample.time_ns;
	if (sample.time_ns > filter->last_ns)
		filter->last_ns = sample.time_ns;
	return true;
}

bool filter_keep(struct filter *filter, const struct perf_event_header *record)
{
	uint64_t lost[2]; /* id, how many */
	uint32_t ids[2];  /* pid, tid or ppid */
	const void *bytes;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return keep_sample(filter, record);
	case PERF_RECORD_LOST:
		bytes = body(record, sizeof(lost));
		if (!bytes)
			return false;
		memcpy(lost, bytes, sizeof(lost));
		filter->lost += lost[1];
		return true;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		bytes = body(record, sizeof(ids));
		if (!bytes)
			return false;
		memcpy(ids, bytes, sizeof(ids));
		return tree_has_process(&filter->tree, ids[0]);
	default:
		return false;
	}
}

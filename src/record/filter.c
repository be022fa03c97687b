/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the filter. In: records of all tasks of the machine. Out: those of the traced tree.
 *
 * Invariant: every event has EVENTS_SAMPLE_TYPE, so the fields lie at fixed places: those of a
 * sample at its start, those of any other record at its end.
 */
#include "record/filter.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
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

/* The body of MMAP2, before the file's name. */
struct mapping {
	uint32_t pid, tid;
	uint64_t start, size, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
};

enum { FILE_ASKED_ABOUT, FILE_KNOWN };

#define SAMPLE_SIZE offsetof(struct sample, raw)
#define COMMON_PID_OFFSET 4 /* struct trace_entry */
#define NO_TID UINT32_MAX   /* of a task that is about to be gone */

int filter_add(struct filter *filter, const struct events *events)
{
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
	free(filter->changes.items);
	map_done(&filter->ids);
	map_done(&filter->local);
	map_done(&filter->files);
	free(filter->strangers.items);
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

/* What kind of sample it is; its fixed fields and where its raw data lies. NULL: none of ours. */
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

/* A sample names its task twice: as we see it, and in the raw data as the machine does. */
static int learn_tid(struct filter *filter, const struct sample *sample, const uint8_t *raw)
{
	uint32_t tid;

	if (sample->tid == NO_TID || !tree_has_task(&filter->tree, sample->tid) ||
		!raw_u32(sample, raw, COMMON_PID_OFFSET, &tid))
		return 0;
	return map_put(&filter->local, tid, sample->tid);
}

static void put_our_tid(
	const struct filter *filter, const struct sample *sample, uint8_t *raw, unsigned offset)
{
	uint32_t tid, ours = 0;
	const uint64_t *found;

	if (!raw_u32(sample, raw, offset, &tid))
		return;
	found = map_get(&filter->local, tid);
	if (found)
		ours = (uint32_t)*found;
	memcpy(raw + offset, &ours, sizeof(ours));
}

static void translate(const struct filter *filter, struct perf_event_header *record)
{
	struct sample sample;
	const uint8_t *found;
	const struct source *source = source_of(filter, record, &found, &sample);
	uint8_t *raw = (uint8_t *)(record + 1) + SAMPLE_SIZE;

	if (!source)
		return;
	put_our_tid(filter, &sample, raw, COMMON_PID_OFFSET);
	if (source->kind == SOURCE_SWITCH || source->kind == SOURCE_WAKEUP)
		put_our_tid(filter, &sample, raw, source->offsets[0]);
	if (source->kind == SOURCE_SWITCH)
		put_our_tid(filter, &sample, raw, source->offsets[1]);
}

static uint64_t file_key(uint32_t major, uint32_t minor, uint64_t inode)
{
	return inode ^ (uint64_t)major << 52 ^ (uint64_t)minor << 32;
}

int filter_know(struct filter *filter, uint32_t major, uint32_t minor, uint64_t inode)
{
	return map_put(&filter->files, file_key(major, minor, inode), FILE_KNOWN);
}

bool filter_knows(const struct filter *filter, uint32_t major, uint32_t minor, uint64_t inode)
{
	const uint64_t *file = map_get(&filter->files, file_key(major, minor, inode));

	return file && *file == FILE_KNOWN;
}

pid_t filter_next_stranger(struct filter *filter)
{
	return filter->strangers.n ? filter->strangers.items[--filter->strangers.n] : 0;
}

static bool is_python(const char *path, size_t size)
{
	const char *end = memchr(path, 0, size), *slash;

	if (!end)
		return false;
	slash = strrchr(path, '/');
	return strstr(slash ? slash : path, "python") != NULL;
}

static int learn_mapping(struct filter *filter, const struct perf_event_header *record)
{
	const struct mapping *bytes = body(record, sizeof(*bytes) + sizeof(struct trailer));
	size_t name = sizeof(*record) + sizeof(*bytes) + sizeof(struct trailer);
	struct mapping map;

	if (!bytes || record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return 0;
	memcpy(&map, bytes, sizeof(map));
	if (!tree_has_process(&filter->tree, map.pid) ||
		!is_python((const char *)(bytes + 1), record->size - name) ||
		map_get(&filter->files, file_key(map.major, map.minor, map.inode)))
		return 0;
	if (vec_grow(&filter->strangers) < 0)
		return -ENOMEM;
	filter->strangers.items[filter->strangers.n++] = (pid_t)map.pid;
	/* a file system may show stat another device: then a known file is asked about, once */
	return map_put(&filter->files, file_key(map.major, map.minor, map.inode), FILE_ASKED_ABOUT);
}

int filter_learn(struct filter *filter, const struct perf_event_header *record)
{
	struct sample sample;
	const struct source *source;
	const uint8_t *raw;
	uint64_t cond;

	if (record->type == PERF_RECORD_MMAP2)
		return learn_mapping(filter, record);
	if (record->type != PERF_RECORD_SAMPLE)
		return 0;
	source = source_of(filter, record, &raw, &sample);
	if (!source)
		return 0;
	if (filter->translate && learn_tid(filter, &sample, raw) < 0)
		return -ENOMEM;
	/* only take_gil's own sites prove that the argument is a GIL's */
	if (source->kind != SOURCE_GIL ||
		(source->site != LOCATE_ACQUIRE && source->site != LOCATE_TIMEDWAIT) ||
		!raw_cond(&sample, raw, source, &cond))
		return 0;
	if (!tree_has_process(&filter->tree, sample.pid))
		return 0;
	filter->gil_seen = true;
	return tree_learn_gil(&filter->tree, sample.pid, cond, sample.time_ns);
}

static int note(struct filter *filter, struct filter_change change)
{
	if (vec_grow(&filter->changes) < 0)
		return -ENOMEM;
	filter->changes.items[filter->changes.n++] = change;
	return 0;
}

int filter_take(struct filter *filter, const struct perf_event_header *record)
{
	const void *bytes;
	struct task task;
	uint32_t pid;

	switch (record->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		bytes = body(record, sizeof(task));
		if (!bytes)
			return 0;
		memcpy(&task, bytes, sizeof(task));
		return note(filter, (struct filter_change){task.time_ns, record->type, task.pid,
					    task.ppid, task.tid, task.ptid});
	case PERF_RECORD_COMM:
		bytes = body(record, sizeof(pid));
		if (!bytes || !(record->misc & PERF_RECORD_MISC_COMM_EXEC))
			return 0;
		memcpy(&pid, bytes, sizeof(pid));
		return note(filter,
			(struct filter_change){time_of(record), record->type, pid, 0, pid, 0});
	case PERF_RECORD_LOST:
		filter->gap = true;
		return 0;
	default:
		return 0;
	}
}

static int apply(struct tree *tree, const struct filter_change *change)
{
	switch (change->type) {
	case PERF_RECORD_FORK:
		return tree_fork(tree, change->pid, change->tid, change->ppid, change->ptid);
	case PERF_RECORD_EXIT:
		return tree_exit(tree, change->pid, change->tid, change->time_ns);
	default:
		return tree_exec(tree, change->pid, change->time_ns);
	}
}

static int compare_times(const void *a, const void *b)
{
	const struct filter_change *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

int filter_settle(struct filter *filter, uint64_t until_ns)
{
	size_t n = 0, left;

	if (filter->changes.n)
		qsort(filter->changes.items, filter->changes.n, sizeof(*filter->changes.items),
			compare_times);
	for (; n < filter->changes.n && filter->changes.items[n].time_ns <= until_ns; n++)
		if (apply(&filter->tree, &filter->changes.items[n]) < 0)
			return -ENOMEM;
	left = filter->changes.n - n;
	if (n && left)
		memmove(filter->changes.items, filter->changes.items + n,
			left * sizeof(*filter->changes.items));
	filter->changes.n = left;
	return n > 0;
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

bool filter_keep(struct filter *filter, struct perf_event_header *record)
{
	uint64_t lost[2]; /* id, how many */
	uint32_t ids[2];  /* pid, tid or ppid */
	const void *bytes;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		if (filter->translate)
			translate(filter, record);
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

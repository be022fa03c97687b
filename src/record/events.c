/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: opening events with libperf. In: probes. Out: one evlist, disabled, mapped.
 *
 * Invariant: every event of a CPU writes into that CPU's one buffer, so the records of a CPU are
 * in order, and a FORK stands before what the child does.
 */
#include "record/events.h"

#include "base/vec.h"
#include "record/explain.h"
#include "record/fds.h"
#include "record/tracing.h"

#include <errno.h>
#include <perf/cpumap.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/threadmap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/*
 * Per CPU. 2 MiB lost nothing when only the traced program was busy, but 2,934 of 170,000 events
 * beside a busy disk; many CPUs share what is asked for in all.
 */
#define BUFFER_DEFAULT (8u << 20)
#define BUFFER_DEFAULT_ALL (256u << 20)
#define BUFFER_MIN (128u << 10)
#define BUFFER_MAX (1u << 30)
#define READ_FORMAT_LOST (1u << 4) /* PERF_FORMAT_LOST, since Linux 6.0 */

static int keep_quiet(enum libperf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

/* libperf copies the attr of its own, perhaps newer, header. */
union attr_room {
	struct perf_event_attr attr;
	char room[256];
};

static union attr_room attr_for(const struct source *source, size_t buffer_bytes, bool count_lost)
{
	union attr_room a = {.room = {0}};
	struct perf_event_attr *attr = &a.attr;

	attr->size = PERF_ATTR_SIZE_VER5;
	attr->config = source->config;
	attr->sample_type = EVENTS_SAMPLE_TYPE;
	attr->read_format = PERF_FORMAT_ID | (count_lost ? READ_FORMAT_LOST : 0);
	attr->disabled = 1;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC; /* VizTracer's */
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(buffer_bytes / 4);
	if (source->kind == SOURCE_TASK) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
	} else {
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->sample_period = 1;
	}
	return a;
}

static int add(struct events *events, const struct source *source, struct err *err)
{
	if (vec_grow(events) < 0)
		return err_nomem(err);
	events->items[events->n++] = *source;
	return 0;
}

static int add_sched(struct events *events, enum source_kind kind, const char *name,
	const char *field0, const char *field1, struct err *err)
{
	struct source source = {.kind = kind, .group = "sched"};
	int r;

	snprintf(source.name, sizeof(source.name), "%s", name);
	r = tracing_event_id("sched", name, &source.config, err);

	if (r >= 0)
		r = tracing_field_offset("sched", name, field0, 4, &source.offsets[0], err);
	if (r >= 0 && field1)
		r = tracing_field_offset("sched", name, field1, 4, &source.offsets[1], err);
	return r < 0 ? r : add(events, &source, err);
}

static int add_probe(struct events *events, const struct probes *probes, const struct probe *probe,
	struct err *err)
{
	struct source source = {
		.kind = probe->mark ? SOURCE_MARK : SOURCE_GIL,
		.config = probe->id,
		.offsets = {probe->gil_offset},
		.site = probe->kind,
		.switch_delta = probe->switch_delta,
	};

	memcpy(source.group, probes->group, sizeof(source.group));
	memcpy(source.name, probe->name, sizeof(source.name));
	return add(events, &source, err);
}

static int list_probes(
	struct events *events, const struct probes *probes, size_t first, struct err *err)
{
	int r = 0;

	for (size_t i = first; r >= 0 && i < probes->n; i++)
		r = add_probe(events, probes, &probes->items[i], err);
	return r;
}

static int list_sources(struct events *events, const struct probes *probes, struct err *err)
{
	struct source task = {.kind = SOURCE_TASK, .name = "dummy", .config = PERF_COUNT_SW_DUMMY};
	int r = add(events, &task, err);

	if (r >= 0)
		r = add_sched(events, SOURCE_SWITCH, "sched_switch", "prev_pid", "next_pid", err);
	if (r >= 0)
		r = add_sched(events, SOURCE_WAKEUP, "sched_waking", "pid", NULL, err);
	if (r >= 0)
		r = add_sched(events, SOURCE_WAKEUP, "sched_wakeup", "pid", NULL, err);
	if (r >= 0)
		r = add_sched(events, SOURCE_WAKEUP, "sched_wakeup_new", "pid", NULL, err);
	return r < 0 ? r : list_probes(events, probes, 0, err);
}

/* One descriptor per event and CPU, beside those that are open. */
static void raise_file_limit(size_t more)
{
	struct rlimit limit;
	int next = dup(STDIN_FILENO);
	size_t need = more + (next > 0 ? (size_t)next : 0) + 128;

	if (next >= 0)
		close(next);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need)
		return;
	limit.rlim_cur = need;
	if (limit.rlim_max < need)
		limit.rlim_max = need; /* for root; else the next try is what is allowed */
	if (setrlimit(RLIMIT_NOFILE, &limit) == 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_all(struct events *events, bool count_lost, struct err *err)
{
	events->evlist = perf_evlist__new();
	if (!events->evlist)
		return err_nomem(err);
	for (size_t i = 0; i < events->n; i++) {
		struct source *source = &events->items[i];
		union attr_room room = attr_for(source, events->buffer_bytes, count_lost);

		source->evsel = perf_evsel__new(&room.attr);
		if (!source->evsel)
			return err_nomem(err);
		perf_evlist__add(events->evlist, source->evsel);
	}
	perf_evlist__set_maps(events->evlist, events->cpus, events->threads);
	/* one by one, since perf_evlist__open does not tell which of them failed */
	for (size_t i = 0; i < events->n; i++) {
		struct source *source = &events->items[i];
		int r = perf_evsel__open(source->evsel, events->cpus, events->threads);

		if (r < 0)
			return r == -EINVAL && count_lost ? r : explain_open(source, r, err);
	}
	return 0;
}

static int map_buffers(struct events *events, struct err *err)
{
	long page = sysconf(_SC_PAGESIZE);

	if (perf_evlist__mmap(events->evlist, (int)(events->buffer_bytes / (size_t)page)) == 0)
		return 0;
	return errno ? -errno : -EINVAL;
}

static void close_all(struct events *events)
{
	perf_evlist__delete(events->evlist);
	events->evlist = NULL;
	for (size_t i = 0; i < events->n; i++)
		events->items[i].evsel = NULL;
}

/* Kernels before 6.0 refuse to count losses; a small locked-memory limit refuses big buffers. */
static int open_and_map(struct events *events, struct err *err)
{
	bool count_lost = true;

	for (;;) {
		int r = open_all(events, count_lost, err);

		if (r == -EINVAL && count_lost && !err->text[0]) {
			count_lost = false;
		} else if (r < 0) {
			return r;
		} else {
			r = map_buffers(events, err);
			if (r >= 0)
				return 0;
			if ((r != -EPERM && r != -ENOMEM) || events->buffer_bytes <= BUFFER_MIN)
				return explain_mmap(events->buffer_bytes, events->n_cpus, r, err);
			events->buffer_bytes /= 2;
		}
		close_all(events);
	}
}

static int read_ids(struct events *events, struct err *err)
{
	for (size_t i = 0; i < events->n; i++) {
		struct source *source = &events->items[i];

		source->ids = calloc(events->n_cpus, sizeof(*source->ids));
		if (!source->ids)
			return err_nomem(err);
		for (size_t cpu = 0; cpu < events->n_cpus; cpu++) {
			struct perf_counts_values counts;
			int r = perf_evsel__read(source->evsel, (int)cpu, 0, &counts);

			if (r < 0)
				return err_errno(
					err, r, "cannot read the id of event '%s'", source->name);
			source->ids[cpu] = counts.id;
		}
	}
	return 0;
}

static size_t round_buffer(uint64_t bytes)
{
	size_t size = BUFFER_MIN;

	while (size < bytes && size < BUFFER_MAX)
		size *= 2;
	return size;
}

static int init(struct events *events, uint64_t buffer_bytes, struct err *err)
{
	libperf_init(keep_quiet);
	*events = (struct events){0};
	events->cpus = perf_cpu_map__new(NULL);
	events->threads = perf_thread_map__new_dummy();
	if (!events->cpus || !events->threads)
		return err_nomem(err);
	events->n_cpus = (size_t)perf_cpu_map__nr(events->cpus);
	events->buffer_bytes = round_buffer(buffer_bytes ?: BUFFER_DEFAULT);
	while (!buffer_bytes && events->buffer_bytes > BUFFER_MIN &&
		events->buffer_bytes > BUFFER_DEFAULT_ALL / events->n_cpus)
		events->buffer_bytes /= 2;
	return 0;
}

static int open_listed(struct events *events, struct err *err)
{
	int r;

	raise_file_limit(events->n * events->n_cpus);
	r = open_and_map(events, err);
	if (r >= 0)
		r = read_ids(events, err);
	if (r >= 0)
		r = fds_of_events(&events->fds, &events->n_fds);
	return r == -ENOMEM ? err_nomem(err) : r;
}

int events_open(
	struct events *events, const struct probes *probes, uint64_t buffer_bytes, struct err *err)
{
	int r = init(events, buffer_bytes, err);

	if (r >= 0)
		r = list_sources(events, probes, err);
	return r < 0 ? r : open_listed(events, err);
}

int events_open_more(struct events *events, const struct probes *probes, size_t first,
	uint64_t buffer_bytes, struct err *err)
{
	int r = init(events, buffer_bytes, err);

	if (r >= 0)
		r = list_probes(events, probes, first, err);
	return r < 0 ? r : open_listed(events, err);
}

void events_enable(struct events *events)
{
	perf_evlist__enable(events->evlist);
}

void events_disable(struct events *events)
{
	perf_evlist__disable(events->evlist);
}

const struct perf_event_attr *events_attr(const struct source *source)
{
	return perf_evsel__attr(source->evsel);
}

void events_done(struct events *events)
{
	if (events->evlist)
		close_all(events);
	perf_cpu_map__put(events->cpus);
	perf_thread_map__put(events->threads);
	for (size_t i = 0; i < events->n; i++)
		free(events->items[i].ids);
	free(events->items);
	free(events->fds);
	*events = (struct events){0};
}

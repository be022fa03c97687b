/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the events of one recording, opened on every online CPU, with one buffer per CPU.
 */
#ifndef GILPROBE_RECORD_EVENTS_H
#define GILPROBE_RECORD_EVENTS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "record/probes.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

enum source_kind {
	SOURCE_TASK, /* the dummy event that carries FORK, EXIT, COMM and MMAP2 */
	SOURCE_SWITCH,
	SOURCE_WAKEUP,
	SOURCE_GIL,
	SOURCE_MARK,
};

/* One event, and what the filter must know of its raw data. */
struct source {
	enum source_kind kind;
	char group[64]; /* "": no tracepoint */
	char name[48];
	uint64_t config;
	unsigned offsets[2]; /* GIL: argument; switch: prev_pid, next_pid; wakeup: pid */
	enum locate_kind site;
	int64_t switch_delta;
	uint64_t *ids; /* one per CPU, n_cpus of them */
	struct perf_evsel *evsel;
};

struct events {
	struct perf_evlist *evlist;
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads;
	struct source *items; /* the dummy first */
	size_t n, cap;
	size_t n_cpus;
	size_t buffer_bytes; /* per CPU, as it was granted */
	int *fds;	     /* of all events, for polling; they stay libperf's */
	size_t n_fds;
};

/* What every event records; the filter and the writer rely on it. */
#define EVENTS_SAMPLE_TYPE                                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |           \
		PERF_SAMPLE_RAW)

/* The first has all kinds, the others are of interpreters that were found later. */
#define EVENTS_MAX 9

/*
 * Opens the task event, sched_switch, sched_waking (which names the waker), sched_wakeup,
 * sched_wakeup_new and @probes, disabled, and maps the buffers. The error names the event that
 * failed.
 */
int events_open(
	struct events *events, const struct probes *probes, uint64_t buffer_bytes, struct err *err);

/* Opens only @probes from the @first on. */
int events_open_more(struct events *events, const struct probes *probes, size_t first,
	uint64_t buffer_bytes, struct err *err);

void events_enable(struct events *events);
void events_disable(struct events *events);

/* The attr as it was opened. */
const struct perf_event_attr *events_attr(const struct source *source);

/* Closes everything: the probes' share of this takes up to a tenth of a second each. */
void events_done(struct events *events);

DEFINE_CLEANUP(struct events, events, events_done)

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: reading tracefs: tracepoint ids, the offsets of fields, whole files.
 */
#ifndef GILPROBE_RECORD_TRACING_H
#define GILPROBE_RECORD_TRACING_H

#include "base/err.h"
#include "base/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes sure that tracefs is mounted (root mounts it). -ENODEV: it is not and cannot be;
 * -EACCES: it is, but we may not look into it.
 */
int tracing_ready(struct err *err);

/* True when @group has at least one event. */
bool tracing_has_group(const char *group);

/* The tracepoint id of @group:@event. */
int tracing_event_id(const char *group, const char *event, uint64_t *ret, struct err *err);

/* Where @field of @size bytes lies in the raw data of @group:@event. */
int tracing_field_offset(const char *group, const char *event, const char *field, unsigned size,
	unsigned *ret, struct err *err);

/* The format file of @group:@event, to be freed by the caller; NULL with words in @err. */
char *tracing_format(const char *group, const char *event, size_t *ret_size, struct err *err);

/* An event whose format file goes into the recording. */
struct tracing_event {
	const char *group, *name;
};

/*
 * The TRACING_DATA section for @events, in which those of one group are neighbours, as
 * tools/perf/util/trace-event-info.c of the Linux sources lays it out. 0 and a memory sink.
 */
int tracing_data(const struct tracing_event *events, size_t n, struct out **ret, struct err *err);

#endif

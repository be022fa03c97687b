/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfbuild, inside: bytes of either order, and the builder's state. */
#ifndef GILPROBE_TESTS_LIB_PERFBUILD_INTERNAL_H
#define GILPROBE_TESTS_LIB_PERFBUILD_INTERNAL_H

#include "perfbuild.h"

#define PERFBUILD_MAX_EVENTS 64
#define PERFBUILD_ID_BASE 1000u

struct bytes {
	uint8_t *items;
	size_t n, cap;
	bool big_endian;
};

/* The lowest @width bytes of @value. */
void bytes_put(struct bytes *b, uint64_t value, size_t width);
void bytes_add(struct bytes *b, const void *from, size_t size);
void bytes_zero(struct bytes *b, size_t size);
/* With its NUL. */
void bytes_str(struct bytes *b, const char *text);
/* Overwrites at @at. */
void bytes_set(struct bytes *b, size_t at, uint64_t value, size_t width);
/* Zeros up to a multiple of @unit. */
void bytes_pad(struct bytes *b, size_t unit);

enum event_form {
	FORM_ENTRY,
	FORM_ENTRY_GIL,
	FORM_RETURN,
	FORM_SWITCH,
	FORM_WAKEUP,
	FORM_TASK, /* software dummy: no format file */
	FORM_CLOCK,
};

struct build_event {
	char name[80];
	enum event_form form;
	uint32_t tracepoint_id;
};

struct perfbuild {
	unsigned flags;
	struct build_event events[PERFBUILD_MAX_EVENTS];
	size_t n_events;
	uint32_t pid, tid, cpu;
	uint8_t trace_flags; /* of tracepoints' samples */
	struct bytes data;
	struct bytes file;
};

/* The TRACING_DATA blob of all events, as tracing_data_get of perf writes it. */
void perfbuild_tracing(struct perfbuild *b, struct bytes *to);

/* Assembles b->file. */
void perfbuild_assemble(struct perfbuild *b);

/* Appends the data, compressed or not. */
void perfbuild_put_data(const struct perfbuild *b, struct bytes *to);

/* PERF_SAMPLE_… of every event, and its read_format. */
uint64_t perfbuild_sample_type(const struct perfbuild *b);

#endif

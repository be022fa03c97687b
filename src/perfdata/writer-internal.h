/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata, inside: the writer's state, shared by the data part and the feature part.
 */
#ifndef GILPROBE_PERFDATA_WRITER_INTERNAL_H
#define GILPROBE_PERFDATA_WRITER_INTERNAL_H

#include "perfdata/format.h"
#include "perfdata/writer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WRITER_FEATURES 64u
#define WRITER_ENTRY (PERF_ATTR_SIZE_VER5 + 16u) /* attr and the section of its ids */
#define WRITER_LATE_ATTRS 64u			 /* for which room is left */
#define WRITER_LATE_TRACING ((size_t)64 << 10)

struct writer_attr {
	struct perf_event_attr attr;
	char *name;
	uint64_t *ids;
	size_t n_ids;
};

struct writer_feature {
	void *bytes;
	size_t size;
	uint64_t at; /* when it is in the file already; 0: @bytes are to be written */
};

struct perfdata_writer {
	int fd;
	char *path;
	int error; /* the first one, sticks */
	bool begun, finished, since_round;

	struct writer_attr *items;
	size_t n, cap;
	size_t n_early; /* the first ones, whose entries stand before the data */
	size_t n_ids;	/* of all items */

	size_t attrs_room, ids_room; /* for how many there is place before the data */
	uint64_t attrs_at, ids_at;   /* offsets in the file */
	uint64_t tracing_room_at;    /* where the next TRACING_DATA would go */
	uint64_t data_at, data_size; /* written */
	uint8_t *tracing;	     /* the newest */
	size_t tracing_size;
	uint64_t tracing_at; /* 0: it did not fit before the data */

	uint8_t *buffer;
	size_t buffered;

	struct writer_feature features[WRITER_FEATURES];
	bool has_sample_time;
	uint64_t first_ns, last_ns;
};

/* All of these let the first error stick and return it. */
int writer_pwrite(struct perfdata_writer *w, uint64_t offset, const void *bytes, size_t size);
int writer_result(const struct perfdata_writer *w, struct err *err);

/* Writes the attrs from index @from with their ids to the tables at these offsets. */
int writer_tables(struct perfdata_writer *w, size_t from, uint64_t attrs_at, uint64_t ids_at);

/* @final: with the data's size and the features. */
int writer_header(struct perfdata_writer *w, bool final);

/* Makes EVENT_DESC and SAMPLE_TIME, writes table and bodies at *@at and moves it behind them. */
int writer_features(struct perfdata_writer *w, uint64_t *at);

#endif

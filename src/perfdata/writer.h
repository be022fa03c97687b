/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing perf.data: used by the recorder and by tests.
 *
 *
 *   header | attrs, room | ids, room | TRACING_DATA, room | data | features [| ids, attrs]
 *
 * The header says data.size 0 until the end, which makes readers take the rest of the file: a
 * killed recorder leaves what was flushed. Events and formats that come late go into the room
 * (holes of the file) at once; what does not fit is written behind the data at the end.
 */
#ifndef GILPROBE_PERFDATA_WRITER_H
#define GILPROBE_PERFDATA_WRITER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "perfdata/format.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_writer;

/* Takes over @fd (a seekable, empty, writable file) on success. @path is for messages. */
int perfdata_writer_new(int fd, const char *path, struct perfdata_writer **ret, struct err *err);

/* Closes the file as it stands: after an error, a file of an unfinished recording. */
void perfdata_writer_free(struct perfdata_writer *w);

DEFINE_CLEANUP(struct perfdata_writer, perfdata_writer, perfdata_writer_free)

/*
 * Adds an event before or during the data, which may then have records of its ids; @attr is copied
 * and cut to 112 bytes, the most that perf 6.1 accepts. @name ("group:event") goes into EVENT_DESC.
 * Returns its index or -errno.
 */
int perfdata_writer_add_attr(struct perfdata_writer *w, const struct perf_event_attr *attr,
	const char *name, const uint64_t *ids, size_t n_ids, struct err *err);

/*
 * Writes header, first ids and attrs, and the TRACING_DATA body (NULL: no tracepoints) before the
 * data. Call once, after the first attrs.
 */
int perfdata_writer_begin(
	struct perfdata_writer *w, const void *tracing_data, size_t size, struct err *err);

/* Replaces the TRACING_DATA body after begin, when events were added that it has to describe. */
int perfdata_writer_tracing_data(
	struct perfdata_writer *w, const void *tracing_data, size_t size, struct err *err);

/* Appends one whole record, header included. Buffered; errors stick and show in round. */
void perfdata_writer_record(struct perfdata_writer *w, const void *record, size_t size);

/*
 * Appends FINISHED_ROUND, if there were records since the last, and write()s what is buffered. To
 * be called when every buffer was read once: nothing older than what an earlier round brought may
 * come later. 0 or the first error.
 */
int perfdata_writer_round(struct perfdata_writer *w, struct err *err);

/* Sets the body of a feature section (HEADER_… number of perf); bytes are copied. */
int perfdata_writer_feature(struct perfdata_writer *w, unsigned feature, const void *bytes,
	size_t size, struct err *err);

/* The string form of a feature (HOSTNAME, OSRELEASE, VERSION, ARCH). */
int perfdata_writer_feature_str(
	struct perfdata_writer *w, unsigned feature, const char *text, struct err *err);

/* CMDLINE. */
int perfdata_writer_feature_argv(
	struct perfdata_writer *w, unsigned feature, char *const *argv, struct err *err);

/* CLOCKID and CLOCK_DATA: at @ref_ns of clock @clockid CLOCK_REALTIME was @wall_ns. */
int perfdata_writer_feature_clock(struct perfdata_writer *w, int32_t clockid, uint64_t wall_ns,
	uint64_t ref_ns, struct err *err);

/* NRCPUS. */
int perfdata_writer_feature_cpus(
	struct perfdata_writer *w, uint32_t available, uint32_t online, struct err *err);

/* EVENT_DESC and SAMPLE_TIME are made here. Writes features, ids, attrs, and the final header. */
int perfdata_writer_finish(struct perfdata_writer *w, struct err *err);

/* First and last event time, for SAMPLE_TIME. */
void perfdata_writer_sample_time(struct perfdata_writer *w, uint64_t first_ns, uint64_t last_ns);

/* Where the data ends, in bytes from the file's start. */
uint64_t perfdata_writer_bytes(const struct perfdata_writer *w);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading perf.data: a file, a pipe, or a directory; any byte order; plain or compressed.
 *
 * The reader yields records and never interprets them. The records that describe the file itself
 * (HEADER_ATTR, EVENT_UPDATE, FEATURE, TRACING_DATA, BUILD_ID, COMPRESSED, …) change its tables
 * and are not yielded. Format: tools/perf/Documentation/perf.data-file-format.txt and
 * include/uapi/linux/perf_event.h of the Linux sources.
 */
#ifndef GILPROBE_PERFDATA_PERFDATA_H
#define GILPROBE_PERFDATA_PERFDATA_H

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata;

/* One kind of event of the recording. Owned by the reader, stable until perfdata_free. */
struct perfdata_attr {
	uint32_t index;	      /* position in the file, from 0 */
	uint32_t type;	      /* PERF_TYPE_… */
	uint64_t config;      /* tracepoint id for PERF_TYPE_TRACEPOINT */
	uint64_t sample_type; /* PERF_SAMPLE_… */
	uint64_t read_format;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user, sample_regs_intr;
	uint64_t sample_freq; /* or period */
	bool sample_id_all;
	bool freq; /* sample_freq is a frequency: most events were dropped on purpose */
	bool inherit;
	bool context_switch; /* PERF_RECORD_SWITCH */
	bool use_clockid;
	int32_t clockid;
	const char *name; /* "group:event" from EVENT_DESC or EVENT_UPDATE, or NULL */
};

/* One record. The bytes belong to the reader and live until the next call of perfdata_next. */
struct perfdata_record {
	uint32_t type; /* PERF_RECORD_… */
	uint16_t misc;
	const uint8_t *body; /* behind the header */
	size_t size;	     /* of the body */
	uint64_t offset;     /* of the header, in the (decompressed) stream: for messages */
};

/* A sample's fields, or the sample_id trailer of another record. */
struct perfdata_sample {
	const struct perfdata_attr *attr; /* never NULL after success */
	uint64_t present; /* PERF_SAMPLE_… bits of the fields below that were there */
	uint64_t time, id, ip, addr, period;
	uint32_t pid, tid, cpu;
	const uint8_t
		*callchain; /* nr × u64 in file byte order, unaligned; PERF_CONTEXT_* inside */
	uint64_t callchain_nr;
	const uint8_t *raw; /* PERF_SAMPLE_RAW; unaligned */
	uint32_t raw_size;
};

/* Facts of the header and its features; strings are the reader's, NULL when absent. */
struct perfdata_info {
	bool swapped;	 /* the file is of the other byte order */
	bool pipe;	 /* pipe mode: tables arrive as records */
	bool truncated;	 /* the data or the features end early (known at the end of reading) */
	bool unfinished; /* data.size is 0: the recorder was killed */
	bool compressed;
	bool directory;
	const char *hostname, *osrelease, *version, *arch;
	const char *const *cmdline; /* recorder's command; n_cmdline words */
	size_t n_cmdline;
	bool has_clockid;
	int32_t clockid; /* of the first attr that has one */
	bool has_clock_data;
	uint64_t clock_wall_ns; /* CLOCK_REALTIME at … */
	uint64_t clock_ref_ns;	/* … this time of the recording's clock */
	bool has_sample_time;
	uint64_t first_sample_ns, last_sample_ns;
	uint32_t nr_cpus_online;
	uint64_t unknown_records; /* skipped */
	uint64_t unknown_features;
	uint64_t unknown_ids;	/* samples and records that belong to no known attr */
	uint64_t skipped_bytes; /* behind a damaged record: not read */
};

/*
 * Opens @path ("-" is standard input; pipes are fine, one that carries a file is kept aside on disk
 * first) and reads its header. 0 or a negative errno: -EBADMSG for
 * bytes that are no perf.data (with the offset), -EOPNOTSUPP for a legal form that is not read.
 */
int perfdata_open(const char *path, struct perfdata **ret, struct err *err);

/* The same over bytes in memory, which stay the caller's: for tests and fuzzers. */
int perfdata_open_memory(const void *bytes, size_t size, struct perfdata **ret, struct err *err);

void perfdata_free(struct perfdata *pd);

DEFINE_CLEANUP(struct perfdata, perfdata, perfdata_free)

/*
 * The next record in file order; of a directory, the oldest of its streams' next ones. 1: *@ret is
 * set; 0: the end (a truncated file ends early and says so in perfdata_info); negative errno:
 * damage that cannot be passed over.
 */
int perfdata_next(struct perfdata *pd, struct perfdata_record *ret, struct err *err);

/*
 * The fields of a PERF_RECORD_SAMPLE, or the sample_id trailer of any other record. 1: *@ret is
 * set; 0: the record has none, or its id is unknown (counted); -EBADMSG: fields beyond its end.
 */
int perfdata_sample(
	struct perfdata *pd, const struct perfdata_record *record, struct perfdata_sample *ret);

const struct perfdata_info *perfdata_info(const struct perfdata *pd);

/* Attrs by index; in pipe mode their number grows while records are read. */
size_t perfdata_attr_count(const struct perfdata *pd);
const struct perfdata_attr *perfdata_attr(const struct perfdata *pd, size_t index);

/*
 * The TRACING_DATA blob (format files of the tracepoints), or NULL when none was seen (yet). The
 * @ret_generation changes when a new blob arrives.
 */
const uint8_t *perfdata_tracing_data(
	const struct perfdata *pd, size_t *ret_size, unsigned *ret_generation);

/* A feature's raw section (HEADER_… number of perf), or NULL. */
const uint8_t *perfdata_feature(struct perfdata *pd, unsigned feature, size_t *ret_size);

/* Bytes read so far and the input's size (0: unknown, a pipe): for the progress line. */
uint64_t perfdata_position(const struct perfdata *pd, uint64_t *ret_total);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: the numbers of the file format that no kernel header has: record types that perf adds
 * and feature sections. Source: tools/perf/Documentation/perf.data-file-format.txt and
 * tools/lib/perf/include/perf/event.h of Linux.
 */
#ifndef GILPROBE_PERFDATA_FORMAT_H
#define GILPROBE_PERFDATA_FORMAT_H

#define PERFDATA_MAGIC 0x32454c4946524550ull	 /* "PERFILE2" in the file's byte order */
#define PERFDATA_MAGIC_OLD 0x454c494646524550ull /* "PERFFILE": before Linux 2.6.38 */
#define PERFDATA_HEADER_SIZE 104u
#define PERFDATA_PIPE_HEADER_SIZE 16u
#define PERF_FEATURES 256u

enum perfdata_record_type {
	PERFDATA_KERNEL_LAST = 22, /* CALLCHAIN_DEFERRED: the last that the kernel writes */
	PERFDATA_HEADER_ATTR = 64,
	PERFDATA_HEADER_EVENT_TYPE = 65,
	PERFDATA_HEADER_TRACING_DATA = 66,
	PERFDATA_HEADER_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68,
	PERFDATA_AUXTRACE = 71,
	PERFDATA_EVENT_UPDATE = 78,
	PERFDATA_HEADER_FEATURE = 80,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_COMPRESSED2 = 83,
	PERFDATA_USER_LAST = 87,
};

enum perfdata_feature {
	PERFDATA_TRACING_DATA = 1,
	PERFDATA_BUILD_ID = 2,
	PERFDATA_HOSTNAME = 3,
	PERFDATA_OSRELEASE = 4,
	PERFDATA_VERSION = 5,
	PERFDATA_ARCH = 6,
	PERFDATA_NRCPUS = 7,
	PERFDATA_CMDLINE = 11,
	PERFDATA_EVENT_DESC = 12,
	PERFDATA_SAMPLE_TIME = 21,
	PERFDATA_CLOCKID = 23,
	PERFDATA_DIR_FORMAT = 24,
	PERFDATA_CLOCK_DATA = 29,
	PERFDATA_FEATURE_LAST = 31,
};

#endif

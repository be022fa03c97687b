/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a perf.data in memory, for tests: records are written as the thread set last would cause
 * them, and events come into being when they are named first.
 *
 *	struct perfbuild *b = perfbuild_new(0);
 *
 *	perfbuild_thread(b, 100, 101, 0);
 *	perfbuild_hit(b, 1000, "python:take_gil", 0);
 *	perfbuild_hit(b, 1500, "python:take_gil__return", 0);
 *	perfbuild_switch(b, 2000, "S", 102);
 *	perfbuild_round(b);
 *	bytes = perfbuild_bytes(b, &size);
 *
 * Out of memory ends the test.
 */
#ifndef GILPROBE_TESTS_LIB_PERFBUILD_H
#define GILPROBE_TESTS_LIB_PERFBUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfbuild;

enum perfbuild_flag {
	PERFBUILD_PIPE = 1 << 0,       /* tables come as records */
	PERFBUILD_BIG_ENDIAN = 1 << 1, /* all of it, raw data and tracing data too */
	PERFBUILD_UNFINISHED = 1 << 2, /* as a killed recorder of ours leaves it */
	PERFBUILD_ZSTD = 1 << 3,       /* the data in COMPRESSED records */
	PERFBUILD_ZSTD2 = 1 << 4,      /* … in COMPRESSED2 records */
	PERFBUILD_PERF = 1 << 5,       /* perf's sample type: ID behind IP, TID, TIME */
	PERFBUILD_NO_IDS = 1 << 6,     /* no ids at all, as perf does for a single event */
	PERFBUILD_READ = 1 << 7,       /* samples have READ (a group of two) */
	PERFBUILD_CALLCHAIN = 1 << 8,  /* samples have CALLCHAIN (three entries) */
	PERFBUILD_LARGE_ATTR = 1 << 9, /* attrs of a later kernel, 64 bytes larger than ours */
	PERFBUILD_NO_TRACING = 1 << 10,
	PERFBUILD_NO_CLOCKID = 1 << 11,
	PERFBUILD_FREQ = 1 << 12, /* tracepoints are sampled at a frequency */
};

/* The fields of a probe's samples, which tell entry from return. */
enum perfbuild_probe {
	PERFBUILD_ENTRY,     /* __probe_ip */
	PERFBUILD_ENTRY_GIL, /* __probe_ip, gil */
	PERFBUILD_RETURN,    /* __probe_func, __probe_ret_ip */
};

struct perfbuild *perfbuild_new(unsigned flags);
void perfbuild_free(struct perfbuild *b);

/*
 * Adds the probe @name ("group:event"). Unneeded before perfbuild_hit, which adds it as a return
 * when the name has "return", as an entry with gil when it begins with "gilprobe_", else as entry.
 */
void perfbuild_probe(struct perfbuild *b, const char *name, enum perfbuild_probe kind);

/* Records are of this thread on this CPU from here on. */
void perfbuild_thread(struct perfbuild *b, uint32_t pid, uint32_t tid, uint32_t cpu);

/* A probe was hit; @gil is its argument, if it has one. */
void perfbuild_hit(struct perfbuild *b, uint64_t time, const char *name, uint64_t gil);

/* sched_switch from this thread (tid 0: the idle task) in @state ("S", "R+", …) to @next_tid. */
void perfbuild_switch(struct perfbuild *b, uint64_t time, const char *state, uint32_t next_tid);

/* common_flags of what follows: 0x08, an interrupt handler runs; 0x10, a soft one. */
void perfbuild_trace_flags(struct perfbuild *b, uint8_t flags);

/* sched_wakeup, or sched_wakeup_new, by this thread. */
void perfbuild_wakeup(struct perfbuild *b, uint64_t time, uint32_t tid, bool is_new);

/* PERF_RECORD_SWITCH of this thread, or SWITCH_CPU_WIDE with the other's pid and tid. */
void perfbuild_switch_record(struct perfbuild *b, uint64_t time, bool out, bool preempted);
void perfbuild_switch_cpu_wide(struct perfbuild *b, uint64_t time, bool out, bool preempted,
	uint32_t other_pid, uint32_t other_tid);

/* Task records; the thread set last is the parent, the one that ends, the one named. */
void perfbuild_fork(struct perfbuild *b, uint64_t time, uint32_t pid, uint32_t tid);
void perfbuild_exit(struct perfbuild *b, uint64_t time);
void perfbuild_comm(struct perfbuild *b, uint64_t time, const char *comm, bool exec);
void perfbuild_mmap(
	struct perfbuild *b, uint64_t time, uint64_t start, uint64_t size, const char *path);
void perfbuild_lost(struct perfbuild *b, uint64_t time, uint64_t n);
void perfbuild_lost_samples(struct perfbuild *b, uint64_t time, uint64_t n);

/* An instruction-pointer sample of the software event cpu-clock. */
void perfbuild_sample(struct perfbuild *b, uint64_t time, uint64_t ip);

void perfbuild_round(struct perfbuild *b);

/* A record of any type, with these bytes behind its header and no trailer. */
void perfbuild_record(
	struct perfbuild *b, uint32_t type, uint16_t misc, const void *body, size_t size);

/* The same without a record's header: for payloads and for damage. */
void perfbuild_raw(struct perfbuild *b, const void *bytes, size_t size);

/* The file. The bytes are the builder's; nothing may be added afterwards. */
const uint8_t *perfbuild_bytes(struct perfbuild *b, size_t *ret_size);

/* The data alone, without a header: a stream of a directory. Instead of perfbuild_bytes. */
const uint8_t *perfbuild_stream(struct perfbuild *b, size_t *ret_size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run of `gilprobe scale` measured: plain data that classify and report read.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, the clock of our own recordings, so that a worker's
 * window [start, end) can be laid over the spans of its thread.
 */
#ifndef GILPROBE_WORKLOAD_RESULT_H
#define GILPROBE_WORKLOAD_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scale_mode { SCALE_SERIAL, SCALE_THREADS, SCALE_PROCESSES, SCALE_INTERPRETERS, SCALE_MODES };

/* "serial", "threads", "processes", "interpreters". */
const char *scale_mode_name(enum scale_mode mode);

/* One task, done by one worker. */
struct scale_task {
	int32_t pid, tid;
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns; /* of the worker's thread */
};

/* All workers at once (or, in serial mode, one task after the other). */
struct scale_run {
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns; /* of the process, or of all worker processes */
	struct scale_task *tasks;
	size_t n_tasks;
};

/* What a recording tells about the workers of one phase, all runs together. */
struct scale_evidence {
	bool known; /* false: not recorded, or the recording cannot tell */
	/* life is the sum of the seven states: held on a CPU, held asleep, held without a CPU, … */
	uint64_t life_ns;
	uint64_t held_ns, held_asleep_ns, held_no_cpu_ns;
	uint64_t waiting_ns, native_ns, runnable_ns, blocked_ns, unknown_ns;
	uint64_t blocked_by_sibling_ns; /* part of blocked that a thread of the process ended */
	/* parts of waiting: what the holder did; the GIL was free; the waiter had no CPU */
	uint64_t wait_asleep_ns, wait_holder_no_cpu_ns, wait_free_ns, wait_no_cpu_ns;
	uint64_t long_waited_ns; /* waiting of others for holds that were deaf to their requests */
	uint64_t waits, takes, handoffs, forced;
	uint64_t max_hold_ns, max_wait_ns;
};

/* One mode with one number of workers. Its index + 1 is the phase number of the recording's marks.
 */
struct scale_phase {
	enum scale_mode mode;
	unsigned workers;
	char *unavailable; /* why there is no run, or NULL */
	struct scale_run *runs;
	size_t n_runs;
	struct scale_evidence evidence;
};

struct scale_facts {
	char *python, *implementation, *executable;
	bool free_threaded_build;
	bool gil_enabled;	 /* when the interpreter started */
	bool gil_enabled_at_end; /* differs when an extension enabled it */
	double switch_interval_s;
	unsigned cpu_count, usable_cpus;
	double cpu_availability; /* share of one CPU that a busy thread gets, 0 to 1 */
};

struct scale_result {
	struct scale_facts facts;
	struct scale_phase *phases; /* serial first, then by mode and number of workers */
	size_t n_phases;
};

void scale_result_done(struct scale_result *result);

/* The phase, or NULL. @workers 0: the one with the most workers. */
const struct scale_phase *scale_find(
	const struct scale_result *result, enum scale_mode mode, unsigned workers);

/* The fastest run, or NULL; and the median of the runs' wall times, or 0. */
const struct scale_run *scale_best(const struct scale_phase *phase);
uint64_t scale_median_ns(const struct scale_phase *phase);

/* Serial wall time for as many tasks, divided by the phase's; 0 when it cannot be told. */
double scale_speedup(const struct scale_result *result, const struct scale_phase *phase);

#endif

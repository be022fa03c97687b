/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: a record becomes at most a few struct events.
 *
 * Entry or return of a probe is told by its tracepoint's fields (__probe_ip; __probe_func and
 * __probe_ret_ip), the function by the stem of its name, our own probes by their group gilprobe_*.
 */
#ifndef GILPROBE_DECODE_DECODE_H
#define GILPROBE_DECODE_DECODE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "decode/event.h"
#include "perfdata/perfdata.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODE_MAX_EVENTS 2 /* a sched_switch is one task's switch-out and another's switch-in */

struct decode;

/* What the recording can tell; complete only at the end, since pipe mode adds events late. */
struct decode_facts {
	bool own;      /* made by gilprobe record */
	bool has_want; /* entries of take_gil, or timedwait sites */
	bool has_acquire, has_release;
	bool has_drop_return;  /* forced-switch time can be told from drop_gil's return */
	bool has_yield;	       /* … or from our wait sites */
	bool has_sched_switch; /* the tracepoint */
	bool has_wakeup;       /* the tracepoint */
	bool sched_cpu_wide; /* switches of foreign tasks were seen: ins and wakeups are complete */
	bool has_switch_record; /* PERF_RECORD_SWITCH: in and out, no state letter, no wakeup */
	bool has_task;		/* FORK/EXIT/COMM records were seen */
	bool sampled_probes;	/* a GIL probe was recorded at a frequency: most hits are missing */
	bool formats_guessed;	/* no format files: fields were inferred from the samples */
	bool clock_monotonic;	/* times are CLOCK_MONOTONIC */
	bool clock_known;	/* the attrs name a clock */
	int32_t clockid;
	uint64_t samples;    /* PERF_RECORD_SAMPLE seen */
	uint64_t gil_events; /* want, acquire, release, yield, drop-return */
	uint64_t lost;	     /* events lost, LOST and LOST_SAMPLES counted once */
	uint64_t undecoded;  /* samples of events that are none of ours, or damaged */
};

/* @stream numbers the input the events come from (several files can be merged). */
int decode_new(struct perfdata *pd, uint8_t stream, struct decode **ret, struct err *err);
void decode_free(struct decode *d);

DEFINE_CLEANUP(struct decode, decode, decode_free)

/*
 * Turns @record into events. Returns how many were written to @ret (0 to DECODE_MAX_EVENTS) or
 * -ENOMEM; what cannot be decoded is counted in the facts.
 */
int decode_record(struct decode *d, const struct perfdata_record *record,
	struct event ret[DECODE_MAX_EVENTS], struct err *err);

const struct decode_facts *decode_facts(const struct decode *d);

/* Adds another input's facts to @into: what either can tell; counts are summed. */
void decode_facts_merge(struct decode_facts *into, const struct decode_facts *from);

/* The interpreters that were mapped: paths of libpython or a python executable, interned. */
size_t decode_interpreters(const struct decode *d, const char *const **ret_paths);

#endif

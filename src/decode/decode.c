/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: life cycle, facts, and which kind of record goes where. In: records in file order. Out:
 * at most two events each. Invariant: a record that cannot be understood costs a count, never the
 * rest of the recording.
 */
#include "decode/decode.h"

#include "decode/state.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <time.h>

static void note_clock(struct decode *d)
{
	for (size_t i = 0; i < perfdata_attr_count(d->pd) && !d->facts.clock_known; i++) {
		const struct perfdata_attr *attr = perfdata_attr(d->pd, i);

		if (!attr->use_clockid)
			continue;
		d->facts.clock_known = true;
		d->facts.clockid = attr->clockid;
		d->facts.clock_monotonic = attr->clockid == CLOCK_MONOTONIC;
	}
}

int decode_new(struct perfdata *pd, uint8_t stream, struct decode **ret, struct err *err)
{
	struct decode *d = calloc(1, sizeof(*d));

	if (!d)
		return err_nomem(err);
	d->pd = pd;
	d->stream = stream;
	note_clock(d); /* a pipe's attrs come later: decode_record asks again */
	*ret = d;
	return 0;
}

void decode_free(struct decode *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->mmaps.n; i++)
		free(d->mmaps.items[i]);
	free(d->mmaps.items);
	free(d->interpreters.items);
	free(d->recipes.items);
	blob_done(&d->blob);
	guess_done(&d->guess);
	strtab_done(&d->texts);
	free(d);
}

struct event decode_event(
	const struct decode *d, unsigned kind, const struct perfdata_sample *sample)
{
	struct event event = {
		.time_ns = sample->time,
		.pid = sample->present & PERF_SAMPLE_TID ? (int32_t)sample->pid : 0,
		.tid = sample->present & PERF_SAMPLE_TID ? (int32_t)sample->tid : -1,
		.cpu = -1,
		.kind = (uint8_t)kind,
		.stream = d->stream,
	};

	if ((sample->present & PERF_SAMPLE_CPU) && sample->cpu <= INT16_MAX)
		event.cpu = (int16_t)sample->cpu;
	return event;
}

int decode_record(struct decode *d, const struct perfdata_record *record,
	struct event ret[DECODE_MAX_EVENTS], struct err *err)
{
	struct perfdata_sample sample;
	int r;

	if (record->type == PERF_RECORD_SAMPLE) {
		if (!d->facts.samples++)
			note_clock(d);
		return decode_sample(d, record, ret, err);
	}
	r = perfdata_sample(d->pd, record, &sample);
	if (r <= 0)
		sample = (struct perfdata_sample){0};
	return decode_task(d, record, &sample, ret, err);
}

const struct decode_facts *decode_facts(const struct decode *d)
{
	return &d->facts;
}

void decode_facts_merge(struct decode_facts *into, const struct decode_facts *from)
{
	into->own |= from->own;
	into->has_want |= from->has_want;
	into->has_acquire |= from->has_acquire;
	into->has_release |= from->has_release;
	into->has_drop_return |= from->has_drop_return;
	into->has_yield |= from->has_yield;
	into->has_sched_switch |= from->has_sched_switch;
	into->has_wakeup |= from->has_wakeup;
	into->sched_cpu_wide |= from->sched_cpu_wide;
	into->has_switch_record |= from->has_switch_record;
	into->has_task |= from->has_task;
	into->formats_guessed |= from->formats_guessed;
	into->sampled_probes |= from->sampled_probes;
	if (from->clock_known && !into->clock_known) {
		into->clock_known = true;
		into->clockid = from->clockid;
		into->clock_monotonic = from->clock_monotonic;
	}
	into->samples += from->samples;
	into->gil_events += from->gil_events;
	into->lost += from->lost;
	into->undecoded += from->undecoded;
}

size_t decode_interpreters(const struct decode *d, const char *const **ret_paths)
{
	*ret_paths = d->interpreters.items;
	return d->interpreters.n;
}

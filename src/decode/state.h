/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: the decoder itself, shared by the files of this folder.
 */
#ifndef GILPROBE_DECODE_STATE_H
#define GILPROBE_DECODE_STATE_H

#include "base/map.h"
#include "base/strtab.h"
#include "decode/decode.h"
#include "decode/guess.h"
#include "decode/recipe.h"

struct decode {
	struct perfdata *pd;
	uint8_t stream;
	struct decode_facts facts;
	struct strtab texts;
	struct {
		struct event_mmap **items;
		size_t n, cap;
	} mmaps;
	struct {
		const char **items;
		size_t n, cap;
	} interpreters;
	struct {
		struct recipe *items; /* by the attr's index */
		size_t n, cap;
	} recipes;
	struct blob blob;
	unsigned generation; /* of the tracing data that blob was read from */
	bool has_blob;
	struct guess guess;   /* where formats are missing */
	bool system_wide;     /* the recorder listed kernel threads, whom no target brings along */
	uint64_t lost_events; /* by LOST and by LOST_SAMPLES, which tell of the same */
	uint64_t lost_samples;
	uint64_t newest_ns;
};

/* An event of @kind with the time, place and task of @sample. */
struct event decode_event(
	const struct decode *d, unsigned kind, const struct perfdata_sample *sample);

/* A PERF_RECORD_SAMPLE. Returns like decode_record. */
int decode_sample(struct decode *d, const struct perfdata_record *record,
	struct event ret[DECODE_MAX_EVENTS], struct err *err);

/* Any other record. @sample is its trailer, all zero when it has none. */
int decode_task(struct decode *d, const struct perfdata_record *record,
	const struct perfdata_sample *sample, struct event *ret, struct err *err);

#endif

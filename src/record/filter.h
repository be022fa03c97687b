/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: which of the machine's records concern the traced process tree.
 *
 * Each record is shown twice: to filter_learn when it leaves the kernel's buffer, and one round
 * later to filter_keep. So what any CPU told up to then is known: a child's FORK stands in its
 * parent's buffer, an acquire that introduces a GIL perhaps in another than the release.
 */
#ifndef GILPROBE_RECORD_FILTER_H
#define GILPROBE_RECORD_FILTER_H

#include "base/cleanup.h"
#include "record/events.h"
#include "record/tree.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct filter {
	struct tree tree;
	struct map ids; /* event id → const struct source * */
	uint64_t samples, lost;
	uint64_t first_ns, last_ns; /* of the samples that were kept */
};

/* @events must live as long. 0 or -ENOMEM. */
int filter_init(struct filter *filter, const struct events *events);
void filter_done(struct filter *filter);

DEFINE_CLEANUP(struct filter, filter, filter_done)

/* Learns tasks and GILs. 0 or -ENOMEM. */
int filter_learn(struct filter *filter, const struct perf_event_header *record);

/* Whether it goes into the recording; counts it if so. */
bool filter_keep(struct filter *filter, const struct perf_event_header *record);

#endif

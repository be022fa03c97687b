/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: closing events and deleting probes while the caller already reports: the kernel takes
 * 40 to 90 ms for each name.
 */
#ifndef GILPROBE_RECORD_REMOVAL_H
#define GILPROBE_RECORD_REMOVAL_H

#include "record/events.h"
#include "record/janitor.h"
#include "record/probes.h"

struct record_removal {
	struct events events[EVENTS_MAX];
	size_t n_events;
	struct probes probes;
	struct janitor janitor;
};

/* Does it now. Any of the three may be empty. */
void removal_run(struct record_removal *removal);

/*
 * Takes over what @removal holds and does it in a thread. What is to be waited for, or NULL when
 * it is done already.
 */
struct record_removal *removal_start(struct record_removal *removal);

/* Waits, and frees it. NULL is fine. */
void removal_wait(struct record_removal *removal);

#endif

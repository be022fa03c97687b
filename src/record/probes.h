/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the named uprobes of one recording, a group of tracefs dynamic events.
 *
 * All sites of a kind share an event, whatever interpreter they are in, because the kernel needs
 * grace periods (40 to 90 ms in all) to remove an event, however many sites it has.
 */
#ifndef GILPROBE_RECORD_PROBES_H
#define GILPROBE_RECORD_PROBES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "locate/locate.h"
#include "record/record.h"

#include <stddef.h>
#include <stdint.h>

#define PROBES_GROUP_PREFIX "gilprobe_"

struct probe {
	char name[48]; /* acquire88_0, signal_1, timedwait_2, wait88_3, … */
	bool mark;     /* of a phase; no GIL */
	enum locate_kind kind;
	int64_t switch_delta; /* of its interpreter */
	uint64_t id;	      /* the tracepoint's */
	unsigned gil_offset;  /* of the argument in the raw data */
};

struct probes {
	char group[64];
	struct probe *items; /* not more than locate found kinds of sites */
	size_t n, cap;
};

/* A group name that nobody uses, for this process. Nothing is defined yet. */
int probes_name(struct probes *probes, struct err *err);

/*
 * Defines events for the sites of @n @binaries; those of a kind share one. On failure what was
 * defined is left to probes_delete_group. -ENOENT: the kernel has no uprobe_events; -EACCES;
 * -ESTALE: a file changed since it was looked at.
 */
int probes_define(
	struct probes *probes, struct locate_binary *const binaries[], size_t n, struct err *err);

/* Defines the event for the function that marks phases. Errors as above. */
int probes_define_mark(struct probes *probes, const struct record_mark *mark, struct err *err);

/* Frees the memory. The definitions stay: probes_delete_group. */
void probes_done(struct probes *probes);

DEFINE_CLEANUP(struct probes, probes, probes_done)

/* Deletes all events of @group. 0, or -EBUSY while one of them is open somewhere. */
int probes_delete_group(const char *group);

/* Deletes the groups of processes that are gone; those still open are left. Returns how many. */
int probes_delete_stale(void);

#endif

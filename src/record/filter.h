/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: which of the machine's records concern the traced process tree.
 *
 * Each record is shown to filter_take when it leaves the kernel's buffer, to filter_learn after
 * filter_settle, and one round later to filter_keep. So all that any CPU told up to then is known:
 * a child's FORK stands in its parent's buffer, an acquire that introduces a GIL perhaps in
 * another than the release.
 */
#ifndef GILPROBE_RECORD_FILTER_H
#define GILPROBE_RECORD_FILTER_H

#include "base/cleanup.h"
#include "record/events.h"
#include "record/tree.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A FORK, EXIT or exec. */
struct filter_change {
	uint64_t time_ns;
	uint32_t type; /* PERF_RECORD_FORK, _EXIT, _COMM */
	uint32_t pid, ppid, tid, ptid;
};

struct filter {
	struct tree tree;
	struct {
		struct filter_change *items;
		size_t n, cap;
	} changes;	  /* not applied yet */
	struct map files; /* by device and inode: asked about, or known */
	struct {
		pid_t *items;
		size_t n, cap;
	} strangers;
	struct map ids;	  /* event id → const struct source * */
	struct map local; /* tid of scheduler events → tid that we see, in a pid namespace */
	bool translate;	  /* we are in one: both kinds of tids differ */
	bool gil_seen;	  /* of a traced process */
	bool gap;	  /* records were lost, a FORK perhaps; whoever looks for it resets this */
	uint64_t samples, lost;
	uint64_t first_ns, last_ns; /* of the samples that were kept */
};

/* Knows the ids of @events too, which must live as long. 0 or -ENOMEM. */
int filter_add(struct filter *filter, const struct events *events);

/* A file that has its probes. 0 or -ENOMEM. */
int filter_know(struct filter *filter, uint32_t major, uint32_t minor, uint64_t inode);

bool filter_knows(const struct filter *filter, uint32_t major, uint32_t minor, uint64_t inode);

/*
 * Processes that mapped a file with "python" in its name that was not known until then: the next
 * pid, or 0.
 */
pid_t filter_next_stranger(struct filter *filter);

void filter_done(struct filter *filter);

DEFINE_CLEANUP(struct filter, filter, filter_done)

/* Notes what @record tells of tasks, and losses. 0 or -ENOMEM, as below. */
int filter_take(struct filter *filter, const struct perf_event_header *record);

/*
 * Applies what was noted up to @until_ns, in order of time: CPUs are read one after the other, and
 * what is younger may lack a FORK in a buffer that was read before. 1 when anything was applied.
 */
int filter_settle(struct filter *filter, uint64_t until_ns);

/* Learns GILs of traced processes, and files that they map. */
int filter_learn(struct filter *filter, const struct perf_event_header *record);

/*
 * Whether it goes into the recording; counts it if so. In a pid namespace the tids in its raw data
 * become those that we see, foreign ones 0.
 */
bool filter_keep(struct filter *filter, struct perf_event_header *record);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: records for what exists before recording: threads, their names, executable mappings.
 */
#ifndef GILPROBE_RECORD_SYNTH_H
#define GILPROBE_RECORD_SYNTH_H

#include "base/err.h"
#include "perfdata/writer.h"
#include "record/tree.h"

#include <stdint.h>
#include <sys/types.h>

struct synth {
	struct tree *tree; /* what is found becomes part of it */
	struct perfdata_writer *writer;
	uint64_t id;	  /* of the task event, so that the records have a time and an event */
	uint64_t time_ns; /* when recording began */
};

/*
 * Adds process @pid, all its threads, and its child processes and theirs. Those
 * that end meanwhile are passed over. -ESRCH: @pid does not exist.
 */
int synth_tree(const struct synth *synth, pid_t pid, struct err *err);

/*
 * After a loss: adds the threads of traced processes, and their child processes, that are not in
 * the tree, as if they had started now.
 */
int synth_missing(const struct synth *synth, struct err *err);

/* Adds a child that has not exec'ed yet: its one thread and name. */
int synth_child(const struct synth *synth, pid_t pid, struct err *err);

#endif

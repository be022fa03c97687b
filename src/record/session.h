/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: what one recording session consists of.
 */
#ifndef GILPROBE_RECORD_SESSION_H
#define GILPROBE_RECORD_SESSION_H

#include "record/control.h"
#include "record/filter.h"
#include "record/launch.h"
#include "record/output.h"
#include "record/record.h"
#include "record/removal.h"
#include "record/rounds.h"

struct session {
	const struct record_options *options;
	struct control control;
	struct record_removal made; /* events, probes, janitor */
	struct launch launch;
	struct filter filter;
	struct rounds rounds;
	struct output output;
	struct perfdata_writer *writer;
	uint64_t start_ns, end_ns;
	uint64_t gap_ns; /* when /proc was searched after a loss */
	char *late_path; /* the first interpreter that was probed late */
	bool hurried;	 /* its priority was raised */
};

/* Adds the attrs of one group of events to the file, and the formats of all of them. */
int session_describe(struct session *s, const struct events *events, struct err *err);

/*
 * Puts probes into interpreters that @pid maps and that had none, while recording runs. What fails
 * is left out; only being out of memory or of disk is an error.
 */
int session_probe_late(struct session *s, pid_t pid, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test help: real recordings of PATH's python3, and what their files hold.
 */
#ifndef GILPROBE_TEST_RECORD_RECORDING_H
#define GILPROBE_TEST_RECORD_RECORDING_H

#include "record/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Skips the whole program (77) where events cannot be recorded; in CI that is a failure. */
void recording_needs_root(void);

/* A folder of its own, entered; removed by recording_leave. */
void recording_enter(void);
void recording_leave(void);

struct recording {
	struct record_options options; /* change before recording_run */
	struct record_result result;
	struct err err;
	char *argv[8];
	bool unforeseen; /* record as if locate had found another interpreter */
};

/* Records `python3 -c @script` into x.data. */
void recording_init(struct recording *recording, const char *script);

/* record_run, and record_settle but for late_path, which is the caller's to free. What record_run
 * returned. */
int recording_run(struct recording *recording);

/* What a file holds. */
struct contents {
	bool unfinished;
	uint64_t samples; /* those below by name, which an unfinished file has not */
	uint64_t acquires, releases, switches, wakeups, forks, execs, exits, maps, rounds;
	uint32_t pids[64]; /* with an acquire */
	unsigned n_pids;
};

struct contents recording_read(const char *path);

/* Whether probe groups of process @pid are defined. */
bool recording_has_group(int pid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rows and slices of a trace are called, in every format.
 *
 * The names of the slices are chosen so that the viewers' own colours (a hash of the name) say
 * green for holding, red for waiting; they are an interface: users query them.
 */
#ifndef GILPROBE_EMIT_NAMES_H
#define GILPROBE_EMIT_NAMES_H

#include "fold/totals.h"

#include <stdint.h>

/*
 * Rows of the GIL are on thread ids that no kernel gives (PID_MAX_LIMIT is 2^22): slices on the
 * real ones would mix with a profiler's after a merge. A thread's row is EMIT_ROWS + tid, so the
 * GILs' own rows count down from EMIT_ROWS: in a container, tids 1 and 2 are common.
 */
#define EMIT_ROWS 1000000000u

/* The phases of `gilprobe scale` are a process of their own. */
#define EMIT_PHASES_PID (EMIT_ROWS - 1)

static inline uint32_t emit_thread_row(const struct fold_thread *thread)
{
	return EMIT_ROWS + (uint32_t)thread->tid;
}

static inline uint32_t emit_gil_row(const struct fold_gil *gil)
{
	return EMIT_ROWS - (gil->number ? gil->number - 1 : 0);
}

/* The slice's name, or NULL: time of which nothing is known is left blank. */
const char *emit_state_name(enum span_state state);

/* A colour name of the Catapult viewer. */
const char *emit_state_cname(enum span_state state);

/* Many short states in one slice; its args say how long each of them was. */
#define EMIT_RAPID_NAME "rapid switching"
#define EMIT_RAPID_CNAME "grey"

#define EMIT_GIL_NAME 24

/* "GIL", or "GIL #2" for the further ones of a process. Returns @ret. */
const char *emit_gil_name(const struct fold_gil *gil, char ret[EMIT_GIL_NAME]);

#endif

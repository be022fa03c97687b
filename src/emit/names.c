/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emit: names of rows and slices. In: a state or a GIL. Out: the text that viewers show. */
#include "emit/names.h"

#include <stdio.h>

static const struct {
	const char *name, *cname;
} states[SPAN_STATES] = {
	[SPAN_HAS_GIL] = {"GIL held, running", "thread_state_running"},
	[SPAN_HAS_GIL_OFF_CPU] = {"GIL held, off-CPU", "yellow"},
	[SPAN_WAITING] = {"waiting for GIL", "terrible"},
	[SPAN_NATIVE] = {"running without GIL", "good"},
	[SPAN_RUNNABLE] = {"waiting for a CPU", "thread_state_runnable"},
	[SPAN_BLOCKED] = {"I/O or sleep", "thread_state_sleeping"},
};

const char *emit_state_name(enum span_state state)
{
	return states[state].name;
}

const char *emit_state_cname(enum span_state state)
{
	return states[state].cname;
}

const char *emit_gil_name(const struct fold_gil *gil, char ret[EMIT_GIL_NAME])
{
	if (gil->number > 1)
		snprintf(ret, EMIT_GIL_NAME, "GIL #%u", gil->number);
	else
		snprintf(ret, EMIT_GIL_NAME, "GIL");
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: words for states. In: a state. Out: its name as users know it from CPython's profiler.
 */
#include "fold/totals.h"

const char *span_state_name(enum span_state state)
{
	static const char *const names[SPAN_STATES] = {
		[SPAN_UNKNOWN] = "unknown",
		[SPAN_HAS_GIL] = "has-gil",
		[SPAN_HAS_GIL_OFF_CPU] = "has-gil-off-cpu",
		[SPAN_WAITING] = "waiting",
		[SPAN_NATIVE] = "native",
		[SPAN_RUNNABLE] = "runnable",
		[SPAN_BLOCKED] = "blocked",
	};

	return (unsigned)state < SPAN_STATES ? names[state] : "unknown";
}

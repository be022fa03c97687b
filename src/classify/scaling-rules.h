/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The labels of the reference script, word for word since programs look for them, and what the
 * two ways to a verdict share. Private to classify.
 */
#ifndef GILPROBE_CLASSIFY_SCALING_RULES_H
#define GILPROBE_CLASSIFY_SCALING_RULES_H

#include "classify/scaling.h"

#define LABEL_IO "I/O-bound: threads and asyncio scale (waiting, not computing)"
#define LABEL_IO_SERIAL                                                                            \
	"I/O-bound but threads did not overlap the waits (shared lock or serial resource?)"
#define LABEL_MIXED                                                                                \
	"mixed I/O + CPU: threads overlap the waits, the CPU part still serialises on the GIL"
#define LABEL_MIXED_SERIAL "mixed I/O + CPU: no thread speedup"
#define LABEL_RELEASES "releases the GIL: CPU-bound and threads scale"
#define LABEL_RELEASES_FEW_CORES "releases the GIL: threads scale (limited by free cores)"
#define LABEL_NO_SPEEDUP                                                                           \
	"CPU-bound, does not scale: threads keep cores busy without speedup (memory bandwidth, "   \
	"lock contention or false sharing)"
#define LABEL_GIL "GIL-bound: scales with processes but not threads"
#define LABEL_GIL_NO_PROCESSES "GIL-bound: threads run one at a time (processes not measured)"
#define LABEL_GIL_LIKELY                                                                           \
	"likely GIL-bound: threads never ran in parallel, but processes did not scale either, so " \
	"the machine may be too busy to tell; re-run on an idle machine"
#define LABEL_PARTLY                                                                               \
	"inconclusive: threads ran partly in parallel; re-run with --repeat 5 on an idle machine"
#define LABEL_FEW_WORKERS "inconclusive: need --workers >= 2"
/* ours: the script cannot see it */
#define LABEL_DROPPED "drops the GIL too often: handing it over costs more than the work between"
#define LABEL_SHORT "inconclusive: the runs are too short; give it more work or --scale"

/* Without evidence. @n: workers of the threads mode, at least 2. */
void scaling_by_wall(const struct scale_result *result, unsigned n, struct scaling_verdict *ret);

/* With evidence of serial and threads mode. */
void scaling_by_evidence(
	const struct scale_result *result, unsigned n, struct scaling_verdict *ret);

#endif

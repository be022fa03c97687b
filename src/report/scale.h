/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the table and the JSON (schema gilprobe.scale/1) of `gilprobe scale`.
 */
#ifndef GILPROBE_REPORT_SCALE_H
#define GILPROBE_REPORT_SCALE_H

#include "base/err.h"
#include "base/out.h"
#include "classify/scaling.h"
#include "report/report.h"
#include "workload/result.h"

struct report_scale {
	const char *target; /* as the user named it */
	unsigned repeat;
	const struct scale_result *result;
	const struct scaling_verdict *verdict;
	const char *no_evidence;	    /* why there is none, or NULL */
	const struct fold_quality *quality; /* of the recording, or NULL */
	const char *recording, *trace;	    /* files that were kept, or NULL */
};

int report_scale_table(struct out *out, const struct report_scale *scale,
	const struct report_options *options, struct err *err);

/* A superset of the reference script's object. */
int report_scale_json(struct out *out, const struct report_scale *scale, struct err *err);

#endif

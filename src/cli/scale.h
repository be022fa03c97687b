/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One measurement for `gilprobe scale`: the run itself, recorded if possible, and the evidence.
 */
#ifndef GILPROBE_CLI_SCALE_H
#define GILPROBE_CLI_SCALE_H

#include "base/err.h"
#include "cli/option.h"
#include "fold/totals.h"
#include "workload/workload.h"

#include <stdint.h>

struct scale_args {
	struct common_args common;
	const char *target, *builtin, *workers, *python, *output, *trace;
	struct option_list args;
	uint32_t repeat;
	double scale;
	uint64_t timeout_ns;
	bool interpreters, record, json, gate;
};

struct scale_facts_beside {
	char no_evidence[640]; /* why there is no recording, or what it lacks; "" */
	bool recorded, traced; /* files that were asked for and are there */
	bool read;	       /* and: */
	struct fold_quality quality;
};

/*
 * Runs @plan. Not being allowed to record is no failure. Errors as of workload_result; @ret is
 * to be freed in any case.
 */
int scale_measure(const struct scale_args *args, const struct plan *plan, struct scale_result *ret,
	struct scale_facts_beside *ret_beside, struct err *err);

#endif

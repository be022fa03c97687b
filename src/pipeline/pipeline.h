/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pipeline: joins perfdata → decode → order → fold → sinks. Used by commands, tests and fuzzers.
 */
#ifndef GILPROBE_PIPELINE_PIPELINE_H
#define GILPROBE_PIPELINE_PIPELINE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "decode/decode.h"
#include "fold/sink.h"
#include "order/order.h"
#include "perfdata/perfdata.h"

#include <stddef.h>
#include <stdint.h>

struct pipeline;

struct pipeline_options {
	struct sink *const *sinks; /* the array is read when the first event comes, not before */
	size_t n_sinks;
	int32_t only_pid;
	bool (*watch)(void *watch_user, int32_t tid); /* see fold_options */
	void *watch_user;
	uint64_t from_ns, to_ns; /* relative to the recording's first event; 0, UINT64_MAX: all */
	order_emit event;	 /* every event in order, before fold; NULL: none */
	void *event_user;
	/* called now and then; total 0: unknown. A negative return (Ctrl-C) stops the run. */
	int (*progress)(void *user, uint64_t done, uint64_t total);
	void *progress_user;
};

/* Opens nothing yet; @options is copied, what it points at is the caller's. */
int pipeline_new(const struct pipeline_options *options, struct pipeline **ret, struct err *err);
void pipeline_free(struct pipeline *p);

DEFINE_CLEANUP(struct pipeline, pipeline, pipeline_free)

/* Adds an input; takes @pd over, on failure too. Inputs of different clocks are refused. */
int pipeline_add(struct pipeline *p, struct perfdata *pd, const char *path, struct err *err);

/* Reads everything. The result lives until pipeline_free. */
int pipeline_run(struct pipeline *p, const struct fold_result **ret, struct err *err);

/* Merged over the inputs; before the run, what their headers tell. */
const struct decode_facts *pipeline_facts(const struct pipeline *p);

/* Of input @i, in order of adding. */
const struct perfdata_info *pipeline_info(const struct pipeline *p, size_t i);
size_t pipeline_interpreters(const struct pipeline *p, size_t i, const char *const **ret_paths);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: ordered events become spans, holds, waits and totals.
 */
#ifndef GILPROBE_FOLD_FOLD_H
#define GILPROBE_FOLD_FOLD_H

#include "base/cleanup.h"
#include "base/err.h"
#include "decode/decode.h"
#include "decode/event.h"
#include "fold/sink.h"
#include "fold/totals.h"

struct fold;

struct fold_options {
	struct sink *const *sinks; /* the caller's; must outlive the fold */
	size_t n_sinks;
	int32_t only_pid;	 /* 0: every process with GIL events */
	uint64_t from_ns, to_ns; /* spans are cut to this window; 0, UINT64_MAX: everything */
	/* tids that are followed without any GIL event, where the GIL is off; NULL: none */
	bool (*watch)(void *watch_user, int32_t tid);
	void *watch_user;
};

int fold_new(const struct fold_options *options, struct fold **ret, struct err *err);
void fold_free(struct fold *fold);

DEFINE_CLEANUP(struct fold, fold, fold_free)

/* Events in time order. */
int fold_feed(struct fold *fold, const struct event *event, struct err *err);

/* What decode knows so far; to be told before the first event and whenever it may have changed. */
void fold_facts(struct fold *fold, const struct decode_facts *facts);

/*
 * Whether scheduler events are being recorded at the time of what follows: where two recorders ran,
 * theirs can begin later and end earlier. True unless told otherwise.
 */
int fold_covered(struct fold *fold, bool covered, struct err *err);

/*
 * Closes what is open at the time of the last event, calls done() of every sink. @duplicated and
 * @late come from order. The result lives until fold_free.
 */
int fold_finish(struct fold *fold, uint64_t duplicated, uint64_t late,
	const struct fold_result **ret, struct err *err);

#endif

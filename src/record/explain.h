/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: failures in words: the fact that was read, the value needed, the command that gives it.
 * Each returns @code, and gives a hint only when its condition was seen to hold.
 */
#ifndef GILPROBE_RECORD_EXPLAIN_H
#define GILPROBE_RECORD_EXPLAIN_H

#include "base/err.h"
#include "locate/locate.h"
#include "record/events.h"

/* perf_event_open of @source failed. */
int explain_open(const struct source *source, int code, struct err *err);

/* mmap of @n_cpus buffers failed, even with @bytes each. */
int explain_mmap(size_t bytes, size_t n_cpus, int code, struct err *err);

/* Defining a probe in @binary failed. */
int explain_define(const struct locate_binary *binary, int code, struct err *err);

/* Reading or writing in tracefs failed for want of rights: adds the hints. */
void explain_tracefs(int code, struct err *err);

#endif

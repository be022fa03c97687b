/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU side of a thread, from scheduler events.
 */
#ifndef GILPROBE_FOLD_SCHED_H
#define GILPROBE_FOLD_SCHED_H

#include "fold/inner.h"

int sched_in(struct fold *f, const struct event *event);
int sched_out(struct fold *f, const struct event *event);
int sched_wakeup(struct fold *f, const struct event *event);

#endif

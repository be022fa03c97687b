/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waited while whom held, and the holds that others waited for most.
 */
#ifndef GILPROBE_FOLD_BLAME_H
#define GILPROBE_FOLD_BLAME_H

#include "fold/inner.h"

/* @waiter's wait and @holder's hold, both running, overlap up to @end_ns. To be told once each. */
int blame_wait(struct fold *f, struct thread *waiter, struct thread *holder, uint64_t end_ns);

/* Keeps @hold if it is among the worst. */
void blame_rank(struct fold *f, const struct fold_hold *hold);

/* Sorts what goes into the result. */
int blame_finish(struct fold *f);

void blame_done(struct fold *f);

#endif

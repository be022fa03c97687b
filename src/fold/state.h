/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GIL side of a thread: a table of state and input.
 */
#ifndef GILPROBE_FOLD_STATE_H
#define GILPROBE_FOLD_STATE_H

#include "fold/inner.h"

/* A GIL event. */
int state_event(struct fold *f, const struct event *event);

/* @input happens to @t now, about @g. */
int state_input(struct fold *f, struct thread *t, struct gil *g, enum input input);

#endif

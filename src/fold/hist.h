/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filling the histograms of totals.h.
 */
#ifndef GILPROBE_FOLD_HIST_H
#define GILPROBE_FOLD_HIST_H

#include "fold/totals.h"

/* Counts one length; allocates at the first. 0 or -ENOMEM. */
int hist_add(struct hist *hist, uint64_t ns);

void hist_done(struct hist *hist);

#endif

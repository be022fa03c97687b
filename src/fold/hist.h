/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logarithmic histograms of lengths: eight buckets per doubling, so a quantile is within 9 %.
 */
#ifndef GILPROBE_FOLD_HIST_H
#define GILPROBE_FOLD_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_BUCKETS 288
struct hist {
	uint32_t *counts; /* HIST_BUCKETS, or NULL while empty */
	uint64_t n;
};

/* Counts one length; allocates at the first. 0 or -ENOMEM. */
int hist_add(struct hist *hist, uint64_t ns);

void hist_done(struct hist *hist);

/* The @q quantile (0 to 1) in ns; 0 when the histogram is empty. */
uint64_t hist_quantile(const struct hist *hist, double q);

/* The length that stands for @bucket (its middle), in ns: for sums weighted by time. */
uint64_t hist_bucket_ns(size_t bucket);

#endif

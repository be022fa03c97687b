/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: logarithmic histograms. In: lengths in ns. Out: quantiles. Invariant: buckets 0 to 7 are
 * the lengths 0 to 7 ns, then every doubling has eight buckets of equal width; what is longer
 * than the last one (274 s) is counted there.
 */
#include "fold/hist.h"

#include <errno.h>
#include <stdlib.h>

#define PER_DOUBLING_BITS 3
#define PER_DOUBLING (1u << PER_DOUBLING_BITS)

static size_t bucket_of(uint64_t ns)
{
	unsigned exponent;
	size_t bucket;

	if (ns < PER_DOUBLING)
		return (size_t)ns;
	exponent = 63u - (unsigned)__builtin_clzll(ns);
	bucket = (size_t)(exponent - PER_DOUBLING_BITS + 1) * PER_DOUBLING +
		 ((ns >> (exponent - PER_DOUBLING_BITS)) & (PER_DOUBLING - 1));
	return bucket < HIST_BUCKETS ? bucket : HIST_BUCKETS - 1;
}

uint64_t hist_bucket_ns(size_t bucket)
{
	unsigned shift;
	uint64_t low;

	if (bucket < PER_DOUBLING)
		return bucket;
	shift = (unsigned)(bucket / PER_DOUBLING) - 1;
	low = (uint64_t)(PER_DOUBLING + bucket % PER_DOUBLING) << shift;
	return low + ((1ull << shift) >> 1);
}

int hist_add(struct hist *hist, uint64_t ns)
{
	uint32_t *count;

	if (!hist->counts) {
		hist->counts = calloc(HIST_BUCKETS, sizeof(*hist->counts));
		if (!hist->counts)
			return -ENOMEM;
	}
	count = &hist->counts[bucket_of(ns)];
	if (*count < UINT32_MAX)
		++*count;
	hist->n++;
	return 0;
}

void hist_done(struct hist *hist)
{
	free(hist->counts);
	*hist = (struct hist){0};
}

uint64_t hist_quantile(const struct hist *hist, double q)
{
	uint64_t seen = 0, rank, last = 0;

	if (!hist->counts || !hist->n)
		return 0;
	rank = (uint64_t)(q * (double)hist->n);
	for (size_t i = 0; i < HIST_BUCKETS; i++) {
		if (!hist->counts[i])
			continue;
		seen += hist->counts[i];
		last = hist_bucket_ns(i);
		if (seen > rank)
			break;
	}
	return last;
}

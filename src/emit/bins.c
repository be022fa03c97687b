/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: averages over bins. In: weights over stretches of time. Out: a value per bin, when it
 * changed. Invariant: a stretch of any length takes constant time, since the bins that it fills
 * have equal values (a damaged recording can span centuries).
 */
#include "emit/bins.h"

static void write_value(struct bins *bins, uint64_t start_ns, uint64_t value)
{
	if (value == bins->written)
		return;
	bins->written = value;
	bins->write(bins->user, start_ns < bins->first_ns ? bins->first_ns : start_ns, value);
}

static uint64_t bin_start(uint64_t ns)
{
	return ns - ns % BINS_WIDTH_NS;
}

/* Writes the bin that contains the last moment before @end_ns. */
static void close_bin(struct bins *bins, uint64_t end_ns)
{
	uint64_t start = bin_start(end_ns - 1);
	uint64_t from = start < bins->first_ns ? bins->first_ns : start;

	if (end_ns > from)
		write_value(bins, start, bins->sum * bins->scale / (end_ns - from));
	bins->sum = 0;
}

/* Moves to @to with a constant @weight. */
static void advance(struct bins *bins, uint64_t to, uint64_t weight)
{
	uint64_t next = bin_start(bins->at_ns) + BINS_WIDTH_NS;

	if (next <= bins->at_ns) /* the end of 64 bits */
		return;
	if (to >= next) {
		bins->sum += weight * (next - bins->at_ns);
		close_bin(bins, next);
		if (bin_start(to) > next)
			write_value(bins, next, weight * bins->scale);
		bins->at_ns = bin_start(to);
	}
	bins->sum += weight * (to - bins->at_ns);
	bins->at_ns = to;
}

void bins_add(struct bins *bins, uint64_t from, uint64_t to, uint64_t weight)
{
	if (bins->at_ns < bins->first_ns)
		bins->at_ns = bins->first_ns;
	if (from < bins->at_ns)
		from = bins->at_ns;
	if (to <= from)
		return;
	advance(bins, from, 0);
	advance(bins, to, weight);
}

void bins_finish(struct bins *bins, uint64_t end_ns)
{
	if (end_ns > bins->at_ns)
		bins_add(bins, end_ns - 1, end_ns, 0);
	if (bins->at_ns > bin_start(bins->at_ns))
		close_bin(bins, bins->at_ns);
	write_value(bins, bins->at_ns, 0);
}

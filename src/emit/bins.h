/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Averages over equal stretches of time: what stays readable when a timeline is zoomed out.
 *
 * Bins lie at multiples of their width. Amounts are given in time order; the value of a bin that
 * is complete goes out when it differs from the one before (from 0, for the first).
 */
#ifndef GILPROBE_EMIT_BINS_H
#define GILPROBE_EMIT_BINS_H

#include <stdint.h>

#define BINS_WIDTH_NS 50000000ull

/* Called with a bin's start and its value: the time average of the weights, times the scale. */
typedef void (*bins_write)(void *user, uint64_t start_ns, uint64_t value);

struct bins {
	uint64_t scale;	   /* 1000: the average is written in thousandths */
	uint64_t first_ns; /* the first bin begins here */
	bins_write write;
	void *user;
	uint64_t at_ns;	  /* everything before has been given */
	uint64_t sum;	  /* of weight × time in the current bin */
	uint64_t written; /* the last value; at first 0, so that what is always 0 has no line */
};

/* @weight from @from to @to; what lies before earlier amounts is left out. */
void bins_add(struct bins *bins, uint64_t from, uint64_t to, uint64_t weight);

/* The end of time: writes the current bin, over the part of it that passed, and then 0. */
void bins_finish(struct bins *bins, uint64_t end_ns);

#endif

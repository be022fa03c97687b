/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: numbers for people. In: a number. Out: a short text in the caller's buffer. Invariant: a
 * value that rounds up to the next unit is written in that unit (never "1000 ms").
 */
#include "base/human.h"

#include <stdio.h>
#include <string.h>

const char *human_ns(uint64_t ns, char ret[HUMAN_SIZE])
{
	double t = (double)ns;

	if (t < 999.5)
		snprintf(ret, HUMAN_SIZE, "%.0f ns", t);
	else if (t < 9.95e3)
		snprintf(ret, HUMAN_SIZE, "%.1f µs", t / 1e3);
	else if (t < 999.5e3)
		snprintf(ret, HUMAN_SIZE, "%.0f µs", t / 1e3);
	else if (t < 99.95e6)
		snprintf(ret, HUMAN_SIZE, "%.1f ms", t / 1e6);
	else if (t < 999.5e6)
		snprintf(ret, HUMAN_SIZE, "%.0f ms", t / 1e6);
	else if (t < 99.995e9)
		snprintf(ret, HUMAN_SIZE, "%.2f s", t / 1e9);
	else
		snprintf(ret, HUMAN_SIZE, "%.0f s", t / 1e9);
	return ret;
}

const char *human_count(uint64_t n, char ret[HUMAN_SIZE])
{
	char *p = ret + HUMAN_SIZE - 1;
	unsigned digits = 0;

	*p = 0;
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		n /= 10;
		digits++;
	} while (n);
	memmove(ret, p, (size_t)(ret + HUMAN_SIZE - p));
	return ret;
}

const char *human_bytes(uint64_t bytes, char ret[HUMAN_SIZE])
{
	static const char units[][4] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double size = (double)bytes;
	unsigned unit = 0;

	while (size >= 1023.5 && unit + 1 < sizeof(units) / sizeof(*units)) {
		size /= 1024;
		unit++;
	}
	snprintf(ret, HUMAN_SIZE, unit && size < 99.95 ? "%.1f %s" : "%.0f %s", size, units[unit]);
	return ret;
}

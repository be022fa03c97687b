/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: strict numbers. In: a text. Out: a value with its unit applied. Invariant: no blank, sign,
 * or rest is accepted unless the form names it.
 */
#include "base/parse.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

int parse_u64(const char *text, uint64_t *ret)
{
	const char *digits = "0123456789";
	const char *p = text;
	uint64_t base = 10, value = 0;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		digits = "0123456789abcdef";
		base = 16;
		p += 2;
	}
	if (!*p)
		return -EINVAL;
	for (; *p; p++) {
		char lower = *p >= 'A' && *p <= 'F' ? (char)(*p + 32) : *p;
		const char *digit = strchr(digits, lower);

		if (!digit)
			return -EINVAL;
		if (__builtin_mul_overflow(value, base, &value) ||
			__builtin_add_overflow(value, (uint64_t)(digit - digits), &value))
			return -ERANGE;
	}
	*ret = value;
	return 0;
}

int parse_u32(const char *text, uint32_t max, uint32_t *ret)
{
	uint64_t value;
	int r = parse_u64(text, &value);

	if (r < 0)
		return r;
	if (value > max)
		return -ERANGE;
	*ret = (uint32_t)value;
	return 0;
}

/* Digits, an optional fraction, then *@ret_rest. Only what strtod and the C locale agree on. */
static int parse_decimal(const char *text, double *ret, const char **ret_rest)
{
	size_t whole = strspn(text, "0123456789"), fraction = 0;
	const char *end = text + whole;
	locale_t c;
	char *stop;
	double value;

	if (*end == '.') {
		fraction = strspn(end + 1, "0123456789");
		end += 1 + fraction;
	}
	if (!whole && !fraction)
		return -EINVAL;
	c = newlocale(LC_NUMERIC_MASK, "C", NULL);
	if (!c)
		return -ENOMEM;
	value = strtod_l(text, &stop, c);
	freelocale(c);
	if (stop != end) /* an exponent */
		return -EINVAL;
	if (!isfinite(value))
		return -ERANGE;
	*ret = value;
	*ret_rest = end;
	return 0;
}

int parse_double(const char *text, double *ret)
{
	const char *rest;
	double value;
	int r = parse_decimal(*text == '-' ? text + 1 : text, &value, &rest);

	if (r < 0)
		return r;
	if (*rest)
		return -EINVAL;
	*ret = *text == '-' ? -value : value;
	return 0;
}

static int parse_with_unit(const char *text, const struct unit *units, uint64_t *ret)
{
	const char *rest;
	double value;
	int r = parse_decimal(text, &value, &rest);

	if (r < 0)
		return r;
	for (; units->name; units++) {
		if (strcmp(rest, units->name))
			continue;
		value *= (double)units->factor;
		if (value >= 18446744073709551616.0)
			return -ERANGE;
		*ret = (uint64_t)(value + 0.5);
		return 0;
	}
	return -EINVAL;
}

int parse_duration(const char *text, uint64_t *ret_ns)
{
	static const struct unit units[] = {{"", 1000000000}, {"s", 1000000000}, {"ms", 1000000},
		{"us", 1000}, {"ns", 1}, {"m", 60000000000}, {"h", 3600000000000}, {NULL, 0}};

	return parse_with_unit(text, units, ret_ns);
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
	static const struct unit units[] = {{"", 1}, {"K", 1024}, {"k", 1024}, {"M", 1024 * 1024},
		{"G", 1024 * 1024 * 1024}, {NULL, 0}};

	return parse_with_unit(text, units, ret_bytes);
}

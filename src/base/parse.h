/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strict parsing of numbers from command lines and from /proc: the whole text must be a number.
 * Each returns 0, -EINVAL (not of the form) or -ERANGE (too large), and leaves *@ret on failure.
 */
#ifndef GILPROBE_BASE_PARSE_H
#define GILPROBE_BASE_PARSE_H

#include <stdint.h>

/* Decimal digits only, or 0x and hexadecimal digits. */
int parse_u64(const char *text, uint64_t *ret);

/* Like parse_u64, up to @max. */
int parse_u32(const char *text, uint32_t max, uint32_t *ret);

/* A finite decimal number of either sign, such as 0.5. */
int parse_double(const char *text, double *ret);

/* "5s", "250ms", "1.5s", "2m", "1h", "300us", "20ns"; a bare number is seconds. Nanoseconds out. */
int parse_duration(const char *text, uint64_t *ret_ns);

/* "2M", "512K", "1G", "4096": bytes. */
int parse_size(const char *text, uint64_t *ret_bytes);

#endif

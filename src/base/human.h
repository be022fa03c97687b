/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for people: durations with a unit, counts with separators.
 */
#ifndef GILPROBE_BASE_HUMAN_H
#define GILPROBE_BASE_HUMAN_H

#include <stdint.h>

#define HUMAN_SIZE 32

/* About three digits: "950 ns", "38 µs", "5.1 ms", "142 ms", "1.31 s". Returns @ret. */
const char *human_ns(uint64_t ns, char ret[HUMAN_SIZE]);

/* "1,204". Returns @ret. */
const char *human_count(uint64_t n, char ret[HUMAN_SIZE]);

/* "3.2 MiB", "817 KiB", "95 B". Returns @ret. */
const char *human_bytes(uint64_t bytes, char ret[HUMAN_SIZE]);

#endif

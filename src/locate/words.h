/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: lists of words, and the words of shell text.
 */
#ifndef GILPROBE_LOCATE_WORDS_H
#define GILPROBE_LOCATE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Owned strings. Zero-initialise. */
struct words {
	char **items;
	size_t n, cap;
};

void words_done(struct words *words);

/* Appends a copy. 0 or -ENOMEM. */
int words_add(struct words *words, const char *text, size_t len);

bool words_has(const struct words *words, const char *text);

/*
 * Splits shell text: blanks, newlines and operators separate, quotes join, comments are skipped,
 * nothing is expanded. At most @max words. 0 or -ENOMEM.
 */
int words_split(struct words *words, const char *text, size_t size, size_t max);

/*
 * Words of `env -S`: blanks separate, quotes join, `\_` is a blank. 0 or -ENOMEM.
 */
int words_split_env(struct words *words, const char *text);

#endif

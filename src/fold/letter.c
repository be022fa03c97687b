/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: letters for threads. In: a thread's number within its process. Out: A … Z, AA, AB, ….
 * Invariant: different numbers give different letters (bijective base 26).
 */
#include "fold/letter.h"

#include <string.h>

const char *fold_letter(const struct fold_thread *thread, char ret[FOLD_LETTERS])
{
	char text[FOLD_LETTERS], *p = text + sizeof(text) - 1;
	uint64_t n = (uint64_t)thread->number + 1;

	*p = 0;
	while (n) {
		n--;
		*--p = (char)('A' + n % 26);
		n /= 26;
	}
	memcpy(ret, p, (size_t)(text + sizeof(text) - p));
	return ret;
}

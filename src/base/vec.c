/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: growing arrays. In: an owner's pointer, capacity and wish. Out: room, or -ENOMEM with the
 * old array whole. Invariant: capacity times item size never overflows.
 */
#include "base/vec.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int vec_reserve(void *items, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap ? *cap : 8;
	void *old, *grown;

	if (need <= *cap)
		return 0;
	while (want < need) {
		if (want > SIZE_MAX / 2)
			return -ENOMEM;
		want *= 2;
	}
	if (want > SIZE_MAX / size)
		return -ENOMEM;
	memcpy(&old, items, sizeof(old));
	grown = realloc(old, want * size);
	if (!grown)
		return -ENOMEM;
	memcpy(items, &grown, sizeof(grown));
	*cap = want;
	return 0;
}

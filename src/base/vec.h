/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing arrays. A vector is three fields in its owner: `T *items; size_t n, cap;`.
 */
#ifndef GILPROBE_BASE_VEC_H
#define GILPROBE_BASE_VEC_H

#include <stddef.h>

/*
 * Makes room for @need items of @size bytes, doubling. @items points at the owner's pointer.
 * 0, or -ENOMEM with the old array untouched.
 */
int vec_reserve(void *items, size_t *cap, size_t need, size_t size);

/* Room for one more; then the caller writes v.items[v.n++]. */
#define vec_grow(v) vec_reserve(&(v)->items, &(v)->cap, (v)->n + 1, sizeof(*(v)->items))

#endif

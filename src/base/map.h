/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash map from uint64_t to uint64_t (or to a pointer): open addressing, linear probing.
 * Keys are any value. Zero-initialise to make an empty map.
 */
#ifndef GILPROBE_BASE_MAP_H
#define GILPROBE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	uint64_t value;
	bool used;
};

struct map {
	struct map_slot *slots;
	size_t n;   /* entries */
	size_t cap; /* slots, a power of two or 0 */
};

void map_done(struct map *map);

/* The place of @key's value, or NULL when it is not there. Valid until the next put or del. */
uint64_t *map_get(const struct map *map, uint64_t key);

/* Sets @key's value, replacing an older one. 0 or -ENOMEM (map untouched). */
int map_put(struct map *map, uint64_t key, uint64_t value);

/* Removes @key. True when it was there. */
bool map_del(struct map *map, uint64_t key);

/* The first used slot at index ≥ *@at (then moves *@at behind it), or NULL: for walking. */
struct map_slot *map_next(const struct map *map, size_t *at);

static inline void *map_get_ptr(const struct map *map, uint64_t key)
{
	uint64_t *v = map_get(map, key);

	return v ? (void *)(uintptr_t)*v : NULL;
}

static inline int map_put_ptr(struct map *map, uint64_t key, void *p)
{
	return map_put(map, key, (uint64_t)(uintptr_t)p);
}

#endif

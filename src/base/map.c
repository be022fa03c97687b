/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: the hash map. In: 64-bit keys. Out: 64-bit values. Invariant: at most three quarters of
 * the slots are used, and no key lies behind a gap in its probe row (deletion moves keys back).
 */
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

static size_t slot_of(const struct map *map, uint64_t key)
{
	/* splitmix64's finaliser: tids and addresses differ in few bits */
	key ^= key >> 30;
	key *= 0xbf58476d1ce4e5b9ull;
	key ^= key >> 27;
	key *= 0x94d049bb133111ebull;
	key ^= key >> 31;
	return (size_t)key & (map->cap - 1);
}

/* The slot that holds @key, or the gap where it would go. Needs cap > n. */
static struct map_slot *find(const struct map *map, uint64_t key)
{
	size_t i = slot_of(map, key);

	while (map->slots[i].used && map->slots[i].key != key)
		i = (i + 1) & (map->cap - 1);
	return &map->slots[i];
}

static int grow(struct map *map)
{
	struct map bigger = {.n = map->n, .cap = map->cap ? map->cap * 2 : 16};

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->cap; i++)
		if (map->slots[i].used)
			*find(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
	return 0;
}

void map_done(struct map *map)
{
	free(map->slots);
	*map = (struct map){0};
}

uint64_t *map_get(const struct map *map, uint64_t key)
{
	struct map_slot *slot;

	if (!map->cap)
		return NULL;
	slot = find(map, key);
	return slot->used ? &slot->value : NULL;
}

int map_put(struct map *map, uint64_t key, uint64_t value)
{
	struct map_slot *slot;

	if (map->n + 1 > map->cap / 4 * 3 && grow(map) < 0)
		return -ENOMEM;
	slot = find(map, key);
	if (!slot->used)
		map->n++;
	*slot = (struct map_slot){key, value, true};
	return 0;
}

bool map_del(struct map *map, uint64_t key)
{
	size_t mask, gap, i;

	if (!map->cap || !find(map, key)->used)
		return false;
	mask = map->cap - 1;
	gap = (size_t)(find(map, key) - map->slots);
	for (i = (gap + 1) & mask; map->slots[i].used; i = (i + 1) & mask) {
		size_t home = slot_of(map, map->slots[i].key);

		/* move back what probed past the gap */
		if (((i - home) & mask) >= ((i - gap) & mask)) {
			map->slots[gap] = map->slots[i];
			gap = i;
		}
	}
	map->slots[gap].used = false;
	map->n--;
	return true;
}

struct map_slot *map_next(const struct map *map, size_t *at)
{
	while (*at < map->cap)
		if (map->slots[(*at)++].used)
			return &map->slots[*at - 1];
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/map.h"

#include "test.h"

/* Against a plain array: puts, replacements and deletions in a fixed pseudo-random order. */
static void agrees_with_an_array(void **state)
{
	enum { KEYS = 997 };
	uint64_t value[KEYS] = {0}, random = 1;
	struct map map = {0};
	size_t n = 0;

	for (unsigned step = 0; step < 200000; step++) {
		uint64_t key;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		key = (random >> 33) % KEYS;
		if (random >> 63) {
			n -= value[key] != 0;
			assert_int_equal(map_del(&map, key << 12), value[key] != 0);
			value[key] = 0;
		} else {
			n += value[key] == 0;
			value[key] = step + 1;
			assert_int_equal(map_put(&map, key << 12, value[key]), 0);
		}
		assert_int_equal(map.n, n);
	}
	for (uint64_t key = 0; key < KEYS; key++) {
		uint64_t *found = map_get(&map, key << 12);

		if (value[key])
			assert_int_equal(*found, value[key]);
		else
			assert_null(found);
	}
	map_done(&map);
}

static void walking_sees_each_entry_once(void **state)
{
	struct map map = {0};
	struct map_slot *slot;
	uint64_t sum = 0;
	size_t at = 0, n = 0;

	for (uint64_t key = 0; key < 100; key++)
		assert_int_equal(map_put(&map, key, key), 0);
	while ((slot = map_next(&map, &at))) {
		sum += slot->value;
		n++;
	}
	assert_int_equal(n, 100);
	assert_int_equal(sum, 4950);
	map_done(&map);
}

static void an_empty_map_has_nothing(void **state)
{
	struct map map = {0};
	size_t at = 0;

	assert_null(map_get(&map, 0));
	assert_false(map_del(&map, 0));
	assert_null(map_next(&map, &at));
	map_done(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_an_array),
		cmocka_unit_test(walking_sees_each_entry_once),
		cmocka_unit_test(an_empty_map_has_nothing),
	};
	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/vec.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "test.h"

static void grows_and_keeps(void **state)
{
	struct {
		int *items;
		size_t n, cap;
	} v = {0};

	for (int i = 0; i < 1000; i++) {
		assert_int_equal(vec_grow(&v), 0);
		v.items[v.n++] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v.items[i], i);
	free(v.items);
}

static void an_absurd_wish_is_refused_and_harmless(void **state)
{
	int *items = malloc(8 * sizeof(*items));
	size_t cap = 8;

	assert_int_equal(vec_reserve(&items, &cap, SIZE_MAX, sizeof(*items)), -ENOMEM);
	assert_int_equal(vec_reserve(&items, &cap, SIZE_MAX / 2, sizeof(*items)), -ENOMEM);
	assert_int_equal(cap, 8);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_keeps),
		cmocka_unit_test(an_absurd_wish_is_refused_and_harmless),
	};
	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cursor.h"

#include "test.h"

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 'h', 'i', 0, 9};

static void reads_both_byte_orders(void **state)
{
	struct cursor host = cursor_over(bytes, sizeof(bytes), false);
	struct cursor other = cursor_over(bytes, sizeof(bytes), true);

	assert_int_equal(cursor_u64(&host), 0x0807060504030201);
	assert_int_equal(cursor_u64(&other), 0x0102030405060708);
	other = cursor_over(bytes + 1, 6, true);
	assert_int_equal(cursor_u16(&other), 0x0203);
	assert_int_equal(cursor_u32(&other), 0x04050607);
	assert_false(other.bad);
}

static void a_read_past_the_end_is_zero_and_bad(void **state)
{
	for (size_t size = 0; size < 8; size++) {
		struct cursor c = cursor_over(bytes, size, false);

		assert_int_equal(cursor_u64(&c), 0);
		assert_true(c.bad);
		assert_int_equal(cursor_u8(&c), 0); /* and stays bad */
		assert_null(cursor_bytes(&c, 0));
	}
}

static void a_huge_skip_does_not_wrap(void **state)
{
	struct cursor c = cursor_over(bytes, sizeof(bytes), false);

	cursor_skip(&c, SIZE_MAX);
	assert_true(c.bad);
	assert_int_equal(cursor_left(&c), sizeof(bytes));
}

static void strings_end_inside(void **state)
{
	struct cursor c = cursor_over(bytes + 8, 4, false);

	assert_string_equal(cursor_str(&c), "hi");
	assert_int_equal(cursor_left(&c), 1);
	assert_null(cursor_str(&c)); /* 9 has no NUL behind it */
	assert_true(c.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_both_byte_orders),
		cmocka_unit_test(a_read_past_the_end_is_zero_and_bad),
		cmocka_unit_test(a_huge_skip_does_not_wrap),
		cmocka_unit_test(strings_end_inside),
	};
	return RUN_TESTS(tests);
}

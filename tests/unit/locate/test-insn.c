/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of the x86-64 decoder: lengths as a disassembler gives them, one per kind of encoding.
 */
#include "locate/insn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The length of the one instruction that @bytes are. */
#define check(...)                                                                                 \
	do {                                                                                       \
		static const uint8_t bytes_[] = {__VA_ARGS__};                                     \
                                                                                                   \
		check_bytes(bytes_, sizeof(bytes_));                                               \
	} while (0)

static void check_bytes(const uint8_t *bytes, size_t size)
{
	uint8_t padded[32] = {0};
	struct insn insn;

	memcpy(padded, bytes, size);
	assert_true(insn_decode(padded, sizeof(padded), &insn));
	assert_int_equal(insn.length, size);
	/* cut off anywhere it is no instruction */
	for (size_t n = 0; n < size; n++)
		assert_false(insn_decode(bytes, n, &insn));
}

static void test_lengths(void **state)
{
	check(0x55);					    /* push %rbp */
	check(0xf3, 0x0f, 0x1e, 0xfa);			    /* endbr64 */
	check(0x48, 0x8d, 0x3d, 1, 2, 3, 4);		    /* lea 0x…(%rip),%rdi */
	check(0x49, 0x8d, 0x7f, 0x78);			    /* lea 0x78(%r15),%rdi */
	check(0x48, 0x8b, 0x7c, 0x24, 0x18);		    /* mov 0x18(%rsp),%rdi */
	check(0x8b, 0x04, 0x25, 1, 2, 3, 4);		    /* mov 0x…,%eax */
	check(0xbf, 0xc8, 0xb8, 0xa5, 0);		    /* mov $0x…,%edi */
	check(0x49, 0xbd, 1, 2, 3, 4, 5, 6, 7, 8);	    /* movabs $0x…,%r13 */
	check(0x66, 0xb8, 1, 2);			    /* mov $0x…,%ax */
	check(0xa1, 1, 2, 3, 4, 5, 6, 7, 8);		    /* movabs 0x…,%eax */
	check(0xc7, 0x47, 0x10, 1, 0, 0, 0);		    /* movl $1,0x10(%rdi) */
	check(0x66, 0xc7, 0x07, 1, 0);			    /* movw $1,(%rdi) */
	check(0xf6, 0xc1, 0x01);			    /* test $1,%cl */
	check(0xf7, 0xc1, 1, 0, 0, 0);			    /* test $1,%ecx */
	check(0xf7, 0xd8);				    /* neg %eax */
	check(0xe8, 1, 2, 3, 4);			    /* call */
	check(0xff, 0x15, 1, 2, 3, 4);			    /* call *0x…(%rip) */
	check(0x0f, 0x84, 1, 2, 3, 4);			    /* je */
	check(0x74, 0x05);				    /* je short */
	check(0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0); /* nopw */
	check(0xf0, 0x48, 0x83, 0x63, 0x18, 0xfe);	    /* lock andq $-2,0x18(%rbx) */
	check(0xc8, 1, 0, 2);				    /* enter */
	check(0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8);		    /* palignr */
	check(0x66, 0x0f, 0x38, 0x00, 0xc1);		    /* pshufb */
	check(0xc5, 0xf8, 0x77);			    /* vzeroupper */
	check(0xc5, 0xfd, 0x6f, 0x07);			    /* vmovdqa (%rdi),%ymm0 */
	check(0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1);		    /* vextracti128 */
	check(0xc4, 0xe2, 0x7d, 0x58, 0xc1);		    /* vpbroadcastd */
	check(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x07);	    /* vmovups (%rdi),%zmm0 */
	check(0x62, 0xf3, 0x75, 0x48, 0x3f, 0xc2, 4);	    /* vpcmpub */
}

static void test_operands(void **state)
{
	static const uint8_t lea[] = {0x49, 0x8d, 0x7f, 0x78},
			     rip[] = {0x48, 0x8d, 0x3d, 0xfc, 0xff, 0xff, 0xff},
			     index[] = {0x48, 0x8d, 0x7c, 0x83, 0x08};
	struct insn insn;

	assert_true(insn_decode(lea, sizeof(lea), &insn));
	assert_int_equal(insn.reg, 7);
	assert_int_equal(insn.rm, 15);
	assert_int_equal(insn.disp, 0x78);
	assert_false(insn.has_index);
	assert_true(insn_decode(rip, sizeof(rip), &insn));
	assert_true(insn.rip);
	assert_int_equal(insn.disp, -4);
	assert_true(insn_decode(index, sizeof(index), &insn));
	assert_true(insn.has_index);
}

static void test_unknown(void **state)
{
	static const uint8_t none[][2] = {
		{0x06, 0}, {0x9a, 0}, {0xd6, 0}, {0x0f, 0x04}, {0x0f, 0xa6}};
	static const uint8_t prefixes[16] = {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
		0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90};
	struct insn insn;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(insn_decode(none[i], sizeof(none[i]), &insn));
	/* no instruction is longer than 15 bytes */
	assert_false(insn_decode(prefixes, sizeof(prefixes), &insn));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests_name("locate/insn", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: the few AArch64 instructions that matter: PLT stubs, branches, address arithmetic.
 */
#ifndef GILPROBE_LOCATE_ARM64_H
#define GILPROBE_LOCATE_ARM64_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ARM64_BTI_C 0xd503245fU

static inline uint32_t arm64_word(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* @bits of @w from bit @at, sign-extended, times 4: a branch distance. */
static inline uint64_t arm64_distance(uint32_t w, unsigned int at, unsigned int bits)
{
	uint64_t v = w >> at & ((1U << bits) - 1);
	uint64_t sign = UINT64_C(1) << (bits - 1);

	return ((v ^ sign) - sign) * 4;
}

static inline bool arm64_is_bl(uint32_t w)
{
	return w >> 26 == 0x25;
}

/* Of a B or BL at @vaddr. */
static inline uint64_t arm64_branch_target(uint32_t w, uint64_t vaddr)
{
	return vaddr + arm64_distance(w, 0, 26);
}

/* The page that an ADRP at @vaddr names. */
static inline uint64_t arm64_adrp(uint32_t w, uint64_t vaddr)
{
	uint64_t v = (uint64_t)(w >> 5 & 0x7ffff) << 2 | (w >> 29 & 3);

	v = (v ^ (1 << 20)) - (1 << 20);
	return (vaddr & ~UINT64_C(0xfff)) + (v << 12);
}

/* `adrp x16, slot; ldr x17, [x16, #slot]`: the GOT slot of a PLT stub. */
static inline bool arm64_plt_slot(uint32_t adrp, uint32_t ldr, uint64_t vaddr, uint64_t *ret_slot)
{
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	*ret_slot = arm64_adrp(adrp, vaddr) + ((uint64_t)(ldr >> 10 & 0xfff) << 3);
	return true;
}

/* Target of b, b.cond, cbz, cbnz, tbz or tbnz. */
static inline bool arm64_jump(uint32_t w, uint64_t vaddr, uint64_t *ret_target)
{
	if (w >> 26 == 5)
		*ret_target = vaddr + arm64_distance(w, 0, 26);
	else if (w >> 24 == 0x54 || (w >> 25 & 0x3f) == 0x1a)
		*ret_target = vaddr + arm64_distance(w, 5, 19);
	else if ((w >> 25 & 0x3f) == 0x1b)
		*ret_target = vaddr + arm64_distance(w, 5, 14);
	else
		return false;
	return true;
}

#endif

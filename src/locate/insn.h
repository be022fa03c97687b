/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: lengths and operands of x86-64 instructions, as far as finding a call's first argument
 * needs them. Covers the integer, SSE, AVX and AVX-512 encodings that compilers emit.
 */
#ifndef GILPROBE_LOCATE_INSN_H
#define GILPROBE_LOCATE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_map { INSN_ONE_BYTE, INSN_0F, INSN_0F38, INSN_0F3A };

struct insn {
	size_t length;
	enum insn_map map;
	uint8_t opcode;
	bool vex;    /* VEX or EVEX: writes no general register that matters here */
	uint8_t rex; /* 0: none */
	bool has_modrm;
	uint8_t mod, reg, rm; /* reg and rm include the REX bits */
	bool has_index;	      /* the address has an index register */
	bool rip;	      /* the address is relative to the next instruction */
	int64_t disp;
	int64_t imm; /* sign-extended; of the last immediate */
};

/* Decodes one instruction at @at. False when it is cut off or unknown. */
bool insn_decode(const uint8_t *at, size_t left, struct insn *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: an x86-64 instruction length decoder.
 *
 * In: bytes of code. Out: one instruction's length and operands. Invariant: never reads past the
 * end; an encoding that it does not know is reported, not guessed.
 */
#include "locate/insn.h"

#include "base/cursor.h"

/* What follows an opcode. */
enum form {
	BAD = 0,
	NONE = 1,
	MODRM = 2,
	IMM8 = 4,
	IMM16 = 8,
	IMMZ = 16, /* 4 bytes, or 2 with the operand size prefix */
	REL32 = 32,
	MOFFS = 64,
	IMMV = 128, /* as IMMZ, or 8 with REX.W */
};

struct state {
	struct cursor c;
	bool operand16, address32;
	struct insn *out;
};

static unsigned int one_byte_form(uint8_t op)
{
	if (op < 0x40) {
		static const uint8_t low[8] = {MODRM, MODRM, MODRM, MODRM, IMM8, IMMZ, BAD, BAD};

		return low[op & 7];
	}
	switch (op) {
	case 0x50 ... 0x5f:
	case 0x6c ... 0x6f:
	case 0x90 ... 0x99:
	case 0x9b ... 0x9f:
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
	case 0xc3:
	case 0xc9:
	case 0xcb:
	case 0xcc:
	case 0xcf:
	case 0xd7:
	case 0xec ... 0xef:
	case 0xf1:
	case 0xf4:
	case 0xf5:
	case 0xf8 ... 0xfd:
		return NONE;
	case 0x63:
	case 0x84 ... 0x8f:
	case 0xd0 ... 0xd3:
	case 0xd8 ... 0xdf:
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return MODRM;
	case 0x68:
	case 0xa9:
		return IMMZ;
	case 0x69:
	case 0x81:
	case 0xc7:
		return MODRM | IMMZ;
	case 0x6a:
	case 0x70 ... 0x7f:
	case 0xa8:
	case 0xb0 ... 0xb7:
	case 0xcd:
	case 0xe0 ... 0xe7:
	case 0xeb:
		return IMM8;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return MODRM | IMM8;
	case 0xa0 ... 0xa3:
		return MOFFS;
	case 0xb8 ... 0xbf:
		return IMMV;
	case 0xc2:
	case 0xca:
		return IMM16;
	case 0xc8:
		return IMM16 | IMM8;
	case 0xe8:
	case 0xe9:
		return REL32;
	default:
		return BAD;
	}
}

static unsigned int two_byte_form(uint8_t op)
{
	switch (op) {
	case 0x05 ... 0x09:
	case 0x0b:
	case 0x0e:
	case 0x30 ... 0x37:
	case 0x77:
	case 0xa0 ... 0xa2:
	case 0xa8 ... 0xaa:
	case 0xc8 ... 0xcf:
		return NONE;
	case 0x04:
	case 0x0a:
	case 0x0c:
	case 0x24 ... 0x27:
	case 0x39:
	case 0x3b ... 0x3f:
	case 0xa6:
	case 0xa7:
		return BAD;
	case 0x0f:
	case 0x70 ... 0x73:
	case 0xa4:
	case 0xac:
	case 0xba:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return MODRM | IMM8;
	case 0x80 ... 0x8f:
		return REL32;
	default:
		return MODRM;
	}
}

static unsigned int map_form(enum insn_map map, uint8_t op)
{
	switch (map) {
	case INSN_ONE_BYTE:
		return one_byte_form(op);
	case INSN_0F:
		return two_byte_form(op);
	case INSN_0F38:
		return MODRM;
	default:
		return MODRM | IMM8;
	}
}

static bool is_prefix(struct state *s, uint8_t b)
{
	switch (b) {
	case 0x66:
		s->operand16 = true;
		return true;
	case 0x67:
		s->address32 = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

/* The map number in a VEX or EVEX prefix. */
static bool set_map(struct insn *out, unsigned int number)
{
	/* 5 and 6 are AVX-512 FP16, laid out like map 2 */
	static const enum insn_map maps[8] = {
		0, INSN_0F, INSN_0F38, INSN_0F3A, 0, INSN_0F38, INSN_0F38, 0};

	out->vex = true;
	out->map = maps[number & 7];
	return out->map != INSN_ONE_BYTE;
}

/* Reads everything up to and with the opcode. */
static bool read_opcode(struct state *s)
{
	struct insn *out = s->out;
	uint8_t b = cursor_u8(&s->c);

	while (!s->c.bad && is_prefix(s, b))
		b = cursor_u8(&s->c);
	if ((b & 0xf0) == 0x40) {
		out->rex = b;
		b = cursor_u8(&s->c);
	}
	if (b == 0xc5 || b == 0xc4 || b == 0x62) {
		uint8_t first = cursor_u8(&s->c);
		unsigned int number = b == 0xc5 ? 1 : b == 0xc4 ? first & 0x1f : first & 7;

		cursor_skip(&s->c, b == 0xc5 ? 0 : b == 0xc4 ? 1 : 2);
		if (number > 7 || !set_map(out, number))
			return false;
		b = cursor_u8(&s->c);
	} else if (b == 0x0f) {
		out->map = INSN_0F;
		b = cursor_u8(&s->c);
		if (b == 0x38 || b == 0x3a) {
			out->map = b == 0x38 ? INSN_0F38 : INSN_0F3A;
			b = cursor_u8(&s->c);
		}
	}
	out->opcode = b;
	return !s->c.bad;
}

static void read_modrm(struct state *s)
{
	struct insn *out = s->out;
	uint8_t b = cursor_u8(&s->c), sib = 0;

	out->has_modrm = true;
	out->mod = b >> 6;
	out->reg = (uint8_t)((b >> 3 & 7) | (out->rex & 4 ? 8 : 0));
	out->rm = (uint8_t)((b & 7) | (out->rex & 1 ? 8 : 0));
	if (out->mod == 3)
		return;
	if ((b & 7) == 4) {
		sib = cursor_u8(&s->c);
		out->rm = (uint8_t)((sib & 7) | (out->rex & 1 ? 8 : 0));
		out->has_index = (sib >> 3 & 7) != 4 || (out->rex & 2);
	}
	if (out->mod == 1) {
		out->disp = (int8_t)cursor_u8(&s->c);
	} else if (out->mod == 2) {
		out->disp = (int32_t)cursor_u32(&s->c);
	} else if ((b & 7) == 5) {
		out->rip = true;
		out->disp = (int32_t)cursor_u32(&s->c);
	} else if ((b & 7) == 4 && (sib & 7) == 5) {
		out->has_index = true; /* no base: nothing that the caller can use */
		out->disp = (int32_t)cursor_u32(&s->c);
	}
}

static void read_immediates(struct state *s, unsigned int form)
{
	struct insn *out = s->out;
	bool wide = out->rex & 8;

	if (form & MOFFS)
		cursor_skip(&s->c, s->address32 ? 4 : 8);
	if (form & IMM16)
		out->imm = (int16_t)cursor_u16(&s->c);
	if (form & IMM8)
		out->imm = (int8_t)cursor_u8(&s->c);
	if (form & REL32)
		out->imm = (int32_t)cursor_u32(&s->c);
	if ((form & IMMV) && wide)
		out->imm = (int64_t)cursor_u64(&s->c);
	else if ((form & (IMMZ | IMMV)) && s->operand16 && !wide)
		out->imm = (int16_t)cursor_u16(&s->c);
	else if (form & (IMMZ | IMMV))
		out->imm = (int32_t)cursor_u32(&s->c);
}

bool insn_decode(const uint8_t *at, size_t left, struct insn *ret)
{
	struct state s = {.c = cursor_over(at, left < 15 ? left : 15, false), .out = ret};
	unsigned int form;

	*ret = (struct insn){0};
	if (!read_opcode(&s))
		return false;
	form = map_form(ret->map, ret->opcode);
	if (form == BAD)
		return false;
	if (form & MODRM)
		read_modrm(&s);
	/* test r/m, imm shares its opcode with not, neg, mul, div, which have none */
	if (ret->map == INSN_ONE_BYTE && (ret->opcode & 0xfe) == 0xf6 && (ret->reg & 7) < 2)
		form |= ret->opcode == 0xf6 ? IMM8 : IMMZ;
	read_immediates(&s, form);
	if (s.c.bad)
		return false;
	ret->length = (size_t)(s.c.at - at);
	return true;
}

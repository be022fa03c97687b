/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: a small symbolic interpreter for the registers that carry addresses.
 *
 * In: a function's code up to a call. Out: the first argument as a fixed address or as a register
 * plus a constant. Invariant: a register whose value is not understood is a fresh unknown.
 */
#include "locate/args.h"

#include "locate/arm64.h"
#include "locate/insn.h"

#include <elf.h>

#define X86_RDI 7
/* rax, rcx, rdx, rsi, rdi, r8-r11 */
#define X86_VOLATILE 0x0fc7U

struct regs {
	struct arg r[32];
	uint64_t loaded[32]; /* fixed address that the register was loaded from; 0: another way */
	unsigned int versions;
};

static void set(struct regs *regs, unsigned int reg, struct arg arg)
{
	regs->r[reg] = arg;
	regs->loaded[reg] = 0;
}

static void set_address(struct regs *regs, unsigned int reg, uint64_t value)
{
	set(regs, reg, (struct arg){ARG_ADDRESS, 0, 0, value});
}

static void copy(struct regs *regs, unsigned int to, unsigned int from)
{
	regs->r[to] = regs->r[from];
	regs->loaded[to] = regs->loaded[from];
}

static void add(struct regs *regs, unsigned int to, unsigned int from, uint64_t value)
{
	struct arg arg = regs->r[from];

	arg.value += value;
	set(regs, to, arg);
}

static void forget(struct regs *regs, unsigned int reg)
{
	set(regs, reg, (struct arg){ARG_RELATIVE, reg, ++regs->versions, 0});
}

static void forget_all(struct regs *regs, uint32_t mask)
{
	for (unsigned int i = 0; i < 32; i++)
		if (mask >> i & 1)
			forget(regs, i);
}

/* Instructions that only read their register operands or write memory. */
static bool writes_no_register(const struct insn *insn)
{
	uint8_t op = insn->opcode;

	if (insn->map != INSN_ONE_BYTE)
		return insn->vex || (insn->map == INSN_0F && (op & 0xf0) == 0x80);
	if ((op & 0xfc) == 0x38 || (op & 0xfe) == 0x84 || op == 0x3c || op == 0x3d)
		return true;
	if (op >= 0x80 && op <= 0x83)
		return (insn->reg & 7) == 7 || insn->mod != 3;
	/* add, or, …, mov, whose destination is memory */
	if (insn->mod != 3 && (op == 0x88 || op == 0x89 || op == 0xc6 || op == 0xc7 ||
				      (op < 0x40 && (op & 6) == 0)))
		return true;
	return (op & 0xfe) == 0xf6 && (insn->reg & 7) < 2;
}

static void x86_flow(struct regs *regs, const struct insn *insn)
{
	uint8_t op = insn->opcode;
	bool indirect = op == 0xff && (insn->reg & 7) >= 2 && (insn->reg & 7) <= 5;

	/* after a call, and after a jump when the line goes on from somewhere else */
	if (op == 0xe8 || op == 0xe9 || op == 0xeb || op == 0xc3 || indirect)
		forget_all(regs, X86_VOLATILE);
}

static void x86_modrm(struct regs *regs, const struct insn *insn, uint64_t next)
{
	uint8_t op = insn->opcode;
	bool wide = insn->rex & 8, plain = insn->map == INSN_ONE_BYTE;

	if (plain && op == 0x8d && wide && insn->rip) {
		set_address(regs, insn->reg, next + (uint64_t)insn->disp);
	} else if (plain && op == 0x8d && wide && !insn->has_index) {
		add(regs, insn->reg, insn->rm, (uint64_t)insn->disp);
	} else if (plain && op == 0x89 && wide && insn->mod == 3) {
		copy(regs, insn->rm, insn->reg);
	} else if (plain && op == 0x8b && wide && insn->mod == 3) {
		copy(regs, insn->reg, insn->rm);
	} else if (plain && op == 0x8b && wide && insn->rip) {
		forget(regs, insn->reg);
		regs->loaded[insn->reg] = next + (uint64_t)insn->disp;
	} else if (plain && op == 0xc7 && wide && insn->mod == 3) {
		set_address(regs, insn->rm, (uint64_t)insn->imm);
	} else if (!writes_no_register(insn) && !(plain && op == 0xff)) {
		forget(regs, insn->reg);
		if (insn->mod == 3)
			forget(regs, insn->rm);
	}
}

static void x86_step(struct regs *regs, const struct insn *insn, uint64_t next)
{
	uint8_t op = insn->opcode;

	if (insn->map == INSN_ONE_BYTE && op >= 0xb8 && op <= 0xbf) {
		/* mov $imm, reg; a 32-bit one clears the upper half */
		uint64_t value = insn->rex & 8 ? (uint64_t)insn->imm : (uint32_t)insn->imm;

		set_address(regs, (op & 7) | (insn->rex & 1 ? 8U : 0), value);
		return;
	}
	/* pop is left out: it restores what the caller had, on a way that does not come here */
	if (insn->has_modrm)
		x86_modrm(regs, insn, next);
	if (insn->map == INSN_ONE_BYTE)
		x86_flow(regs, insn);
}

static void arm_step(struct regs *regs, uint32_t w, uint64_t vaddr)
{
	unsigned int rd = w & 31, rn = w >> 5 & 31;

	if ((w & 0x9f000000) == 0x90000000) { /* adrp */
		set_address(regs, rd, arm64_adrp(w, vaddr));
	} else if ((w & 0xff800000) == 0x91000000) { /* add xd, xn, #imm{, lsl 12} */
		uint64_t imm = w >> 10 & 0xfff;

		add(regs, rd, rn, w & (1 << 22) ? imm << 12 : imm);
	} else if ((w & 0xffe0ffe0) == 0xaa0003e0) { /* mov xd, xm */
		copy(regs, rd, w >> 16 & 31);
	} else if (arm64_is_bl(w) || w >> 26 == 5 || (w & 0xfe000000) == 0xd6000000) {
		forget_all(regs, 0x3ffff); /* x0-x17 */
	} else if ((w & 0x0a000000) != 0x08000000 || (w & 0x00400000)) {
		/* everything but stores may write its first register */
		if ((w & 0x1c000000) != 0x14000000)
			forget(regs, rd);
	}
}

/* Length of the instruction at @code after its effect on @regs; 0: not understood. */
static uint64_t step(
	bool arm, struct regs *regs, const uint8_t *code, uint64_t left, uint64_t vaddr)
{
	struct insn insn;

	if (arm) {
		if (left < 4)
			return 0;
		arm_step(regs, arm64_word(code), vaddr);
		return 4;
	}
	if (!insn_decode(code, (size_t)left, &insn))
		return 0;
	x86_step(regs, &insn, vaddr + insn.length);
	return insn.length;
}

void args_read(struct image *image, const struct frame *frame, struct arg_query *queries, size_t n)
{
	uint64_t size = frame->hi - frame->lo, at = 0, length;
	const uint8_t *code = image_at(image, frame->lo, size);
	bool arm = image->machine == EM_AARCH64, lost = !code;
	struct regs regs = {0};

	forget_all(&regs, UINT32_MAX);
	for (size_t i = 0; i < n; i++) {
		uint64_t target = queries[i].vaddr - frame->lo;

		while (!lost && at < target) {
			length = step(arm, &regs, code + at, size - at, frame->lo + at);
			lost = !length;
			at += length;
		}
		queries[i].exact = code && (lost || at == target);
		queries[i].arg = lost || at != target ? (struct arg){0} : regs.r[arm ? 0 : X86_RDI];
	}
}

int args_loaded_calls(
	struct image *image, const struct frame *frame, args_loaded_fn *fn, void *user)
{
	uint64_t size = frame->hi - frame->lo, at = 0;
	const uint8_t *code = image_at(image, frame->lo, size);
	struct regs regs = {0};
	struct insn insn;
	int r = 0;

	while (!r && code && at < size && insn_decode(code + at, (size_t)(size - at), &insn)) {
		if (insn.map == INSN_ONE_BYTE && insn.opcode == 0xff && (insn.reg & 7) == 2 &&
			insn.mod == 3 && regs.loaded[insn.rm])
			r = fn(frame->lo + at, regs.loaded[insn.rm], user);
		at += insn.length;
		x86_step(&regs, &insn, frame->lo + at);
	}
	return r;
}

bool arg_distance(const struct arg *a, const struct arg *b, int64_t *ret)
{
	if (a->kind == ARG_UNKNOWN || a->kind != b->kind)
		return false;
	if (a->kind == ARG_RELATIVE && (a->base != b->base || a->version != b->version))
		return false;
	*ret = (int64_t)(a->value - b->value);
	return true;
}

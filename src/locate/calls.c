/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: GOT slots, PLT stubs, and a byte scan for the calls through them.
 *
 * In: an image, its frames. Out: the call sites. Invariant: a call given out has exactly the bytes
 * of the expected call, lies inside a frame, and on x86-64 begins an instruction of that frame.
 */
#include "locate/calls.h"

#include "base/vec.h"
#include "locate/arm64.h"
#include "locate/insn.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

struct scan {
	struct image *image;
	const struct frames *frames;
	const struct import_list *slots;
	struct import_list stubs;
	struct call_list *calls;
};

static int32_t s32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static const struct import_at *import_get(const struct import_list *list, uint64_t vaddr)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].vaddr == vaddr)
			return &list->items[i];
	return NULL;
}

static int import_put(struct import_list *list, uint64_t vaddr, enum import import)
{
	if (vec_grow(list) < 0)
		return -ENOMEM;
	list->items[list->n++] = (struct import_at){vaddr, import};
	return 0;
}

static int call_put(struct scan *scan, uint64_t vaddr, enum import import, bool indirect)
{
	const struct frame *frame = frames_at(scan->frames, vaddr);

	if (!frame)
		return 0;
	if (vec_grow(scan->calls) < 0)
		return -ENOMEM;
	scan->calls->items[scan->calls->n++] = (struct call){vaddr, import, indirect, frame};
	return 0;
}

static bool import_of(const char *name, enum import *ret)
{
	static const char *const names[IMPORTS] = {
		[IMPORT_SIGNAL] = "pthread_cond_signal",
		[IMPORT_TIMEDWAIT] = "pthread_cond_timedwait",
		[IMPORT_WAIT] = "pthread_cond_wait",
	};

	for (unsigned int i = 0; name && i < IMPORTS; i++) {
		if (!strcmp(name, names[i])) {
			*ret = (enum import)i;
			return true;
		}
	}
	return false;
}

static int find_slots_in(
	struct image *image, const struct image_range *range, struct import_list *ret)
{
	bool arm = image->machine == EM_AARCH64;
	uint32_t jump = arm ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT;
	uint32_t data = arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT;
	const uint8_t *table = range->size ? image_piece(image, range->vaddr, range->size) : NULL;
	Elf64_Rela rela;
	enum import import;

	for (uint64_t i = 0; table && i < range->size / sizeof(rela); i++) {
		uint32_t type;

		memcpy(&rela, table + i * sizeof(rela), sizeof(rela));
		type = (uint32_t)ELF64_R_TYPE(rela.r_info);
		if (type != jump && type != data)
			continue;
		if (import_of(image_symbol_name(image, (uint32_t)ELF64_R_SYM(rela.r_info)),
			    &import) &&
			import_put(ret, rela.r_offset, import) < 0)
			return -ENOMEM;
	}
	return 0;
}

int calls_find_slots(struct image *image, struct import_list *ret, struct err *err)
{
	if (find_slots_in(image, &image->jmprel, ret) < 0 ||
		find_slots_in(image, &image->rela, ret) < 0)
		return err_nomem(err);
	return 0;
}

/* How many bytes before the jump belong to the stub: endbr64 and a bnd prefix. */
static size_t stub_prefix(const uint8_t *bytes, size_t at)
{
	static const uint8_t endbr_bnd[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xf2};

	if (at >= 5 && !memcmp(bytes + at - 5, endbr_bnd, 5))
		return 5;
	if (at >= 4 && !memcmp(bytes + at - 4, endbr_bnd, 4))
		return 4;
	return at >= 1 && bytes[at - 1] == 0xf2 ? 1 : 0;
}

/* `jmp *slot(%rip)` is a PLT stub, `call *slot(%rip)` a call of -fno-plt code. */
static int scan_x86_slots(struct scan *scan, const struct image_load *load, const uint8_t *bytes)
{
	const uint8_t *end = bytes + load->size, *p = bytes;

	while (end - p >= 6 && (p = memchr(p, 0xff, (size_t)(end - p - 5)))) {
		size_t at = (size_t)(p - bytes);
		const struct import_at *slot;
		int r = 0;

		if (p[1] == 0x25 || p[1] == 0x15) {
			slot = import_get(
				scan->slots, load->vaddr + at + 6 + (uint64_t)(int64_t)s32(p + 2));
			if (slot && p[1] == 0x25)
				r = import_put(&scan->stubs,
					load->vaddr + at - stub_prefix(bytes, at), slot->import);
			else if (slot)
				r = call_put(scan, load->vaddr + at, slot->import, true);
		}
		if (r < 0)
			return r;
		p++;
	}
	return 0;
}

static int scan_x86_calls(struct scan *scan, const struct image_load *load, const uint8_t *bytes)
{
	const uint8_t *end = bytes + load->size, *p = bytes;

	while (end - p >= 5 && (p = memchr(p, 0xe8, (size_t)(end - p - 4)))) {
		size_t at = (size_t)(p - bytes);
		const struct import_at *stub = import_get(
			&scan->stubs, load->vaddr + at + 5 + (uint64_t)(int64_t)s32(p + 1));

		if (stub && call_put(scan, load->vaddr + at, stub->import, false) < 0)
			return -ENOMEM;
		p++;
	}
	return 0;
}

static int scan_arm_slots(struct scan *scan, const struct image_load *load, const uint8_t *bytes)
{
	for (uint64_t at = 0; load->size - at >= 8; at += 4) {
		uint32_t w = arm64_word(bytes + at);
		const struct import_at *slot;
		uint64_t target, stub = at;

		if (!arm64_plt_slot(w, arm64_word(bytes + at + 4), load->vaddr + at, &target))
			continue;
		slot = import_get(scan->slots, target);
		if (at >= 4 && arm64_word(bytes + at - 4) == ARM64_BTI_C)
			stub -= 4;
		if (slot && import_put(&scan->stubs, load->vaddr + stub, slot->import) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int scan_arm_calls(struct scan *scan, const struct image_load *load, const uint8_t *bytes)
{
	for (uint64_t at = 0; load->size - at >= 4; at += 4) {
		uint32_t w = arm64_word(bytes + at);
		const struct import_at *stub;

		if (!arm64_is_bl(w))
			continue;
		stub = import_get(&scan->stubs, arm64_branch_target(w, load->vaddr + at));
		if (stub && call_put(scan, load->vaddr + at, stub->import, false) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int for_code(struct scan *scan,
	int (*fn)(struct scan *scan, const struct image_load *load, const uint8_t *bytes))
{
	for (size_t i = 0; i < scan->image->n_loads; i++) {
		struct image_load *load = &scan->image->loads[i];
		const uint8_t *bytes;

		if (!load->executable || load->size < 8)
			continue;
		bytes = image_load_bytes(scan->image, load);
		if (!bytes || fn(scan, load, bytes) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Walks the frame's instructions up to @vaddr. Unknown instructions leave the question open. */
static bool at_boundary(struct image *image, const struct frame *frame, uint64_t vaddr)
{
	const uint8_t *code = image_at(image, frame->lo, frame->hi - frame->lo);
	uint64_t at = 0, target = vaddr - frame->lo;
	struct insn insn;

	if (!code)
		return false;
	while (at < target) {
		if (!insn_decode(code + at, (size_t)(frame->hi - frame->lo - at), &insn))
			return true;
		at += insn.length;
	}
	return at == target;
}

static int compare_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

int calls_find(struct image *image, const struct frames *frames, const struct import_list *slots,
	struct call_list *ret, struct err *err)
{
	struct scan scan = {.image = image, .frames = frames, .slots = slots, .calls = ret};
	bool arm = image->machine == EM_AARCH64;
	size_t kept = 0;
	int r;

	r = for_code(&scan, arm ? scan_arm_slots : scan_x86_slots);
	if (!r)
		r = for_code(&scan, arm ? scan_arm_calls : scan_x86_calls);
	free(scan.stubs.items);
	if (r < 0)
		return err_nomem(err);
	for (size_t i = 0; i < ret->n; i++)
		if (arm || at_boundary(image, ret->items[i].frame, ret->items[i].vaddr))
			ret->items[kept++] = ret->items[i];
	ret->n = kept;
	if (kept)
		qsort(ret->items, kept, sizeof(ret->items[0]), compare_calls);
	return 0;
}

/* Votes of one frame, kept for the few frames that jump into a fragment. */
struct votes {
	const struct frame *frame;
	size_t n;
};

static void vote(struct votes *votes, size_t max, const struct frame *frame)
{
	for (size_t i = 0; i < max; i++) {
		if (votes[i].frame && votes[i].frame != frame)
			continue;
		votes[i].frame = frame;
		votes[i].n++;
		return;
	}
}

/* The target of a direct jump (jmp rel32, jcc rel32, b, b.cond, cbz, tbz) at @p. */
static bool jump_target(
	bool arm, const uint8_t *p, uint64_t left, uint64_t vaddr, uint64_t *ret_target)
{
	if (arm)
		return arm64_jump(arm64_word(p), vaddr, ret_target);
	if (p[0] == 0xe9 && left >= 5) {
		*ret_target = vaddr + 5 + (uint64_t)(int64_t)s32(p + 1);
		return true;
	}
	if (p[0] == 0x0f && left >= 6 && (p[1] & 0xf0) == 0x80) {
		*ret_target = vaddr + 6 + (uint64_t)(int64_t)s32(p + 2);
		return true;
	}
	return false;
}

const struct frame *calls_parent(
	struct image *image, const struct frames *frames, const struct frame *piece)
{
	bool arm = image->machine == EM_AARCH64;
	struct votes votes[16] = {0}, *best = &votes[0];

	for (size_t i = 0; i < image->n_loads; i++) {
		struct image_load *load = &image->loads[i];
		const uint8_t *bytes = load->executable ? image_load_bytes(image, load) : NULL;
		uint64_t target;

		for (uint64_t at = 0; bytes && load->size - at >= 4; at += arm ? 4 : 1) {
			const struct frame *from;

			if (!jump_target(
				    arm, bytes + at, load->size - at, load->vaddr + at, &target) ||
				target < piece->lo || target >= piece->hi)
				continue;
			from = frames_at(frames, load->vaddr + at);
			if (from && from != piece)
				vote(votes, sizeof(votes) / sizeof(votes[0]), from);
		}
	}
	for (size_t i = 1; i < sizeof(votes) / sizeof(votes[0]); i++)
		if (votes[i].n > best->n)
			best = &votes[i];
	return best->frame;
}

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

/* Far more than any program has; the lists are searched linearly. */
#define MAX_IMPORTS 64
#define MAX_CALLS 4096

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
	if (list->n >= MAX_IMPORTS)
		return -EOPNOTSUPP;
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
	if (scan->calls->n >= MAX_CALLS)
		return -EOPNOTSUPP;
	if (vec_grow(scan->calls) < 0)
		return -ENOMEM;
	scan->calls->items[scan->calls->n++] = (struct call){
		.vaddr = vaddr, .import = import, .indirect = indirect, .frame = frame};
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
		int r;

		memcpy(&rela, table + i * sizeof(rela), sizeof(rela));
		type = (uint32_t)ELF64_R_TYPE(rela.r_info);
		if (type != jump && type != data)
			continue;
		if (!import_of(
			    image_symbol_name(image, (uint32_t)ELF64_R_SYM(rela.r_info)), &import))
			continue;
		r = import_put(ret, rela.r_offset, import);
		if (r < 0)
			return r;
	}
	return 0;
}

int calls_find_slots(struct image *image, struct import_list *ret, struct err *err)
{
	int r = find_slots_in(image, &image->jmprel, ret);

	if (!r)
		r = find_slots_in(image, &image->rela, ret);
	if (r == -ENOMEM)
		return err_nomem(err);
	return r < 0 ? err_set(err, r, "'%s' imports one name too often", image->name) : 0;
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
		int r;

		r = stub ? call_put(scan, load->vaddr + at, stub->import, false) : 0;
		if (r < 0)
			return r;
		p++;
	}
	return 0;
}

static int put_loaded(uint64_t vaddr, uint64_t slot, void *user)
{
	struct scan *scan = user;
	const struct import_at *import = import_get(scan->slots, slot);

	return import ? call_put(scan, vaddr, import->import, true) : 0;
}

/* `mov slot(%rip),%reg` … `call *%reg`: -fno-plt code again. */
static int scan_x86_loads(struct scan *scan, const struct image_load *load, const uint8_t *bytes)
{
	const uint8_t *end = bytes + load->size, *p = bytes + 1;
	const struct frame *last = NULL;
	int r = 0;

	while (!r && end - p >= 6 && (p = memchr(p, 0x8b, (size_t)(end - p - 5)))) {
		uint64_t next = load->vaddr + (size_t)(p - bytes) + 6;
		const struct frame *frame = NULL;

		if ((p[-1] & 0xf8) == 0x48 && (p[1] & 0xc7) == 0x05 &&
			import_get(scan->slots, next + (uint64_t)(int64_t)s32(p + 2)))
			frame = frames_at(scan->frames, next - 6);
		if (frame && frame != last)
			r = args_loaded_calls(scan->image, frame, put_loaded, scan);
		last = frame ? frame : last;
		p++;
	}
	return r;
}

static int scan_arm_slots(struct scan *scan, const struct image_load *load, const uint8_t *bytes)
{
	for (uint64_t at = 0; load->size - at >= 8; at += 4) {
		uint32_t w = arm64_word(bytes + at);
		const struct import_at *slot;
		uint64_t target, stub = at;
		int r;

		if (!arm64_plt_slot(w, arm64_word(bytes + at + 4), load->vaddr + at, &target))
			continue;
		slot = import_get(scan->slots, target);
		if (at >= 4 && arm64_word(bytes + at - 4) == ARM64_BTI_C)
			stub -= 4;
		r = slot ? import_put(&scan->stubs, load->vaddr + stub, slot->import) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int scan_arm_calls(struct scan *scan, const struct image_load *load, const uint8_t *bytes)
{
	for (uint64_t at = 0; load->size - at >= 4; at += 4) {
		uint32_t w = arm64_word(bytes + at);
		const struct import_at *stub;
		int r;

		if (!arm64_is_bl(w))
			continue;
		stub = import_get(&scan->stubs, arm64_branch_target(w, load->vaddr + at));
		r = stub ? call_put(scan, load->vaddr + at, stub->import, false) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int for_code(struct scan *scan,
	int (*fn)(struct scan *scan, const struct image_load *load, const uint8_t *bytes))
{
	int r = 0;

	for (size_t i = 0; !r && i < scan->image->n_loads; i++) {
		struct image_load *load = &scan->image->loads[i];
		const uint8_t *bytes;

		if (!load->executable || load->size < 8)
			continue;
		bytes = image_load_bytes(scan->image, load);
		r = bytes ? fn(scan, load, bytes) : -ENOMEM;
	}
	return r;
}

/* Reads the arguments of calls [from, to), all of one frame, and drops what is no instruction. */
static void keep_exact(
	struct scan *scan, size_t from, size_t to, struct arg_query *queries, size_t *kept)
{
	struct call *calls = scan->calls->items;

	for (size_t i = from; i < to; i++)
		queries[i - from] = (struct arg_query){.vaddr = calls[i].vaddr};
	args_read(scan->image, calls[from].frame, queries, to - from);
	for (size_t i = from; i < to; i++) {
		if (!queries[i - from].exact)
			continue;
		calls[*kept] = calls[i];
		calls[*kept].arg = queries[i - from].arg;
		++*kept;
	}
}

static int compare_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Sorts the calls and leaves the exact ones. */
static int finish(struct scan *scan)
{
	struct call_list *calls = scan->calls;
	_cleanup_free_ struct arg_query *queries = calloc(calls->n + 1, sizeof(*queries));
	size_t kept = 0, to;

	if (!queries)
		return -ENOMEM;
	if (calls->n)
		qsort(calls->items, calls->n, sizeof(calls->items[0]), compare_calls);
	for (size_t from = 0; from < calls->n; from = to) {
		for (to = from + 1; to < calls->n; to++)
			if (calls->items[to].frame != calls->items[from].frame)
				break;
		keep_exact(scan, from, to, queries, &kept);
	}
	calls->n = kept;
	return 0;
}

int calls_find(struct image *image, const struct frames *frames, const struct import_list *slots,
	struct call_list *ret, struct err *err)
{
	struct scan scan = {.image = image, .frames = frames, .slots = slots, .calls = ret};
	bool arm = image->machine == EM_AARCH64;
	int r;

	r = for_code(&scan, arm ? scan_arm_slots : scan_x86_slots);
	if (!r)
		r = for_code(&scan, arm ? scan_arm_calls : scan_x86_calls);
	if (!r && !arm)
		r = for_code(&scan, scan_x86_loads);
	if (!r)
		r = finish(&scan);
	free(scan.stubs.items);
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0)
		return err_set(err, r,
			"'%s' has more calls of condition variables than an "
			"interpreter has",
			image->name);
	return 0;
}

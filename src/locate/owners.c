/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: which function a `.cold` fragment belongs to.
 *
 * In: fragments. Out: for each the frame whose direct jumps enter it most often. Bytes that only
 * look like a jump add noise, which the majority outweighs.
 */
#include "locate/owners.h"

#include "locate/arm64.h"

#include <elf.h>
#include <string.h>

static void vote(struct piece *piece, const struct frame *from)
{
	for (size_t i = 0; i < OWNER_VOTES; i++) {
		if (piece->voters[i] && piece->voters[i] != from)
			continue;
		piece->voters[i] = from;
		piece->votes[i]++;
		return;
	}
}

static uint64_t after(uint64_t vaddr, const uint8_t *distance)
{
	int32_t v;

	memcpy(&v, distance, sizeof(v));
	return vaddr + (uint64_t)(int64_t)v;
}

/* The target of a direct jump (jmp rel32, jcc rel32, b, b.cond, cbz, tbz) at @p. */
static bool jump_target(
	bool arm, const uint8_t *p, uint64_t left, uint64_t vaddr, uint64_t *ret_target)
{
	if (arm)
		return arm64_jump(arm64_word(p), vaddr, ret_target);
	if (p[0] == 0xe9 && left >= 5)
		*ret_target = after(vaddr + 5, p + 1);
	else if (p[0] == 0x0f && left >= 6 && (p[1] & 0xf0) == 0x80)
		*ret_target = after(vaddr + 6, p + 2);
	else
		return false;
	return true;
}

/* The piece that holds @vaddr, or NULL. */
static struct piece *piece_at(struct piece *pieces, size_t n, uint64_t vaddr)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (pieces[mid].frame->lo <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr < pieces[lo - 1].frame->hi ? &pieces[lo - 1] : NULL;
}

static void scan(struct image *image, const struct image_load *load, const struct frames *frames,
	struct piece *pieces, size_t n)
{
	bool arm = image->machine == EM_AARCH64;
	uint64_t lo = pieces[0].frame->lo, hi = pieces[n - 1].frame->hi, target;

	for (uint64_t at = 0; load->size - at >= 4; at += arm ? 4 : 1) {
		const struct frame *from;
		struct piece *piece;

		if (!jump_target(
			    arm, load->bytes + at, load->size - at, load->vaddr + at, &target) ||
			target < lo || target >= hi)
			continue;
		piece = piece_at(pieces, n, target);
		from = piece ? frames_at(frames, load->vaddr + at) : NULL;
		if (from && from != piece->frame)
			vote(piece, from);
	}
}

void owners_find(struct image *image, const struct frames *frames, struct piece *pieces, size_t n)
{
	for (size_t i = 0; n && i < image->n_loads; i++)
		if (image->loads[i].executable && image->loads[i].size >= 4 &&
			image_load_bytes(image, &image->loads[i]))
			scan(image, &image->loads[i], frames, pieces, n);
	for (size_t i = 0; i < n; i++) {
		size_t best = 0;

		for (size_t k = 1; k < OWNER_VOTES; k++)
			if (pieces[i].votes[k] > pieces[i].votes[best])
				best = k;
		pieces[i].owner = pieces[i].voters[best];
	}
}

static bool calls_target(bool arm, const uint8_t *p, uint64_t left, uint64_t vaddr, uint64_t target)
{
	if (arm)
		return arm64_is_bl(arm64_word(p)) &&
		       arm64_branch_target(arm64_word(p), vaddr) == target;
	return p[0] == 0xe8 && left >= 5 && after(vaddr + 5, p + 1) == target;
}

size_t owners_callers(struct image *image, const struct frames *frames, uint64_t target,
	const struct frame **ret, size_t max)
{
	bool arm = image->machine == EM_AARCH64;
	size_t n = 0;

	for (size_t i = 0; i < image->n_loads; i++) {
		struct image_load *load = &image->loads[i];
		const uint8_t *p = load->executable ? image_load_bytes(image, load) : NULL;

		for (uint64_t at = 0; p && n < max && load->size - at >= 4; at += arm ? 4 : 1) {
			const struct frame *from;

			if (!calls_target(arm, p + at, load->size - at, load->vaddr + at, target))
				continue;
			from = frames_at(frames, load->vaddr + at);
			if (from && (!n || ret[n - 1] != from))
				ret[n++] = from;
		}
	}
	return n;
}

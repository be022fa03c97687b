/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: function bounds from .eh_frame.
 *
 * In: an image with PT_GNU_EH_FRAME. Out: the code ranges, sorted. libdw splits the section into
 * CIEs and FDEs; the encoded addresses, which it leaves alone, are decoded here.
 */
#include "locate/frames.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <string.h>

#define WITHOUT_TABLE "'%s' was built without unwind tables, so its functions cannot be told apart"

/* What an FDE needs from its CIE. */
struct cie {
	Dwarf_Off offset; /* in the section; the cache key */
	bool valid;	  /* understood */
	bool sized;	  /* augmentation data has a length ('z') */
	uint8_t encoding; /* DW_EH_PE_* of the FDE's addresses */
};

static uint64_t read_uleb(struct cursor *c)
{
	uint64_t v = 0;
	uint8_t b;

	for (unsigned int shift = 0;; shift += 7) {
		b = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
}

/* The value without its base; pc-relative is the caller's to add. */
static uint64_t read_encoded(struct cursor *c, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	case DW_EH_PE_udata2:
		return cursor_u16(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	default:
		c->bad = true;
		return 0;
	}
}

static void read_cie(const Dwarf_CIE *raw, struct cie *cie)
{
	struct cursor c =
		cursor_over(raw->augmentation_data ? raw->augmentation_data : (const uint8_t *)"",
			raw->augmentation_data ? raw->augmentation_data_size : 0, false);
	const char *letter = raw->augmentation;

	cie->encoding = DW_EH_PE_absptr;
	cie->sized = letter && *letter == 'z';
	cie->valid = letter != NULL;
	for (letter += cie->sized; cie->valid && *letter; letter++) {
		if (*letter == 'R') {
			cie->encoding = cursor_u8(&c);
		} else if (*letter == 'P') {
			uint8_t personality = cursor_u8(&c);

			(void)read_encoded(&c, personality);
		} else if (*letter == 'L') {
			cursor_skip(&c, 1);
		} else if (*letter != 'S' && *letter != 'B') {
			cie->valid = false;
		}
	}
	cie->valid = cie->valid && !c.bad;
}

/* A function begins in its CIE's state: before any other instruction the location advances. */
static bool begins_in_other_state(const uint8_t *at, const uint8_t *end)
{
	while (at < end && *at == DW_CFA_nop)
		at++;
	if (at >= end)
		return false;
	return (*at & 0xc0) != DW_CFA_advance_loc && *at != DW_CFA_advance_loc1 &&
	       *at != DW_CFA_advance_loc2 && *at != DW_CFA_advance_loc4 && *at != DW_CFA_set_loc;
}

static bool read_fde(
	const Dwarf_FDE *raw, const struct cie *cie, uint64_t start_vaddr, struct frame *ret)
{
	struct cursor c = cursor_over(raw->start, (size_t)(raw->end - raw->start), false);
	uint8_t base = cie->encoding & 0x70;
	uint64_t size;

	ret->lo = read_encoded(&c, cie->encoding);
	if (base == DW_EH_PE_pcrel)
		ret->lo += start_vaddr;
	else if (base != 0)
		return false;
	size = read_encoded(&c, cie->encoding & 0x0f);
	if (cie->sized)
		cursor_skip(&c, read_uleb(&c));
	if (c.bad || !size || ret->lo > UINT64_MAX - size)
		return false;
	ret->hi = ret->lo + size;
	ret->fragment = begins_in_other_state(c.at, c.end);
	return true;
}

/* Where .eh_frame begins, from .eh_frame_hdr. */
static int find_section(struct image *image, uint64_t *ret_vaddr, struct err *err)
{
	uint64_t at = image->eh_frame_hdr.vaddr;
	const uint8_t *hdr = image_at(image, at, 12);
	uint8_t encoding;
	struct cursor c;

	if (!hdr)
		return err_set(err, -EOPNOTSUPP, WITHOUT_TABLE, image->name);
	c = cursor_over(hdr, 12, false);
	if (cursor_u8(&c) != 1)
		return err_set(err, -EOPNOTSUPP, WITHOUT_TABLE, image->name);
	encoding = cursor_u8(&c);
	cursor_skip(&c, 2);
	*ret_vaddr = read_encoded(&c, encoding);
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		*ret_vaddr += at + 4;
	else if ((encoding & 0x70) == DW_EH_PE_datarel)
		*ret_vaddr += at;
	if (c.bad || !image_room(image, *ret_vaddr))
		return err_set(err, -EBADMSG, "'%s' has a damaged unwind table", image->name);
	return 0;
}

static int compare_frames(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static int walk(const uint8_t *ident, Elf_Data *data, uint64_t vaddr, struct frames *frames)
{
	const uint8_t *section = data->d_buf;
	struct cie cie = {.offset = (Dwarf_Off)-1};
	Dwarf_Off at = 0, next = 0;
	Dwarf_CFI_Entry entry, parent;

	for (;; at = next) {
		int r = dwarf_next_cfi(ident, data, true, at, &next, &entry);

		if (r > 0 || next == (Dwarf_Off)-1 || next <= at)
			return 0;
		if (r < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (cie.offset != entry.fde.CIE_pointer) {
			Dwarf_Off ignored;

			cie.offset = entry.fde.CIE_pointer;
			cie.valid = false;
			if (!dwarf_next_cfi(ident, data, true, cie.offset, &ignored, &parent) &&
				dwarf_cfi_cie_p(&parent))
				read_cie(&parent.cie, &cie);
		}
		if (vec_grow(frames) < 0)
			return -ENOMEM;
		if (cie.valid &&
			read_fde(&entry.fde, &cie, vaddr + (uint64_t)(entry.fde.start - section),
				&frames->items[frames->n]))
			frames->n++;
	}
}

int frames_read(struct image *image, struct frames *frames, struct err *err)
{
	const char *ident = elf_getident(image->elf, NULL);
	Elf_Data data = {.d_type = ELF_T_BYTE, .d_version = EV_CURRENT};
	uint64_t vaddr = 0;
	int r;

	r = find_section(image, &vaddr, err);
	if (r < 0)
		return r;
	data.d_size = image_room(image, vaddr);
	data.d_buf = (void *)image_at(image, vaddr, data.d_size);
	if (!data.d_buf)
		return err_nomem(err);
	r = walk((const uint8_t *)ident, &data, vaddr, frames);
	if (r < 0)
		return err_nomem(err);
	if (!frames->n)
		return err_set(err, -EOPNOTSUPP, WITHOUT_TABLE, image->name);
	qsort(frames->items, frames->n, sizeof(frames->items[0]), compare_frames);
	/* they do not overlap in honest files; the walks over them must not in others either */
	for (size_t i = 0; i + 1 < frames->n; i++)
		if (frames->items[i].hi > frames->items[i + 1].lo)
			frames->items[i].hi = frames->items[i + 1].lo;
	return 0;
}

void frames_done(struct frames *frames)
{
	free(frames->items);
	*frames = (struct frames){0};
}

const struct frame *frames_at(const struct frames *frames, uint64_t vaddr)
{
	size_t lo = 0, hi = frames->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (frames->items[mid].lo <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || vaddr >= frames->items[lo - 1].hi)
		return NULL;
	return &frames->items[lo - 1];
}

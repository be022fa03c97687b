/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: PT_DYNAMIC, the dynamic strings and the lookup of exported symbols.
 *
 * In: an opened image. Out: table addresses in it, names, symbol addresses. Symbols are found
 * through the hash tables that the dynamic linker uses, the only ones that survive strip.
 */
#include "locate/image.h"

#include "base/cursor.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define MAX_DYNAMIC_BYTES (1 << 20)
#define MAX_NAME 4096

static void take_entry(struct image *image, const Elf64_Dyn *dyn)
{
	switch (dyn->d_tag) {
	case DT_STRTAB:
		image->strings.vaddr = dyn->d_un.d_ptr;
		break;
	case DT_STRSZ:
		image->strings.size = dyn->d_un.d_val;
		break;
	case DT_SYMTAB:
		image->symtab = dyn->d_un.d_ptr;
		break;
	case DT_HASH:
		image->hash = dyn->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		image->gnu_hash = dyn->d_un.d_ptr;
		break;
	case DT_RELA:
		image->rela.vaddr = dyn->d_un.d_ptr;
		break;
	case DT_RELASZ:
		image->rela.size = dyn->d_un.d_val;
		break;
	case DT_JMPREL:
		image->jmprel.vaddr = dyn->d_un.d_ptr;
		break;
	case DT_PLTRELSZ:
		image->jmprel.size = dyn->d_un.d_val;
		break;
	case DT_SONAME:
		image->soname = dyn->d_un.d_val;
		break;
	case DT_RPATH:
		image->rpath = dyn->d_un.d_val;
		break;
	case DT_RUNPATH:
		image->runpath = dyn->d_un.d_val;
		break;
	case DT_NEEDED:
		if (image->n_needed < sizeof(image->needed) / sizeof(image->needed[0]))
			image->needed[image->n_needed++] = dyn->d_un.d_val;
		break;
	default:
		break;
	}
}

int image_read_dynamic(struct image *image, struct err *err)
{
	Elf_Data *data;
	struct cursor c;
	Elf64_Dyn dyn;

	if (!image->dynamic_size)
		return 0;
	if (image->dynamic_size > MAX_DYNAMIC_BYTES || image->dynamic_at > image->file_size ||
		image->dynamic_size > image->file_size - image->dynamic_at)
		return err_set(err, -EBADMSG,
			"'%s' is cut short: its dynamic section at offset %#llx is not in the file",
			image->name, (unsigned long long)image->dynamic_at);
	data = elf_getdata_rawchunk(
		image->elf, (int64_t)image->dynamic_at, (size_t)image->dynamic_size, ELF_T_BYTE);
	if (!data || !data->d_buf)
		return err_set(
			err, -EBADMSG, "'%s': unable to read its dynamic section", image->name);
	c = cursor_over(data->d_buf, data->d_size, false);
	while (cursor_left(&c) >= sizeof(dyn)) {
		memcpy(&dyn, cursor_bytes(&c, sizeof(dyn)), sizeof(dyn));
		if (dyn.d_tag == DT_NULL)
			break;
		take_entry(image, &dyn);
	}
	return 0;
}

const char *image_string(struct image *image, uint64_t at)
{
	const uint8_t *strings;
	uint64_t left;

	if (at >= image->strings.size)
		return NULL;
	strings = image_piece(image, image->strings.vaddr, image->strings.size);
	left = image->strings.size - at;
	if (!strings || !memchr(strings + at, 0, left < MAX_NAME ? left : MAX_NAME))
		return NULL;
	return (const char *)strings + at;
}

static bool symbol_get(struct image *image, uint32_t index, Elf64_Sym *ret)
{
	uint64_t at = image->symtab + (uint64_t)index * sizeof(Elf64_Sym);
	const uint8_t *p;

	if (!image->symtab || at < image->symtab)
		return false;
	/* all of the segment's rest at once: one read, then served from memory */
	p = image_at(image, at, sizeof(*ret));
	if (!p)
		return false;
	memcpy(ret, p, sizeof(*ret));
	return true;
}

const char *image_symbol_name(struct image *image, uint32_t index)
{
	Elf64_Sym sym;

	return symbol_get(image, index, &sym) ? image_string(image, sym.st_name) : NULL;
}

static bool symbol_is(struct image *image, uint32_t index, const char *name, uint64_t *ret_vaddr)
{
	const char *have;
	Elf64_Sym sym;

	if (!symbol_get(image, index, &sym) || sym.st_shndx == SHN_UNDEF)
		return false;
	have = image_string(image, sym.st_name);
	if (!have || strcmp(have, name) != 0)
		return false;
	*ret_vaddr = sym.st_value;
	return true;
}

static bool get_u32(struct image *image, uint64_t vaddr, uint32_t *ret)
{
	const uint8_t *p = image_at(image, vaddr, sizeof(*ret));

	if (p)
		memcpy(ret, p, sizeof(*ret));
	return p != NULL;
}

static bool find_gnu(struct image *image, const char *name, uint64_t *ret_vaddr)
{
	uint32_t n_buckets, first, n_bloom, shift, index, entry, h = 5381;
	uint64_t buckets, chains;

	for (const char *p = name; *p; p++)
		h = h * 33 + (uint8_t)*p;
	if (!get_u32(image, image->gnu_hash, &n_buckets) ||
		!get_u32(image, image->gnu_hash + 4, &first) ||
		!get_u32(image, image->gnu_hash + 8, &n_bloom) ||
		!get_u32(image, image->gnu_hash + 12, &shift) || !n_buckets)
		return false;
	buckets = image->gnu_hash + 16 + 8 * (uint64_t)n_bloom;
	chains = buckets + 4 * (uint64_t)n_buckets;
	if (!get_u32(image, buckets + 4 * (uint64_t)(h % n_buckets), &index) || index < first)
		return false;
	/* each step reads 4 bytes further inside one segment, so this ends */
	for (;; index++) {
		if (!get_u32(image, chains + 4 * (uint64_t)(index - first), &entry))
			return false;
		if ((entry | 1) == (h | 1) && symbol_is(image, index, name, ret_vaddr))
			return true;
		if ((entry & 1) || index == UINT32_MAX)
			return false;
	}
}

static bool find_sysv(struct image *image, const char *name, uint64_t *ret_vaddr)
{
	uint32_t n_buckets, n_chains, index, h = 0;
	uint64_t chains;

	for (const char *p = name; *p; p++) {
		h = (h << 4) + (uint8_t)*p;
		h = (h ^ ((h & 0xf0000000) >> 24)) & 0x0fffffff;
	}
	if (!get_u32(image, image->hash, &n_buckets) ||
		!get_u32(image, image->hash + 4, &n_chains) || !n_buckets)
		return false;
	chains = image->hash + 8 + 4 * (uint64_t)n_buckets;
	if (n_chains > image_room(image, chains) / 4)
		return false;
	if (!get_u32(image, image->hash + 8 + 4 * (uint64_t)(h % n_buckets), &index))
		return false;
	/* a hostile chain may loop: never more steps than chain entries in the file */
	for (uint64_t i = 0; index && i < n_chains; i++) {
		if (symbol_is(image, index, name, ret_vaddr))
			return true;
		if (index >= n_chains || !get_u32(image, chains + 4 * (uint64_t)index, &index))
			return false;
	}
	return false;
}

bool image_symbol(struct image *image, const char *name, uint64_t *ret_vaddr)
{
	if (image->gnu_hash)
		return find_gnu(image, name, ret_vaddr);
	return image->hash && find_sysv(image, name, ret_vaddr);
}

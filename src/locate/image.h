/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: one ELF file, read through its program headers only (section headers may be stripped).
 *
 * Every access is by virtual address and checked against the bytes that the file really has.
 * Private to this folder; the only users of libelf are image.c and frames.c.
 */
#ifndef GILPROBE_LOCATE_IMAGE_H
#define GILPROBE_LOCATE_IMAGE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_MAX_LOADS 64

/* One PT_LOAD. */
struct image_load {
	uint64_t vaddr, offset, size; /* size: bytes in the file */
	bool executable;
	const uint8_t *bytes; /* NULL until image_load_bytes */
};

/* An address range named by PT_DYNAMIC or a program header; size 0: absent. */
struct image_range {
	uint64_t vaddr, size;
};

struct image {
	Elf *elf; /* owns every byte handed out */
	int fd;	  /* -1 over memory */
	char *name;
	uint64_t file_size;
	bool unread; /* bytes that are in the file could not be had: memory or the disk failed */
	uint16_t machine, type;
	struct image_load loads[IMAGE_MAX_LOADS];
	size_t n_loads;
	uint64_t dynamic_at, dynamic_size; /* file offset; 0: a static executable */
	struct image_range eh_frame_hdr;
	struct image_range strings, rela, jmprel;
	uint64_t symtab, hash, gnu_hash; /* addresses; 0: absent */
	uint64_t soname, rpath, runpath; /* offsets in strings; UINT64_MAX: absent */
	uint64_t needed[64];
	size_t n_needed;
	char build_id[41];
};

/*
 * Opens an ELF file, or reads one in memory (@bytes stay the caller's and must outlive the image).
 * Only 64-bit files of this byte order; @name is for words. -EBADMSG for what is no ELF file or
 * contradicts its own size, -EOPNOTSUPP for 32-bit and foreign byte order, -ENOMEM.
 */
int image_open(const char *path, struct image **ret, struct err *err);
/* Takes over @fd, on failure too. */
int image_open_fd(int fd, const char *name, struct image **ret, struct err *err);
int image_open_memory(
	const void *bytes, size_t size, const char *name, struct image **ret, struct err *err);
void image_close(struct image *image);

DEFINE_CLEANUP(struct image, image_close, image_close)

/* All bytes of one segment, read on first use. NULL: out of memory or unreadable. */
const uint8_t *image_load_bytes(struct image *image, struct image_load *load);

/* @size bytes of the file at @vaddr, or NULL when they are not all in one segment's file part. */
const uint8_t *image_at(struct image *image, uint64_t vaddr, uint64_t size);

/* As image_at, but reads only those bytes: for the small tables of a big file. */
const uint8_t *image_piece(struct image *image, uint64_t vaddr, uint64_t size);

/* The bytes from @vaddr to its segment's end in the file; 0: not in the file. */
uint64_t image_room(const struct image *image, uint64_t vaddr);

/* File offset of @vaddr. False when the file has no byte for it. */
bool image_offset(const struct image *image, uint64_t vaddr, uint64_t *ret_offset);

/*
 * Reads PT_DYNAMIC (dynamic.c); image_open* has called it. A file without one is fine.
 * -EBADMSG when the table contradicts the file.
 */
int image_read_dynamic(struct image *image, struct err *err);

/* A string of the dynamic string table, or NULL. */
const char *image_string(struct image *image, uint64_t at);

/* Address of a defined dynamic symbol. False when it is not exported. */
bool image_symbol(struct image *image, const char *name, uint64_t *ret_vaddr);

/* Name of dynamic symbol @index, or NULL. */
const char *image_symbol_name(struct image *image, uint32_t index);

/* True when @text stands somewhere in the file's segments. Reads all of them. */
bool image_contains(struct image *image, const char *text);

#endif

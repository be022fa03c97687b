/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test help: a second opinion on an ELF file, from its section headers and .symtab, which the code
 * under test never reads.
 */
#ifndef GILPROBE_TEST_LOCATE_SYMTAB_H
#define GILPROBE_TEST_LOCATE_SYMTAB_H

#include "base/cleanup.h"

#include <stdint.h>

struct symtab;

/* NULL when the file has no .symtab. */
struct symtab *symtab_read(const char *path);
void symtab_free(struct symtab *symtab);

DEFINE_CLEANUP(struct symtab, symtab, symtab_free)

/* Name of the function that holds @vaddr, or "". */
const char *symtab_at(const struct symtab *symtab, uint64_t vaddr);

/* Address of the symbol, or 0. */
uint64_t symtab_find(const struct symtab *symtab, const char *name);

/* File offset of an address, by sections. */
uint64_t symtab_offset(const struct symtab *symtab, uint64_t vaddr);

#endif

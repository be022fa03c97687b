/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test help: reads .symtab of a file that can be trusted.
 */
#include "symtab.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

struct symtab {
	char *bytes;
	const Elf64_Shdr *sections;
	size_t n_sections;
	const Elf64_Sym *symbols;
	size_t n_symbols;
	const char *names;
};

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "r");
	char *bytes = NULL;
	long size;

	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (size = ftell(f)) > (long)sizeof(Elf64_Ehdr)) {
		rewind(f);
		bytes = malloc((size_t)size);
		if (bytes && fread(bytes, 1, (size_t)size, f) != (size_t)size) {
			free(bytes);
			bytes = NULL;
		}
	}
	fclose(f);
	return bytes;
}

struct symtab *symtab_read(const char *path)
{
	struct symtab *symtab = calloc(1, sizeof(*symtab));
	const Elf64_Ehdr *ehdr;

	if (!symtab)
		return NULL;
	symtab->bytes = read_all(path);
	if (!symtab->bytes) {
		free(symtab);
		return NULL;
	}
	ehdr = (const Elf64_Ehdr *)symtab->bytes;
	symtab->sections = (const Elf64_Shdr *)(symtab->bytes + ehdr->e_shoff);
	symtab->n_sections = ehdr->e_shnum;
	for (size_t i = 0; i < symtab->n_sections; i++) {
		const Elf64_Shdr *section = &symtab->sections[i];

		if (section->sh_type != SHT_SYMTAB)
			continue;
		symtab->symbols = (const Elf64_Sym *)(symtab->bytes + section->sh_offset);
		symtab->n_symbols = section->sh_size / sizeof(Elf64_Sym);
		symtab->names = symtab->bytes + symtab->sections[section->sh_link].sh_offset;
	}
	if (!symtab->symbols) {
		symtab_free(symtab);
		return NULL;
	}
	return symtab;
}

void symtab_free(struct symtab *symtab)
{
	if (!symtab)
		return;
	free(symtab->bytes);
	free(symtab);
}

const char *symtab_at(const struct symtab *symtab, uint64_t vaddr)
{
	for (size_t i = 0; i < symtab->n_symbols; i++) {
		const Elf64_Sym *sym = &symtab->symbols[i];

		if (ELF64_ST_TYPE(sym->st_info) == STT_FUNC && vaddr >= sym->st_value &&
			vaddr - sym->st_value < sym->st_size)
			return symtab->names + sym->st_name;
	}
	return "";
}

uint64_t symtab_find(const struct symtab *symtab, const char *name)
{
	for (size_t i = 0; i < symtab->n_symbols; i++)
		if (!strcmp(symtab->names + symtab->symbols[i].st_name, name))
			return symtab->symbols[i].st_value;
	return 0;
}

uint64_t symtab_offset(const struct symtab *symtab, uint64_t vaddr)
{
	for (size_t i = 0; i < symtab->n_sections; i++) {
		const Elf64_Shdr *section = &symtab->sections[i];

		if (section->sh_type == SHT_PROGBITS && vaddr >= section->sh_addr &&
			vaddr - section->sh_addr < section->sh_size)
			return vaddr - section->sh_addr + section->sh_offset;
	}
	return 0;
}

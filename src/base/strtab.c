/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: interned strings. In: any bytes. Out: one stable copy of each. Invariant: entries of one
 * hash hang in a chain, so a crafted collision costs time, never a wrong string.
 */
#include "base/strtab.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct entry *next;
	size_t len;
	char text[];
};

static uint64_t hash(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * 0x100000001b3ull;
	return h;
}

void strtab_done(struct strtab *tab)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&tab->heads, &at))) {
		struct entry *e = (struct entry *)(uintptr_t)slot->value;

		while (e) {
			struct entry *next = e->next;

			free(e);
			e = next;
		}
	}
	map_done(&tab->heads);
}

const char *strtab_intern_n(struct strtab *tab, const char *text, size_t len)
{
	uint64_t h = hash(text, len);
	struct entry *head = map_get_ptr(&tab->heads, h);
	struct entry *e;

	for (e = head; e; e = e->next)
		if (e->len == len && !memcmp(e->text, text, len))
			return e->text;
	e = malloc(sizeof(*e) + len + 1);
	if (!e)
		return NULL;
	e->next = head;
	e->len = len;
	memcpy(e->text, text, len);
	e->text[len] = '\0';
	if (map_put_ptr(&tab->heads, h, e) < 0) {
		free(e);
		return NULL;
	}
	return e->text;
}

const char *strtab_intern(struct strtab *tab, const char *text)
{
	return strtab_intern_n(tab, text, strlen(text));
}

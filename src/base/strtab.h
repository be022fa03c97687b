/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interned strings: equal texts give the same pointer, which lives until strtab_done.
 * Zero-initialise to make an empty table.
 */
#ifndef GILPROBE_BASE_STRTAB_H
#define GILPROBE_BASE_STRTAB_H

#include "base/map.h"

#include <stddef.h>

struct strtab {
	struct map heads; /* hash of the text → first entry */
};

void strtab_done(struct strtab *tab);

/* The one copy of the first @len bytes of @text, NUL-terminated. NULL: out of memory. */
const char *strtab_intern_n(struct strtab *tab, const char *text, size_t len);

/* The one copy of @text. NULL: out of memory. */
const char *strtab_intern(struct strtab *tab, const char *text);

#endif

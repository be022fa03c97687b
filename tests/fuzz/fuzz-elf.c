/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as an ELF file: an answer, never a crash; a site that is given lies inside the file.
 */
#include "fuzz.h"

#include "locate/locate.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct locate_binary *binary = NULL;
	/* a block of the exact size, so that one byte too far is seen */
	uint8_t *copy = malloc(size ? size : 1);
	struct err err = {0};

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (locate_binary_memory(copy, size, &binary, &err) < 0 && !err.text[0])
		abort();
	for (size_t i = 0; binary && i < binary->n_sites; i++)
		if (binary->sites[i].offset >= size)
			abort();
	locate_binary_free(binary);
	free(copy);
	return 0;
}

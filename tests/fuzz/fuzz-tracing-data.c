/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as tracing data, or, when they do not begin as such, as one event's format file.
 */
#include "fuzz.h"

#include "decode/blob.h"
#include "decode/recipe.h"

static void read_format(const struct blob_format *format)
{
	struct layout layout;
	struct recipe recipe;

	if (layout_read(format, &layout))
		recipe_from_layout(&layout, format, true, &recipe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const systems[] = {"sched", "python", "gilprobe_1"};
	struct blob blob;

	if (blob_init(&blob, data, size, NULL) < 0) {
		for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
			read_format(&(struct blob_format){systems[i], (const char *)data, size, 1});
		return 0;
	}
	for (size_t i = 0; i < blob.n; i++)
		read_format(&blob.items[i]);
	blob_done(&blob);
	return 0;
}

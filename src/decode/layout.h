/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: where the fields of an event lie in its samples, from its format file.
 */
#ifndef GILPROBE_DECODE_LAYOUT_H
#define GILPROBE_DECODE_LAYOUT_H

#include "decode/blob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYOUT_MAX_FIELDS 32 /* more than any event we look at has; the rest is not kept */

struct layout_field {
	char name[32];
	uint16_t offset, size; /* of the payload */
	bool is_signed;
};

struct layout {
	char name[80];	    /* such as "sched_switch" */
	const char *system; /* such as "sched"; in the blob */
	size_t n_fields;
	struct layout_field fields[LAYOUT_MAX_FIELDS];
};

/* False: it is no format file, or has no field. */
bool layout_read(const struct blob_format *format, struct layout *ret);

/* The field of that name, or NULL. */
const struct layout_field *layout_find(const struct layout *layout, const char *name);

#endif

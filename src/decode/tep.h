/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: the door to libtraceevent. One event format in, its fields' places out; samples are then
 * read without the library.
 */
#ifndef GILPROBE_DECODE_TEP_H
#define GILPROBE_DECODE_TEP_H

#include "base/cleanup.h"
#include "base/err.h"
#include "decode/blob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYOUT_MAX_FIELDS 32 /* more than any event we look at has; the rest is not kept */

struct layout_field {
	char name[32];
	uint16_t offset, size; /* of the payload */
	bool is_signed, is_common;
};

struct layout {
	char name[80];	 /* such as "sched_switch" */
	char system[80]; /* such as "sched" */
	size_t n_fields;
	struct layout_field fields[LAYOUT_MAX_FIELDS];
};

/* 0, -EBADMSG when the format cannot be understood, or -ENOMEM. */
int layout_read(const struct blob *blob, const struct blob_format *format, struct layout *ret,
	struct err *err);

/* The field of that name, or NULL. */
const struct layout_field *layout_find(const struct layout *layout, const char *name);

#endif

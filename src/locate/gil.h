/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: which of the calls are the GIL's, and the distance between its two condition variables.
 */
#ifndef GILPROBE_LOCATE_GIL_H
#define GILPROBE_LOCATE_GIL_H

#include "locate/image.h"
#include "locate/locate.h"

/*
 * Fills the sites and switch_delta of @binary, whose version is known (major 0: unknown).
 * -EOPNOTSUPP with words when the calls of take_gil or the distance cannot be found.
 */
int gil_find(struct image *image, struct locate_binary *binary, struct err *err);

/* True when the image imports what a GIL is made of. Cheap: reads no code. */
int gil_imports(struct image *image, bool *ret, struct err *err);

#endif

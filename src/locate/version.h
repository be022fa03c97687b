/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: which CPython an image holds.
 */
#ifndef GILPROBE_LOCATE_VERSION_H
#define GILPROBE_LOCATE_VERSION_H

#include "locate/image.h"
#include "locate/locate.h"

/* Fills version, major, minor, micro and free_threaded; leaves zeros where nothing tells. */
void version_find(struct image *image, struct locate_binary *binary);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: reading the sites of an image that is open already.
 */
#ifndef GILPROBE_LOCATE_BINARY_H
#define GILPROBE_LOCATE_BINARY_H

#include "locate/image.h"
#include "locate/locate.h"

/* As locate_binary; dev and ino stay 0 and path is the image's name. */
int binary_read(struct image *image, struct locate_binary **ret, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: where the dynamic linker would find a library.
 */
#ifndef GILPROBE_LOCATE_NEEDED_H
#define GILPROBE_LOCATE_NEEDED_H

#include "locate/image.h"
#include "locate/words.h"

/*
 * The places of library @name for @image that exist, in the dynamic linker's order: DT_RPATH,
 * LD_LIBRARY_PATH, DT_RUNPATH, ld.so.cache, the usual folders. 0 or -ENOMEM.
 */
int needed_find(struct image *image, const char *name, struct words *ret);

/* The paths of the libpython*.so* that ld.so.cache knows: for programs that embed Python late. */
int needed_cached_pythons(struct words *ret);

#endif

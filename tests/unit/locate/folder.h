/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test help: a temporary folder with files, links and scripts in it.
 */
#ifndef GILPROBE_TEST_LOCATE_FOLDER_H
#define GILPROBE_TEST_LOCATE_FOLDER_H

#include <stddef.h>

struct folder {
	char path[64];
};

/* Each returns a path in static memory of a small ring, good for the next few calls. */
const char *folder_file(const struct folder *folder, const char *name, int mode, const char *text);
const char *folder_link(const struct folder *folder, const char *name, const char *to);
const char *folder_copy(const struct folder *folder, const char *name, const char *from);
const char *folder_at(const struct folder *folder, const char *name);

void folder_make(struct folder *folder);
void folder_remove(struct folder *folder);

#endif

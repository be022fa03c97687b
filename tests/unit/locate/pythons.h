/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test help: the interpreters at hand, and what each of them says about itself.
 */
#ifndef GILPROBE_TEST_LOCATE_PYTHONS_H
#define GILPROBE_TEST_LOCATE_PYTHONS_H

#include <stdbool.h>
#include <stddef.h>

#define PYTHONS_MAX 32

struct python {
	char command[1024]; /* to start it */
	char binary[512]; /* that it maps and that holds the GIL: libpython, else the executable */
	char version[32]; /* of sys.version_info, "3.11.7" */
	bool free_threaded;
};

/*
 * PATH's python3, every other python3 of PATH's folders, and those of GILPROBE_PYTHONS (colon
 * separated). Each answers itself. Returns how many.
 */
size_t pythons_find(struct python ret[PYTHONS_MAX]);

/* The real path of the executable behind python->command, shims included. */
bool pythons_executable(const struct python *python, char *ret, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: finding files as execvp does, and their first bytes.
 */
#ifndef GILPROBE_LOCATE_PATH_H
#define GILPROBE_LOCATE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* "DIR/NAME" in new memory; NULL: out of memory. */
char *path_join(const char *dir, const char *name);

/* The part after the last slash. */
const char *path_base(const char *path);

/*
 * The file that execvp would run for @name: as it is when it has a slash, else over PATH.
 * -ENOENT, -EACCES (found, but not an executable file), -ENOMEM. *@ret is the caller's to free.
 */
int path_search(const char *name, char **ret);

/* The same over the part of PATH behind the folder that holds @file. */
int path_search_behind(const char *name, const char *file, char **ret);

/* The file called @name that this folder of PATH's has, for walking: NULL at the end. */
typedef int path_dir_fn(const char *dir, void *user);

/* Calls @fn with each folder of PATH until it returns non-zero; returns that. */
int path_each_dir(path_dir_fn *fn, void *user);

/* An executable regular file? 0, -ENOENT, -EACCES. */
int path_executable(const char *path);

/*
 * Up to @max first bytes of a regular file, with a NUL behind them, in new memory.
 * Negative errno when it cannot be read.
 */
int path_read(const char *path, size_t max, char **ret, size_t *ret_size);

#endif

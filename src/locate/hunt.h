/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: the search for interpreters: collects files once each, follows programs to Python.
 */
#ifndef GILPROBE_LOCATE_HUNT_H
#define GILPROBE_LOCATE_HUNT_H

#include "locate/locate.h"
#include "locate/words.h"

#include <sys/stat.h>

/* A file that was looked at. */
struct hunt_seen {
	dev_t dev;
	ino_t ino;
	bool python; /* it leads to an interpreter */
};

struct hunt {
	struct locate_target *target; /* being built; owned */
	struct hunt_seen *items;
	size_t n, cap;
	size_t lookups;	 /* of words over PATH, to bound them */
	bool likely;	 /* a word of the command or of a script led to an interpreter */
	int unsupported; /* first error of a Python that cannot be probed, and its words */
	struct err reason;
};

/* 0 or -ENOMEM. hunt_done frees the target too unless it was taken. */
int hunt_init(struct hunt *hunt);
void hunt_done(struct hunt *hunt);

/* True, and what it led to, when the file was looked at before. */
bool hunt_seen_file(const struct hunt *hunt, const struct stat *st, bool *ret_python);

/* Notes a file that is looked at now. 0, -ENOMEM, or -EMFILE when there were too many already. */
int hunt_see_file(struct hunt *hunt, const struct stat *st, size_t *ret_index);

/*
 * Looks at one file, and for a thin executable at the libpython that it needs. *ret_python: an
 * interpreter is inside. Files that are none are no error. 0 or -ENOMEM.
 */
int hunt_file(struct hunt *hunt, const char *path, bool *ret_python);

/* The same for a file that is open already (taken over); @name is the path to give out. */
int hunt_open_file(struct hunt *hunt, int fd, const char *name, bool *ret_python);

/*
 * Follows a program that would be run with @args (without its name): links, `#!` lines, env,
 * shims, and where that ends elsewhere the words of its arguments and of its text. *ret_python:
 * it surely becomes an interpreter. 0 or -ENOMEM.
 */
int hunt_program(struct hunt *hunt, const char *path, const struct words *args, bool *ret_python);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who called us: under sudo, files and targets belong to the user behind SUDO_UID.
 */
#ifndef GILPROBE_BASE_OWNER_H
#define GILPROBE_BASE_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

struct owner {
	uid_t uid;
	gid_t gid;
};

/* True (and *@ret set) when we are root and SUDO_UID names an ordinary user. */
bool owner_behind_sudo(struct owner *ret);

/*
 * Makes this process that user's, for good: groups, gid, uid; HOME, USER and LOGNAME follow where
 * they still are root's. 0 or a negative errno.
 */
int owner_become(const struct owner *owner);

/* Gives the open file to that user, if there is one. 0 or a negative errno. */
int owner_take_file(int fd);

#endif

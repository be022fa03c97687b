/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: the user behind sudo. In: the environment. Out: uid and gid. Invariant: a malformed
 * SUDO_UID counts as none, and only root ever gives a file away.
 */
#include "base/owner.h"

#include "base/cleanup.h"
#include "base/parse.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool owner_behind_sudo(struct owner *ret)
{
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");
	uint32_t uid, gid;

	if (geteuid() != 0 || !uid_text || !gid_text)
		return false;
	if (parse_u32(uid_text, UINT32_MAX - 1, &uid) < 0 ||
		parse_u32(gid_text, UINT32_MAX - 1, &gid) < 0 || uid == 0)
		return false;
	*ret = (struct owner){uid, gid};
	return true;
}

/* What the caller set on purpose (sudo -E) stays; what still is root's becomes the user's. */
static void follow(const char *name, const char *roots, const char *users)
{
	const char *value = getenv(name);

	if (!value || !strcmp(value, roots))
		setenv(name, users, 1);
}

static void follow_home(const struct owner *owner)
{
	const struct passwd *entry = getpwuid(0);
	_cleanup_free_ char *home = strdup(entry ? entry->pw_dir : "/root");
	_cleanup_free_ char *name = strdup(entry ? entry->pw_name : "root");

	entry = getpwuid(owner->uid);
	if (!home || !name || !entry)
		return;
	follow("HOME", home, entry->pw_dir);
	follow("USER", name, entry->pw_name);
	follow("LOGNAME", name, entry->pw_name);
}

int owner_become(const struct owner *owner)
{
	const struct passwd *user = getpwuid(owner->uid);

	if (user ? initgroups(user->pw_name, owner->gid) : setgroups(1, &owner->gid))
		return -errno;
	if (setgid(owner->gid) < 0 || setuid(owner->uid) < 0)
		return -errno;
	follow_home(owner);
	return 0;
}

int owner_take_file(int fd)
{
	struct owner owner;

	if (!owner_behind_sudo(&owner))
		return 0;
	return fchown(fd, owner.uid, owner.gid) < 0 ? -errno : 0;
}

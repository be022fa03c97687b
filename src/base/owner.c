/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: the user behind sudo. In: the environment. Out: uid and gid. Invariant: a malformed
 * SUDO_UID counts as none, and only root ever gives a file away.
 */
#include "base/owner.h"

#include "base/parse.h"

#include <errno.h>
#include <stdlib.h>
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

int owner_take_file(int fd)
{
	struct owner owner;

	if (!owner_behind_sudo(&owner))
		return 0;
	return fchown(fd, owner.uid, owner.gid) < 0 ? -errno : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: reading event numbers from tracefs. In: its events folder. Out: number → function.
 * Invariant: only events whose names say which function they are of are looked into.
 */
#include "decode/live.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "decode/recipe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static DIR *open_folder(int parent, const char *name)
{
	_cleanup_close_ int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir)
		(void)steal_fd(&fd);
	return dir;
}

static bool read_id(int folder, const char *event, uint64_t *ret)
{
	_cleanup_closedir_ DIR *dir = open_folder(folder, event);
	_cleanup_close_ int fd = dir ? openat(dirfd(dir), "id", O_RDONLY | O_CLOEXEC) : -1;
	char text[24] = {0};

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return parse_u64(text, ret) == 0;
}

static int add_group(int events, const char *group, struct map *ret)
{
	_cleanup_closedir_ DIR *dir = open_folder(events, group);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint64_t id;
		bool is_take;

		if (recipe_function(entry->d_name, &is_take) &&
			read_id(dirfd(dir), entry->d_name, &id) && map_put(ret, id, is_take) < 0)
			return -ENOMEM;
	}
	return 0;
}

int live_probes(const char *events_path, struct map *ret)
{
	_cleanup_closedir_ DIR *dir = opendir(events_path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && add_group(dirfd(dir), entry->d_name, ret) < 0)
			return -ENOMEM;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: finding perf descriptors. In: /proc/self/fd. Out: those that lead to perf events.
 * Invariant: they are only polled; libperf closes them.
 */
#include "record/fds.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/vec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_perf_event(int dir, const char *name)
{
	static const char wanted[] = "anon_inode:[perf_event]";
	char link[sizeof(wanted) + 1];
	ssize_t n = readlinkat(dir, name, link, sizeof(link));

	return n == sizeof(wanted) - 1 && !memcmp(link, wanted, sizeof(wanted) - 1);
}

int fds_of_events(int **ret, size_t *ret_n)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc/self/fd");
	struct {
		int *items;
		size_t n, cap;
	} found = {0};
	struct dirent *entry;
	uint32_t fd;

	while (dir && (entry = readdir(dir))) {
		if (parse_u32(entry->d_name, INT32_MAX, &fd) < 0 ||
			!is_perf_event(dirfd(dir), entry->d_name))
			continue;
		if (vec_grow(&found) < 0) {
			free(found.items);
			return -ENOMEM;
		}
		found.items[found.n++] = (int)fd;
	}
	*ret = found.items;
	*ret_n = found.n;
	return 0;
}

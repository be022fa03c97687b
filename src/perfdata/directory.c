/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: a recording that is a directory (`perf record --threads`). In: its path. Out: the file
 * `data`, which has the header, then data.0, data.1, … which are records only. Invariant: streams
 * come by number.
 */
#include "base/parse.h"
#include "base/vec.h"
#include "perfdata/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

struct directory {
	char *path;
	int fd;
	uint32_t *items; /* numbers of the streams, ascending */
	size_t n, cap;
	size_t next;
};

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Notes the streams and their sizes. 0 or -errno. */
static int list(struct directory *d)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *e;
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while ((e = readdir(dir))) {
		uint32_t number;
		struct stat st;

		if (strncmp(e->d_name, "data.", 5) != 0 ||
			parse_u32(e->d_name + 5, UINT32_MAX, &number) < 0 ||
			(e->d_name[5] == '0' && e->d_name[6]) ||
			fstatat(d->fd, e->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode) ||
			!st.st_size)
			continue;
		if (vec_grow(d) < 0)
			return -ENOMEM;
		d->items[d->n++] = number;
	}
	if (d->n)
		qsort(d->items, d->n, sizeof(*d->items), by_number);
	return 0;
}

int directory_open(const char *path, int *ret_fd, struct directory **ret, struct err *err)
{
	struct directory *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return err_nomem(err);
	d->path = strdup(path);
	d->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = d->fd < 0 ? -errno : !d->path ? -ENOMEM : list(d);
	if (r >= 0) {
		r = openat(d->fd, "data", O_RDONLY | O_CLOEXEC);
		if (r < 0)
			r = -errno;
	}
	if (r < 0) {
		directory_free(d);
		err_errno(err, r, "unable to open '%s/data'", path);
		if (r == -ENOENT)
			err_hint(err, "a recording that is a directory has a file named data");
		return r;
	}
	*ret_fd = r;
	*ret = d;
	return 0;
}

int directory_next(struct directory *d, struct source *ret, struct err *err)
{
	char name[32];
	struct stat st;
	int fd;

	if (d->next == d->n)
		return 0;
	snprintf(name, sizeof(name), "data.%u", d->items[d->next++]);
	fd = openat(d->fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int r = -errno;

		if (fd >= 0)
			close(fd);
		return err_errno(err, r, "unable to open '%s/%s'", d->path, name);
	}
	*ret = (struct source){.fd = fd, .seekable = true, .size = (uint64_t)st.st_size};
	return 1;
}

size_t directory_count(const struct directory *d)
{
	return d->n;
}

void directory_free(struct directory *d)
{
	if (!d)
		return;
	if (d->fd >= 0)
		close(d->fd);
	free(d->items);
	free(d->path);
	free(d);
}

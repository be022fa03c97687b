/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: finding files as execvp does.
 *
 * In: names, PATH. Out: paths that exist. Invariant: nothing is opened that could block.
 */
#include "locate/path.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* what execvp uses when PATH is not set */
#define DEFAULT_PATH "/bin:/usr/bin"

char *path_join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int path_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -EACCES : 0;
}

int path_each_dir(path_dir_fn *fn, void *user)
{
	const char *path = getenv("PATH");
	_cleanup_free_ char *copy = strdup(path ? path : DEFAULT_PATH);
	char *rest = copy, *dir;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	while (!r && (dir = strsep(&rest, ":")))
		r = fn(*dir ? dir : ".", user);
	return r;
}

struct search {
	const char *name;
	const char *behind; /* folder to begin after, or NULL */
	int denied;	    /* -EACCES when something was found that cannot run */
	char *found;
};

static bool same_folder(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int search_dir(const char *dir, void *user)
{
	struct search *search = user;
	_cleanup_free_ char *path = NULL;
	int r;

	if (search->behind) {
		if (same_folder(dir, search->behind))
			search->behind = NULL;
		return 0;
	}
	path = path_join(dir, search->name);
	if (!path)
		return -ENOMEM;
	r = path_executable(path);
	if (r == -EACCES)
		search->denied = r;
	if (r < 0)
		return 0;
	search->found = steal_ptr(path);
	return 1;
}

static int search_path(const char *name, const char *behind, char **ret)
{
	struct search search = {.name = name, .behind = behind};
	int r;

	if (!*name)
		return -ENOENT;
	r = path_each_dir(search_dir, &search);
	if (r < 0)
		return r;
	if (!search.found)
		return search.denied ? -EACCES : -ENOENT;
	*ret = search.found;
	return 0;
}

int path_search(const char *name, char **ret)
{
	char *copy;
	int r;

	if (!strchr(name, '/'))
		return search_path(name, NULL, ret);
	r = path_executable(name);
	if (r < 0)
		return r;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

int path_search_behind(const char *name, const char *file, char **ret)
{
	_cleanup_free_ char *folder = strdup(file);
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (!folder)
		return -ENOMEM;
	if (!slash)
		return -ENOENT;
	slash[slash == folder ? 1 : 0] = '\0';
	return search_path(name, folder, ret);
}

int path_read(const char *path, size_t max, char **ret, size_t *ret_size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	size_t size = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	/* files of /proc say size 0, so the size is no bound */
	bytes = malloc(max + 1);
	if (!bytes)
		return -ENOMEM;
	while (size < max) {
		ssize_t n = read(fd, bytes + size, max - size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		size += (size_t)n;
	}
	bytes[size] = '\0';
	*ret_size = size;
	*ret = steal_ptr(bytes);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: where the dynamic linker would find a library.
 *
 * In: an image, a DT_NEEDED name, the environment, ld.so.cache. Out: paths that exist.
 */
#include "locate/needed.h"

#include "base/cursor.h"
#include "locate/path.h"

#include <errno.h>
#include <string.h>

#define CACHE_PATH "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MAX (16 << 20)

/* Adds DIR/@name to the list when it exists. */
static int try_dir(const char *dir, const char *name, struct words *ret)
{
	_cleanup_free_ char *path = path_join(*dir ? dir : ".", name);

	if (!path)
		return -ENOMEM;
	if (access(path, R_OK) || words_has(ret, path))
		return 0;
	return words_add(ret, path, strlen(path));
}

/* $ORIGIN or ${ORIGIN} at the start of @dir becomes the folder of the image's real path. */
static char *expand_origin(const struct image *image, const char *dir)
{
	static const char *const forms[] = {"$ORIGIN", "${ORIGIN}"};

	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(forms[i]);
		_cleanup_free_ char *real = NULL;
		char *slash, *path;

		if (strncmp(dir, forms[i], len) != 0)
			continue;
		real = realpath(image->name, NULL);
		slash = strrchr(real ? real : "", '/');
		if (!slash)
			break;
		*slash = '\0';
		return asprintf(&path, "%s%s", real, dir + len) < 0 ? NULL : path;
	}
	return strdup(dir);
}

static int try_list(
	const struct image *image, const char *list, const char *name, struct words *ret)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *dir;
	int r = copy ? 0 : -ENOMEM;

	while (!r && (dir = strsep(&rest, ":;"))) {
		_cleanup_free_ char *folder = expand_origin(image, dir);

		r = folder ? try_dir(folder, name, ret) : -ENOMEM;
	}
	return r;
}

typedef int cache_fn(const char *name, const char *path, void *user);

/* Calls @fn with each pair of the cache until it returns non-zero. A damaged cache ends early. */
static int each_cached(cache_fn *fn, void *user)
{
	_cleanup_free_ char *bytes = NULL;
	const char *start;
	struct cursor c;
	size_t size;
	uint32_t n;
	int r = path_read(CACHE_PATH, CACHE_MAX, &bytes, &size);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	/* the oldest format may stand before the one that is used */
	start = memmem(bytes, size, CACHE_MAGIC, strlen(CACHE_MAGIC));
	if (!start)
		return 0;
	size -= (size_t)(start - bytes);
	c = cursor_over(start, size, false);
	cursor_skip(&c, strlen(CACHE_MAGIC));
	n = cursor_u32(&c);
	cursor_skip(&c, 24);
	r = 0;
	while (!r && n-- && cursor_left(&c) >= 24) {
		uint32_t key, value;

		cursor_skip(&c, 4);
		key = cursor_u32(&c);
		value = cursor_u32(&c);
		cursor_skip(&c, 12);
		/* path_read put a NUL behind the bytes */
		if (key < size && value < size)
			r = fn(start + key, start + value, user);
	}
	return r;
}

struct lookup {
	const char *name;
	struct words *ret;
};

static int cached_name(const char *name, const char *path, void *user)
{
	struct lookup *lookup = user;

	if (strcmp(name, lookup->name) != 0 || access(path, R_OK))
		return 0;
	return words_add(lookup->ret, path, strlen(path));
}

static int cached_python(const char *name, const char *path, void *user)
{
	struct words *ret = user;

	if (strncmp(name, "libpython", 9) != 0 || access(path, R_OK) || words_has(ret, path))
		return 0;
	return words_add(ret, path, strlen(path));
}

int needed_cached_pythons(struct words *ret)
{
	return each_cached(cached_python, ret);
}

int needed_find(struct image *image, const char *name, struct words *ret)
{
	static const char usual[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
				    "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
				    "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib";
	struct lookup lookup = {name, ret};
	const char *runpath = image_string(image, image->runpath);
	const char *rpath = runpath ? NULL : image_string(image, image->rpath);
	const char *env = getenv("LD_LIBRARY_PATH");
	int r = 0;

	if (strchr(name, '/'))
		return access(name, R_OK) ? 0 : words_add(ret, name, strlen(name));
	if (rpath)
		r = try_list(image, rpath, name, ret);
	if (!r && env && *env)
		r = try_list(image, env, name, ret);
	if (!r && runpath)
		r = try_list(image, runpath, name, ret);
	if (!r)
		r = each_cached(cached_name, &lookup);
	return r ? r : try_list(image, usual, name, ret);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: what a pyenv shim would exec.
 *
 * In: the shim's text, the environment, version files. Out: paths of executables that exist. The
 * order of precedence is pyenv's own; no program is run to find out.
 */
#include "locate/script.h"

#include "base/cleanup.h"
#include "locate/path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define VERSION_FILE_MAX 4096

/* PYENV_ROOT as the shim sets it, else the environment's, else the default. NULL: none. */
static char *find_root(const char *text)
{
	static const char set[] = "PYENV_ROOT=\"";
	const char *at = strstr(text, set), *end;
	char *root;

	if (at) {
		at += strlen(set);
		end = strchr(at, '"');
		if (end && *at == '/')
			return strndup(at, (size_t)(end - at));
	}
	if (getenv("PYENV_ROOT"))
		return strdup(getenv("PYENV_ROOT"));
	if (!getenv("HOME") || asprintf(&root, "%s/.pyenv", getenv("HOME")) < 0)
		return NULL;
	return root;
}

/* Adds the first word of each line. */
static int read_version_file(const char *path, struct words *ret)
{
	_cleanup_free_ char *text = NULL;
	char *rest, *line;
	size_t size;
	int r = path_read(path, VERSION_FILE_MAX, &text, &size);

	if (r < 0)
		return r;
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		size_t len;

		line += strspn(line, " \t");
		len = strcspn(line, " \t\r#");
		if (len && words_add(ret, line, len) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Reads .python-version of @dir or of the nearest folder above. -ENOENT when there is none. */
static int read_local_version(const char *dir, struct words *ret)
{
	_cleanup_free_ char *folder = realpath(dir, NULL);

	if (!folder)
		return -ENOENT;
	for (;;) {
		_cleanup_free_ char *path = path_join(folder, ".python-version");
		char *slash = strrchr(folder, '/');
		int r;

		if (!path)
			return -ENOMEM;
		r = read_version_file(path, ret);
		if (r == -ENOMEM || (!r && ret->n))
			return r;
		if (!slash || !*folder)
			return -ENOENT;
		*slash = '\0';
	}
}

/* The folder of the script that a python command is to run, NULL when it names none. */
static char *script_folder(const char *program, const struct words *args)
{
	for (size_t i = 0; !strncmp(program, "python", 6) && i < args->n; i++) {
		const char *arg = args->items[i], *slash = strrchr(arg, '/');

		if (!strncmp(arg, "-c", 2) || !strncmp(arg, "-m", 2))
			break;
		if (slash && !access(arg, F_OK))
			return slash == arg ? strdup("/") : strndup(arg, (size_t)(slash - arg));
	}
	return NULL;
}

static int find_versions(
	const char *root, const char *program, const struct words *args, struct words *ret)
{
	_cleanup_free_ char *folder = script_folder(program, args), *global = NULL;
	const char *set = getenv("PYENV_VERSION");
	int r = -ENOENT;

	if (set && *set) {
		_cleanup_free_ char *copy = strdup(set);
		char *rest = copy, *item;

		r = copy ? 0 : -ENOMEM;
		while (!r && (item = strsep(&rest, ":")))
			r = words_add(ret, item, strlen(item));
		return r;
	}
	if (folder)
		r = read_local_version(folder, ret);
	if (r < 0 && r != -ENOMEM)
		r = read_local_version(".", ret);
	if (!r || r == -ENOMEM)
		return r;
	global = path_join(root, "version");
	return global ? read_version_file(global, ret) : -ENOMEM;
}

/* The newest installed version that begins with @prefix and a dot or dash, as "3.11" does. */
static char *newest_with_prefix(const char *versions, const char *prefix)
{
	_cleanup_closedir_ DIR *dir = opendir(versions);
	size_t len = strlen(prefix);
	char *best = NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (strncmp(name, prefix, len) != 0 || (name[len] != '.' && name[len] != '-'))
			continue;
		if (best && strverscmp(name, best) <= 0)
			continue;
		free(best);
		best = strdup(name);
	}
	return best;
}

/* Adds VERSIONS/@version/bin/@program when it can run. */
static int add_version(
	const char *versions, const char *version, const char *program, struct words *ret)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s/bin/%s", versions, version, program) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (path_executable(path) < 0)
		return 0;
	return words_add(ret, path, strlen(path));
}

static int resolve_version(
	const char *versions, const char *version, const char *program, struct words *ret)
{
	_cleanup_free_ char *newest = NULL;
	size_t before = ret->n;
	int r;

	/* a version is a folder's name; anything else is not pyenv's */
	if (strchr(version, '/') || version[0] == '.')
		return 0;
	if (!strncmp(version, "python-", 7))
		version += 7;
	r = add_version(versions, version, program, ret);
	if (r < 0 || ret->n > before)
		return r;
	newest = newest_with_prefix(versions, version);
	return newest ? add_version(versions, newest, program, ret) : 0;
}

int script_shim_targets(
	const char *text, const char *program, const struct words *args, struct words *ret)
{
	_cleanup_free_ char *root = NULL, *versions = NULL;
	struct words wanted = {0};
	int r;

	if (!strstr(text, "pyenv"))
		return 0;
	root = find_root(text);
	if (!root)
		return 0;
	versions = path_join(root, "versions");
	if (!versions)
		return -ENOMEM;
	r = find_versions(root, program, args, &wanted);
	for (size_t i = 0; r != -ENOMEM && i < wanted.n; i++)
		r = resolve_version(versions, wanted.items[i], program, ret);
	words_done(&wanted);
	return r == -ENOMEM ? r : 0;
}

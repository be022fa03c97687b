/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: a command line to the interpreters that it may start.
 *
 * In: argv, --python, the environment. Out: a struct locate_target. Probes must be in place before
 * the program starts, so every interpreter that can be guessed is given, the surest first.
 */
#include "locate/hunt.h"

#include "base/cleanup.h"
#include "locate/needed.h"
#include "locate/path.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <string.h>

#define MAX_PARENTS 8

void locate_target_free(struct locate_target *target)
{
	if (!target)
		return;
	for (size_t i = 0; i < target->n_binaries; i++)
		locate_binary_free(target->binaries[i]);
	free(target->binaries);
	free(target->program);
	free(target->interpreter);
	free(target);
}

/* --python: must be there and must be Python. */
static int add_named(struct hunt *hunt, const char *python, struct err *err)
{
	_cleanup_free_ char *path = NULL;
	struct words none = {0};
	bool found = false;
	int r = path_search(python, &path);

	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0) {
		err_set(err, r, "unable to use '%s' as Python: %s", python,
			r == -EACCES ? "it is not an executable file" : "no such file");
		err_hint(err,
			"--python takes the path of an interpreter, or a name to find in PATH");
		return r;
	}
	r = hunt_program(hunt, path, &none, &found);
	if (r < 0)
		return err_nomem(err);
	if (hunt->target->n_binaries)
		return 0;
	if (hunt->unsupported)
		return err_set(err, hunt->unsupported, "%s", hunt->reason.text);
	return err_set(err, -EINVAL, "'%s' is no CPython interpreter", path);
}

static bool has_suffix(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static int find_program(const char *name, char **ret, struct err *err)
{
	int r = path_search(name, ret);

	if (r == -ENOMEM)
		return err_nomem(err);
	if (r == -EACCES) {
		if (has_suffix(name, ".py"))
			err_hint(err, "to run it with an interpreter: python3 %s", name);
		return err_set(err, r, "unable to run '%s': it is not an executable file", name);
	}
	if (r < 0 && strchr(name, '/'))
		return err_set(err, r, "unable to run '%s': no such file", name);
	if (r < 0) {
		if (*name && has_suffix(name, ".py") && !access(name, R_OK))
			err_hint(err, "to run it with an interpreter: python3 %s", name);
		else if (*name && !access(name, X_OK))
			err_hint(err, "there is one in this folder: ./%s", name);
		return err_set(err, r, "unable to run '%s': no such command in PATH", name);
	}
	return 0;
}

/* An interpreter, if the file is there. */
static int add_path(struct hunt *hunt, const char *path)
{
	struct words none = {0};
	bool found;

	return path_executable(path) < 0 ? 0 : hunt_program(hunt, path, &none, &found);
}

static int add_in(struct hunt *hunt, const char *dir, const char *name)
{
	_cleanup_free_ char *path = path_join(dir, name);

	return path ? add_path(hunt, path) : -ENOMEM;
}

static int add_command(struct hunt *hunt, const char *name)
{
	_cleanup_free_ char *path = NULL;
	int r = path_search(name, &path);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return add_path(hunt, path);
}

/* `python3.12` and the like. */
static bool is_versioned_python(const char *name)
{
	return !strncmp(name, "python3.", 8) && name[8] &&
	       strspn(name + 8, "0123456789") + (name[strlen(name) - 1] == 't') == strlen(name + 8);
}

static int add_versioned(const char *dir, void *user)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	struct dirent *entry;
	int r = 0;

	while (d && !r && (entry = readdir(d)))
		if (is_versioned_python(entry->d_name))
			r = add_in(user, dir, entry->d_name);
	return r;
}

/* What tools that look for a project's venv would take: ./.venv or one further up. */
static int add_project_venv(struct hunt *hunt)
{
	char dir[PATH_MAX];
	int r = 0;

	if (!getcwd(dir, sizeof(dir)))
		return 0;
	for (unsigned int i = 0; !r && i < MAX_PARENTS && *dir; i++) {
		char *slash = strrchr(dir, '/');

		r = add_in(hunt, dir, ".venv/bin/python3");
		if (slash)
			*slash = '\0';
	}
	return r;
}

static int add_environment(struct hunt *hunt)
{
	const char *venv = getenv("VIRTUAL_ENV"), *conda = getenv("CONDA_PREFIX");
	int r = 0;

	if (venv)
		r = add_in(hunt, venv, "bin/python3");
	if (!r && conda)
		r = add_in(hunt, conda, "bin/python3");
	if (!r && hunt->target->how != LOCATE_DIRECT)
		r = add_project_venv(hunt);
	if (!r)
		r = add_command(hunt, "python3");
	if (!r)
		r = add_command(hunt, "python");
	return r;
}

/* The interpreters that version managers and uv keep in the home folder. */
static int add_managed(struct hunt *hunt)
{
	static const char *const places[] = {".local/share/uv/python/*/bin/python3",
		".local/share/mise/installs/python/*/bin/python3",
		".asdf/installs/python/*/bin/python3"};
	const char *home = getenv("HOME");
	int r = 0;

	for (size_t i = 0; home && !r && i < sizeof(places) / sizeof(places[0]); i++) {
		_cleanup_free_ char *pattern = path_join(home, places[i]);
		glob_t found = {0};

		if (!pattern || glob(pattern, 0, NULL, &found) == GLOB_NOSPACE)
			r = -ENOMEM;
		for (size_t k = 0; !r && k < found.gl_pathc; k++)
			r = add_path(hunt, found.gl_pathv[k]);
		globfree(&found);
	}
	return r;
}

/* Without a sure interpreter: every python3.N of PATH, managed ones, and libraries to embed. */
static int add_guesses(struct hunt *hunt)
{
	struct words cached = {0};
	bool found;
	int r = path_each_dir(add_versioned, hunt);

	if (!r)
		r = add_managed(hunt);
	if (!r)
		r = needed_cached_pythons(&cached);
	for (size_t i = 0; !r && i < cached.n; i++)
		r = hunt_file(hunt, cached.items[i], &found);
	words_done(&cached);
	return r;
}

static int follow_command(struct hunt *hunt, char *const argv[], struct err *err)
{
	struct words args = {0};
	bool direct = false;
	int r = 0;

	for (size_t i = 1; !r && argv[i]; i++)
		r = words_add(&args, argv[i], strlen(argv[i]));
	if (!r)
		r = hunt_program(hunt, hunt->target->program, &args, &direct);
	words_done(&args);
	if (r < 0)
		return err_nomem(err);
	if (hunt->unsupported && !hunt->target->n_binaries)
		return err_set(err, hunt->unsupported, "%s", hunt->reason.text);
	hunt->target->how = direct ? LOCATE_DIRECT : hunt->likely ? LOCATE_LIKELY : LOCATE_GUESS;
	return 0;
}

int locate_command(
	char *const argv[], const char *python, struct locate_target **ret, struct err *err)
{
	_cleanup_(hunt_done) struct hunt hunt;
	int r;

	if (hunt_init(&hunt) < 0)
		return err_nomem(err);
	r = find_program(argv[0], &hunt.target->program, err);
	if (!r && python)
		r = add_named(&hunt, python, err);
	/* the user said it */
	hunt.likely = python != NULL;
	if (!r)
		r = follow_command(&hunt, argv, err);
	if (r < 0)
		return r;
	r = add_environment(&hunt);
	if (!r && !python && hunt.target->how != LOCATE_DIRECT)
		r = add_guesses(&hunt);
	if (r < 0)
		return err_nomem(err);
	if (!hunt.target->n_binaries) {
		err_hint(err, "nothing in PATH, a venv or '%s' itself leads to CPython 3", argv[0]);
		err_hint(err, "name the interpreter with --python PATH");
	}
	*ret = steal_ptr(hunt.target);
	return 0;
}

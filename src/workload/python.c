/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: which interpreter. In: a name, a path or nothing. Out: an absolute path whose links
 * are not resolved, since a virtual environment is known by the path of its python.
 */
#include "workload/workload.h"

#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

const char *const workload_builtins[] = {
	"pure-python", "native-release", "native-hold", "io", "mixed", NULL};

unsigned workload_default_workers(void)
{
	cpu_set_t cpus;
	int n = 1;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		n = CPU_COUNT(&cpus);
	return n < 2 ? 2 : n > 4 ? 4 : (unsigned)n;
}

/* 0, -ENOENT (no file), -EACCES (not executable) */
static int try_path(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return -EACCES;
	return 0;
}

/* For a machine without any python3: the library that we were built with, in a process of ours. */
#ifdef GILPROBE_LIBPYTHON
static void *open_libpython(void)
{
	/* for all to see, as an executable's own symbols are */
	return dlopen(GILPROBE_LIBPYTHON, RTLD_NOW | RTLD_GLOBAL);
}
#else
static void *open_libpython(void)
{
	return NULL;
}
#endif

int workload_libpython_main(int argc, char **argv)
{
	void *library = open_libpython();
	int (*bytes_main)(int, char **) = NULL;

	if (library)
		*(void **)&bytes_main = dlsym(library, "Py_BytesMain");
	if (!bytes_main)
		return 127;
	/* not our own name: sys.executable would lead programs to us */
	argv[0] = (char *)"python3";
	return bytes_main(argc, argv);
}

char *workload_libpython(void)
{
	void *library = open_libpython(), *symbol;
	Dl_info info;
	char *path = NULL;

	if (!library)
		return NULL;
	symbol = dlsym(library, "Py_BytesMain");
	if (symbol && dladdr(symbol, &info))
		path = realpath(info.dli_fname, NULL);
	dlclose(library);
	return path;
}

static int absolute(const char *path, char **ret)
{
	_cleanup_free_ char *cwd = NULL;

	if (path[0] != '/') {
		cwd = getcwd(NULL, 0);
		if (!cwd)
			return -errno;
	}
	return asprintf(ret, "%s%s%s", cwd ? cwd : "", cwd ? "/" : "", path) < 0 ? -ENOMEM : 0;
}

static int search(const char *name, char **ret)
{
	const char *path = getenv("PATH");
	int worst = -ENOENT;

	for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; at;) {
		const char *end = strchrnul(at, ':');
		_cleanup_free_ char *file = NULL;
		int r;

		if (asprintf(&file, "%.*s/%s", end > at ? (int)(end - at) : 1, end > at ? at : ".",
			    name) < 0)
			return -ENOMEM;
		r = try_path(file);
		if (r == 0)
			return absolute(file, ret);
		if (r == -EACCES)
			worst = r;
		at = *end ? end + 1 : NULL;
	}
	return worst;
}

int workload_python(const char *wanted, char **ret, struct err *err)
{
	const char *venv = getenv("VIRTUAL_ENV");
	int r = -ENOENT;

	if (wanted && strchr(wanted, '/')) {
		r = try_path(wanted);
		if (r == 0)
			r = absolute(wanted, ret);
	} else if (wanted) {
		r = search(wanted, ret);
	} else {
		if (venv && *venv) {
			_cleanup_free_ char *file = NULL;

			if (asprintf(&file, "%s/bin/python3", venv) < 0)
				return err_nomem(err);
			r = try_path(file);
			if (r == 0)
				r = absolute(file, ret);
		}
		if (r < 0)
			r = search("python3", ret);
	}
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0) {
		err_errno(err, r, "cannot run the interpreter '%s'", wanted ? wanted : "python3");
		err_hint(err, "--python PATH names another one");
	}
	return r;
}

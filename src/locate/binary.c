/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: one file to its GIL sites.
 *
 * In: a path, or an image that is open already. Out: a struct locate_binary, or words that say why
 * the file has no GIL to probe. What is cheap is asked first: most files are no interpreters.
 */
#include "locate/binary.h"

#include "locate/gil.h"
#include "locate/version.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

void locate_binary_free(struct locate_binary *binary)
{
	if (!binary)
		return;
	free(binary->path);
	free(binary->sites);
	free(binary);
}

const char *locate_kind_name(enum locate_kind kind)
{
	switch (kind) {
	case LOCATE_ACQUIRE:
		return "acquire";
	case LOCATE_SIGNAL:
		return "signal";
	case LOCATE_TIMEDWAIT:
		return "timedwait";
	case LOCATE_WAIT:
		return "wait";
	default:
		return "unknown";
	}
}

/* 0 when CPython 3 with a GIL made of condition variables is inside. */
static int check_python(struct image *image, struct err *err)
{
	uint64_t ignored;
	bool exports, imports = false;
	int r;

	exports = image_symbol(image, "PyEval_RestoreThread", &ignored);
	r = gil_imports(image, &imports, err);
	if (r < 0)
		return r;
	if (exports && image_symbol(image, "PyString_FromString", &ignored))
		return err_set(err, -EOPNOTSUPP,
			"'%s' is Python 2, which has no GIL of a supported form (3.6 or newer is needed)",
			image->name);
	if (image_symbol(image, "pypy_main_startup", &ignored))
		return err_set(
			err, -EOPNOTSUPP, "'%s' is PyPy; only CPython is supported", image->name);
	/* an embedding program may hide the exports, but not the texts of its fatal errors */
	if (!exports && (!imports || !image_contains(image, "PyCOND_SIGNAL(")))
		return err_set(err, -ENOENT, "'%s' holds no CPython interpreter", image->name);
	if (!imports)
		return err_set(err, -EOPNOTSUPP,
			"'%s' holds CPython, but it does not call the C library's condition variables",
			image->name);
	if (image->machine != EM_X86_64 && image->machine != EM_AARCH64)
		return err_set(err, -EOPNOTSUPP, "'%s' is for another machine (ELF machine %u)",
			image->name, image->machine);
	return 0;
}

static int read_python(struct image *image, struct locate_binary **ret, struct err *err)
{
	_cleanup_(cleanup_locate_binary) struct locate_binary *binary = NULL;
	int r;

	r = check_python(image, err);
	if (r < 0)
		return r;
	binary = calloc(1, sizeof(*binary));
	if (!binary)
		return err_nomem(err);
	binary->path = strdup(image->name);
	if (!binary->path)
		return err_nomem(err);
	binary->machine = image->machine;
	memcpy(binary->build_id, image->build_id, sizeof(binary->build_id));
	version_find(image, binary);
	r = gil_find(image, binary, err);
	if (r < 0)
		return r;
	*ret = steal_ptr(binary);
	return 0;
}

int binary_read(struct image *image, struct locate_binary **ret, struct err *err)
{
	struct locate_binary *binary = NULL;
	int r = read_python(image, &binary, err);

	/* what was found without all of the bytes is no answer */
	if (image->unread) {
		locate_binary_free(binary);
		err_clear(err);
		return err_nomem(err);
	}
	if (!r)
		*ret = binary;
	return r;
}

int locate_binary(const char *path, struct locate_binary **ret, struct err *err)
{
	_cleanup_(cleanup_image_close) struct image *image = NULL;
	struct locate_binary *binary;
	struct stat st;
	char *real;
	int r;

	r = image_open(path, &image, err);
	if (!r)
		r = binary_read(image, &binary, err);
	if (r < 0)
		return r;
	if (fstat(image->fd, &st) < 0) {
		r = err_errno(err, -errno, "unable to read '%s'", path);
		locate_binary_free(binary);
		return r;
	}
	binary->dev = st.st_dev;
	binary->ino = st.st_ino;
	real = realpath(path, NULL);
	if (real) {
		free(binary->path);
		binary->path = real;
	}
	*ret = binary;
	return 0;
}

int locate_binary_memory(
	const void *bytes, size_t size, struct locate_binary **ret, struct err *err)
{
	_cleanup_(cleanup_image_close) struct image *image = NULL;
	int r;

	r = image_open_memory(bytes, size, "memory", &image, err);
	return r < 0 ? r : binary_read(image, ret, err);
}

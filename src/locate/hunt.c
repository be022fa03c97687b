/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: looking at files, each (device, inode) once.
 *
 * In: paths. Out: the target's list of binaries, most likely first because the callers come in
 * that order. Invariant: a file that was seen is neither read nor added again.
 */
#include "locate/hunt.h"

#include "base/vec.h"
#include "locate/binary.h"
#include "locate/needed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* libpython3.so needs libpython3.11.so: one step more than an executable */
#define MAX_DEPTH 3
#define MAX_BINARIES 16
#define MAX_FILES 4096

int hunt_init(struct hunt *hunt)
{
	*hunt = (struct hunt){.target = calloc(1, sizeof(struct locate_target))};
	return hunt->target ? 0 : -ENOMEM;
}

void hunt_done(struct hunt *hunt)
{
	locate_target_free(hunt->target);
	free(hunt->items);
	*hunt = (struct hunt){0};
}

bool hunt_seen_file(const struct hunt *hunt, const struct stat *st, bool *ret_python)
{
	for (size_t i = 0; i < hunt->n; i++) {
		if (hunt->items[i].dev == st->st_dev && hunt->items[i].ino == st->st_ino) {
			*ret_python = hunt->items[i].python;
			return true;
		}
	}
	return false;
}

int hunt_see_file(struct hunt *hunt, const struct stat *st, size_t *ret_index)
{
	if (hunt->n >= MAX_FILES || hunt->target->n_binaries >= MAX_BINARIES)
		return -EMFILE;
	if (vec_grow(hunt) < 0)
		return -ENOMEM;
	*ret_index = hunt->n++;
	hunt->items[*ret_index] = (struct hunt_seen){st->st_dev, st->st_ino, false};
	return 0;
}

static int add_binary(struct hunt *hunt, struct locate_binary *binary)
{
	struct locate_target *target = hunt->target;
	struct locate_binary **grown;

	grown = reallocarray(target->binaries, target->n_binaries + 1, sizeof(*grown));
	if (!grown) {
		locate_binary_free(binary);
		return -ENOMEM;
	}
	target->binaries = grown;
	target->binaries[target->n_binaries++] = binary;
	return 0;
}

static int look_at(
	struct hunt *hunt, int fd, const char *name, unsigned int depth, bool *ret_python);

static int look_at_path(struct hunt *hunt, const char *path, unsigned int depth, bool *ret_python)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*ret_python = false;
	return fd < 0 ? 0 : look_at(hunt, fd, path, depth, ret_python);
}

/* A thin executable: its libpython, the first that the dynamic linker would take. */
static int look_at_needed(
	struct hunt *hunt, struct image *image, unsigned int depth, bool *ret_python)
{
	int r = 0;

	for (size_t i = 0; !r && !*ret_python && i < image->n_needed; i++) {
		const char *name = image_string(image, image->needed[i]);
		struct words found = {0};

		if (!name || strncmp(name, "libpython", 9) != 0)
			continue;
		r = needed_find(image, name, &found);
		for (size_t k = 0; !r && !*ret_python && k < found.n; k++)
			r = look_at_path(hunt, found.items[k], depth + 1, ret_python);
		words_done(&found);
	}
	return r;
}

static int look_at_image(
	struct hunt *hunt, struct image *image, unsigned int depth, bool *ret_python)
{
	struct locate_binary *binary;
	struct err err = {0};
	struct stat st, now;
	char *real;
	int r = binary_read(image, &binary, &err);

	if (r == -ENOENT)
		return depth < MAX_DEPTH ? look_at_needed(hunt, image, depth, ret_python) : 0;
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		/* Python, but none that can be probed */
		if (!hunt->unsupported)
			hunt->reason = err;
		hunt->unsupported = hunt->unsupported ? hunt->unsupported : r;
		*ret_python = true;
		return 0;
	}
	if (!fstat(image->fd, &st)) {
		binary->dev = st.st_dev;
		binary->ino = st.st_ino;
	}
	/* a link of /proc may lead to a name that is another file by now, or none */
	real = realpath(image->name, NULL);
	if (real && !stat(real, &now) && now.st_dev == binary->dev && now.st_ino == binary->ino) {
		free(binary->path);
		binary->path = steal_ptr(real);
	}
	free(real);
	*ret_python = true;
	return add_binary(hunt, binary);
}

static int look_at(
	struct hunt *hunt, int fd, const char *name, unsigned int depth, bool *ret_python)
{
	_cleanup_close_ int own = fd;
	_cleanup_(cleanup_image_close) struct image *image = NULL;
	struct stat st;
	size_t index;
	int r;

	*ret_python = false;
	if (fstat(fd, &st) < 0 || hunt_seen_file(hunt, &st, ret_python))
		return 0;
	r = hunt_see_file(hunt, &st, &index);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = image_open_fd(steal_fd(&own), name, &image, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = look_at_image(hunt, image, depth, ret_python);
	hunt->items[index].python = *ret_python;
	return r;
}

int hunt_open_file(struct hunt *hunt, int fd, const char *name, bool *ret_python)
{
	return look_at(hunt, fd, name, 0, ret_python);
}

int hunt_file(struct hunt *hunt, const char *path, bool *ret_python)
{
	return look_at_path(hunt, path, 0, ret_python);
}

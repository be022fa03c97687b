/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test help: a temporary folder. Folders on the way to a file are made; failures end the test.
 */
#include "folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

const char *folder_at(const struct folder *folder, const char *name)
{
	static char ring[16][512];
	static unsigned int next;
	char *path = ring[next++ % 16];

	snprintf(path, sizeof(ring[0]), "%s/%s", folder->path, name);
	return path;
}

static void make_parents(const char *path)
{
	char copy[512];

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *p = copy + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(copy, 0755);
		*p = '/';
	}
}

const char *folder_file(const struct folder *folder, const char *name, int mode, const char *text)
{
	const char *path = folder_at(folder, name);
	FILE *f;

	make_parents(path);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, (mode_t)mode), 0);
	return path;
}

const char *folder_link(const struct folder *folder, const char *name, const char *to)
{
	const char *path = folder_at(folder, name);

	make_parents(path);
	assert_int_equal(symlink(to, path), 0);
	return path;
}

const char *folder_copy(const struct folder *folder, const char *name, const char *from)
{
	const char *path = folder_at(folder, name);
	int in = open(from, O_RDONLY), out;
	char bytes[65536];
	ssize_t n;

	make_parents(path);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(out, bytes, (size_t)n), n);
	assert_int_equal(n, 0);
	close(in);
	assert_int_equal(close(out), 0);
	return path;
}

void folder_make(struct folder *folder)
{
	snprintf(folder->path, sizeof(folder->path), "/tmp/gilprobe-locate-XXXXXX");
	assert_non_null(mkdtemp(folder->path));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void folder_remove(struct folder *folder)
{
	nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

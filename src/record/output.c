/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the output file. In: a path. Out: an empty file of the calling user's.
 * Invariant: an older recording is renamed, never overwritten, and comes back after a failure.
 */
#include "record/output.h"

#include "base/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int create_failed(const char *path, int code, struct err *err)
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) : 0;

	err_errno(err, code, "cannot create '%s'", path);
	if (code == -ENOENT && slash)
		err_hint(err, "mkdir -p '%.*s'", len, path);
	return code;
}

static int move_away(struct output *output, struct err *err)
{
	char *old;

	if (asprintf(&old, "%s.old", output->path) < 0)
		return err_nomem(err);
	if (rename(output->path, old) < 0) {
		int r = err_errno(
			err, -errno, "cannot rename the older '%s' to '%s'", output->path, old);

		free(old);
		return r;
	}
	output->old = old;
	return 0;
}

int output_open(struct output *output, const char *path, struct err *err)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	int fd, r;

	*output = (struct output){.path = path};
	if (there && S_ISREG(st.st_mode)) {
		r = move_away(output, err);
		if (r < 0)
			return r;
		there = false;
	}
	if (there && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return err_set(
			err, -ESPIPE, "cannot record into '%s': it is a pipe or a socket", path);
	fd = open(path, O_RDWR | O_CLOEXEC | (there ? 0 : O_CREAT | O_EXCL), 0666);
	if (fd < 0) {
		r = create_failed(path, -errno, err);
		output_undo(output);
		return r;
	}
	output->made = !there;
	r = output->made ? owner_take_file(fd) : 0;
	if (r < 0) {
		err_errno(err, r, "cannot give '%s' to the user behind sudo", path);
		close(fd);
		output_undo(output);
		return r;
	}
	return fd;
}

void output_undo(struct output *output)
{
	if (output->made)
		unlink(output->path);
	if (output->old)
		rename(output->old, output->path);
	output->made = false;
	output_done(output);
}

void output_done(struct output *output)
{
	free(output->old);
	output->old = NULL;
}

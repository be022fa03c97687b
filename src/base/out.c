/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: the byte sink. In: bytes. Out: a whole file, a stream, or memory. Invariant: until
 * out_commit a regular file has no name in its folder (O_TMPFILE), or a temporary one that
 * out_free removes; so neither an error nor a signal leaves half a file.
 */
#include "base/out.h"

#include "base/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define OUT_BUFFER (256 * 1024)
#define OUT_GZIP_LEVEL 2 /* timelines repeat themselves: 6 is 8 % smaller and twice as slow */

struct out {
	int fd; /* -1: memory */
	bool close_fd;
	char *path;	 /* what the user named; NULL for memory */
	char *final;	 /* path with links resolved, to rename to; NULL: written directly */
	char *temporary; /* a name in the final's folder; NULL: none yet (O_TMPFILE) */
	bool gzip;
	z_stream z;
	uint8_t *packed; /* gzip's output buffer */
	int error;
	uint64_t written;
	size_t n, cap;
	uint8_t *buffer;
};

static void fail(struct out *out, int code)
{
	if (!out->error)
		out->error = code;
}

static void write_all(struct out *out, const uint8_t *bytes, size_t size)
{
	while (size && !out->error) {
		ssize_t n = write(out->fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fail(out, -errno);
			return;
		}
		bytes += n;
		size -= (size_t)n;
	}
}

static void deflate_all(struct out *out, const uint8_t *bytes, size_t size, int flush)
{
	out->z.next_in = (Bytef *)(uintptr_t)bytes;
	out->z.avail_in = (uInt)size;
	do {
		out->z.next_out = out->packed;
		out->z.avail_out = OUT_BUFFER;
		if (deflate(&out->z, flush) == Z_STREAM_ERROR) {
			fail(out, -EIO);
			return;
		}
		write_all(out, out->packed, OUT_BUFFER - out->z.avail_out);
	} while (out->z.avail_out == 0 && !out->error);
}

static void flush_buffer(struct out *out)
{
	if (out->fd < 0)
		return;
	if (out->gzip)
		deflate_all(out, out->buffer, out->n, Z_NO_FLUSH);
	else
		write_all(out, out->buffer, out->n);
	out->n = 0;
}

static void grow_memory(struct out *out, size_t need)
{
	size_t cap = out->cap;
	uint8_t *grown;

	while (cap < need)
		cap *= 2;
	grown = realloc(out->buffer, cap);
	if (!grown) {
		fail(out, -ENOMEM);
		return;
	}
	out->buffer = grown;
	out->cap = cap;
}

void out_write(struct out *out, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	out->written += size;
	if (out->fd < 0 && size > out->cap - out->n)
		grow_memory(out, out->n + size);
	while (size && !out->error) {
		size_t room = out->cap - out->n;
		size_t part = size < room ? size : room;

		memcpy(out->buffer + out->n, from, part);
		out->n += part;
		from += part;
		size -= part;
		if (out->n == out->cap)
			flush_buffer(out);
	}
}

void out_str(struct out *out, const char *text)
{
	out_write(out, text, strlen(text));
}

void out_printf(struct out *out, const char *fmt, ...)
{
	char small[512];
	_cleanup_free_ char *large = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(small)) {
		out_write(out, small, (size_t)n);
		return;
	}
	va_start(ap, fmt);
	n = vasprintf(&large, fmt, ap);
	va_end(ap);
	if (n < 0) {
		large = NULL;
		fail(out, -ENOMEM);
		return;
	}
	out_write(out, large, (size_t)n);
}

void out_u64(struct out *out, uint64_t value)
{
	out_fixed(out, value, 0);
}

void out_fixed(struct out *out, uint64_t ns, unsigned decimals)
{
	char text[24], *p = text + sizeof(text);
	unsigned digits = 0;

	do {
		if (decimals && digits == decimals)
			*--p = '.';
		*--p = (char)('0' + ns % 10);
		ns /= 10;
		digits++;
	} while (ns || digits <= decimals);
	out_write(out, p, (size_t)(text + sizeof(text) - p));
}

int out_error(const struct out *out)
{
	return out->error;
}

uint64_t out_written(const struct out *out)
{
	return out->written;
}

static struct out *out_new(size_t cap)
{
	struct out *out = calloc(1, sizeof(*out));

	if (!out)
		return NULL;
	out->fd = -1;
	out->cap = cap;
	out->buffer = malloc(cap);
	if (!out->buffer) {
		free(out);
		return NULL;
	}
	return out;
}

struct out *out_memory(void)
{
	return out_new(4096);
}

const char *out_memory_bytes(struct out *out, size_t *ret_size)
{
	*ret_size = out->n;
	return (const char *)out->buffer;
}

/* Opens a nameless file in @final's folder, or a temporary name where the file system has none. */
static int open_beside(struct out *out, const char *final, struct err *err)
{
	const char *slash = strrchr(final, '/');
	_cleanup_free_ char *folder = NULL;
	int r;

	out->final = strdup(final);
	folder = slash ? strndup(final, slash == final ? 1 : (size_t)(slash - final)) : strdup(".");
	if (!out->final || !folder)
		return err_nomem(err);
	out->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	if (out->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT) {
		r = -errno;
		return err_errno(err, r, "unable to write '%s'", out->path);
	}
	if (access(folder, F_OK) < 0) {
		r = -errno;
		err_hint(err, "the folder '%s' must exist", folder);
		return err_errno(err, r, "unable to write '%s'", out->path);
	}
	if (asprintf(&out->temporary, "%s/.gilprobe-XXXXXX", folder) < 0) {
		out->temporary = NULL;
		return err_nomem(err);
	}
	out->fd = mkostemp(out->temporary, O_CLOEXEC);
	r = -errno;
	if (out->fd >= 0)
		return fchmod(out->fd, 0644);
	free(steal_ptr(out->temporary));
	return err_errno(err, r, "unable to write '%s'", out->path);
}

static int open_path(struct out *out, const char *path, struct err *err)
{
	_cleanup_free_ char *resolved = NULL;
	struct stat st;
	int r;

	if (!strcmp(path, "-")) {
		out->fd = STDOUT_FILENO;
		return 0;
	}
	out->close_fd = true;
	if (stat(path, &st) < 0)
		return open_beside(out, path, err);
	if (S_ISREG(st.st_mode)) {
		resolved = realpath(path, NULL);
		if (!resolved && errno == ENOMEM)
			return err_nomem(err);
		return open_beside(out, resolved ? resolved : path, err);
	}
	out->fd = open(path, O_WRONLY | O_CLOEXEC);
	if (out->fd >= 0)
		return 0;
	r = -errno;
	return err_errno(err, r, "unable to write '%s'", path);
}

int out_create(const char *path, struct out **ret, struct err *err)
{
	_cleanup_(cleanup_out) struct out *out = out_new(OUT_BUFFER);
	size_t len = strlen(path);
	int r;

	if (!out || !(out->path = strdup(path)))
		return err_nomem(err);
	if (!*path)
		return err_set(err, -EINVAL, "the output file's name is empty");
	r = open_path(out, path, err);
	if (r < 0)
		return r;
	if (len > 3 && !strcmp(path + len - 3, ".gz")) {
		out->packed = malloc(OUT_BUFFER);
		if (!out->packed)
			return err_nomem(err);
		if (deflateInit2(&out->z, OUT_GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
			    Z_DEFAULT_STRATEGY) != Z_OK)
			return err_nomem(err);
		out->gzip = true;
	}
	*ret = steal_ptr(out);
	return 0;
}

/* Links a nameless file under a temporary name, so that rename can replace an older file. */
static int give_name(struct out *out)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", out->fd);
	if (asprintf(&out->temporary, "%s.gilprobe-%d", out->final, (int)getpid()) < 0) {
		out->temporary = NULL;
		return -ENOMEM;
	}
	if (linkat(AT_FDCWD, self, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) < 0) {
		free(steal_ptr(out->temporary));
		return -errno;
	}
	return 0;
}

int out_commit(struct out *out, struct err *err)
{
	if (out->fd < 0)
		return out->error ? err_errno(err, out->error, "unable to keep the output") : 0;
	flush_buffer(out);
	if (out->gzip)
		deflate_all(out, NULL, 0, Z_FINISH);
	if (out->final && !out->error) {
		int r = owner_take_file(out->fd);

		if (!r && !out->temporary)
			r = give_name(out);
		if (!r && rename(out->temporary, out->final) < 0)
			r = -errno;
		if (!r)
			free(steal_ptr(out->temporary));
		else
			fail(out, r);
	}
	if (out->close_fd && close(steal_fd(&out->fd)) < 0)
		fail(out, -errno);
	return out->error ? err_errno(err, out->error, "unable to write '%s'", out->path) : 0;
}

void out_free(struct out *out)
{
	if (!out)
		return;
	if (out->gzip)
		deflateEnd(&out->z);
	if (out->close_fd && out->fd >= 0)
		close(out->fd);
	if (out->temporary) {
		unlink(out->temporary);
		free(out->temporary);
	}
	free(out->final);
	free(out->path);
	free(out->packed);
	free(out->buffer);
	free(out);
}

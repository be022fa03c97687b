/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: bytes in. In: a file, a pipe or memory. Out: a window of contiguous bytes that moves
 * forward over one section. Invariant: nothing beyond the section's end is ever in the window, and
 * nothing is allocated for bytes that the source has not delivered.
 */
#include "base/cleanup.h"
#include "perfdata/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define WINDOW ((size_t)256 << 10)

void source_close(struct source *src)
{
	if (src->fd >= 0)
		close(src->fd);
	src->fd = -1;
}

/* read() or pread() once. A pipe that may be silent for ever can be left by a signal: -EINTR. */
static ssize_t read_some(const struct source *src, uint64_t offset, void *buf, size_t size)
{
	ssize_t n;

	do {
		n = src->seekable ? pread(src->fd, buf, size, (off_t)offset)
				  : read(src->fd, buf, size);
	} while (n < 0 && errno == EINTR && src->seekable);
	return n < 0 ? -errno : n;
}

int source_read(const struct source *src, uint64_t offset, void *buf, size_t size)
{
	uint8_t *to = buf;

	if (offset > src->size || size > src->size - offset)
		return -ENODATA;
	if (src->fd < 0) {
		memcpy(buf, src->mem + offset, size);
		return 0;
	}
	while (size) {
		ssize_t n = read_some(src, offset, to, size);

		if (n <= 0)
			return n ? (int)n : -ENODATA;
		to += n;
		offset += (size_t)n;
		size -= (size_t)n;
	}
	return 0;
}

int input_section(struct input *in, const struct source *src, uint64_t offset, uint64_t stop)
{
	in->src = *src;
	in->offset = offset;
	in->stop = stop;
	if (src->fd < 0) {
		uint64_t end = stop < src->size ? stop : src->size;

		in->at = src->mem + (offset < end ? offset : end);
		in->end = src->mem + end;
		return 0;
	}
	if (!in->buf)
		in->buf = malloc(WINDOW);
	if (!in->buf)
		return -ENOMEM;
	in->at = in->end = in->buf;
	return 0;
}

void input_done(struct input *in)
{
	free(in->buf);
	in->buf = NULL;
	in->at = in->end = NULL;
}

int input_fill(struct input *in, size_t need)
{
	size_t have = input_left(in);

	if (have >= need || in->src.fd < 0)
		return 0;
	memmove(in->buf, in->at, have);
	in->at = in->buf;
	in->end = in->buf + have;
	while (have < need) {
		uint64_t from = in->offset + have;
		size_t room = WINDOW - have;
		ssize_t n;

		if (from >= in->stop)
			break;
		if (room > in->stop - from)
			room = (size_t)(in->stop - from);
		n = read_some(&in->src, from, in->buf + have, room);
		if (n <= 0)
			return (int)n;
		have += (size_t)n;
		in->end = in->buf + have;
	}
	return 0;
}

int input_skip(struct input *in, uint64_t size)
{
	while (size) {
		size_t step = input_left(in);
		uint64_t end = in->stop < in->src.size ? in->stop : in->src.size;
		int r;

		if (size <= step) {
			input_advance(in, (size_t)size);
			return 0;
		}
		input_advance(in, step);
		size -= step;
		if (in->src.seekable) {
			if (in->offset > end || size > end - in->offset)
				return -ENODATA;
			return input_section(in, &in->src, in->offset + size, in->stop);
		}
		r = input_fill(in, 1);
		if (r < 0)
			return r;
		if (!input_left(in))
			return -ENODATA;
	}
	return 0;
}

int input_take(struct input *in, uint64_t size, uint8_t **ret)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t have = 0, cap = 0;

	/* the claimed size is believed only as far as bytes arrive: a pipe has no size to check */
	while (have < size) {
		size_t step;
		int r = input_fill(in, 1);

		if (r < 0)
			return r;
		step = input_left(in);
		if (!step)
			return -ENODATA;
		if (step > size - have)
			step = (size_t)(size - have);
		if (have + step > cap) {
			uint8_t *more;

			cap = have + step > cap * 2 ? have + step : cap * 2;
			more = realloc(bytes, cap);
			if (!more)
				return -ENOMEM;
			bytes = more;
		}
		memcpy(bytes + have, in->at, step);
		input_advance(in, step);
		have += step;
	}
	*ret = steal_ptr(bytes);
	return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

int input_spool(struct input *in, struct source *src)
{
	char path[] = SPOOL_DIR "/gilprobe-XXXXXX"; /* O_TMPFILE is not on every file system */
	_cleanup_close_ int fd = mkostemp(path, O_CLOEXEC);
	int r = fd < 0 ? -errno : 0;

	if (fd >= 0)
		unlink(path);
	while (r >= 0 && input_left(in)) {
		r = write_all(fd, in->at, input_left(in));
		input_advance(in, input_left(in));
		if (r >= 0)
			r = input_fill(in, 1);
	}
	if (r < 0)
		return r;
	source_close(src);
	*src = (struct source){.fd = steal_fd(&fd), .seekable = true, .size = in->offset};
	return input_section(in, src, 0, UINT64_MAX);
}

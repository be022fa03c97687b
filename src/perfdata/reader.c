/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: the reader. In: a path or memory. Out: records in file order. Invariant: a record is
 * yielded only when all its bytes are there; damage ends the stream with what came before it kept
 * and said in perfdata_info, unless nothing came.
 */
#include "perfdata/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct perfdata *new_reader(const char *name)
{
	struct perfdata *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->file.fd = pd->in.src.fd = -1;
	pd->anonymous = true;
	pd->id_slot = -1;
	pd->name = strdup(name);
	if (!pd->name) {
		free(pd);
		return NULL;
	}
	return pd;
}

void perfdata_free(struct perfdata *pd)
{
	if (!pd)
		return;
	for (size_t i = 0; i < pd->n_attrs; i++)
		free(pd->attrs[i]);
	for (size_t i = 0; i < PERF_FEATURES; i++)
		free(pd->features[i].bytes);
	free(pd->attrs);
	free(pd->tracing);
	free((void *)pd->info.cmdline);
	map_done(&pd->ids);
	strtab_done(&pd->strings);
	unpack_free(pd->unpack);
	directory_free(pd->dir);
	if (pd->in.src.fd != pd->file.fd)
		source_close(&pd->in.src);
	source_close(&pd->file);
	input_done(&pd->in);
	free(pd->name);
	free(pd);
}

/* Reads the header over pd->file, which is set. Takes @pd over. */
static int start(struct perfdata *pd, struct perfdata **ret, struct err *err)
{
	int r = input_section(&pd->in, &pd->file, 0, UINT64_MAX);

	r = r < 0 ? err_nomem(err) : header_read(pd, err);
	if (r < 0) {
		perfdata_free(pd);
		return r;
	}
	*ret = pd;
	return 0;
}

/* Sets pd->file from @path. 0 or -errno. */
static int open_source(struct perfdata *pd, const char *path, struct err *err)
{
	bool standard = !strcmp(path, "-");
	struct stat st;
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			  : open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_errno(err, -errno, "unable to open '%s'", pd->name);
	pd->file.fd = fd;
	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "unable to open '%s'", pd->name);
	if (S_ISDIR(st.st_mode)) {
		source_close(&pd->file);
		r = directory_open(path, &pd->file.fd, &pd->dir, err);
		if (r < 0)
			return r;
		pd->info.directory = true;
		pd->multi = directory_bytes(pd->dir) > 0;
		if (fstat(pd->file.fd, &st) < 0)
			return err_errno(err, -errno, "unable to open '%s/data'", pd->name);
	}
	pd->file.seekable = S_ISREG(st.st_mode);
	pd->file.size = pd->file.seekable ? (uint64_t)st.st_size : UINT64_MAX;
	return 0;
}

int perfdata_open(const char *path, struct perfdata **ret, struct err *err)
{
	struct perfdata *pd = new_reader(strcmp(path, "-") ? path : "standard input");
	int r;

	if (!pd)
		return err_nomem(err);
	r = open_source(pd, path, err);
	if (r < 0) {
		perfdata_free(pd);
		return r;
	}
	return start(pd, ret, err);
}

int perfdata_open_memory(const void *bytes, size_t size, struct perfdata **ret, struct err *err)
{
	struct perfdata *pd = new_reader("memory");

	if (!pd)
		return err_nomem(err);
	pd->file = (struct source){.fd = -1, .mem = bytes, .seekable = true, .size = size};
	return start(pd, ret, err);
}

/* The next whole record of the input. 1, 0: the end, -EBADMSG: damage, -errno. */
static int next_outer(struct perfdata *pd, struct perfdata_record *ret)
{
	struct input *in = &pd->in;
	uint16_t size = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		size_t left = input_left(in);
		int r;

		if (left >= 8) {
			size = record_header(in->at, pd->swap, ret);
			if (size < 8)
				return -EBADMSG;
			if (size <= left) {
				ret->offset = in->offset;
				input_advance(in, size);
				return 1;
			}
		}
		r = input_fill(in, RECORD_MAX);
		if (r < 0)
			return r;
	}
	if (input_left(in))
		pd->info.truncated = true;
	return 0;
}

/* The stream cannot be read any further: what came before counts. */
static int damaged(struct perfdata *pd, const struct perfdata_record *record, struct err *err)
{
	const struct input *in = &pd->in;
	uint64_t end = in->stop < in->src.size ? in->stop : in->src.size;

	if (!pd->any_record && !pd->info.unfinished)
		return err_set(err, -EBADMSG, "'%s': damaged record at offset %llu", pd->name,
			(unsigned long long)record->offset);
	pd->info.truncated = true;
	if (end != UINT64_MAX && end > in->offset)
		pd->info.skipped_bytes += end - in->offset;
	pd->ended = true;
	return 0;
}

/* Goes on with the next stream of a directory. 1, 0: there is none, -errno. */
static int next_stream(struct perfdata *pd, struct err *err)
{
	struct source src;
	int r;

	if (pd->unpack && unpack_reset(pd->unpack))
		pd->info.truncated = true;
	pd->ended = true;
	if (!pd->dir)
		return 0;
	r = directory_next(pd->dir, &src, err);
	if (r <= 0)
		return r;
	pd->done_bytes += pd->in.src.size;
	if (pd->in.src.fd != pd->file.fd)
		source_close(&pd->in.src);
	r = input_section(&pd->in, &src, 0, UINT64_MAX);
	if (r < 0) {
		source_close(&src);
		return err_nomem(err);
	}
	pd->ended = false;
	return 1;
}

/* One record, of whatever type. 1, 0: this stream has ended, -errno as from damage. */
static int next_any(struct perfdata *pd, struct perfdata_record *ret, bool *ret_packed)
{
	if (pd->unpack) {
		int r = unpack_next(pd->unpack, pd->swap, ret);

		if (r) {
			*ret_packed = true;
			return r;
		}
	}
	*ret_packed = false;
	ret->offset = pd->in.offset;
	return next_outer(pd, ret);
}

int perfdata_next(struct perfdata *pd, struct perfdata_record *ret, struct err *err)
{
	struct perfdata_record record = {0};

	for (;;) {
		bool packed;
		int r = pd->ended ? 0 : next_any(pd, &record, &packed);

		if (r == 0) {
			r = next_stream(pd, err);
			if (r <= 0)
				return r;
			continue;
		}
		if (r > 0) {
			r = meta_record(pd, &record, packed);
			if (r == 0) {
				pd->any_record = true;
				*ret = record;
				return 1;
			}
		}
		if (r == -EBADMSG || r == -ENODATA)
			r = damaged(pd, &record, err);
		if (r < 0)
			return err_errno(err, r, "unable to read '%s'", pd->name);
	}
}

const struct perfdata_info *perfdata_info(const struct perfdata *pd)
{
	return &pd->info;
}

uint64_t perfdata_position(const struct perfdata *pd, uint64_t *ret_total)
{
	bool known = pd->file.size != UINT64_MAX;

	*ret_total = known ? pd->file.size + (pd->dir ? directory_bytes(pd->dir) : 0) : 0;
	return pd->done_bytes + pd->in.offset;
}

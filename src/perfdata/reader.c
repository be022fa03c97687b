/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: the reader's front. In: a path or memory. Out: records. Invariant: what is opened here
 * is closed by perfdata_free, half-built or whole.
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
	pd->file.fd = -1;
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
	merge_free(pd->merge);
	stream_done(&pd->first);
	source_close(&pd->file);
	free(pd->name);
	free(pd);
}

/* Reads the header over pd->file, which is set. */
static int start(struct perfdata *pd, struct err *err)
{
	if (input_section(&pd->first.in, &pd->file, 0, UINT64_MAX) < 0)
		return err_nomem(err);
	return header_read(pd, err);
}

/* Sets pd->file from @path; *@ret_dir when that is a directory. 0 or -errno. */
static int open_source(
	struct perfdata *pd, const char *path, struct directory **ret_dir, struct err *err)
{
	bool standard = !strcmp(path, "-");
	struct stat st;
	int r;

	pd->file.fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			       : open(path, O_RDONLY | O_CLOEXEC);
	if (pd->file.fd < 0 || fstat(pd->file.fd, &st) < 0)
		return err_errno(err, -errno, "unable to open '%s'", pd->name);
	if (S_ISDIR(st.st_mode)) {
		source_close(&pd->file);
		r = directory_open(path, &pd->file.fd, ret_dir, err);
		if (r < 0)
			return r;
		pd->info.directory = true;
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
	struct directory *dir = NULL;
	int r;

	if (!pd)
		return err_nomem(err);
	r = open_source(pd, path, &dir, err);
	if (r >= 0)
		r = start(pd, err);
	if (r >= 0 && dir && directory_count(dir))
		r = merge_new(pd, dir, &pd->merge, err);
	directory_free(dir);
	if (r < 0) {
		perfdata_free(pd);
		return r;
	}
	*ret = pd;
	return 0;
}

int perfdata_open_memory(const void *bytes, size_t size, struct perfdata **ret, struct err *err)
{
	struct perfdata *pd = new_reader("memory");
	int r;

	if (!pd)
		return err_nomem(err);
	pd->file = (struct source){.fd = -1, .mem = bytes, .seekable = true, .size = size};
	r = start(pd, err);
	if (r < 0) {
		perfdata_free(pd);
		return r;
	}
	*ret = pd;
	return 0;
}

int perfdata_next(struct perfdata *pd, struct perfdata_record *ret, struct err *err)
{
	if (pd->merge)
		return merge_next(pd, pd->merge, ret, err);
	return stream_next(pd, &pd->first, ret, err);
}

const struct perfdata_info *perfdata_info(const struct perfdata *pd)
{
	return &pd->info;
}

uint64_t perfdata_position(const struct perfdata *pd, uint64_t *ret_total)
{
	if (pd->merge)
		return merge_position(pd->merge, ret_total);
	*ret_total = pd->file.size == UINT64_MAX ? 0 : pd->file.size;
	return pd->first.in.offset;
}

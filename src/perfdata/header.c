/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: the header at a file's start. In: the first bytes. Out: byte order, attrs with their
 * ids, the table of features, and the input set to the data section. Invariant: nothing is
 * allocated for more ids or features than the file has bytes for.
 */
#include "perfdata/internal.h"

#include <errno.h>
#include <stdlib.h>

/* struct perf_file_section */
struct section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t attr_size;
	struct section attrs, data;
	uint8_t features[PERF_FEATURES / 8];
};

static struct section take_section(struct cursor *c)
{
	uint64_t offset = cursor_u64(c);

	return (struct section){offset, cursor_u64(c)};
}

static bool inside(const struct perfdata *pd, struct section s)
{
	return s.offset <= pd->file.size && s.size <= pd->file.size - s.offset;
}

static int not_perfdata(struct perfdata *pd, struct err *err)
{
	if (!input_left(&pd->first.in) && !pd->first.in.offset)
		err_set(err, -EBADMSG, "'%s' is empty", pd->name);
	else
		err_set(err, -EBADMSG, "'%s' is not a perf.data file (no PERFILE2 at offset 0)",
			pd->name);
	err_hint(err, "make one with: gilprobe record -o perf.data -- COMMAND");
	return -EBADMSG;
}

/* Magic and header size: what every form begins with. */
static int read_magic(struct perfdata *pd, uint64_t *ret_size, struct err *err)
{
	uint64_t magic;
	int r = input_fill(&pd->first.in, PERFDATA_PIPE_HEADER_SIZE);

	if (r < 0)
		return read_failed(pd, r, err);
	if (input_left(&pd->first.in) < 8)
		return not_perfdata(pd, err);
	magic = get_u64(pd->first.in.at, false);
	if (magic == PERFDATA_MAGIC_OLD || magic == __builtin_bswap64(PERFDATA_MAGIC_OLD))
		return err_set(err, -EOPNOTSUPP, "'%s' has the format of perf before Linux 2.6.38",
			pd->name);
	if (magic != PERFDATA_MAGIC && magic != __builtin_bswap64(PERFDATA_MAGIC))
		return not_perfdata(pd, err);
	if (input_left(&pd->first.in) < PERFDATA_PIPE_HEADER_SIZE)
		return err_set(err, -EBADMSG, "'%s' ends within its header", pd->name);
	pd->swap = pd->info.swapped = magic != PERFDATA_MAGIC;
	*ret_size = get_u64(pd->first.in.at + 8, pd->swap);
	return 0;
}

/*
 * The feature bits are an array of unsigned long of the machine that wrote them: 64 bits wide, or
 * 32. HOSTNAME is always set by perf and tells which.
 */
static void take_feature_bits(struct cursor *c, uint8_t *bits)
{
	const unsigned host = PERFDATA_HOSTNAME;
	uint64_t words[PERF_FEATURES / 64];

	for (unsigned i = 0; i < PERF_FEATURES / 64; i++)
		words[i] = cursor_u64(c);
	if (c->swap && !(words[0] >> host & 1) && words[0] >> (host + 32) & 1)
		for (unsigned i = 0; i < PERF_FEATURES / 64; i++)
			words[i] = words[i] << 32 | words[i] >> 32;
	for (unsigned i = 0; i < PERF_FEATURES; i++)
		if (words[i / 64] >> (i % 64) & 1)
			bits[i / 8] |= (uint8_t)(1u << (i % 8));
}

static int read_file_header(struct perfdata *pd, struct file_header *ret, struct err *err)
{
	struct cursor c;
	int r = input_fill(&pd->first.in, PERFDATA_HEADER_SIZE);

	if (r < 0)
		return read_failed(pd, r, err);
	c = cursor_over(pd->first.in.at, input_left(&pd->first.in), pd->swap);
	cursor_skip(&c, 16);
	ret->attr_size = cursor_u64(&c);
	ret->attrs = take_section(&c);
	ret->data = take_section(&c);
	(void)take_section(&c); /* event types: unused since Linux 3.x */
	take_feature_bits(&c, ret->features);
	if (c.bad)
		return err_set(err, -EBADMSG, "'%s' ends within its header", pd->name);
	return 0;
}

static int read_ids(struct perfdata *pd, struct attr *attr, struct section ids, struct err *err)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	int r;

	pd->n_ids += ids.size / 8;
	if (!inside(pd, ids) || pd->n_ids > pd->file.size / 8)
		return err_set(err, -EBADMSG,
			"'%s': event %u has its ids outside the file (offset %llu)", pd->name,
			attr->pub.index, (unsigned long long)ids.offset);
	if (!ids.size)
		return 0;
	bytes = malloc((size_t)ids.size);
	if (!bytes)
		return err_nomem(err);
	r = source_read(&pd->file, ids.offset, bytes, (size_t)ids.size);
	if (r < 0)
		return read_failed(pd, r, err);
	for (uint64_t at = 0; at + 8 <= ids.size; at += 8)
		if (attr_add_id(pd, attr, get_u64(bytes + at, pd->swap)) < 0)
			return err_nomem(err);
	return 0;
}

/* Each entry: an attr of the writer's size, then the section of its ids. */
static int read_attrs(struct perfdata *pd, const struct file_header *h, struct err *err)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	int r;

	if (h->attr_size < 64 + 16 || h->attr_size > h->attrs.size || !inside(pd, h->attrs))
		return err_set(err, -EBADMSG, "'%s': the table of events is damaged (offset %llu)",
			pd->name, (unsigned long long)h->attrs.offset);
	bytes = malloc((size_t)h->attrs.size);
	if (!bytes)
		return err_nomem(err);
	r = source_read(&pd->file, h->attrs.offset, bytes, (size_t)h->attrs.size);
	if (r < 0)
		return read_failed(pd, r, err);
	for (uint64_t at = 0; h->attrs.size - at >= h->attr_size; at += h->attr_size) {
		struct cursor c = cursor_over(bytes + at + h->attr_size - 16, 16, pd->swap);
		struct attr *attr;
		size_t used;

		r = attr_add(pd, bytes + at, (size_t)h->attr_size - 16, &attr, &used, err);
		if (r >= 0)
			r = read_ids(pd, attr, take_section(&c), err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The table stands behind the data: one section per bit that is set. */
static int read_feature_table(struct perfdata *pd, const struct file_header *h, uint64_t at)
{
	for (unsigned i = 0; i < PERF_FEATURES; i++) {
		uint8_t bytes[16];
		struct cursor c;
		struct section s;
		int r;

		if (!(h->features[i / 8] >> (i % 8) & 1))
			continue;
		r = source_read(&pd->file, at, bytes, sizeof(bytes));
		if (r == -ENODATA) {
			pd->info.truncated = true;
			return 0;
		}
		if (r < 0)
			return r;
		at += sizeof(bytes);
		if (i > PERFDATA_FEATURE_LAST)
			pd->info.unknown_features++;
		c = cursor_over(bytes, sizeof(bytes), pd->swap);
		s = take_section(&c);
		pd->feature_bytes += s.size;
		if (!inside(pd, s) || pd->feature_bytes > pd->file.size) {
			pd->info.truncated = true;
			pd->feature_bytes -= s.size;
			continue;
		}
		pd->features[i] = (struct feature){true, s.offset, s.size, NULL};
	}
	return feature_load_all(pd);
}

/*
 * A killed recorder left no table of features, a cut file has lost it. Ours wrote the formats of
 * the tracepoints before the data: the last blob there, known by its magic, is the newest.
 */
static int find_early_tracing(struct perfdata *pd, const struct file_header *h)
{
	static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
	uint64_t from = h->attrs.offset + h->attrs.size;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size, found = SIZE_MAX;
	int r;

	if (from >= h->data.offset || h->data.offset > pd->file.size)
		return 0;
	size = (size_t)(h->data.offset - from);
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	r = source_read(&pd->file, from, bytes, size);
	if (r < 0)
		return r;
	for (size_t at = (8 - from % 8) % 8; at + sizeof(magic) <= size; at += 8)
		if (!memcmp(bytes + at, magic, sizeof(magic)))
			found = at;
	if (found == SIZE_MAX)
		return 0;
	size -= found;
	memmove(bytes, bytes + found, size);
	return feature_set_tracing(pd, steal_ptr(bytes), size);
}

static int read_file(struct perfdata *pd, struct err *err)
{
	struct file_header h = {0};
	uint64_t stop;
	int r = read_file_header(pd, &h, err);

	if (r < 0)
		return r;
	r = read_attrs(pd, &h, err);
	if (r < 0)
		return r;
	if (h.data.offset > pd->file.size) {
		pd->info.truncated = true;
		h.data.offset = pd->file.size;
	}
	stop = pd->file.size;
	if (!h.data.size) {
		pd->info.unfinished = true;
		r = find_early_tracing(pd, &h);
	} else if (h.data.size > stop - h.data.offset) {
		pd->info.truncated = true;
		r = find_early_tracing(pd, &h);
	} else {
		stop = h.data.offset + h.data.size;
		r = read_feature_table(pd, &h, stop);
	}
	if (r >= 0)
		r = input_section(&pd->first.in, &pd->file, h.data.offset, stop);
	return r < 0 ? read_failed(pd, r, err) : 0;
}

int header_read(struct perfdata *pd, struct err *err)
{
	uint64_t size = 0;
	int r = read_magic(pd, &size, err);

	if (r < 0)
		return r;
	if (size == PERFDATA_PIPE_HEADER_SIZE) {
		pd->info.pipe = true;
		input_advance(&pd->first.in, PERFDATA_PIPE_HEADER_SIZE);
		return 0;
	}
	if (size < PERFDATA_HEADER_SIZE)
		return err_set(err, -EBADMSG, "'%s': the header has an impossible size (%llu)",
			pd->name, (unsigned long long)size);
	if (!pd->file.seekable) {
		r = input_spool(&pd->first.in, &pd->file);
		if (r == -ENOMEM)
			return err_nomem(err);
		if (r < 0)
			return err_errno(
				err, r, "unable to keep '%s' in '%s'", pd->name, SPOOL_DIR);
	}
	return read_file(pd, err);
}

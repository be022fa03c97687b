/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the TRACING_DATA section. In: tracepoints. Out: the bytes from which perf and we learn
 * the fields of their raw data.
 *
 * Layout, native byte order: magic, version, byte order, sizes of long and page; header_page and
 * header_event; the formats of ftrace's own events (none); those of each group; kallsyms, printk
 * formats and saved command names (all empty).
 */
#include "record/tracing.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

static void write_u32(struct out *out, uint32_t value)
{
	out_write(out, &value, sizeof(value));
}

static void write_u64(struct out *out, uint64_t value)
{
	out_write(out, &value, sizeof(value));
}

static void write_intro(struct out *out)
{
	static const char magic[] = "\027\010\104tracing0.6"; /* with its NUL */
	const uint16_t one = 1;
	uint8_t big_endian = *(const uint8_t *)&one == 0, size_of_long = sizeof(long);

	out_write(out, magic, sizeof(magic));
	out_write(out, &big_endian, 1);
	out_write(out, &size_of_long, 1);
	write_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
}

static int write_file(struct out *out, const char *name, struct err *err)
{
	char path[64] = "events/";
	int size = 0;
	char *text = tracefs_instance_file_read(NULL, strcat(path, name), &size);

	if (!text)
		return err_errno(
			err, errno ? -errno : -ENOENT, "cannot read '%s' of tracefs", path);
	out_write(out, name, strlen(name) + 1);
	write_u64(out, (uint64_t)size);
	out_write(out, text, (size_t)size);
	free(text);
	return 0;
}

static size_t group_size(const struct tracing_event *events, size_t n)
{
	size_t k = 0;

	while (k < n && !strcmp(events[k].group, events[0].group))
		k++;
	return k;
}

static int write_groups(
	struct out *out, const struct tracing_event *events, size_t n, struct err *err)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < n; i += group_size(events + i, n - i))
		groups++;
	write_u32(out, groups);
	for (size_t i = 0, left = 0; i < n; i++, left--) {
		size_t size;
		char *text;

		if (!left) {
			left = group_size(events + i, n - i);
			out_write(out, events[i].group, strlen(events[i].group) + 1);
			write_u32(out, (uint32_t)left);
		}
		text = tracing_format(events[i].group, events[i].name, &size, err);
		if (!text)
			return -ENOENT;
		write_u64(out, size);
		out_write(out, text, size);
		free(text);
	}
	return 0;
}

int tracing_data(const struct tracing_event *events, size_t n, struct out **ret, struct err *err)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	int r;

	if (!out)
		return err_nomem(err);
	write_intro(out);
	r = write_file(out, "header_page", err);
	if (r >= 0)
		r = write_file(out, "header_event", err);
	if (r < 0)
		return r;
	write_u32(out, 0);
	r = write_groups(out, events, n, err);
	if (r < 0)
		return r;
	write_u32(out, 0);
	write_u32(out, 0);
	write_u64(out, 0);
	if (out_error(out) < 0)
		return err_nomem(err);
	*ret = steal_ptr(out);
	return 0;
}

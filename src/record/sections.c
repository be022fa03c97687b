/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: features. In: uname, clocks, the target. Out: sections of perf.data's feature table.
 * Invariant: numbers and layouts are those of tools/perf/util/header.[ch] of the Linux sources.
 */
#include "record/sections.h"

#include "base/cleanup.h"
#include "base/out.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CMDLINE = 11,
	FEATURE_CLOCKID = 23,
	FEATURE_CLOCK_DATA = 29,
};

#define MISC_BUILD_ID_SIZE (1u << 15)
#define HOST_PID (-1)
#define NAME_ALIGN 64
#define MAX_WORDS 1024

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int write_machine(struct perfdata_writer *writer, struct err *err)
{
	struct {
		uint32_t available, online;
	} cpus = {(uint32_t)sysconf(_SC_NPROCESSORS_CONF), (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
	struct utsname name;
	int r;

	if (uname(&name) < 0)
		return err_errno(err, -errno, "cannot read the name of this machine");
	r = perfdata_writer_feature_str(writer, FEATURE_HOSTNAME, name.nodename, err);
	if (r >= 0)
		r = perfdata_writer_feature_str(writer, FEATURE_OSRELEASE, name.release, err);
	if (r >= 0)
		r = perfdata_writer_feature_str(
			writer, FEATURE_VERSION, "gilprobe " GILPROBE_VERSION, err);
	if (r >= 0)
		r = perfdata_writer_feature_str(writer, FEATURE_ARCH, name.machine, err);
	return r < 0 ? r
		     : perfdata_writer_feature(writer, FEATURE_NRCPUS, &cpus, sizeof(cpus), err);
}

/* Ties the recording's clock to the calendar. */
static int write_clock(struct perfdata_writer *writer, struct err *err)
{
	struct {
		uint32_t version, clockid;
		uint64_t wall_ns, clock_ns;
	} data = {1, CLOCK_MONOTONIC, 0, 0};
	struct timespec resolution;
	uint64_t resolution_ns;
	int r;

	clock_getres(CLOCK_MONOTONIC, &resolution);
	resolution_ns = (uint64_t)resolution.tv_nsec;
	data.wall_ns = clock_ns(CLOCK_REALTIME);
	data.clock_ns = clock_ns(CLOCK_MONOTONIC);
	r = perfdata_writer_feature(
		writer, FEATURE_CLOCKID, &resolution_ns, sizeof(resolution_ns), err);
	return r < 0 ? r
		     : perfdata_writer_feature(
			       writer, FEATURE_CLOCK_DATA, &data, sizeof(data), err);
}

/* The words of a process's command line. They point into @text. */
static size_t read_command(pid_t pid, char *text, size_t size, char *words[MAX_WORDS])
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64];
	size_t n = 0, len = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	if (f)
		len = fread(text, 1, size - 1, f);
	text[len] = '\0';
	for (size_t at = 0; at < len && n + 1 < MAX_WORDS; at += strlen(text + at) + 1)
		words[n++] = text + at;
	words[n] = NULL;
	return n;
}

static int write_command(
	struct perfdata_writer *writer, char *const argv[], pid_t pid, struct err *err)
{
	char text[8192];
	char *words[MAX_WORDS];

	if (!argv && !read_command(pid, text, sizeof(text), words))
		return 0;
	return perfdata_writer_feature_argv(writer, FEATURE_CMDLINE, argv ? argv : words, err);
}

static bool parse_hex(const char *text, uint8_t ret[20], uint8_t *ret_n)
{
	size_t n = strlen(text) / 2;

	if (!n || n > 20)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned byte;

		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		ret[i] = (uint8_t)byte;
	}
	*ret_n = (uint8_t)n;
	return true;
}

static void put_build_id(struct out *out, const struct locate_binary *binary)
{
	struct {
		struct perf_event_header header;
		int32_t pid;
		uint8_t id[20];
		uint8_t id_size, reserved[3];
	} event = {.header = {.misc = PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE}, .pid = HOST_PID};
	static const char zeros[NAME_ALIGN] = "";
	size_t len = strlen(binary->path) + 1,
	       padded = (len + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;

	if (!parse_hex(binary->build_id, event.id, &event.id_size) || padded > UINT16_MAX / 2)
		return;
	event.header.size = (uint16_t)(sizeof(event) + padded);
	out_write(out, &event, sizeof(event));
	out_write(out, binary->path, len);
	out_write(out, zeros, padded - len);
}

static int write_build_ids(
	struct perfdata_writer *writer, const struct locate_target *target, struct err *err)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	const char *bytes;
	size_t size;

	if (!out)
		return err_nomem(err);
	for (size_t i = 0; i < target->n_binaries; i++)
		put_build_id(out, target->binaries[i]);
	bytes = out_memory_bytes(out, &size);
	return size ? perfdata_writer_feature(writer, FEATURE_BUILD_ID, bytes, size, err) : 0;
}

int sections_write(struct perfdata_writer *writer, char *const argv[], pid_t pid,
	const struct locate_target *target, struct err *err)
{
	int r = write_machine(writer, err);

	if (r >= 0)
		r = write_clock(writer, err);
	if (r >= 0)
		r = write_command(writer, argv, pid, err);
	return r < 0 ? r : write_build_ids(writer, target, err);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: synthesised records. In: /proc. Out: FORK, COMM and MMAP2 as the kernel would write them.
 *
 * Invariant: events are enabled before /proc is read, so a thread that starts meanwhile has a FORK
 * of its own, and being in both does no harm.
 */
#include "record/synth.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

/* One record in the making: 8-byte pieces, then the trailer of EVENTS_SAMPLE_TYPE. */
struct build {
	struct perf_event_header header;
	uint8_t body[PATH_MAX + 256];
};

static void put(struct build *build, const void *bytes, size_t size)
{
	memcpy((uint8_t *)build + build->header.size, bytes, size);
	build->header.size = (uint16_t)(build->header.size + size);
}

static void put_u32(struct build *build, uint32_t value)
{
	put(build, &value, sizeof(value));
}

static void put_u64(struct build *build, uint64_t value)
{
	put(build, &value, sizeof(value));
}

/* NUL-terminated and padded. @text is shorter than PATH_MAX. */
static void put_text(struct build *build, const char *text)
{
	put(build, text, strlen(text) + 1);
	while (build->header.size % 8)
		put(build, "", 1);
}

static struct build begin(uint32_t type, uint16_t misc)
{
	return (struct build){.header = {type, misc, sizeof(struct perf_event_header)}};
}

static void emit(const struct synth *synth, struct build *build, uint32_t pid, uint32_t tid)
{
	put_u32(build, pid);
	put_u32(build, tid);
	put_u64(build, synth->time_ns);
	put_u64(build, 0); /* CPU 0 */
	put_u64(build, synth->id);
	perfdata_writer_record(synth->writer, build, build->header.size);
}

static void emit_comm(const struct synth *synth, uint32_t pid, uint32_t tid)
{
	struct build build = begin(PERF_RECORD_COMM, 0);
	char path[64], comm[32] = "";
	_cleanup_fclose_ FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return;
	comm[fread(comm, 1, sizeof(comm) - 1, f)] = '\0';
	if (*comm && comm[strlen(comm) - 1] == '\n')
		comm[strlen(comm) - 1] = '\0';
	put_u32(&build, pid);
	put_u32(&build, tid);
	put_text(&build, comm);
	emit(synth, &build, pid, tid);
}

static void emit_fork(const struct synth *synth, uint32_t pid, uint32_t tid)
{
	struct build build = begin(PERF_RECORD_FORK, 0);

	put_u32(&build, pid);
	put_u32(&build, pid);
	put_u32(&build, tid);
	put_u32(&build, pid);
	put_u64(&build, synth->time_ns);
	emit(synth, &build, pid, tid);
}

static void emit_mapping(const struct synth *synth, uint32_t pid, char *line)
{
	struct build build = begin(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	char prot[5];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &start,
		    &end, prot, &offset, &major, &minor, &inode, &at) < 7 ||
		prot[2] != 'x' || !line[at] || strlen(line + at) >= PATH_MAX)
		return;
	put_u32(&build, pid);
	put_u32(&build, pid);
	put_u64(&build, start);
	put_u64(&build, end - start);
	put_u64(&build, offset);
	put_u32(&build, major);
	put_u32(&build, minor);
	put_u64(&build, inode);
	put_u64(&build, 0);
	put_u32(&build, (prot[0] == 'r' ? PROT_READ : 0u) | PROT_EXEC);
	put_u32(&build, prot[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
	put_text(&build, line + at);
	emit(synth, &build, pid, pid);
}

static void emit_mappings(const struct synth *synth, uint32_t pid)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	char path[64];
	size_t cap = 0;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && getline(&line, &cap, f) > 0)
		emit_mapping(synth, pid, line);
}

/* Adds the threads that are not in the tree. 1: the process is there, 0: gone; -ENOMEM. */
static int add_threads(const struct synth *synth, uint32_t pid, struct err *err)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	char path[64];
	uint32_t tid;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (parse_u32(entry->d_name, INT32_MAX, &tid) < 0 ||
			tree_has_task(synth->tree, tid))
			continue;
		if (tree_add(synth->tree, pid, tid) < 0)
			return err_nomem(err);
		if (tid != pid)
			emit_fork(synth, pid, tid);
		emit_comm(synth, pid, tid);
	}
	return 1;
}

static int add_process(const struct synth *synth, uint32_t pid, struct err *err)
{
	int r = add_threads(synth, pid, err);

	if (r > 0)
		emit_mappings(synth, pid);
	return r;
}

static uint32_t parent_of(uint32_t pid)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[128];
	uint32_t parent;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "PPid: %" SCNu32, &parent) == 1)
			return parent;
	return 0;
}

/* One pass over /proc: adds the children of traced processes. How many, or -ENOMEM. */
static int add_children(const struct synth *synth, struct err *err)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	struct dirent *entry;
	uint32_t pid;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		int r = 0;

		if (parse_u32(entry->d_name, INT32_MAX, &pid) < 0 ||
			tree_has_process(synth->tree, pid))
			continue;
		if (tree_has_process(synth->tree, parent_of(pid)))
			r = add_process(synth, pid, err);
		if (r < 0)
			return r;
		n += r;
	}
	return n;
}

int synth_tree(const struct synth *synth, pid_t pid, struct err *err)
{
	int r = add_process(synth, (uint32_t)pid, err);

	if (r == 0)
		return err_set(err, -ESRCH, "process %d does not exist", (int)pid);
	while (r > 0)
		r = add_children(synth, err);
	return r;
}

int synth_missing(const struct synth *synth, struct err *err)
{
	struct map_slot *slot;
	int r = 0;

	for (size_t at = 0; r >= 0 && (slot = map_next(&synth->tree->processes, &at));)
		r = add_threads(synth, (uint32_t)slot->key, err);
	if (r < 0)
		return r;
	do
		r = add_children(synth, err);
	while (r > 0);
	return r;
}

int synth_child(const struct synth *synth, pid_t pid, struct err *err)
{
	if (tree_add(synth->tree, (uint32_t)pid, (uint32_t)pid) < 0)
		return err_nomem(err);
	emit_comm(synth, (uint32_t)pid, (uint32_t)pid);
	return 0;
}

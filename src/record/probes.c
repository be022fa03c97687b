/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: defining and deleting uprobes. In: interpreters and their sites. Out: tracepoint ids.
 *
 * Invariant: a probe is defined on the very file that locate read. The file is opened, compared by
 * device and inode, and named to the kernel through /proc/PID/fd, which also allows blanks and
 * '#' in its path.
 */
#include "record/probes.h"

#include "base/parse.h"
#include "base/vec.h"
#include "record/explain.h"
#include "record/facts.h"
#include "record/tracing.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tracefs.h>
#include <unistd.h>

static const char *const kind_names[] = {
	[LOCATE_ACQUIRE] = "acquire",
	[LOCATE_SIGNAL] = "signal",
	[LOCATE_TIMEDWAIT] = "timedwait",
	[LOCATE_WAIT] = "wait",
};

int probes_name(struct probes *probes, struct err *err)
{
	for (unsigned i = 0; i < 100; i++) {
		if (i)
			snprintf(probes->group, sizeof(probes->group), PROBES_GROUP_PREFIX "%d_%u",
				(int)getpid(), i);
		else
			snprintf(probes->group, sizeof(probes->group), PROBES_GROUP_PREFIX "%d",
				(int)getpid());
		/* left behind by an earlier process of our pid, or in use in another pid namespace
		 */
		probes_delete_group(probes->group);
		if (!tracing_has_group(probes->group))
			return 0;
	}
	return err_set(
		err, -EEXIST, "no free name for a group of probes: '%s' is in use", probes->group);
}

/* The decoder reads &switch_cond - &cond from the names of events whose argument needs it. */
static void name_probe(struct probe *probe, size_t n)
{
	const char *kind = kind_names[probe->kind];

	if (probe->kind == LOCATE_ACQUIRE || probe->kind == LOCATE_WAIT)
		snprintf(probe->name, sizeof(probe->name), "%s%s%" PRIu64 "_%zu", kind,
			probe->switch_delta < 0 ? "m" : "",
			probe->switch_delta < 0 ? -(uint64_t)probe->switch_delta
						: (uint64_t)probe->switch_delta,
			n);
	else
		snprintf(probe->name, sizeof(probe->name), "%s_%zu", kind, n);
}

static int open_checked(const struct locate_binary *binary, struct err *err)
{
	struct stat st;
	int fd = open(binary->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, -errno, "cannot open '%s'", binary->path);
	if (fstat(fd, &st) < 0 || st.st_dev != binary->dev || st.st_ino != binary->ino) {
		close(fd);
		return err_set(
			err, -ESTALE, "'%s' was replaced while it was looked at", binary->path);
	}
	return fd;
}

static int define_site(const struct probes *probes, const struct probe *probe,
	const struct locate_binary *binary, const struct locate_site *site, int fd, struct err *err)
{
	struct tracefs_dynevent *event;
	char path[64], page[64], args[16];
	int r = 0;

	/* a page that is not cached makes Linux 6.18 warn in its log when the probe goes in */
	if (pread(fd, page, sizeof(page), (off_t)site->offset) < 0)
		return err_errno(err, -errno, "cannot read '%s'", binary->path);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	snprintf(args, sizeof(args), "%s=%s", probe->mark ? "phase" : "gil",
		binary->machine == EM_AARCH64 ? "%x0" : "%di");
	event = tracefs_uprobe_alloc(probes->group, probe->name, path, site->offset, args);
	if (!event)
		return errno == ENOMEM ? err_nomem(err) : explain_define(binary, -errno, err);
	if (tracefs_dynevent_create(event) < 0)
		r = explain_define(binary, errno ? -errno : -EIO, err);
	tracefs_dynevent_free(event);
	return r;
}

/* The event for such sites among those from @first on, made when there is none yet. */
static struct probe *probe_for(struct probes *probes, size_t first, enum locate_kind kind,
	int64_t switch_delta, struct err *err)
{
	bool any_delta = kind == LOCATE_SIGNAL || kind == LOCATE_TIMEDWAIT;
	struct probe probe = {.kind = kind, .switch_delta = switch_delta};

	for (size_t i = first; i < probes->n; i++)
		if (!probes->items[i].mark && probes->items[i].kind == kind &&
			(any_delta || probes->items[i].switch_delta == switch_delta))
			return &probes->items[i];
	if (vec_grow(probes) < 0) {
		err_nomem(err);
		return NULL;
	}
	name_probe(&probe, probes->n);
	probes->items[probes->n] = probe;
	return &probes->items[probes->n++];
}

static int define_sites(
	struct probes *probes, size_t first, const struct locate_binary *binary, struct err *err)
{
	_cleanup_close_ int fd = open_checked(binary, err);
	int r = fd;

	for (size_t i = 0; r >= 0 && i < binary->n_sites; i++) {
		const struct locate_site *site = &binary->sites[i];
		struct probe *probe =
			probe_for(probes, first, site->kind, binary->switch_delta, err);

		r = probe ? define_site(probes, probe, binary, site, fd, err) : -ENOMEM;
	}
	return r;
}

static int read_facts(struct probes *probes, size_t first, struct err *err)
{
	int r = 0;

	for (size_t i = first; r >= 0 && i < probes->n; i++) {
		struct probe *probe = &probes->items[i];

		r = tracing_event_id(probes->group, probe->name, &probe->id, err);
		if (r >= 0)
			r = tracing_field_offset(
				probes->group, probe->name, "gil", 8, &probe->gil_offset, err);
	}
	return r;
}

int probes_define(
	struct probes *probes, struct locate_binary *const binaries[], size_t n, struct err *err)
{
	size_t first = probes->n;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = define_sites(probes, first, binaries[i], err);
	return r < 0 ? r : read_facts(probes, first, err);
}

int probes_define_mark(struct probes *probes, const struct record_mark *mark, struct err *err)
{
	struct locate_binary binary = {.path = (char *)mark->path,
#ifdef __aarch64__
		.machine = EM_AARCH64
#endif
	};
	struct locate_site site = {.offset = mark->offset};
	struct probe probe = {.mark = true};
	_cleanup_close_ int fd = open(mark->path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_errno(err, -errno, "cannot open '%s'", mark->path);
	snprintf(probe.name, sizeof(probe.name), "mark_%zu", probes->n);
	r = define_site(probes, &probe, &binary, &site, fd, err);
	if (r >= 0)
		r = tracing_event_id(probes->group, probe.name, &probe.id, err);
	if (r < 0)
		return r;
	if (vec_grow(probes) < 0)
		return err_nomem(err);
	probes->items[probes->n++] = probe;
	return 0;
}

void probes_done(struct probes *probes)
{
	free(probes->items);
	probes->items = NULL;
	probes->n = probes->cap = 0;
}

int probes_delete_group(const char *group)
{
	struct tracefs_dynevent **events;
	int r = 0;

	if (!tracing_has_group(group))
		return 0;
	events = tracefs_dynevent_get_all(TRACEFS_DYNEVENT_UPROBE, group);
	for (size_t i = 0; events && events[i]; i++)
		/* an event of several sites is listed once per site and goes at the first */
		if (tracefs_dynevent_destroy(events[i], false) < 0 && errno == EBUSY)
			r = -EBUSY;
	tracefs_dynevent_list_free(events);
	return r;
}

/* The pid in the group's name belongs to nobody. */
static bool is_stale(const char *group)
{
	char digits[24];
	uint32_t pid;

	snprintf(digits, sizeof(digits), "%s", group + strlen(PROBES_GROUP_PREFIX));
	digits[strcspn(digits, "_")] = '\0';
	if (parse_u32(digits, INT32_MAX, &pid) < 0 || !pid)
		return false;
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

int probes_delete_stale(void)
{
	struct facts facts;
	char **systems;
	int n = 0;

	facts_read(&facts);
	if (!facts.init_pid_namespace)
		return 0; /* the pids in the names mean nothing to us */
	systems = tracefs_event_systems(NULL);
	for (size_t i = 0; systems && systems[i]; i++) {
		if (strncmp(systems[i], PROBES_GROUP_PREFIX, strlen(PROBES_GROUP_PREFIX)) ||
			!is_stale(systems[i]))
			continue;
		n += probes_delete_group(systems[i]) == 0;
	}
	tracefs_list_free(systems);
	return n;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: what recording needs and whether it is there. In: facts of kernel and credentials, one
 * event opened and closed. Out: a list for people.
 * Invariant: a fix is given only for what is not as it should be.
 */
#include "record/privileges.h"

#include "record/events.h"
#include "record/facts.h"
#include "record/tracing.h"

#include <errno.h>
#include <inttypes.h>
#include <perf/cpumap.h>
#include <perf/evsel.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#define BUFFER_KB 2048
#define AS_ROOT "run gilprobe with sudo"

struct list {
	struct privilege *items;
	size_t n;
};

static struct privilege *add(struct list *list, enum privilege_state state, const char *name,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static struct privilege *add(
	struct list *list, enum privilege_state state, const char *name, const char *fmt, ...)
{
	struct privilege *item = &list->items[list->n++];
	va_list args;

	*item = (struct privilege){.state = state, .name = name};
	va_start(args, fmt);
	vsnprintf(item->fact, sizeof(item->fact), fmt, args);
	va_end(args);
	return item;
}

static void set_fix(struct privilege *item, const char *fix)
{
	snprintf(item->fix, sizeof(item->fix), "%s", fix);
}

static bool check_tracefs(struct list *list)
{
	const char *dir = NULL;

	if (tracefs_tracing_dir_is_mounted(false, &dir) <= 0 || !dir) {
		set_fix(add(list, PRIVILEGE_MISSING, "tracefs", "not mounted"),
			"sudo mount -t tracefs nodev /sys/kernel/tracing");
		return false;
	}
	add(list, PRIVILEGE_OK, "tracefs", "mounted at %s", dir);
	return true;
}

static void check_uprobes(struct list *list, const struct facts *facts)
{
	char *path = tracefs_get_tracing_file("uprobe_events");

	if (!path)
		return;
	if (access(path, W_OK) == 0)
		add(list, PRIVILEGE_OK, "uprobes", "%s can be written", path);
	else if (errno == ENOENT)
		set_fix(add(list, PRIVILEGE_MISSING, "uprobes", "%s does not exist", path),
			"boot a kernel with CONFIG_UPROBE_EVENTS=y");
	else
		set_fix(add(list, PRIVILEGE_MISSING, "uprobes", "%s: %s (you are uid %u)", path,
				strerror(errno), (unsigned)facts->euid),
			facts->euid ? AS_ROOT
				    : "run it on the host, or in a container with --privileged");
	tracefs_put_tracing_file(path);
}

static void check_rights(struct list *list, const struct facts *facts)
{
	struct privilege *item;

	if (facts->cap_sys_admin || facts->cap_perfmon)
		add(list, PRIVILEGE_OK, "capabilities", "uid %u, CAP_SYS_ADMIN %s, CAP_PERFMON %s",
			(unsigned)facts->euid, facts->cap_sys_admin ? "yes" : "no",
			facts->cap_perfmon ? "yes" : "no");
	else
		set_fix(add(list, PRIVILEGE_WARN, "capabilities",
				"uid %u has neither CAP_SYS_ADMIN nor CAP_PERFMON",
				(unsigned)facts->euid),
			facts->euid ? AS_ROOT
				    : "run it on the host, or in a container with --privileged");
	if (facts->paranoid == FACTS_UNKNOWN) {
		set_fix(add(list, PRIVILEGE_MISSING, "perf_event_paranoid", "not there"),
			"boot a kernel with CONFIG_PERF_EVENTS=y");
		return;
	}
	item = add(list, facts_cpu_wide(facts) ? PRIVILEGE_OK : PRIVILEGE_MISSING,
		"perf_event_paranoid", "%" PRId64 "%s", facts->paranoid,
		facts->paranoid >= 0 && facts_cpu_wide(facts) ? ", which your capabilities override"
							      : "");
	if (item->state != PRIVILEGE_OK)
		set_fix(item, AS_ROOT ", or sudo sysctl kernel.perf_event_paranoid=-1");
}

static void check_memory(struct list *list, const struct facts *facts)
{
	int64_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct privilege *item;

	if (facts->cap_ipc_lock) {
		add(list, PRIVILEGE_OK, "locked memory", "CAP_IPC_LOCK: no limit for buffers");
		return;
	}
	item = add(list, PRIVILEGE_OK, "locked memory",
		"perf_event_mlock_kb %" PRId64 " per CPU, 'ulimit -l' %" PRIu64
		" KiB; wanted %d KiB per CPU",
		facts->mlock_kb, facts->memlock_limit >> 10, BUFFER_KB + 4);
	if (facts->mlock_kb >= BUFFER_KB + 4 ||
		(facts->memlock_limit >> 10) >= (uint64_t)cpus * (BUFFER_KB + 4))
		return;
	item->state = PRIVILEGE_WARN;
	set_fix(item, "sudo sysctl kernel.perf_event_mlock_kb=2052; else buffers are smaller");
}

static void check_files(struct list *list, const struct facts *facts)
{
	/* about eight events per CPU for two interpreters, twelve for three */
	uint64_t need = 16 * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) + 128;

	if (facts->cap_sys_resource || facts->file_limit >= need)
		add(list, PRIVILEGE_OK, "open files", "up to %" PRIu64 ", %" PRIu64 " wanted",
			facts->file_limit, need);
	else
		set_fix(add(list, PRIVILEGE_WARN, "open files",
				"up to %" PRIu64 ", %" PRIu64 " wanted", facts->file_limit, need),
			"ulimit -Hn 65536, as root");
}

static int try_open(uint64_t id)
{
	union {
		struct perf_event_attr attr;
		char room[256];
	} a = {.room = {0}};
	struct perf_cpu_map *cpus = perf_cpu_map__new(NULL);
	struct perf_evsel *evsel;
	int r = -ENOMEM;

	a.attr.size = PERF_ATTR_SIZE_VER5;
	a.attr.type = PERF_TYPE_TRACEPOINT;
	a.attr.config = id;
	a.attr.sample_type = EVENTS_SAMPLE_TYPE;
	a.attr.disabled = 1;
	evsel = perf_evsel__new(&a.attr);
	if (evsel && cpus) {
		r = perf_evsel__open(evsel, cpus, NULL);
		perf_evsel__close(evsel);
	}
	perf_evsel__delete(evsel);
	perf_cpu_map__put(cpus);
	return r;
}

static void check_open(struct list *list)
{
	struct err err = {0};
	uint64_t id = 0;
	int r = tracing_event_id("sched", "sched_switch", &id, &err);

	if (r < 0) {
		add(list, PRIVILEGE_MISSING, "sched_switch", "%s", err.text);
		return;
	}
	r = try_open(id);
	if (r < 0)
		add(list, PRIVILEGE_MISSING, "sched_switch", "cannot be opened on every CPU: %s",
			strerror(-r));
	else
		add(list, PRIVILEGE_OK, "sched_switch", "opened on every CPU");
}

static void check_kernel(struct list *list, const struct facts *facts)
{
	if (facts->confidential)
		add(list, PRIVILEGE_MISSING, "lockdown",
			"the kernel is locked down to confidentiality");
	if (!facts->init_pid_namespace)
		add(list, PRIVILEGE_WARN, "pid namespace",
			"not the machine's: pids differ from those of scheduler events");
}

size_t privileges_check(struct privilege ret[PRIVILEGES_MAX])
{
	struct list list = {ret, 0};
	struct facts facts;

	facts_read(&facts);
	if (check_tracefs(&list))
		check_uprobes(&list, &facts);
	check_rights(&list, &facts);
	check_memory(&list, &facts);
	check_files(&list, &facts);
	check_kernel(&list, &facts);
	check_open(&list);
	return list.n;
}

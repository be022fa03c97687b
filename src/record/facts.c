/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: reading what is allowed. In: /proc, /sys and our limits. Out: struct facts.
 * Invariant: what cannot be read is unknown, never guessed.
 */
#include "record/facts.h"

#include "base/cleanup.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define PID_NAMESPACE_OF_INIT 0xeffffffcu
#define CAPABILITY_PERFMON 38 /* since Linux 5.8 */

static int64_t read_number(const char *path)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	long long value;

	return f && fscanf(f, "%lld", &value) == 1 ? (int64_t)value : FACTS_UNKNOWN;
}

static uint64_t read_capabilities(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/status", "re");
	unsigned long long caps = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	return caps;
}

static bool read_confidential(void)
{
	_cleanup_fclose_ FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128];

	return f && fgets(line, sizeof(line), f) && strstr(line, "[confidentiality]");
}

static uint64_t read_limit(__rlimit_resource_t what, bool hard)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0)
		return UINT64_MAX;
	limit.rlim_cur = hard ? limit.rlim_max : limit.rlim_cur;
	return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

void facts_read(struct facts *ret)
{
	uint64_t caps = read_capabilities();
	struct stat st;

	*ret = (struct facts){
		.euid = geteuid(),
		.cap_sys_admin = caps >> CAP_SYS_ADMIN & 1,
		.cap_perfmon = caps >> CAPABILITY_PERFMON & 1,
		.cap_ipc_lock = caps >> CAP_IPC_LOCK & 1,
		.cap_sys_resource = caps >> CAP_SYS_RESOURCE & 1,
		.paranoid = read_number("/proc/sys/kernel/perf_event_paranoid"),
		.mlock_kb = read_number("/proc/sys/kernel/perf_event_mlock_kb"),
		.memlock_limit = read_limit(RLIMIT_MEMLOCK, false),
		.file_limit = read_limit(RLIMIT_NOFILE, true),
		.confidential = read_confidential(),
		.init_pid_namespace =
			stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == PID_NAMESPACE_OF_INIT,
	};
}

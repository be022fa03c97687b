/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: what the kernel and our own credentials say about recording.
 */
#ifndef GILPROBE_RECORD_FACTS_H
#define GILPROBE_RECORD_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FACTS_UNKNOWN INT64_MIN

struct facts {
	uid_t euid;
	bool cap_sys_admin, cap_perfmon, cap_ipc_lock, cap_sys_resource; /* effective */
	int64_t paranoid;	/* kernel.perf_event_paranoid */
	int64_t mlock_kb;	/* kernel.perf_event_mlock_kb, per CPU */
	uint64_t memlock_limit; /* RLIMIT_MEMLOCK in bytes; UINT64_MAX: none */
	uint64_t file_limit;	/* RLIMIT_NOFILE, hard */
	bool confidential;	/* the kernel is locked down to "confidentiality" */
	bool init_pid_namespace;
};

void facts_read(struct facts *ret);

/* May open events of all processes on a CPU, with raw tracepoint data. */
static inline bool facts_cpu_wide(const struct facts *facts)
{
	return facts->cap_sys_admin || facts->cap_perfmon ||
	       (facts->paranoid != FACTS_UNKNOWN && facts->paranoid < 0);
}

#endif

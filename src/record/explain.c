/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the words of failures. In: an errno and what was tried. Out: text and hints.
 * Invariant: a hint names a fact that was read just now; without such a fact there is none.
 */
#include "record/explain.h"

#include "record/facts.h"

#include <errno.h>
#include <inttypes.h>

/* Root without capabilities, in a container mostly, is told so; sudo would not help it. */
static void hint_rights(const struct facts *facts, const char *what, struct err *err)
{
	if (facts->euid != 0) {
		err_hint(err, "%s needs root; you are uid %u", what, (unsigned)facts->euid);
		err_hint(err, "sudo gilprobe record ...   (the target will still run as uid %u)",
			(unsigned)facts->euid);
	} else if (!facts->cap_sys_admin) {
		err_hint(err, "%s needs CAP_SYS_ADMIN, which this root has not (a container?)",
			what);
		err_hint(err, "run it on the host, or start the container with --privileged");
	} else if (facts->confidential) {
		err_hint(err, "the kernel is locked down (confidentiality: cat %s)",
			"/sys/kernel/security/lockdown");
	}
}

static bool is_refusal(int code)
{
	return code == -EACCES || code == -EPERM || code == -EROFS;
}

void explain_tracefs(int code, struct err *err)
{
	struct facts facts;

	facts_read(&facts);
	if (is_refusal(code))
		hint_rights(&facts, "tracefs", err);
	else if (code == -ENOENT) /* something else is mounted over it */
		err_hint(err, "sudo mount -t tracefs nodev /sys/kernel/tracing");
}

int explain_define(const struct locate_binary *binary, int code, struct err *err)
{
	struct facts facts;

	facts_read(&facts);
	err_errno(err, code, "cannot define a uprobe in '%s'", binary->path);
	if (code == -ENOENT)
		err_hint(err, "tracefs has no uprobe_events: this kernel was built without "
			      "CONFIG_UPROBE_EVENTS");
	else if (is_refusal(code))
		hint_rights(&facts, "writing uprobe_events", err);
	return code;
}

int explain_open(const struct source *source, int code, struct err *err)
{
	struct facts facts;

	facts_read(&facts);
	err_errno(err, code, "cannot open event '%s%s%s' on every CPU", source->group,
		source->group[0] ? ":" : "", source->name);
	if (code == -EMFILE) {
		err_hint(err, "one file per event and CPU is needed; 'ulimit -Hn' is %" PRIu64,
			facts.file_limit);
		err_hint(err, "ulimit -n 65536, as root");
	} else if (is_refusal(code) && !facts_cpu_wide(&facts)) {
		if (facts.paranoid != FACTS_UNKNOWN)
			err_hint(err,
				"kernel.perf_event_paranoid is %" PRId64 "; without CAP_PERFMON or "
				"CAP_SYS_ADMIN it must be -1",
				facts.paranoid);
		err_hint(err, facts.euid ? "sudo gilprobe record ..."
					 : "sysctl kernel.perf_event_paranoid=-1, on the host");
	} else if (is_refusal(code)) {
		hint_rights(&facts, "opening it", err);
	}
	return code;
}

int explain_mmap(size_t bytes, size_t n_cpus, int code, struct err *err)
{
	struct facts facts;

	facts_read(&facts);
	err_errno(err, code, "cannot map %zu buffers of %zu KiB for events", n_cpus, bytes >> 10);
	if (code == -EPERM && !facts.cap_ipc_lock && facts.mlock_kb != FACTS_UNKNOWN) {
		err_hint(err,
			"kernel.perf_event_mlock_kb is %" PRId64 " and 'ulimit -l' %" PRIu64
			" KiB, without CAP_IPC_LOCK",
			facts.mlock_kb, facts.memlock_limit >> 10);
		err_hint(err, "sudo sysctl kernel.perf_event_mlock_kb=%zu", (bytes >> 10) + 4);
	}
	return code;
}

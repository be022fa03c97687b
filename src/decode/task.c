/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: records about tasks, mappings and losses. In: a record that is no sample, and its
 * trailer. Out: at most one event. Invariant: texts and mappings are copied, nothing points into
 * the record.
 */
#include "base/vec.h"
#include "decode/state.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef PERF_RECORD_MISC_LOST_SAMPLES_BPF
#define PERF_RECORD_MISC_LOST_SAMPLES_BPF (1 << 15) /* dropped by a filter, on purpose */
#endif

#define KTHREADD 2 /* the parent of all kernel threads */

static struct cursor body_of(const struct decode *d, const struct perfdata_record *record)
{
	return cursor_over(record->body, record->size, perfdata_info(d->pd)->swapped);
}

static int damaged(struct decode *d)
{
	d->facts.undecoded++;
	return 0;
}

/* 1, for one event: or out of memory. */
static int started(struct decode *d, int32_t tid, struct err *err)
{
	if (d->has_blob)
		return 1; /* only guessing wants to know */
	return guess_start(&d->guess, tid) < 0 ? err_nomem(err) : 1;
}

static int fork_or_exit(struct decode *d, const struct perfdata_record *record,
	const struct perfdata_sample *sample, struct event *ret, struct err *err)
{
	struct cursor c = body_of(d, record);
	int32_t pid = (int32_t)cursor_u32(&c), ppid = (int32_t)cursor_u32(&c);
	int32_t tid = (int32_t)cursor_u32(&c), ptid = (int32_t)cursor_u32(&c);
	uint64_t time = cursor_u64(&c);

	if (c.bad)
		return damaged(d);
	d->facts.has_task = true;
	if (ppid == KTHREADD)
		d->system_wide = true;
	*ret = decode_event(d, EVENT_EXIT, sample);
	if (!(sample->present & PERF_SAMPLE_TIME))
		ret->time_ns = time;
	ret->pid = pid;
	ret->tid = tid;
	if (record->type == PERF_RECORD_FORK) {
		ret->kind = EVENT_FORK;
		ret->pid = ppid;
		ret->tid = ptid;
		ret->fork.pid = pid;
		ret->fork.tid = tid;
		return started(d, tid, err);
	}
	return 1;
}

static int comm(struct decode *d, const struct perfdata_record *record,
	const struct perfdata_sample *sample, struct event *ret, struct err *err)
{
	struct cursor c = body_of(d, record);
	int32_t pid = (int32_t)cursor_u32(&c), tid = (int32_t)cursor_u32(&c);
	const char *text = cursor_str(&c);

	if (c.bad)
		return damaged(d);
	d->facts.has_task = true;
	*ret = decode_event(
		d, record->misc & PERF_RECORD_MISC_COMM_EXEC ? EVENT_EXEC : EVENT_COMM, sample);
	ret->pid = pid;
	ret->tid = tid;
	ret->comm = strtab_intern(&d->texts, text);
	if (!ret->comm)
		return err_nomem(err);
	return ret->kind == EVENT_EXEC ? started(d, tid, err) : 1;
}

/* libpython3.11.so.1.0, libpython3.so, python, python3.11, python3.13t */
static bool is_interpreter(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	if (strncmp(base, "libpython", 9) == 0)
		return strstr(base, ".so") != NULL;
	if (strncmp(base, "python", 6) != 0)
		return false;
	base += 6 + strspn(base + 6, "0123456789.");
	return *base == '\0' || strcmp(base, "t") == 0 || strcmp(base, "d") == 0;
}

static int note_interpreter(struct decode *d, const char *path)
{
	for (size_t i = 0; i < d->interpreters.n; i++)
		if (d->interpreters.items[i] == path)
			return 0;
	if (vec_grow(&d->interpreters) < 0)
		return -ENOMEM;
	d->interpreters.items[d->interpreters.n++] = path;
	return 0;
}

static int keep_mmap(struct decode *d, struct event_mmap *mmap, const char *path)
{
	struct event_mmap *kept;

	mmap->path = strtab_intern(&d->texts, path);
	if (!mmap->path || vec_grow(&d->mmaps) < 0)
		return -ENOMEM;
	if (is_interpreter(path) && note_interpreter(d, mmap->path) < 0)
		return -ENOMEM;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = *mmap;
	d->mmaps.items[d->mmaps.n++] = kept;
	return 0;
}

static int mapping(struct decode *d, const struct perfdata_record *record,
	const struct perfdata_sample *sample, struct event *ret, struct err *err)
{
	struct cursor c = body_of(d, record);
	int32_t pid = (int32_t)cursor_u32(&c), tid = (int32_t)cursor_u32(&c);
	struct event_mmap mmap = {0};
	bool executable = !(record->misc & PERF_RECORD_MISC_MMAP_DATA);
	const char *path;

	mmap.start = cursor_u64(&c);
	mmap.size = cursor_u64(&c);
	mmap.page_offset = cursor_u64(&c);
	if (record->type == PERF_RECORD_MMAP2) {
		cursor_skip(&c, 24); /* device and inode, or the build id */
		executable = cursor_u32(&c) & PROT_EXEC;
		cursor_skip(&c, 4); /* flags */
	}
	path = cursor_str(&c);
	if (c.bad)
		return damaged(d);
	if (!executable || path[0] != '/' || path[1] == '/' || pid < 0)
		return 0; /* data, anonymous memory, the kernel */
	if (keep_mmap(d, &mmap, path) < 0)
		return err_nomem(err);
	*ret = decode_event(d, EVENT_MMAP, sample);
	ret->pid = pid;
	ret->tid = tid;
	ret->mmap = d->mmaps.items[d->mmaps.n - 1];
	return 1;
}

/* Our task events see each switch from the task's side: one record out, one record in. */
static int switched(struct decode *d, const struct perfdata_record *record,
	const struct perfdata_sample *sample, struct event *ret)
{
	bool out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;

	d->facts.has_switch_record = true;
	if (record->type == PERF_RECORD_SWITCH_CPU_WIDE)
		d->facts.sched_cpu_wide = true;
	*ret = decode_event(d, out ? EVENT_SWITCH_OUT : EVENT_SWITCH_IN, sample);
	if (ret->tid <= 0)
		return 0; /* the idle task, or nobody knows who */
	if (out && (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)) {
		ret->out.preempted = true;
		ret->out.state = 'R';
	}
	return 1;
}

/*
 * LOST says where events were lost; LOST_SAMPLES says again how many, per event and often only at
 * the end of the recording. So the larger of the two sums is what was lost.
 */
static int lost(struct decode *d, const struct perfdata_record *record,
	const struct perfdata_sample *sample, struct event *ret)
{
	struct cursor c = body_of(d, record);
	uint64_t n;

	if (record->type == PERF_RECORD_LOST)
		cursor_skip(&c, 8); /* id of the event whose buffer was full */
	n = cursor_u64(&c);
	if (c.bad)
		return damaged(d);
	if (record->type == PERF_RECORD_LOST)
		d->lost_events += n;
	else if (!(record->misc & PERF_RECORD_MISC_LOST_SAMPLES_BPF))
		d->lost_samples += n;
	d->facts.lost = d->lost_events > d->lost_samples ? d->lost_events : d->lost_samples;
	if (record->type != PERF_RECORD_LOST || !n)
		return 0;
	*ret = decode_event(d, EVENT_LOST, sample);
	if (!ret->time_ns)
		ret->time_ns = d->newest_ns;
	ret->lost = n;
	return 1;
}

int decode_task(struct decode *d, const struct perfdata_record *record,
	const struct perfdata_sample *sample, struct event *ret, struct err *err)
{
	switch (record->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return fork_or_exit(d, record, sample, ret, err);
	case PERF_RECORD_COMM:
		return comm(d, record, sample, ret, err);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return mapping(d, record, sample, ret, err);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return switched(d, record, sample, ret);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return lost(d, record, sample, ret);
	default:
		return 0; /* known and of no use here, or of a kind to come */
	}
}

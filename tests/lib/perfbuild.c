/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfbuild: records. In: calls of a test. Out: the data section's bytes. */
#include "perfbuild.h"

#include "perfbuild-internal.h"
#include "perfdata/format.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fatal(const char *what)
{
	fprintf(stderr, "perfbuild: %s\n", what);
	abort();
}

void bytes_add(struct bytes *b, const void *from, size_t size)
{
	if (b->n + size > b->cap) {
		b->cap = (b->n + size) * 2;
		b->items = realloc(b->items, b->cap);
		if (!b->items)
			fatal("out of memory");
	}
	if (from)
		memcpy(b->items + b->n, from, size);
	else if (size)
		memset(b->items + b->n, 0, size);
	b->n += size;
}

void bytes_zero(struct bytes *b, size_t size)
{
	bytes_add(b, NULL, size);
}

void bytes_set(struct bytes *b, size_t at, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width; i++)
		b->items[at + (b->big_endian ? width - 1 - i : i)] = (uint8_t)(value >> (8 * i));
}

void bytes_put(struct bytes *b, uint64_t value, size_t width)
{
	bytes_zero(b, width);
	bytes_set(b, b->n - width, value, width);
}

void bytes_str(struct bytes *b, const char *text)
{
	bytes_add(b, text, strlen(text) + 1);
}

void bytes_pad(struct bytes *b, size_t unit)
{
	bytes_zero(b, (unit - b->n % unit) % unit);
}

struct perfbuild *perfbuild_new(unsigned flags)
{
	struct perfbuild *b = calloc(1, sizeof(*b));

	if (!b)
		fatal("out of memory");
	b->flags = flags;
	b->data.big_endian = b->file.big_endian = flags & PERFBUILD_BIG_ENDIAN;
	return b;
}

void perfbuild_free(struct perfbuild *b)
{
	if (!b)
		return;
	free(b->data.items);
	free(b->file.items);
	free(b);
}

static size_t add_event(struct perfbuild *b, const char *name, enum event_form form)
{
	struct build_event *e = &b->events[b->n_events];

	for (size_t i = 0; i < b->n_events; i++)
		if (!strcmp(b->events[i].name, name))
			return i;
	if (b->n_events == PERFBUILD_MAX_EVENTS)
		fatal("too many events");
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->form = form;
	e->tracepoint_id = 300 + (uint32_t)b->n_events;
	return b->n_events++;
}

void perfbuild_probe(struct perfbuild *b, const char *name, enum perfbuild_probe kind)
{
	static const enum event_form forms[] = {
		[PERFBUILD_ENTRY] = FORM_ENTRY,
		[PERFBUILD_ENTRY_GIL] = FORM_ENTRY_GIL,
		[PERFBUILD_RETURN] = FORM_RETURN,
	};

	add_event(b, name, forms[kind]);
}

void perfbuild_thread(struct perfbuild *b, uint32_t pid, uint32_t tid, uint32_t cpu)
{
	b->pid = pid;
	b->tid = tid;
	b->cpu = cpu;
}

static size_t begin(struct perfbuild *b, uint32_t type, uint16_t misc)
{
	size_t at = b->data.n;

	bytes_put(&b->data, type, 4);
	bytes_put(&b->data, misc, 2);
	bytes_put(&b->data, 0, 2);
	return at;
}

static void end(struct perfbuild *b, size_t at)
{
	if (b->data.n - at > UINT16_MAX)
		fatal("record too large");
	bytes_set(&b->data, at + 6, b->data.n - at, 2);
}

uint64_t perfbuild_sample_type(const struct perfbuild *b)
{
	uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;

	if (b->flags & (PERFBUILD_PERF | PERFBUILD_NO_IDS))
		type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	if (b->flags & PERFBUILD_PERF)
		type |= PERF_SAMPLE_ID;
	else if (!(b->flags & PERFBUILD_NO_IDS))
		type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	if (b->flags & PERFBUILD_READ)
		type |= PERF_SAMPLE_READ;
	if (b->flags & PERFBUILD_CALLCHAIN)
		type |= PERF_SAMPLE_CALLCHAIN;
	return type;
}

static uint64_t id_of(const struct perfbuild *b, size_t event)
{
	return PERFBUILD_ID_BASE + 2 * event + b->cpu % 2;
}

static void put_tid(struct perfbuild *b)
{
	bytes_put(&b->data, b->pid, 4);
	bytes_put(&b->data, b->tid, 4);
}

static void put_cpu(struct perfbuild *b)
{
	bytes_put(&b->data, b->cpu, 4);
	bytes_put(&b->data, 0, 4);
}

/* The sample_id trailer, then the record is closed. */
static void trail(struct perfbuild *b, size_t at, uint64_t time)
{
	uint64_t type = perfbuild_sample_type(b);
	uint64_t id = id_of(b, add_event(b, "dummy:HG", FORM_TASK));

	put_tid(b);
	bytes_put(&b->data, time, 8);
	if (type & PERF_SAMPLE_ID)
		bytes_put(&b->data, id, 8);
	put_cpu(b);
	if (type & PERF_SAMPLE_IDENTIFIER)
		bytes_put(&b->data, id, 8);
	end(b, at);
}

/* A sample up to its raw data. */
static void sample_fields(struct perfbuild *b, uint64_t time, size_t event, uint64_t ip)
{
	uint64_t type = perfbuild_sample_type(b);
	struct bytes *d = &b->data;

	if (type & PERF_SAMPLE_IDENTIFIER)
		bytes_put(d, id_of(b, event), 8);
	bytes_put(d, ip, 8);
	put_tid(b);
	bytes_put(d, time, 8);
	if (type & PERF_SAMPLE_ID)
		bytes_put(d, id_of(b, event), 8);
	put_cpu(b);
	if (type & PERF_SAMPLE_PERIOD)
		bytes_put(d, 1, 8);
	if (type & PERF_SAMPLE_READ) {
		bytes_put(d, 2, 8); /* two counters: value and id each */
		for (unsigned i = 0; i < 4; i++)
			bytes_put(d, i, 8);
	}
	if (type & PERF_SAMPLE_CALLCHAIN) {
		bytes_put(d, 3, 8);
		bytes_put(d, PERF_CONTEXT_USER, 8);
		bytes_put(d, ip, 8);
		bytes_put(d, 0x1234, 8);
	}
}

static void put_sample(
	struct perfbuild *b, uint64_t time, size_t event, uint64_t ip, const struct bytes *raw)
{
	size_t at = begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	size_t padded = (raw->n + 4 + 7) / 8 * 8 - 4;

	sample_fields(b, time, event, ip);
	bytes_put(&b->data, padded, 4);
	bytes_add(&b->data, raw->items, raw->n);
	bytes_zero(&b->data, padded - raw->n);
	end(b, at);
}

/* Raw data begins with the common fields of every tracepoint. */
static struct bytes raw_of(const struct perfbuild *b, size_t event)
{
	struct bytes raw = {.big_endian = b->data.big_endian};

	bytes_put(&raw, b->events[event].tracepoint_id, 2);
	bytes_put(&raw, b->trace_flags, 1);
	bytes_zero(&raw, 1);
	bytes_put(&raw, b->tid, 4);
	return raw;
}

void perfbuild_hit(struct perfbuild *b, uint64_t time, const char *name, uint64_t gil)
{
	enum event_form form = strstr(name, "return")		? FORM_RETURN
			       : !strncmp(name, "gilprobe_", 9) ? FORM_ENTRY_GIL
								: FORM_ENTRY;
	size_t event = add_event(b, name, form);
	struct bytes raw = raw_of(b, event);

	bytes_put(&raw, 0x401000, 8);
	if (b->events[event].form == FORM_RETURN)
		bytes_put(&raw, 0x402000, 8);
	else if (b->events[event].form == FORM_ENTRY_GIL)
		bytes_put(&raw, gil, 8);
	put_sample(b, time, event, form == FORM_RETURN ? 0x402000 : 0x401000, &raw);
	free(raw.items);
}

static void put_comm(struct bytes *raw, uint32_t tid)
{
	char comm[16] = {0};

	snprintf(comm, sizeof(comm), "task %u", tid);
	bytes_add(raw, comm, sizeof(comm));
}

static uint64_t state_bits(const char *state)
{
	static const char letters[] = "SDTtXZPI";
	const char *at = strchr(letters, *state);

	if (!strcmp(state, "R+"))
		return 1u << 8;
	return *state && at ? 1u << (at - letters) : 0;
}

void perfbuild_switch(struct perfbuild *b, uint64_t time, const char *state, uint32_t next_tid)
{
	size_t event = add_event(b, "sched:sched_switch", FORM_SWITCH);
	struct bytes raw = raw_of(b, event);

	put_comm(&raw, b->tid);
	bytes_put(&raw, b->tid, 4);
	bytes_put(&raw, 120, 4);
	bytes_put(&raw, state_bits(state), 8);
	put_comm(&raw, next_tid);
	bytes_put(&raw, next_tid, 4);
	bytes_put(&raw, 120, 4);
	put_sample(b, time, event, 0xffffffff81000000, &raw);
	free(raw.items);
}

void perfbuild_trace_flags(struct perfbuild *b, uint8_t flags)
{
	b->trace_flags = flags;
}

void perfbuild_wakeup(struct perfbuild *b, uint64_t time, uint32_t tid, bool is_new)
{
	size_t event =
		add_event(b, is_new ? "sched:sched_wakeup_new" : "sched:sched_wakeup", FORM_WAKEUP);
	struct bytes raw = raw_of(b, event);

	put_comm(&raw, tid);
	bytes_put(&raw, tid, 4);
	bytes_put(&raw, 120, 4);
	bytes_put(&raw, b->cpu, 4);
	put_sample(b, time, event, 0xffffffff81000000, &raw);
	free(raw.items);
}

void perfbuild_sample(struct perfbuild *b, uint64_t time, uint64_t ip)
{
	struct bytes none = {0};

	put_sample(b, time, add_event(b, "cpu-clock", FORM_CLOCK), ip, &none);
}

static uint16_t switch_misc(bool out, bool preempted)
{
	return (uint16_t)((out ? PERF_RECORD_MISC_SWITCH_OUT : 0) |
			  (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
}

void perfbuild_switch_record(struct perfbuild *b, uint64_t time, bool out, bool preempted)
{
	trail(b, begin(b, PERF_RECORD_SWITCH, switch_misc(out, preempted)), time);
}

void perfbuild_switch_cpu_wide(struct perfbuild *b, uint64_t time, bool out, bool preempted,
	uint32_t other_pid, uint32_t other_tid)
{
	size_t at = begin(b, PERF_RECORD_SWITCH_CPU_WIDE, switch_misc(out, preempted));

	bytes_put(&b->data, other_pid, 4);
	bytes_put(&b->data, other_tid, 4);
	trail(b, at, time);
}

static void put_task(struct perfbuild *b, uint32_t type, uint64_t time, uint32_t pid, uint32_t tid)
{
	size_t at = begin(b, type, 0);

	bytes_put(&b->data, pid, 4);
	bytes_put(&b->data, b->pid, 4);
	bytes_put(&b->data, tid, 4);
	bytes_put(&b->data, b->tid, 4);
	bytes_put(&b->data, time, 8);
	trail(b, at, time);
}

void perfbuild_fork(struct perfbuild *b, uint64_t time, uint32_t pid, uint32_t tid)
{
	put_task(b, PERF_RECORD_FORK, time, pid, tid);
}

void perfbuild_exit(struct perfbuild *b, uint64_t time)
{
	put_task(b, PERF_RECORD_EXIT, time, b->pid, b->tid);
}

void perfbuild_comm(struct perfbuild *b, uint64_t time, const char *comm, bool exec)
{
	size_t at = begin(b, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

	put_tid(b);
	bytes_str(&b->data, comm);
	bytes_zero(&b->data, (8 - (b->data.n - at) % 8) % 8);
	trail(b, at, time);
}

void perfbuild_mmap(
	struct perfbuild *b, uint64_t time, uint64_t start, uint64_t size, const char *path)
{
	size_t at = begin(b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);

	put_tid(b);
	bytes_put(&b->data, start, 8);
	bytes_put(&b->data, size, 8);
	bytes_put(&b->data, 0, 8); /* offset in the file */
	bytes_zero(&b->data, 24);  /* device, inode */
	bytes_put(&b->data, 5, 4); /* PROT_READ | PROT_EXEC */
	bytes_put(&b->data, 2, 4); /* MAP_PRIVATE */
	bytes_str(&b->data, path);
	bytes_zero(&b->data, (8 - (b->data.n - at) % 8) % 8);
	trail(b, at, time);
}

void perfbuild_lost(struct perfbuild *b, uint64_t time, uint64_t n)
{
	size_t at = begin(b, PERF_RECORD_LOST, 0);

	bytes_put(&b->data, PERFBUILD_ID_BASE, 8);
	bytes_put(&b->data, n, 8);
	trail(b, at, time);
}

void perfbuild_lost_samples(struct perfbuild *b, uint64_t time, uint64_t n)
{
	size_t at = begin(b, PERF_RECORD_LOST_SAMPLES, 0);

	bytes_put(&b->data, n, 8);
	trail(b, at, time);
}

void perfbuild_round(struct perfbuild *b)
{
	end(b, begin(b, PERFDATA_FINISHED_ROUND, 0));
}

void perfbuild_record(
	struct perfbuild *b, uint32_t type, uint16_t misc, const void *body, size_t size)
{
	size_t at = begin(b, type, misc);

	bytes_add(&b->data, body, size);
	end(b, at);
}

void perfbuild_raw(struct perfbuild *b, const void *bytes, size_t size)
{
	bytes_add(&b->data, bytes, size);
}

const uint8_t *perfbuild_bytes(struct perfbuild *b, size_t *ret_size)
{
	if (!b->file.n)
		perfbuild_assemble(b);
	*ret_size = b->file.n;
	return b->file.items;
}

const uint8_t *perfbuild_stream(struct perfbuild *b, size_t *ret_size)
{
	if (!b->file.n)
		perfbuild_put_data(b, &b->file);
	*ret_size = b->file.n;
	return b->file.items;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a perf.data as `gilprobe record` does, of any length: four threads on two CPUs that take
 * the GIL, release it and nap, as those of a program that calls time.sleep(0) all the time; now and
 * then one finds the GIL taken. Records of a CPU are in order, those of both alternate in blocks.
 *
 * usage: generate EVENTS FILE
 */
#include "perfbuild-internal.h"
#include "perfdata/format.h"
#include "perfdata/writer.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4u
#define CPUS 2u
#define PID 4711u
#define GIL 0x7f0000001000ull
#define SWITCH_COND (GIL + 88)
#define CYCLE_NS 15000ull
#define EVENTS_PER_CYCLE 6u /* more or less */
#define ROUND_EVENTS 20000u

static const char *const probes[] = {
	"gilprobe_1:acquire88_0", "gilprobe_1:signal_1", "gilprobe_1:timedwait_2"};
static const uint64_t start_ns = 1000000000ull;

struct generator {
	struct perfbuild *cpus[CPUS]; /* what each CPU's buffer holds in this round */
	struct perfdata_writer *writer;
	uint64_t cycle, naps;
	struct err err;
};

static int fail(struct generator *g)
{
	fprintf(stderr, "generate: %s\n", g->err.text);
	return -1;
}

/* Every builder names the same events in the same order, so that they have the same ids. */
static struct perfbuild *builder(void)
{
	struct perfbuild *b = perfbuild_new(0);

	perfbuild_comm(b, start_ns, "python3", true);
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		perfbuild_hit(b, start_ns, probes[i], 0);
	perfbuild_switch(b, start_ns, "S", 1);
	perfbuild_wakeup(b, start_ns, 1, false);
	b->data.n = 0;
	return b;
}

/* The thread that runs in this cycle; all but the main one have successors. */
static uint32_t thread_of(const struct generator *g, uint64_t cycle)
{
	uint64_t nth = cycle % THREADS, life = g->naps && nth ? cycle / THREADS / g->naps : 0;

	return PID + (uint32_t)(life * THREADS + nth);
}

static void begin_thread(struct perfbuild *b, uint64_t time, uint32_t tid)
{
	char name[16];

	perfbuild_thread(b, PID, PID, 0);
	perfbuild_fork(b, time, PID, tid);
	perfbuild_thread(b, PID, tid, 0);
	snprintf(name, sizeof(name), "worker-%u", (tid - PID) % THREADS);
	perfbuild_comm(b, time + 1, name, false);
}

/* One thread wakes up, takes the GIL, and sleeps again. The threads' holds do not overlap. */
static void cycle(struct generator *g)
{
	uint64_t t = start_ns + g->cycle * CYCLE_NS;
	uint32_t cpu = g->cycle % CPUS, tid = thread_of(g, g->cycle);
	struct perfbuild *b = g->cpus[cpu];

	if (g->cycle >= THREADS && tid != thread_of(g, g->cycle - THREADS))
		begin_thread(b, t - 500, tid);
	perfbuild_thread(b, 0, 0, cpu);
	perfbuild_trace_flags(b, 0x08); /* a timer */
	perfbuild_wakeup(b, t, tid, false);
	perfbuild_trace_flags(b, 0);
	perfbuild_switch(b, t + 2000, "R", tid);
	perfbuild_thread(b, PID, tid, cpu);
	if (g->cycle % 16 == 0)
		perfbuild_hit(b, t + 3000, probes[2], GIL);
	perfbuild_hit(b, t + 4000, probes[0], SWITCH_COND);
	perfbuild_hit(b, t + 9000 + g->cycle % 7 * 100, probes[1], GIL);
	if (g->cycle % 64 == 0)
		perfbuild_hit(b, t + 11000, probes[1], GIL + 0x1000); /* of another mutex */
	if (tid == thread_of(g, g->cycle + THREADS)) {
		perfbuild_switch(b, t + 12000, "S", 0);
	} else {
		perfbuild_exit(b, t + 12000);
		perfbuild_switch(b, t + 13000, "X", 0);
	}
	g->cycle++;
}

static void begin_threads(struct perfbuild *b)
{
	perfbuild_thread(b, PID, PID, 0);
	perfbuild_comm(b, start_ns - 2000, "python3", true);
	for (uint32_t i = 1; i < THREADS; i++)
		begin_thread(b, start_ns - 1000 + i * 10, PID + i);
}

static uint64_t put(struct generator *g, struct perfbuild *b)
{
	uint64_t samples = 0;
	size_t size, at = 0;
	const uint8_t *bytes = perfbuild_stream(b, &size);

	while (at < size) {
		struct perf_event_header header;

		memcpy(&header, bytes + at, sizeof(header));
		samples += header.type == PERF_RECORD_SAMPLE;
		perfdata_writer_record(g->writer, bytes + at, header.size);
		at += header.size;
	}
	b->data.n = b->file.n = 0;
	return samples;
}

/* Until @n samples are in the file. */
static int put_rounds(struct generator *g, uint64_t n)
{
	uint64_t done = 0;

	begin_threads(g->cpus[0]);
	while (done < n) {
		uint64_t left = (n - done + EVENTS_PER_CYCLE - 1) / EVENTS_PER_CYCLE;
		uint64_t cycles = ROUND_EVENTS / EVENTS_PER_CYCLE;

		for (uint64_t i = 0; i < cycles && i < left; i++)
			cycle(g);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			done += put(g, g->cpus[cpu]);
		if (perfdata_writer_round(g->writer, &g->err) < 0)
			return fail(g);
	}
	return 0;
}

static int add_events(struct generator *g, const struct perfbuild *b)
{
	for (size_t i = 0; i < b->n_events; i++) {
		const struct build_event *e = &b->events[i];
		bool task = e->form == FORM_TASK;
		struct perf_event_attr attr = {
			.type = task ? PERF_TYPE_SOFTWARE : PERF_TYPE_TRACEPOINT,
			.size = PERF_ATTR_SIZE_VER5,
			.config = task ? PERF_COUNT_SW_DUMMY : e->tracepoint_id,
			.sample_period = !task,
			.sample_type = perfbuild_sample_type(b),
			.read_format = PERF_FORMAT_ID,
			.sample_id_all = 1,
			.use_clockid = 1,
			.clockid = CLOCK_MONOTONIC,
			.mmap2 = task,
			.comm = task,
			.comm_exec = task,
			.task = task,
		};
		uint64_t ids[CPUS] = {PERFBUILD_ID_BASE + 2 * i, PERFBUILD_ID_BASE + 2 * i + 1};

		if (perfdata_writer_add_attr(g->writer, &attr, e->name, ids, CPUS, &g->err) < 0)
			return fail(g);
	}
	return 0;
}

static int begin_file(struct generator *g, const char *path)
{
	struct bytes tracing = {0};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), r;

	if (fd < 0) {
		perror(path);
		return -1;
	}
	if (perfdata_writer_new(fd, path, &g->writer, &g->err) < 0) {
		close(fd);
		return fail(g);
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		g->cpus[cpu] = builder();
	if (add_events(g, g->cpus[0]) < 0)
		return -1;
	perfbuild_tracing(g->cpus[0], &tracing);
	r = perfdata_writer_begin(g->writer, tracing.items, tracing.n, &g->err);
	free(tracing.items);
	return r < 0 ? fail(g) : 0;
}

static int end_file(struct generator *g)
{
	char *argv[] = {(char *)"python3", (char *)"thrash.py", NULL};
	struct perfdata_writer *w = g->writer;
	struct err *err = &g->err;

	perfdata_writer_sample_time(w, start_ns, start_ns + g->cycle * CYCLE_NS);
	if (perfdata_writer_feature_argv(w, PERFDATA_CMDLINE, argv, err) < 0 ||
		perfdata_writer_feature_str(w, PERFDATA_ARCH, "x86_64", err) < 0 ||
		perfdata_writer_feature_cpus(w, CPUS, CPUS, err) < 0 ||
		perfdata_writer_feature_clock(w, CLOCK_MONOTONIC, 2000000000, 1000000000, err) <
			0 ||
		perfdata_writer_finish(w, err) < 0)
		return fail(g);
	return 0;
}

int main(int argc, char **argv)
{
	struct generator g = {.naps = argc == 4 ? strtoull(argv[3], NULL, 10) : 0};
	uint64_t n = argc == 3 || argc == 4 ? strtoull(argv[1], NULL, 10) : 0;
	int r;

	if (!n) {
		fprintf(stderr, "usage: generate EVENTS FILE [NAPS]\n");
		return 2;
	}
	r = begin_file(&g, argv[2]);
	if (r == 0)
		r = put_rounds(&g, n);
	if (r == 0)
		r = end_file(&g);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		perfbuild_free(g.cpus[cpu]);
	perfdata_writer_free(g.writer);
	return r ? 1 : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the writer wrote, read back: finished, unfinished (as after SIGKILL), with events and
 * formats that came late, with more of them than there is room for.
 */
#include "perfdata/perfdata.h"
#include "perfdata/writer.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define MAGIC "\x17\x08\x44tracing"

struct sample {
	struct perf_event_header header;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
};

struct fixture {
	int fd; /* ours, of the same file */
	char path[64];
	struct perfdata_writer *w;
	struct err err;
};

static struct fixture new_file(void)
{
	struct fixture f = {.fd = memfd_create("perf.data", MFD_CLOEXEC)};
	int r;

	assert_true(f.fd >= 0);
	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	r = perfdata_writer_new(fcntl(f.fd, F_DUPFD_CLOEXEC, 3), "perf.data", &f.w, &f.err);
	assert_int_equal(r, 0);
	return f;
}

static void add(struct fixture *f, uint64_t id, const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = 1000 + id,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = 1,
	};
	uint64_t ids[] = {id, id + 100000};

	assert_true(perfdata_writer_add_attr(f->w, &attr, name, ids, 2, &f->err) >= 0);
}

static void put(struct fixture *f, uint64_t id, uint64_t time)
{
	struct sample s = {{PERF_RECORD_SAMPLE, 0, sizeof(s)}, id, 7, 8, time};

	perfdata_writer_record(f->w, &s, sizeof(s));
}

static struct perfdata *reopen(struct fixture *f)
{
	struct perfdata *pd;

	perfdata_writer_free(f->w);
	assert_int_equal(perfdata_open(f->path, &pd, &f->err), 0);
	close(f->fd);
	return pd;
}

/* Expects the next record to be a sample of @config at @time. */
static void expect(struct perfdata *pd, uint64_t config, uint64_t time)
{
	struct perfdata_record record;
	struct perfdata_sample s;

	do {
		assert_int_equal(perfdata_next(pd, &record, NULL), 1);
	} while (record.type == PERFDATA_FINISHED_ROUND);
	assert_int_equal(record.type, PERF_RECORD_SAMPLE);
	assert_int_equal(perfdata_sample(pd, &record, &s), 1);
	assert_int_equal(s.attr->config, config);
	assert_int_equal(s.time, time);
	assert_int_equal(s.pid, 7);
	assert_int_equal(s.tid, 8);
}

static void expect_end(struct perfdata *pd)
{
	struct perfdata_record record;
	int r;

	do {
		r = perfdata_next(pd, &record, NULL);
	} while (r == 1 && record.type == PERFDATA_FINISHED_ROUND);
	assert_int_equal(r, 0);
	assert_false(perfdata_info(pd)->truncated);
}

static void finished_file_reads_back(void **state)
{
	struct fixture f = new_file();
	char *argv[] = {(char *)"python3", (char *)"a b.py", NULL};
	struct perfdata *pd;
	const struct perfdata_info *info;
	size_t size;

	add(&f, 1, "sched:sched_switch");
	add(&f, 2, "gilprobe_1:want");
	assert_int_equal(perfdata_writer_begin(f.w, MAGIC "0.6", 14, &f.err), 0);
	put(&f, 1, 10);
	put(&f, 100002, 20);
	assert_int_equal(perfdata_writer_round(f.w, &f.err), 0);
	assert_int_equal(perfdata_writer_feature_str(f.w, PERFDATA_HOSTNAME, "a-host", &f.err), 0);
	assert_int_equal(perfdata_writer_feature_argv(f.w, PERFDATA_CMDLINE, argv, &f.err), 0);
	assert_int_equal(perfdata_writer_feature_clock(f.w, 1, 777, 5, &f.err), 0);
	assert_int_equal(perfdata_writer_feature_cpus(f.w, 8, 4, &f.err), 0);
	perfdata_writer_sample_time(f.w, 10, 20);
	assert_int_equal(perfdata_writer_finish(f.w, &f.err), 0);
	pd = reopen(&f);
	info = perfdata_info(pd);
	assert_false(info->unfinished);
	assert_string_equal(info->hostname, "a-host");
	assert_int_equal(info->n_cmdline, 2);
	assert_string_equal(info->cmdline[1], "a b.py");
	assert_int_equal(info->clock_wall_ns, 777);
	assert_int_equal(info->clock_ref_ns, 5);
	assert_int_equal(info->nr_cpus_online, 4);
	assert_int_equal(info->last_sample_ns, 20);
	assert_int_equal(info->clockid, 1);
	assert_string_equal(perfdata_attr(pd, 0)->name, "sched:sched_switch");
	assert_string_equal(perfdata_attr(pd, 1)->name, "gilprobe_1:want");
	assert_memory_equal(perfdata_tracing_data(pd, &size, NULL), MAGIC "0.6", 14);
	assert_int_equal(size, 14);
	expect(pd, 1001, 10);
	expect(pd, 1002, 20);
	expect_end(pd);
	perfdata_free(pd);
}

static void unfinished_file_has_what_came_late(void **state)
{
	struct fixture f = new_file();
	struct perfdata *pd;
	size_t size;

	add(&f, 1, "sched:sched_switch");
	assert_int_equal(perfdata_writer_begin(f.w, MAGIC "old", 14, &f.err), 0);
	put(&f, 1, 10);
	assert_int_equal(perfdata_writer_round(f.w, &f.err), 0);
	add(&f, 2, "gilprobe_1:late");
	assert_int_equal(perfdata_writer_tracing_data(f.w, MAGIC "newer", 16, &f.err), 0);
	put(&f, 2, 20);
	assert_int_equal(perfdata_writer_round(f.w, &f.err), 0);
	pd = reopen(&f);
	assert_true(perfdata_info(pd)->unfinished);
	assert_memory_equal(perfdata_tracing_data(pd, &size, NULL), MAGIC "newer", 16);
	expect(pd, 1001, 10);
	expect(pd, 1002, 20);
	expect_end(pd);
	perfdata_free(pd);
}

static void more_late_events_than_room(void **state)
{
	struct fixture f = new_file();
	static char large[1 << 20] = MAGIC;
	struct perfdata *pd;
	size_t size;

	add(&f, 1, "a:first");
	assert_int_equal(perfdata_writer_begin(f.w, MAGIC, 11, &f.err), 0);
	for (uint64_t id = 2; id < 200; id++)
		add(&f, id, "b:late");
	for (uint64_t id = 1; id < 200; id++)
		put(&f, id, id);
	assert_int_equal(perfdata_writer_tracing_data(f.w, large, sizeof(large), &f.err), 0);
	assert_int_equal(perfdata_writer_finish(f.w, &f.err), 0);
	pd = reopen(&f);
	assert_int_equal(perfdata_attr_count(pd), 199);
	for (uint64_t id = 1; id < 200; id++)
		expect(pd, 1000 + id, id);
	expect_end(pd);
	perfdata_tracing_data(pd, &size, NULL);
	assert_int_equal(size, sizeof(large));
	perfdata_free(pd);
}

static void rounds_are_written_only_after_records(void **state)
{
	struct fixture f = new_file();
	struct perfdata_record record;
	struct perfdata *pd;

	add(&f, 1, "a:b");
	assert_int_equal(perfdata_writer_begin(f.w, NULL, 0, &f.err), 0);
	assert_int_equal(perfdata_writer_round(f.w, &f.err), 0);
	put(&f, 1, 1);
	assert_int_equal(perfdata_writer_round(f.w, &f.err), 0);
	assert_int_equal(perfdata_writer_round(f.w, &f.err), 0);
	assert_int_equal(perfdata_writer_finish(f.w, &f.err), 0);
	pd = reopen(&f);
	assert_int_equal(perfdata_next(pd, &record, NULL), 1);
	assert_int_equal(perfdata_next(pd, &record, NULL), 1);
	assert_int_equal(record.type, PERFDATA_FINISHED_ROUND);
	assert_int_equal(perfdata_next(pd, &record, NULL), 0);
	assert_int_equal(perfdata_next(pd, &record, NULL), 0);
	perfdata_free(pd);
}

static void full_disk_is_said_once_and_sticks(void **state)
{
	struct err err = {0};
	struct perfdata_writer *w;
	int r = perfdata_writer_new(open("/dev/full", O_RDWR | O_CLOEXEC), "out", &w, &err);

	assert_int_equal(r, 0);
	assert_int_equal(perfdata_writer_begin(w, NULL, 0, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "unable to write 'out'"));
	assert_int_equal(perfdata_writer_round(w, NULL), -ENOSPC);
	assert_int_equal(perfdata_writer_finish(w, NULL), -ENOSPC);
	perfdata_writer_free(w);
	perfdata_writer_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finished_file_reads_back),
		cmocka_unit_test(unfinished_file_has_what_came_late),
		cmocka_unit_test(more_late_events_than_room),
		cmocka_unit_test(rounds_are_written_only_after_records),
		cmocka_unit_test(full_disk_is_said_once_and_sticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

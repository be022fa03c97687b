/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every form of the file, built in memory: the same records come out of each, and their fields.
 */
#include "perfbuild.h"
#include "perfdata/format.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "test.h"

/* 3 hits × 200 with a task record between; enough for several pieces of zstd. */
#define ROUNDS 200u

static void fill(struct perfbuild *b)
{
	for (uint64_t i = 0; i < ROUNDS; i++) {
		perfbuild_thread(b, 100, 101, i % 2);
		perfbuild_hit(b, 1000 * i + 1, "python:take_gil", 0);
		perfbuild_comm(b, 1000 * i + 2, "worker with a name", false);
		perfbuild_hit(b, 1000 * i + 3, "gilprobe_1:acquire88_0", 0x7f0000001000 + i);
		perfbuild_thread(b, 100, 102, i % 2);
		perfbuild_switch(b, 1000 * i + 4, "S", 101);
		perfbuild_round(b);
	}
}

static struct perfdata *open_built(struct perfbuild *b)
{
	struct err err = {0};
	struct perfdata *pd;
	size_t size;
	const uint8_t *bytes = perfbuild_bytes(b, &size);

	assert_int_equal(perfdata_open_memory(bytes, size, &pd, &err), 0);
	return pd;
}

static uint64_t raw_u64(const struct perfdata *pd, const struct perfdata_sample *s, size_t at)
{
	struct cursor c = cursor_over(s->raw, s->raw_size, perfdata_info(pd)->swapped);

	cursor_skip(&c, at);
	return cursor_u64(&c);
}

/* The next record must be of @type; its sample or trailer of (@tid, @time). */
static struct perfdata_sample expect(
	struct perfdata *pd, uint32_t type, uint32_t tid, uint64_t time)
{
	struct perfdata_sample s = {0};
	struct perfdata_record record;

	assert_int_equal(perfdata_next(pd, &record, NULL), 1);
	assert_int_equal(record.type, type);
	assert_int_equal(perfdata_sample(pd, &record, &s), 1);
	assert_int_equal(s.pid, 100);
	assert_int_equal(s.tid, tid);
	assert_int_equal(s.time, time);
	assert_int_equal(s.cpu, time / 1000 % 2);
	return s;
}

static void expect_filled(struct perfdata *pd, unsigned flags)
{
	struct perfdata_record record;
	size_t size;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		struct perfdata_sample s = expect(pd, PERF_RECORD_SAMPLE, 101, 1000 * i + 1);

		assert_int_equal(raw_u64(pd, &s, 8), 0x401000);
		if (!(flags & PERFBUILD_NO_IDS))
			assert_string_equal(s.attr->name, "python:take_gil");
		if (flags & PERFBUILD_CALLCHAIN)
			assert_int_equal(s.callchain_nr, 3);
		assert_true(!(s.present & PERF_SAMPLE_CALLCHAIN) == !(flags & PERFBUILD_CALLCHAIN));
		s = expect(pd, PERF_RECORD_COMM, 101, 1000 * i + 2);
		s = expect(pd, PERF_RECORD_SAMPLE, 101, 1000 * i + 3);
		assert_int_equal(raw_u64(pd, &s, 16), 0x7f0000001000 + i);
		if (!(flags & PERFBUILD_NO_IDS))
			assert_string_equal(s.attr->name, "gilprobe_1:acquire88_0");
		s = expect(pd, PERF_RECORD_SAMPLE, 102, 1000 * i + 4);
		assert_int_equal(
			s.attr->freq, !!(flags & PERFBUILD_FREQ) && !(flags & PERFBUILD_NO_IDS));
		assert_int_equal(perfdata_next(pd, &record, NULL), 1);
		assert_int_equal(record.type, PERFDATA_FINISHED_ROUND);
		assert_int_equal(perfdata_sample(pd, &record, &s), 0);
	}
	assert_int_equal(perfdata_next(pd, &record, NULL), 0);
	assert_int_equal(perfdata_next(pd, &record, NULL), 0);
	assert_false(perfdata_info(pd)->truncated);
	assert_int_equal(perfdata_info(pd)->unknown_ids, 0);
	assert_int_equal(perfdata_info(pd)->unknown_records, 0);
	assert_true(!perfdata_tracing_data(pd, &size, NULL) == !!(flags & PERFBUILD_NO_TRACING));
}

static void every_form_gives_the_same_records(void **state)
{
	static const unsigned forms[] = {0, PERFBUILD_PIPE, PERFBUILD_ZSTD, PERFBUILD_ZSTD2,
		PERFBUILD_PIPE | PERFBUILD_ZSTD};
	static const unsigned layouts[] = {0, PERFBUILD_PERF,
		PERFBUILD_PERF | PERFBUILD_READ | PERFBUILD_CALLCHAIN, PERFBUILD_READ,
		PERFBUILD_LARGE_ATTR, PERFBUILD_NO_TRACING, PERFBUILD_FREQ | PERFBUILD_NO_CLOCKID};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		for (size_t j = 0; j < sizeof(layouts) / sizeof(*layouts); j++)
			for (unsigned big = 0; big <= PERFBUILD_BIG_ENDIAN;
				big += PERFBUILD_BIG_ENDIAN) {
				unsigned flags = forms[i] | layouts[j] | big;
				struct perfbuild *b = perfbuild_new(flags);
				struct perfdata *pd;

				fill(b);
				pd = open_built(b);
				assert_int_equal(perfdata_info(pd)->pipe, flags & PERFBUILD_PIPE);
				assert_int_equal(perfdata_info(pd)->swapped, !!big);
				expect_filled(pd, flags);
				assert_int_equal(perfdata_attr_count(pd), 4);
				assert_string_equal(perfdata_info(pd)->hostname, "built");
				assert_int_equal(perfdata_info(pd)->has_clockid,
					!(flags & PERFBUILD_NO_CLOCKID));
				perfdata_free(pd);
				perfbuild_free(b);
			}
}

static void file_without_ids_belongs_to_its_first_event(void **state)
{
	struct perfbuild *b = perfbuild_new(PERFBUILD_NO_IDS);
	struct perfdata *pd;

	fill(b);
	pd = open_built(b);
	expect_filled(pd, PERFBUILD_NO_IDS);
	perfdata_free(pd);
	perfbuild_free(b);
}

static void unfinished_file_is_read_to_its_end(void **state)
{
	struct perfbuild *b = perfbuild_new(PERFBUILD_UNFINISHED);
	struct perfdata_record record;
	struct perfdata *pd;
	size_t n = 0, size;

	fill(b);
	pd = open_built(b);
	assert_true(perfdata_info(pd)->unfinished);
	assert_non_null(perfdata_tracing_data(pd, &size, NULL));
	while (perfdata_next(pd, &record, NULL) == 1)
		n += record.type == PERF_RECORD_SAMPLE;
	assert_int_equal(n, 3 * ROUNDS);
	perfdata_free(pd);
	perfbuild_free(b);
}

static void unknown_records_are_counted_and_known_ones_passed_over(void **state)
{
	static const uint32_t types[] = {0, 40, 65, 67, 79, 82, 90, 200, UINT32_MAX};
	struct perfbuild *b = perfbuild_new(0);
	struct perfdata_record record;
	struct perfdata *pd;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		perfbuild_record(b, types[i], 0, "12345678", 8);
	perfbuild_thread(b, 1, 2, 0);
	perfbuild_hit(b, 5, "a:b", 0);
	pd = open_built(b);
	assert_int_equal(perfdata_next(pd, &record, NULL), 1);
	assert_int_equal(record.type, PERF_RECORD_SAMPLE);
	assert_int_equal(perfdata_info(pd)->unknown_records, 5);
	perfdata_free(pd);
	perfbuild_free(b);
}

static void auxtrace_payload_is_passed_over(void **state)
{
	static const uint8_t payload[70000] = {1, 2, 3};
	uint64_t body[5] = {sizeof(payload)};
	struct perfbuild *b = perfbuild_new(0);
	struct perfdata_record record;
	struct perfdata *pd;

	perfbuild_record(b, PERFDATA_AUXTRACE, 0, body, sizeof(body));
	perfbuild_raw(b, payload, sizeof(payload));
	perfbuild_hit(b, 5, "a:b", 0);
	pd = open_built(b);
	assert_int_equal(perfdata_next(pd, &record, NULL), 1);
	assert_int_equal(record.type, PERF_RECORD_SAMPLE);
	assert_int_equal(perfdata_next(pd, &record, NULL), 0);
	assert_false(perfdata_info(pd)->truncated);
	perfdata_free(pd);
	perfbuild_free(b);
}

/* perf writes records about what was there before it started with zeros for an id. */
static void made_up_records_have_no_trailer(void **state)
{
	static const uint8_t comm[8 + 16 + 40] = {100, 0, 0, 0, 101, 0, 0, 0, 'p', 'y'};
	struct perfbuild *b = perfbuild_new(0);
	struct perfdata_record record;
	struct perfdata_sample s;
	struct perfdata *pd;

	perfbuild_record(b, PERF_RECORD_COMM, 0, comm, sizeof(comm));
	perfbuild_hit(b, 5, "a:b", 0);
	perfbuild_exit(b, 6);
	pd = open_built(b);
	assert_int_equal(perfdata_next(pd, &record, NULL), 1);
	assert_int_equal(perfdata_sample(pd, &record, &s), 0);
	assert_int_equal(perfdata_info(pd)->unknown_ids, 0);
	perfdata_free(pd);
	perfbuild_free(b);
}

static void unknown_ids_are_counted(void **state)
{
	static const uint64_t fields[8] = {123456};
	struct perfbuild *b = perfbuild_new(0);
	struct perfdata_record record;
	struct perfdata_sample s;
	struct perfdata *pd;

	perfbuild_hit(b, 5, "a:b", 0);
	perfbuild_hit(b, 6, "a:c", 0);
	perfbuild_record(b, PERF_RECORD_SAMPLE, 0, fields, sizeof(fields));
	pd = open_built(b);
	while (perfdata_next(pd, &record, NULL) == 1)
		assert_true(perfdata_sample(pd, &record, &s) >= 0);
	assert_int_equal(perfdata_info(pd)->unknown_ids, 1);
	perfdata_free(pd);
	perfbuild_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_gives_the_same_records),
		cmocka_unit_test(file_without_ids_belongs_to_its_first_event),
		cmocka_unit_test(unfinished_file_is_read_to_its_end),
		cmocka_unit_test(unknown_records_are_counted_and_known_ones_passed_over),
		cmocka_unit_test(auxtrace_payload_is_passed_over),
		cmocka_unit_test(made_up_records_have_no_trailer),
		cmocka_unit_test(unknown_ids_are_counted),
	};

	return RUN_TESTS(tests);
}

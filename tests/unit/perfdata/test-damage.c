/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Damaged and hostile files: cut at every byte, every byte changed, sizes that lie. Nothing may
 * crash (the sanitizers look on), and what is said must be right.
 */
#include "perfbuild.h"
#include "perfdata/format.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

static struct perfbuild *small(unsigned flags)
{
	struct perfbuild *b = perfbuild_new(flags);

	perfbuild_thread(b, 100, 101, 0);
	perfbuild_hit(b, 10, "python:take_gil", 0);
	perfbuild_fork(b, 20, 100, 102);
	perfbuild_hit(b, 30, "python:take_gil__return", 0);
	perfbuild_round(b);
	return b;
}

/* Reads all of it, every field touched. How many records came, or a negative errno. */
static int drain(const uint8_t *bytes, size_t size, struct perfdata_info *ret_info)
{
	_cleanup_(cleanup_perfdata) struct perfdata *pd = NULL;
	struct perfdata_record record;
	struct perfdata_sample s;
	struct err err = {0};
	volatile uint8_t sink __attribute__((unused)) = 0;
	int n = 0;
	int r = perfdata_open_memory(bytes, size, &pd, &err);

	while (r >= 0 && (r = perfdata_next(pd, &record, &err)) == 1) {
		n++;
		if (perfdata_sample(pd, &record, &s) == 1) {
			for (uint32_t i = 0; i < s.raw_size; i++)
				sink ^= s.raw[i];
			for (uint64_t i = 0; i < s.callchain_nr * 8; i++)
				sink ^= s.callchain[i];
		}
		if (record.size)
			sink ^= record.body[record.size - 1];
	}
	if (r < 0) {
		assert_true(err.text[0]);
		return r;
	}
	*ret_info = *perfdata_info(pd);
	ret_info->cmdline = NULL;
	return n;
}

/* An exact-size heap copy, so that ASan sees a read one byte behind. */
static int drain_copy(const uint8_t *bytes, size_t size, struct perfdata_info *ret_info)
{
	_cleanup_free_ uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, bytes, size);
	return drain(copy, size, ret_info);
}

static const unsigned all_forms[] = {0, PERFBUILD_PIPE, PERFBUILD_ZSTD,
	PERFBUILD_PIPE | PERFBUILD_ZSTD2, PERFBUILD_BIG_ENDIAN,
	PERFBUILD_PERF | PERFBUILD_CALLCHAIN | PERFBUILD_READ, PERFBUILD_UNFINISHED};

static void cut_at_every_byte(void **state)
{
	for (size_t f = 0; f < sizeof(all_forms) / sizeof(*all_forms); f++) {
		struct perfbuild *b = small(all_forms[f]);
		struct perfdata_info info;
		size_t size;
		const uint8_t *bytes = perfbuild_bytes(b, &size);
		int last = 0;

		for (size_t n = 0; n < size; n++) {
			int r = drain_copy(bytes, n, &info);

			/* more bytes never give fewer records */
			assert_true(r == -EBADMSG || r >= last);
			last = r > 0 ? r : last;
		}
		assert_int_equal(drain_copy(bytes, size, &info), 4);
		assert_false(info.truncated);
		perfbuild_free(b);
	}
}

static void every_byte_changed(void **state)
{
	static const uint8_t values[] = {0x00, 0x7f, 0xff};

	for (size_t f = 0; f < sizeof(all_forms) / sizeof(*all_forms); f++) {
		struct perfbuild *b = small(all_forms[f]);
		struct perfdata_info info;
		size_t size;
		const uint8_t *bytes = perfbuild_bytes(b, &size);
		_cleanup_free_ uint8_t *copy = malloc(size);

		memcpy(copy, bytes, size);
		for (size_t at = 0; at < size; at++) {
			for (size_t v = 0; v < sizeof(values); v++) {
				copy[at] = values[v];
				(void)drain(copy, size, &info);
			}
			copy[at] = bytes[at];
		}
		perfbuild_free(b);
	}
}

static void cut_data_says_so_and_keeps_the_records(void **state)
{
	struct perfbuild *b = small(0);
	struct perfdata_info info;
	size_t size;
	const uint8_t *bytes = perfbuild_bytes(b, &size);
	uint64_t data_at, data_size;

	memcpy(&data_at, bytes + 40, 8);
	memcpy(&data_size, bytes + 48, 8);
	assert_int_equal(drain_copy(bytes, data_at + data_size - 1, &info), 3);
	assert_true(info.truncated);
	perfbuild_free(b);
}

static void record_of_impossible_size_ends_the_data(void **state)
{
	static const uint8_t bad[] = {9, 0, 0, 0, 0, 0, 7, 0, 1, 2, 3, 4};
	struct perfbuild *b = small(0);
	struct perfdata_info info;
	size_t size;
	const uint8_t *bytes;

	perfbuild_raw(b, bad, sizeof(bad));
	perfbuild_hit(b, 40, "python:take_gil", 0);
	bytes = perfbuild_bytes(b, &size);
	assert_int_equal(drain_copy(bytes, size, &info), 4);
	assert_true(info.truncated);
	assert_true(info.skipped_bytes > sizeof(bad));
	perfbuild_free(b);
}

static void damage_at_the_start_names_the_offset(void **state)
{
	static const uint8_t bad[8] = {0};
	struct perfbuild *b = perfbuild_new(0);
	struct perfdata_record record;
	struct perfdata *pd;
	struct err err = {0};
	size_t size;
	const uint8_t *bytes;

	perfbuild_raw(b, bad, sizeof(bad));
	perfbuild_hit(b, 40, "python:take_gil", 0);
	bytes = perfbuild_bytes(b, &size);
	assert_int_equal(perfdata_open_memory(bytes, size, &pd, &err), 0);
	assert_int_equal(perfdata_next(pd, &record, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "at offset "));
	perfdata_free(pd);
	perfbuild_free(b);
}

static void what_is_no_perfdata_is_refused(void **state)
{
	static const char old[] = "PERFFILE\0\0\0\0\0\0\0\0";
	struct err err = {0};
	struct perfdata *pd;

	assert_int_equal(perfdata_open_memory("", 0, &pd, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "is empty"));
	err_clear(&err);
	assert_int_equal(perfdata_open_memory("#!/bin/sh\nexit 0\n", 17, &pd, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "is not a perf.data file"));
	err_clear(&err);
	assert_int_equal(perfdata_open_memory(old, sizeof(old), &pd, &err), -EOPNOTSUPP);
	err_clear(&err);
	assert_int_equal(perfdata_open("/nowhere/at/all", &pd, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/at/all"));
}

/* All attrs point at the same ids: more in sum than the file has bytes. */
static void ids_that_overlap_are_refused(void **state)
{
	enum { N = 1000, ENTRY = 80, HEADER = 104 };
	static uint8_t file[HEADER + N * ENTRY];
	uint64_t header[13] = {PERFDATA_MAGIC, HEADER, ENTRY, HEADER, N * ENTRY, HEADER, 8};
	uint64_t section[2] = {HEADER, N * ENTRY};
	struct perfdata_info info;

	memcpy(file, header, sizeof(header));
	for (size_t i = 0; i < N; i++)
		memcpy(file + HEADER + i * ENTRY + 64, section, sizeof(section));
	assert_int_equal(drain(file, sizeof(file), &info), -EBADMSG);
}

/* One small record can hold any number of others: they come out through one buffer. */
static void expansion_is_streamed(void **state)
{
	struct perfbuild *b = perfbuild_new(PERFBUILD_ZSTD);
	struct perfdata_info info;
	size_t size;
	const uint8_t *bytes;

	perfbuild_hit(b, 1, "a:b", 0);
	for (unsigned i = 0; i < 199999; i++)
		perfbuild_round(b);
	bytes = perfbuild_bytes(b, &size);
	assert_true(size < 20000);
	assert_int_equal(drain_copy(bytes, size, &info), 200000);
	perfbuild_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(every_byte_changed),
		cmocka_unit_test(cut_data_says_so_and_keeps_the_records),
		cmocka_unit_test(record_of_impossible_size_ends_the_data),
		cmocka_unit_test(damage_at_the_start_names_the_offset),
		cmocka_unit_test(what_is_no_perfdata_is_refused),
		cmocka_unit_test(ids_that_overlap_are_refused),
		cmocka_unit_test(expansion_is_streamed),
	};

	return RUN_TESTS(tests);
}

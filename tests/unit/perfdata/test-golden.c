/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings that the perf tool made (tests/golden/data): the number of samples equals what
 * `perf script` lists, each is walked to its raw bytes, and the facts of the header are right.
 */
#include "perfdata/perfdata.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct tally {
	size_t samples, raw, named;
	struct perfdata_info info;
	size_t attrs, tracing;
};

static struct tally read_all(const char *name)
{
	_cleanup_(cleanup_perfdata) struct perfdata *pd = NULL;
	struct perfdata_record record;
	struct perfdata_sample sample;
	struct err err = {0};
	struct tally t = {0};
	char path[4096];
	int r;

	snprintf(path, sizeof(path), "%s/%s", getenv("GOLDEN_DATA"), name);
	assert_int_equal(perfdata_open(path, &pd, &err), 0);
	while ((r = perfdata_next(pd, &record, &err)) > 0) {
		int fields = perfdata_sample(pd, &record, &sample);

		assert_true(fields >= 0);
		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		assert_int_equal(fields, 1);
		t.samples++;
		t.raw += !!sample.raw;
		t.named += !!sample.attr->name;
	}
	assert_int_equal(r, 0);
	t.info = *perfdata_info(pd);
	t.attrs = perfdata_attr_count(pd);
	perfdata_tracing_data(pd, &t.tracing, NULL);
	assert_int_equal(t.samples, t.raw);
	assert_int_equal(t.info.unknown_ids, 0);
	assert_int_equal(t.info.unknown_records, 0);
	return t;
}

static void compressed_records_give_every_sample(void **state)
{
	struct tally t = read_all("zstd.data");

	assert_int_equal(t.samples, 2618);
	assert_int_equal(t.named, 2618);
	assert_int_equal(t.attrs, 6);
	assert_true(t.info.compressed);
	assert_false(t.info.truncated);
}

static void single_event_without_ids_is_read(void **state)
{
	struct tally t = read_all("single.data");

	assert_int_equal(t.samples, 632);
	assert_int_equal(t.attrs, 1);
	assert_true(t.info.has_clockid);
	assert_int_equal(t.info.clockid, 1);
	assert_true(t.info.has_clock_data);
	assert_true(t.info.has_sample_time);
	assert_int_equal(t.info.nr_cpus_online, 2);
}

static void other_byte_order_is_read(void **state)
{
	struct tally t = read_all("bigendian.data");

	assert_int_equal(t.samples, 2124);
	assert_int_equal(t.named, 2124);
	assert_true(t.info.swapped);
	assert_int_equal(t.info.clockid, 1);
}

static void cut_file_is_read_as_far_as_it_goes(void **state)
{
	struct tally t = read_all("cut.data");

	assert_int_equal(t.samples, 681);
	assert_true(t.info.truncated);
	assert_int_equal(t.tracing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressed_records_give_every_sample),
		cmocka_unit_test(single_event_without_ids_is_read),
		cmocka_unit_test(other_byte_order_is_read),
		cmocka_unit_test(cut_file_is_read_as_far_as_it_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

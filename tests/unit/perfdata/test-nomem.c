/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Out of memory at the first allocation, the second, …: reader and writer return -ENOMEM or what
 * they had, leak nothing and crash nowhere.
 */
#include "nomem.h"
#include "perfbuild.h"
#include "perfdata/perfdata.h"
#include "perfdata/writer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "test.h"

static int read_all(const uint8_t *bytes, size_t size)
{
	_cleanup_(cleanup_perfdata) struct perfdata *pd = NULL;
	struct perfdata_record record;
	struct perfdata_sample s;
	struct err err = {0};
	size_t n;
	int r = perfdata_open_memory(bytes, size, &pd, &err);

	while (r >= 0 && (r = perfdata_next(pd, &record, &err)) == 1)
		(void)perfdata_sample(pd, &record, &s);
	if (r >= 0)
		(void)perfdata_feature(pd, PERFDATA_HOSTNAME, &n);
	assert_true(r == 0 || (r == -ENOMEM && !strcmp(err.text, "out of memory")));
	return r;
}

static void reader(void **state)
{
	static const unsigned forms[] = {0, PERFBUILD_PIPE, PERFBUILD_ZSTD, PERFBUILD_UNFINISHED};

	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
		struct perfbuild *b = perfbuild_new(forms[f]);
		size_t size;
		const uint8_t *bytes;

		perfbuild_hit(b, 1, "python:take_gil", 0);
		perfbuild_comm(b, 2, "worker", false);
		bytes = perfbuild_bytes(b, &size);
		for (long n = 0;; n++) {
			int r;

			nomem_left = n;
			r = read_all(bytes, size);
			if (nomem_left >= 0) { /* it got by with n allocations */
				nomem_left = -1;
				assert_int_equal(r, 0);
				assert_true(n > 5);
				break;
			}
			assert_int_equal(r, -ENOMEM);
		}
		perfbuild_free(b);
	}
}

static int write_all(struct err *err)
{
	_cleanup_close_ int fd = memfd_create("perf.data", MFD_CLOEXEC);
	_cleanup_(cleanup_perfdata_writer) struct perfdata_writer *w = NULL;
	struct perf_event_attr attr = {.size = sizeof(attr)};
	struct perf_event_header record = {PERF_RECORD_SWITCH, 0, sizeof(record)};
	uint64_t id = 1;
	int r = perfdata_writer_new(fd, "out", &w, err);

	if (r >= 0)
		fd = -1;
	if (r >= 0)
		r = perfdata_writer_add_attr(w, &attr, "a:b", &id, 1, err);
	if (r >= 0)
		r = perfdata_writer_begin(w, "tracing", 8, err);
	if (r >= 0)
		r = perfdata_writer_add_attr(w, &attr, "a:c", &id, 1, err);
	if (r < 0)
		return r;
	perfdata_writer_record(w, &record, sizeof(record));
	r = perfdata_writer_feature_str(w, PERFDATA_HOSTNAME, "host", err);
	if (r >= 0)
		r = perfdata_writer_feature_clock(w, 1, 2, 3, err);
	perfdata_writer_sample_time(w, 1, 2);
	return r < 0 ? r : perfdata_writer_finish(w, err);
}

static void writer(void **state)
{
	for (long n = 0;; n++) {
		struct err err = {0};
		int r;

		nomem_left = n;
		r = write_all(&err);
		if (nomem_left >= 0) {
			nomem_left = -1;
			assert_int_equal(r, 0);
			assert_true(n > 10);
			return;
		}
		assert_int_equal(r, -ENOMEM);
		assert_string_equal(err.text, "out of memory");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader),
		cmocka_unit_test(writer),
	};

	return RUN_TESTS(tests);
}

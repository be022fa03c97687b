/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report: out of memory at the first allocation, the second, … is said, and leaks nothing. */
#include "nomem.h"
#include "test.h"
#include "totals.h"

#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef int (*writer)(const struct fold_result *result, struct out *out, struct err *err);

static const struct report_recording recording = {.command = "python3 app.py"};
static const struct report_options options = {0};

static int table(const struct fold_result *result, struct out *out, struct err *err)
{
	return report_table(out, result, &recording, &options, err);
}

static int summary(const struct fold_result *result, struct out *out, struct err *err)
{
	return report_summary(out, result, &recording, &options, err);
}

static int json(const struct fold_result *result, struct out *out, struct err *err)
{
	return report_json(out, result, &recording, err);
}

static int run(writer write, const struct fold_result *result)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	struct err err = {0};
	int r;

	if (!out)
		return -ENOMEM;
	r = write(result, out, &err);
	if (r < 0)
		assert_string_equal(err.text, "out of memory");
	return r < 0 ? r : out_error(out);
}

static void build(struct totals *t)
{
	static char names[60][16];
	struct totals_row rows[60];

	for (size_t i = 0; i < 60; i++) {
		snprintf(names[i], sizeof(names[i]), "worker-%zu", i);
		rows[i] = (struct totals_row){names[i], .hold = 50, .wait = 500, .takes = 40,
			.waits = 40, .others_waited = 500, .waits_for = i ? names[i - 1] : NULL};
	}
	totals_build(t, rows, 60);
	totals_hold(t, "worker-1", 10, 5, 5, 4);
}

static void test_every_allocation(void **state)
{
	static const writer writers[] = {table, summary, json};
	struct totals t;

	build(&t);
	for (size_t w = 0; w < sizeof(writers) / sizeof(*writers); w++) {
		for (long n = 0;; n++) {
			int r;

			nomem_left = n;
			r = run(writers[w], &t.result);
			if (nomem_left >= 0) { /* it got by with n allocations */
				nomem_left = -1;
				assert_int_equal(r, 0);
				assert_true(n > 1);
				break;
			}
			assert_int_equal(r, -ENOMEM);
		}
	}
	totals_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};

	return RUN_TESTS(tests);
}

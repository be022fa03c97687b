/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the whole table as a snapshot, with and without a narrow terminal. To renew the expected
 * texts after a deliberate change: copy what the failing test prints.
 */
#include "test.h"
#include "totals.h"

#include "report/report.h"

#include <stdio.h>
#include <string.h>

static const struct totals_row rows[] = {
	{"python3", .tid = 100, .hold = 30, .blocked = 1970, .by_sibling = 1970, .takes = 10,
		.blocks = 3, .wakeups = 3},
	{"worker-1", .hold = 985, .hold_asleep = 2, .wait = 1003, .native = 4, .ready = 8,
		.blocked = 12, .takes = 611, .forced = 600, .waits = 600, .others_waited = 980,
		.max_hold = 5.1, .max_wait = 10.2, .waits_for = "worker-2"},
	{"worker-2", .hold = 980, .wait = 1020, .native = 4, .ready = 8, .blocked = 2, .takes = 600,
		.forced = 600, .waits = 600, .others_waited = 1000, .max_hold = 142,
		.max_wait = 9.2, .waits_for = "worker-1"},
};

static const struct report_interpreter interpreter = {"/usr/bin/python3", "3.11.7", NULL, false};
static const char *const notes[] = {"no system-wide wakeups"};
static const struct report_recording recording = {
	.command = "python3 app.py",
	.interpreters = &interpreter,
	.n_interpreters = 1,
	.notes = notes,
	.n_notes = 1,
};

typedef int (*writer)(struct out *out, const struct fold_result *result,
	const struct report_recording *about, const struct report_options *options,
	struct err *err);

static void snapshot(writer write, const struct totals *t, const struct report_options *options,
	const char *want)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	struct err err = {0};
	char got[8192];
	const char *bytes;
	size_t size;

	assert_int_equal(write(out, &t->result, &recording, options, &err), 0);
	bytes = out_memory_bytes(out, &size);
	assert_in_range(size, 1, sizeof(got) - 1);
	memcpy(got, bytes, size);
	got[size] = '\0';
	if (strcmp(got, want))
		fail_msg("got:\n%s\nwant:\n%s", got, want);
}

static void build(struct totals *t)
{
	struct fold_hold *hold;

	totals_build(t, rows, 3);
	hold = totals_hold(t, "worker-2", 500, 142, 142, 141);
	hold->n_waiters = 2;
	hold->waiters[0] = &t->threads[1];
	hold->waiters[1] = &t->threads[0];
	hold = totals_hold(t, "worker-1", 800, 5.1, 1, 5);
	hold->n_waiters = 1;
	hold->waiters[0] = &t->threads[2];
}

#define VERDICT                                                                                    \
	"verdict: gil-bound (high): 2 threads want the GIL at the same time, held 99 % and "       \
	"contended 51 % of the time; such threads keep at most 1.00 cores busy\n"                  \
	"  try: run the work in processes (multiprocessing, ProcessPoolExecutor): each has its "   \
	"own GIL\n"

#define GIL                                                                                        \
	"GIL of python3 app.py (pid 100, CPython 3.11.7)   held 99.2 %   contended 50.6 %   "      \
	"hand-offs 1,200   longest hold 142 ms   takes 1,221\n"

static void test_table(void **state)
{
	static const char want[] = GIL VERDICT
		"       on CPython 3.12 and later: sub-interpreters with a GIL of their own\n"
		"       try a free-threaded build (3.13t and later)\n"
		"       move the hot loop into native code that releases the GIL\n"
		"\n"
		"     thread    tid  life s  has GIL  off-CPU  waiting  native  runnable  blocked  "
		"takes  max hold  max wait  class\n"
		"  C  worker-2  102   2.014    48.7%     0.0%    50.6%    0.2%      0.4%     0.1%  "
		"  600    142 ms    9.2 ms  gil-bound\n"
		"  B  worker-1  101   2.014    48.9%     0.1%    49.8%    0.2%      0.4%     0.6%  "
		"  611    5.1 ms   10.2 ms  gil-bound\n"
		"  A  python3   100   2.000     1.5%     0.0%     0.0%    0.0%      0.0%    98.5%  "
		"   10         0         0  io-bound\n"
		"\n"
		"longest holds (by how long others waited meanwhile)\n"
		"  142 ms  C worker-2  at 0.500 s  others waited 141 ms  on CPU 100 %         B "
		"worker-1, A python3\n"
		"  5.1 ms  B worker-1  at 0.800 s  others waited 5.0 ms  on CPU 20 %, asleep  C "
		"worker-2\n"
		"who blocked whom (waiting time)\n"
		"  C worker-2  ← B worker-1  1.02 s  50 %\n"
		"  B worker-1  ← C worker-2  1.00 s  50 %\n"
		"quality: 2,442 events, 0 lost, 0 duplicated, 0 unmatched; probes cost about 0.2 % "
		"of the threads' CPU time (2.0 µs × 2,442)\n"
		"note: no system-wide wakeups\n";
	const struct report_options options = {0};
	struct totals t;

	build(&t);
	snapshot(report_table, &t, &options, want);
	totals_done(&t);
}

static void test_summary(void **state)
{
	static const char want[] = GIL VERDICT
		"most waiting: C worker-2, 50.6 % of 2.01 s (longest 9.2 ms), has the GIL 48.7 %: "
		"gil-bound\n";
	const struct report_options options = {0};
	struct totals t;

	build(&t);
	snapshot(report_summary, &t, &options, want);
	totals_done(&t);
}

/* Each line of the table fits; what was left out is said. */
static void test_narrow(void **state)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	const struct report_options options = {.columns = 80};
	const char *text, *end;
	struct err err = {0};
	struct totals t;
	size_t size;

	build(&t);
	assert_int_equal(report_table(out, &t.result, &recording, &options, &err), 0);
	text = out_memory_bytes(out, &size);
	assert_non_null(memmem(text, size, "(for a wider terminal: tid, life s", 34));
	for (const char *line = text; line < text + size; line = end + 1) {
		size_t width = 0;

		end = memchr(line, '\n', (size_t)(text + size - line));
		for (const char *p = line; p < end; p++)
			width += (*p & 0xc0) != 0x80;
		if (width > 80)
			fail_msg("%.*s", (int)(end - line), line);
	}
	totals_done(&t);
}

static void test_colour_changes_no_text(void **state)
{
	_cleanup_(cleanup_out) struct out *plain = out_memory(), *colour = out_memory();
	const struct report_options without = {0}, with = {.color = true};
	const char *a, *b;
	struct err err = {0};
	struct totals t;
	size_t n, m;

	build(&t);
	assert_int_equal(report_table(plain, &t.result, &recording, &without, &err), 0);
	assert_int_equal(report_table(colour, &t.result, &recording, &with, &err), 0);
	a = out_memory_bytes(plain, &n);
	b = out_memory_bytes(colour, &m);
	assert_true(m > n);
	for (const char *end = b + m; b < end;) {
		if (*b == '\033') {
			b = (const char *)memchr(b, 'm', (size_t)(end - b)) + 1;
			continue;
		}
		assert_int_equal(*a++, *b++);
	}
	totals_done(&t);
}

/* What the recording cannot tell is a dash, and no hold is invented. */
static void test_releases_missing(void **state)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	const struct report_options options = {0};
	struct err err = {0};
	const char *text;
	struct totals t;
	size_t size;

	build(&t);
	t.result.quality.release_missing = true;
	assert_int_equal(report_table(out, &t.result, &recording, &options, &err), 0);
	text = out_memory_bytes(out, &size);
	assert_non_null(memmem(text, size, "verdict: inconclusive (low): most releases", 42));
	assert_non_null(memmem(text, size, "try: gilprobe record -- python3 app.py", 38));
	assert_null(memmem(text, size, "longest hold", 12));
	assert_null(memmem(text, size, "held 99", 7));
	assert_null(memmem(text, size, "48.9%", 5));
	totals_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_colour_changes_no_text),
		cmocka_unit_test(test_releases_missing),
	};

	return RUN_TESTS(tests);
}

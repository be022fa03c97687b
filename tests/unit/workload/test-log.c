/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "workload/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FACTS                                                                                      \
	"fact\tpython\t3.12.1\nfact\timplementation\tCPython\nfact\tusable_cpus\t2\n"              \
	"fact\tgil_enabled\t0\n"
#define SERIAL "phase\t0\t2\nrun\t100\t300\t150\t7\t8\t100\t200\t80\t7\t8\t200\t300\t70\n"
#define THREADS "phase\t1\t2\nrun\t400\t500\t90\t7\t9\t400\t490\t40\t7\t10\t401\t500\t50\n"

static int parse(const char *text, struct scale_result *ret, struct err *err)
{
	char copy[2048];

	*err = (struct err){0};
	snprintf(copy, sizeof(copy), "%s", text);
	return log_parse(copy, strlen(copy), ret, err);
}

static void reads_a_whole_run(void **state)
{
	struct scale_result result;
	struct err err;
	const struct scale_phase *threads;

	assert_int_equal(parse(FACTS SERIAL THREADS "fact\tgil_enabled_at_end\t1\ndone\n"
						    "end\texit\t0\n",
				 &result, &err),
		0);
	assert_string_equal(result.facts.python, "3.12.1");
	assert_int_equal(result.facts.usable_cpus, 2);
	assert_false(result.facts.gil_enabled);
	assert_true(result.facts.gil_enabled_at_end);
	assert_int_equal(result.n_phases, 2);
	threads = scale_find(&result, SCALE_THREADS, 0);
	assert_ptr_equal(threads, &result.phases[1]);
	assert_int_equal(threads->n_runs, 1);
	assert_int_equal(threads->runs[0].tasks[1].tid, 10);
	assert_int_equal(threads->runs[0].tasks[1].cpu_ns, 50);
	assert_true(scale_speedup(&result, threads) == 2.0);
	scale_result_done(&result);
}

static void says_why_there_is_no_result(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *words;
	} cases[] = {
		{FACTS "fail\tcannot load target x:y\nend\texit\t0\n", -ECHILD,
			"cannot load target x:y"},
		{FACTS SERIAL "end\texit\t3\n", -ECHILD,
			"the target ended its interpreter during the serial run: exit status 3"},
		{"end\tsignal\t9\n", -ECHILD,
			"the interpreter ended before the first run: ended by signal 9 (Killed)"},
		{FACTS SERIAL "phase\t2\t2\nend\ttimeout\t1500000000\n", -ETIME,
			"timed out after 1.5s in the processes run; killed the target and all its "
			"workers"},
		{FACTS SERIAL "end\tinterrupted\t2\n", -EINTR,
			"interrupted; killed the target and all its workers"},
		{FACTS SERIAL, -ECHILD, "the supervisor of the target is gone"},
		{"", -ECHILD, "the supervisor of the target is gone"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scale_result result;
		struct err err;

		assert_int_equal(parse(cases[i].text, &result, &err), cases[i].code);
		assert_string_equal(err.text, cases[i].words);
		scale_result_done(&result);
	}
}

static void keeps_the_rest_when_a_late_mode_is_lost(void **state)
{
	struct scale_result result;
	struct err err;

	assert_int_equal(
		parse(FACTS SERIAL THREADS "phase\t3\t2\nend\tsignal\t11\n", &result, &err), 0);
	assert_string_equal(result.phases[2].unavailable,
		"the interpreter is gone: ended by signal 11 (Segmentation fault)");
	scale_result_done(&result);
}

static void refuses_what_is_no_line(void **state)
{
	static const char *const lines[] = {"x", "fact", "fact\tpython", "fact\tcolor\tred",
		"run\t1\t2\t3", "phase\t9\t1", "phase\t0\t0", "phase\t0\t257", "unavailable\tx",
		"fact\tcpu_count\t-1", "fact\tswitch_interval\tfast",
		"phase\t0\t1\nrun\t2\t1\t0\t1\t1\t1\t1\t1", "phase\t0\t1\nrun\t1\t2\t0\t1\t1\t1\t1",
		"phase\t0\t1\nrun\t1\t2\t0\t1\t1\t1\t1\t1\t9",
		"phase\t0\t1\nrun\t1\t2\t0\t1\t9999999999\t1\t1\t1", "end\texit",
		"done\nend\texit\t0\ndone"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct scale_result result;
		struct err err;

		assert_int_equal(parse(lines[i], &result, &err), -EBADMSG);
		scale_result_done(&result);
	}
}

static void median_and_best(void **state)
{
	struct scale_run runs[] = {{0, 30}, {0, 10}, {0, 20}, {0, 40}, {0, 10}};
	struct scale_phase phase = {.runs = runs, .n_runs = 5};

	assert_int_equal(scale_median_ns(&phase), 20);
	assert_int_equal(scale_best(&phase)->end_ns, 10);
	phase.n_runs = 2; /* as the reference: the upper one of two */
	assert_int_equal(scale_median_ns(&phase), 30);
	phase.n_runs = 0;
	assert_int_equal(scale_median_ns(&phase), 0);
	assert_null(scale_best(&phase));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(reads_a_whole_run),
		cmocka_unit_test(says_why_there_is_no_result),
		cmocka_unit_test(keeps_the_rest_when_a_late_mode_is_lost),
		cmocka_unit_test(refuses_what_is_no_line), cmocka_unit_test(median_and_best)};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A real run in every interpreter of GILPROBE_PYTHONS, or in PATH's python3. */
#include "test.h"

#include "workload/workload.h"

#include <stdlib.h>
#include <string.h>

static void run_in(const char *python)
{
	const struct plan plan = {.builtin = "pure-python",
		.scale = 0.01,
		.workers = {1, 3},
		.n_workers = 2,
		.repeat = 2,
		.interpreters = true};
	const struct workload_options options = {
		.plan = &plan, .python = python, .timeout_ns = 60000000000u};
	struct workload *w = NULL;
	struct scale_result result;
	struct err err = {0};

	assert_int_equal(workload_new(&options, &w, &err), 0);
	assert_int_equal(workload_run(w, &err), 0);
	if (workload_result(w, &result, &err) < 0)
		fail_msg("%s: %s", python ? python : "python3", err.text);
	assert_int_equal(result.n_phases, 7);
	for (size_t i = 0; i < result.n_phases; i++) {
		const struct scale_phase *phase = &result.phases[i];

		if (phase->unavailable && phase->mode == SCALE_INTERPRETERS)
			continue;
		assert_null(phase->unavailable);
		assert_int_equal(phase->n_runs, 2);
		for (size_t k = 0; k < phase->n_runs; k++) {
			const struct scale_run *run = &phase->runs[k];

			assert_int_equal(run->n_tasks, phase->workers);
			for (size_t t = 0; t < run->n_tasks; t++) {
				assert_true(run->tasks[t].start_ns >= run->start_ns);
				assert_true(run->tasks[t].end_ns <= run->end_ns);
				assert_true(run->tasks[t].cpu_ns > 0);
			}
		}
	}
	assert_string_equal(result.facts.implementation, "CPython");
	scale_result_done(&result);
	workload_free(w);
}

static void runs_in_every_interpreter(void **state)
{
	const char *list = getenv("GILPROBE_PYTHONS");
	char *copy = list ? strdup(list) : NULL, *rest = copy;

	if (!copy)
		run_in(NULL);
	for (char *path = strsep(&rest, ":"); path; path = strsep(&rest, ":"))
		if (*path)
			run_in(path);
	free(copy);
}

static void says_what_cannot_run(void **state)
{
	char *path = NULL;
	struct err err = {0};

	assert_int_equal(workload_python("no-such-python", &path, &err), -ENOENT);
	assert_non_null(strstr(err.text, "'no-such-python'"));
	err_clear(&err);
	assert_int_equal(workload_python("/etc/passwd", &path, &err), -EACCES);
	err_clear(&err);
	assert_int_equal(workload_python("sh", &path, &err), 0);
	assert_int_equal(path[0], '/');
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(runs_in_every_interpreter),
		cmocka_unit_test(says_what_cannot_run)};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report: table and JSON of scale have what was measured, and dashes or null for what was not. */
#include "test.h"

#include "report/scale.h"

#include <cjson/cJSON.h>
#include <string.h>

#define MS 1000000ull

static struct scale_task one_task[] = {{7, 7, 0, 100 * MS, 90 * MS}, {7, 7, 0, 100 * MS, 95 * MS}};
static struct scale_task two_tasks[] = {{7, 8, 0, 190 * MS, 95 * MS}, {7, 9, 0, 200 * MS, 96 * MS}};
static struct scale_run serial_runs[] = {
	{0, 220 * MS, 200 * MS, one_task, 2}, {0, 200 * MS, 190 * MS, one_task, 2}};
static struct scale_run thread_runs[] = {{0, 200 * MS, 192 * MS, two_tasks, 2}};
static struct scale_phase phases[] = {
	{SCALE_SERIAL, 2, NULL, serial_runs, 2},
	{SCALE_THREADS, 2, NULL, thread_runs, 1,
		{.known = true,
			.life_ns = 400 * MS,
			.held_ns = 190 * MS,
			.held_asleep_ns = 4 * MS,
			.held_no_cpu_ns = 6 * MS,
			.waiting_ns = 200 * MS,
			.takes = 40,
			.handoffs = 1204,
			.max_hold_ns = 5 * MS}},
	{SCALE_PROCESSES, 2, (char *)"worker process 1 of 2 exited with status 3\033[2J", NULL, 0},
};
static struct scale_result result = {.facts = {.python = (char *)"3.12.1",
					     .implementation = (char *)"CPython",
					     .executable = (char *)"/usr/bin/python3",
					     .gil_enabled = true,
					     .gil_enabled_at_end = true,
					     .switch_interval_s = 0.005,
					     .cpu_count = 4,
					     .usable_cpus = 2,
					     .cpu_availability = 0.5},
	.phases = phases,
	.n_phases = 3};
static const struct scaling_verdict verdict = {.verdict = {.class = CLASS_GIL_BOUND,
						       .confidence = CONFIDENCE_HIGH,
						       .reason = "the reason",
						       .advice = {"do this"},
						       .n_advice = 1},
	.label = "GIL-bound: the label",
	.by_evidence = true};

static double number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);

	if (!cJSON_IsNumber(item))
		fail_msg("'%s' is no number", key);
	return item->valuedouble;
}

static const char *text(const cJSON *object, const char *key)
{
	const char *value = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));

	return value ? value : "";
}

static void json_has_what_was_measured(void **state)
{
	const struct fold_quality quality = {.events = 10, .lost = 1};
	const struct report_scale scale = {.target = "x.py:f",
		.repeat = 2,
		.result = &result,
		.verdict = &verdict,
		.quality = &quality,
		.recording = "p.data"};
	struct out *out = out_memory();
	struct err err = {0};
	const cJSON *modes, *mode;
	const char *page;
	size_t size;
	cJSON *root;

	assert_int_equal(report_scale_json(out, &scale, &err), 0);
	page = out_memory_bytes(out, &size);
	root = cJSON_ParseWithLength(page, size);
	assert_non_null(root);
	assert_string_equal(text(root, "schema"), "gilprobe.scale/1");
	assert_string_equal(text(root, "classification"), "GIL-bound: the label");
	assert_string_equal(text(root, "class"), "gil-bound");
	assert_string_equal(text(root, "confidence"), "high");
	assert_string_equal(text(root, "evidence"), "recording");
	assert_string_equal(text(root, "recording"), "p.data");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(root, "trace")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(root, "fit")));
	assert_true(number(cJSON_GetObjectItem(root, "quality"), "lost") == 1);
	modes = cJSON_GetObjectItem(root, "modes");
	mode = cJSON_GetObjectItem(modes, "serial");
	assert_true(number(mode, "wall_s") == 0.2 && number(mode, "median_wall_s") == 0.22);
	assert_true(number(mode, "cpu_per_wall") == 0.95);
	assert_false(cJSON_HasObjectItem(mode, "speedup"));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(mode, "gil")));
	mode = cJSON_GetObjectItem(modes, "threads");
	assert_true(number(mode, "speedup") == 1);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(mode, "worker_cpu_s")), 2);
	mode = cJSON_GetObjectItem(mode, "gil");
	assert_true(number(mode, "waiting_s") == 0.2 && number(mode, "held_s") == 0.19);
	assert_true(number(mode, "has_gil_off_cpu_s") == 0.01);
	mode = cJSON_GetObjectItem(modes, "processes");
	assert_non_null(strstr(text(mode, "error"), "exited with status 3"));
	assert_false(cJSON_HasObjectItem(mode, "wall_s"));
	cJSON_Delete(root);
	out_free(out);
}

static void has(const char *page, const char *words)
{
	if (!strstr(page, words))
		fail_msg("no '%s' in:\n%s", words, page);
}

static void the_table_fits_the_terminal(void **state)
{
	const struct report_scale scale = {
		.target = "x.py:f", .repeat = 2, .result = &result, .verdict = &verdict};

	for (unsigned columns = 0; columns <= 80; columns += 80) {
		const struct report_options look = {.columns = columns};
		struct out *out = out_memory();
		struct err err = {0};
		const char *page;
		size_t size;

		assert_int_equal(report_scale_table(out, &scale, &look, &err), 0);
		out_write(out, "", 1);
		page = out_memory_bytes(out, &size);
		has(page, "x.py:f, 2 runs of each mode");
		has(page, "CPython 3.12.1");
		has(page, "machine is busy");
		has(page, "47.5%"); /* held, of threads */
		has(page, "50.0%"); /* waiting */
		has(page, "processes with 2 unavailable: worker process 1 of 2 exited");
		has(page, "verdict: gil-bound (high): the reason");
		has(page, "Next step: do this");
		assert_null(strchr(page, '\033'));
		if (!columns)
			has(page, "1,204");
		out_free(out);
	}
}

static void a_gil_that_came_back_is_said(void **state)
{
	const struct report_scale scale = {.target = "x.py:f",
		.repeat = 1,
		.result = &result,
		.verdict = &verdict,
		.no_evidence = "uid 1000"};
	const struct report_options look = {0};
	struct out *out = out_memory();
	struct err err = {0};
	size_t size;

	result.facts.free_threaded_build = true;
	result.facts.gil_enabled = false;
	assert_int_equal(report_scale_table(out, &scale, &look, &err), 0);
	out_write(out, "", 1);
	has(out_memory_bytes(out, &size), "the GIL was off at the start and is on at the end");
	has(out_memory_bytes(out, &size), "by wall-clock time only: uid 1000");
	out_free(out);
}

static void without_a_gil_lock_waits_are_shown(void **state)
{
	struct scale_phase phase = phases[1];
	struct scale_result free = {.facts = result.facts, .phases = &phase, .n_phases = 1};
	const struct report_scale scale = {
		.target = "x.py:f", .repeat = 1, .result = &free, .verdict = &verdict};
	const struct report_options look = {0};
	struct out *out = out_memory();
	struct err err = {0};
	const char *page;
	size_t size;

	phase.evidence = (struct scale_evidence){.known = true,
		.life_ns = 400 * MS,
		.native_ns = 220 * MS,
		.runnable_ns = 20 * MS,
		.blocked_ns = 160 * MS,
		.blocked_by_sibling_ns = 150 * MS};
	free.facts.free_threaded_build = true;
	free.facts.gil_enabled = free.facts.gil_enabled_at_end = false;
	assert_int_equal(report_scale_table(out, &scale, &look, &err), 0);
	out_write(out, "", 1);
	page = out_memory_bytes(out, &size);
	has(page, "on CPU  runnable  lock waits  blocked\n");
	has(page, " 55.0%      5.0%       37.5%     2.5%\n");
	assert_null(strstr(page, "has GIL"));
	assert_null(strstr(page, "waiting"));
	out_free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(json_has_what_was_measured),
		cmocka_unit_test(the_table_fits_the_terminal),
		cmocka_unit_test(a_gil_that_came_back_is_said),
		cmocka_unit_test(without_a_gil_lock_waits_are_shown)};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the JSON has every key of its schema, whatever the recording can tell, and its numbers
 * are those of the totals.
 */
#include "test.h"
#include "totals.h"

#include "report/report.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

static const char *const top[] = {
	"schema", "recording", "quality", "gils", "threads", "holds", "blame", "verdict", NULL};
static const char *const recording_keys[] = {"files", "command", "start_unix_s", "duration_s",
	"hostname", "kernel", "clock", "interpreters", NULL};
static const char *const interpreter_keys[] = {
	"path", "version", "build_id", "free_threaded", NULL};
static const char *const quality_keys[] = {"events", "lost", "duplicated", "late", "unmatched",
	"overlapping_holds", "unknown_s", "probe_hits", "probe_cost_s", "notes", NULL};
static const char *const gil_keys[] = {"pid", "interpreter", "held_s", "held_on_cpu_s",
	"contended_s", "life_s", "takes", "handoffs", "forced", "max_hold_s", "max_wait_s",
	"waiters_mean", "serial_fraction", "max_useful_threads", NULL};
static const char *const thread_keys[] = {"pid", "tid", "name", "process", "life_s", "has_gil_s",
	"has_gil_off_cpu_s", "has_gil_blocked_s", "has_gil_runnable_s", "waiting_s", "native_s",
	"runnable_s", "blocked_s", "unknown_s", "takes", "max_hold_s", "max_wait_s", "wait_p50_s",
	"wait_p99_s", "class", "reason", NULL};
static const char *const hold_keys[] = {"pid", "tid", "name", "start_s", "dur_s", "on_cpu_s",
	"blocked_s", "runnable_s", "others_waited_s", "waiters", "stack", NULL};
static const char *const blame_keys[] = {"waiter_tid", "holder_tid", "wait_s", "waits", NULL};
static const char *const verdict_keys[] = {"class", "confidence", "reason", "advice", NULL};

static const struct totals_row rows[] = {
	{"python3", .tid = 100, .hold = 30, .blocked = 1970, .takes = 10, .blocks = 3},
	{"worker-1", .hold = 985, .hold_asleep = 2, .hold_ready = 1, .wait = 1003, .native = 4,
		.ready = 8, .blocked = 12, .takes = 611, .forced = 600, .waits = 600,
		.others_waited = 980, .max_hold = 5.1, .max_wait = 10.2, .waits_for = "worker-2"},
	{"worker-2", .hold = 980, .wait = 1020, .native = 4, .ready = 8, .blocked = 2, .takes = 600,
		.forced = 600, .waits = 600, .others_waited = 1000, .max_hold = 142,
		.max_wait = 9.2, .waits_for = "worker-1"},
};

static void has_keys(const cJSON *object, const char *const *keys)
{
	int n = 0;

	assert_true(cJSON_IsObject(object));
	for (; keys[n]; n++)
		if (!cJSON_HasObjectItem(object, keys[n]))
			fail_msg("no key '%s'", keys[n]);
	assert_int_equal(cJSON_GetArraySize(object), n);
}

static void all_have_keys(const cJSON *root, const char *list, const char *const *keys, int n)
{
	const cJSON *array = cJSON_GetObjectItem(root, list), *item;

	assert_int_equal(cJSON_GetArraySize(array), n);
	cJSON_ArrayForEach(item, array) has_keys(item, keys);
}

static cJSON *report(const struct totals *t, const struct report_recording *recording)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	struct err err = {0};
	const char *text;
	size_t size;
	cJSON *root;

	assert_int_equal(report_json(out, &t->result, recording, &err), 0);
	text = out_memory_bytes(out, &size);
	root = cJSON_ParseWithLength(text, size);
	assert_non_null(root);
	has_keys(root, top);
	has_keys(cJSON_GetObjectItem(root, "recording"), recording_keys);
	has_keys(cJSON_GetObjectItem(root, "quality"), quality_keys);
	has_keys(cJSON_GetObjectItem(root, "verdict"), verdict_keys);
	return root;
}

static void build(struct totals *t)
{
	struct fold_hold *hold;

	totals_build(t, rows, 3);
	hold = totals_hold(t, "worker-2", 500, 142, 140, 141);
	hold->n_waiters = 6;
	for (size_t i = 0; i < FOLD_HOLD_WAITERS; i++)
		hold->waiters[i] = &t->threads[1];
}

static const cJSON *thread(const cJSON *root, int i)
{
	return cJSON_GetArrayItem(cJSON_GetObjectItem(root, "threads"), i);
}

static double number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);

	if (!cJSON_IsNumber(item))
		fail_msg("'%s' is no number", key);
	return item->valuedouble;
}

static void close_to(const cJSON *object, const char *key, double want)
{
	double got = number(object, key);

	if (fabs(got - want) > 1e-6)
		fail_msg("%s = %.9f, not %.9f", key, got, want);
}

static void is_null(const cJSON *object, const char *key)
{
	if (!cJSON_IsNull(cJSON_GetObjectItem(object, key)))
		fail_msg("'%s' is not null", key);
}

static void test_keys(void **state)
{
	static const char *const files[] = {"a.data", "b.data"};
	static const struct report_interpreter interpreter = {"/usr/bin/python3", NULL, NULL, true};
	const struct report_recording recording = {
		.files = files,
		.n_files = 2,
		.command = "python3 \"a\xff.py\"",
		.interpreters = &interpreter,
		.n_interpreters = 1,
		.has_start = true,
		.start_unix_ns = 1700000000123456789u,
	};
	struct totals t;
	cJSON *root;

	build(&t);
	root = report(&t, &recording);
	all_have_keys(root, "gils", gil_keys, 1);
	all_have_keys(root, "threads", thread_keys, 3);
	all_have_keys(root, "holds", hold_keys, 1);
	all_have_keys(root, "blame", blame_keys, 2);
	all_have_keys(cJSON_GetObjectItem(root, "recording"), "interpreters", interpreter_keys, 1);
	assert_string_equal(
		cJSON_GetObjectItem(cJSON_GetObjectItem(root, "recording"), "command")->valuestring,
		"python3 \"a\xef\xbf\xbd.py\"");
	cJSON_Delete(root);
	totals_done(&t);
}

static void test_numbers(void **state)
{
	const struct report_recording recording = {0};
	const cJSON *t1, *gil, *hold;
	struct totals t;
	cJSON *root;

	build(&t);
	root = report(&t, &recording);
	t1 = thread(root, 1);
	close_to(t1, "has_gil_s", 0.985);
	close_to(t1, "has_gil_off_cpu_s", 0.003);
	close_to(t1, "has_gil_blocked_s", 0.002);
	close_to(t1, "has_gil_runnable_s", 0.001);
	close_to(t1, "waiting_s", 1.003);
	close_to(t1, "life_s",
		number(t1, "has_gil_s") + number(t1, "has_gil_off_cpu_s") +
			number(t1, "waiting_s") + number(t1, "native_s") +
			number(t1, "runnable_s") + number(t1, "blocked_s") +
			number(t1, "unknown_s"));
	assert_string_equal(cJSON_GetObjectItem(t1, "process")->valuestring, "python3");
	assert_string_equal(cJSON_GetObjectItem(t1, "class")->valuestring, "gil-bound");
	gil = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "gils"), 0);
	close_to(gil, "max_useful_threads", 1 / (1.995 / 2.003));
	close_to(gil, "held_s", 1.998);
	hold = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "holds"), 0);
	close_to(hold, "start_s", 0.5);
	close_to(hold, "on_cpu_s", 0.140);
	assert_int_equal(
		cJSON_GetArraySize(cJSON_GetObjectItem(hold, "waiters")), FOLD_HOLD_WAITERS);
	is_null(hold, "stack");
	is_null(cJSON_GetObjectItem(root, "recording"), "start_unix_s");
	cJSON_Delete(root);
	totals_done(&t);
}

static void test_no_scheduler_events(void **state)
{
	const struct report_recording recording = {0};
	const cJSON *t1, *gil;
	struct totals t;
	cJSON *root;

	build(&t);
	t.result.quality.cpu_known = t.result.quality.runnable_known = false;
	t.result.quality.forced_known = false;
	t.holds[0].on_cpu_ns = t.holds[0].blocked_ns = 0;
	root = report(&t, &recording);
	t1 = thread(root, 1);
	close_to(t1, "has_gil_s", 0.985);
	close_to(t1, "waiting_s", 1.003);
	is_null(t1, "has_gil_off_cpu_s");
	is_null(t1, "native_s");
	is_null(t1, "runnable_s");
	is_null(t1, "blocked_s");
	gil = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "gils"), 0);
	is_null(gil, "held_on_cpu_s");
	is_null(gil, "forced");
	is_null(gil, "serial_fraction");
	is_null(gil, "max_useful_threads");
	is_null(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "holds"), 0), "on_cpu_s");
	all_have_keys(root, "gils", gil_keys, 1);
	all_have_keys(root, "threads", thread_keys, 3);
	all_have_keys(root, "holds", hold_keys, 1);
	cJSON_Delete(root);
	totals_done(&t);
}

/* PERF_RECORD_SWITCH: on a CPU or not, but not why. */
static void test_no_wakeups(void **state)
{
	const struct report_recording recording = {0};
	const cJSON *t1;
	struct totals t;
	cJSON *root;

	build(&t);
	t.result.quality.runnable_known = false;
	root = report(&t, &recording);
	t1 = thread(root, 1);
	is_null(t1, "runnable_s");
	is_null(t1, "has_gil_runnable_s");
	close_to(t1, "has_gil_off_cpu_s", 0.003);
	close_to(t1, "has_gil_blocked_s", 0.003);
	close_to(t1, "blocked_s", 0.020);
	close_to(t1, "native_s", 0.004);
	cJSON_Delete(root);
	totals_done(&t);
}

static void test_no_wants(void **state)
{
	const struct report_recording recording = {0};
	struct totals t;
	cJSON *root;

	build(&t);
	t.result.quality.wait_known = false;
	root = report(&t, &recording);
	is_null(thread(root, 1), "waiting_s");
	is_null(thread(root, 1), "max_wait_s");
	is_null(thread(root, 1), "wait_p99_s");
	close_to(thread(root, 1), "has_gil_s", 0.985);
	cJSON_Delete(root);
	totals_done(&t);
}

/* drop_gil was inlined: no hold can be told, and none is. */
static void test_releases_missing(void **state)
{
	const struct report_recording recording = {0};
	const cJSON *verdict;
	struct totals t;
	cJSON *root;

	build(&t);
	t.result.quality.release_missing = true;
	root = report(&t, &recording);
	is_null(thread(root, 1), "has_gil_s");
	is_null(thread(root, 1), "has_gil_off_cpu_s");
	is_null(thread(root, 1), "native_s");
	is_null(thread(root, 1), "max_hold_s");
	is_null(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "gils"), 0), "held_s");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "holds")), 0);
	verdict = cJSON_GetObjectItem(root, "verdict");
	assert_string_equal(cJSON_GetObjectItem(verdict, "class")->valuestring, "inconclusive");
	assert_non_null(
		strstr(cJSON_GetObjectItem(verdict, "reason")->valuestring, "gilprobe record"));
	cJSON_Delete(root);
	totals_done(&t);
}

static void test_empty(void **state)
{
	const struct report_recording recording = {0};
	struct totals t;

	totals_build(&t, NULL, 0);
	t.result.start_ns = 0;
	cJSON_Delete(report(&t, &recording));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_no_scheduler_events),
		cmocka_unit_test(test_no_wakeups),
		cmocka_unit_test(test_no_wants),
		cmocka_unit_test(test_releases_missing),
		cmocka_unit_test(test_empty),
	};

	return RUN_TESTS(tests);
}

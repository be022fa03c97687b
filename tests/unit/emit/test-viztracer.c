/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merging real reports of VizTracer (tests/golden/data), and files that are none. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "scene.h"

static int merge(struct scene *s, const char *name, struct err *err)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", getenv("GOLDEN_DATA"), name);
	return emit_chrome_merge_viztracer(s->emit, path, err);
}

static int merge_text(struct scene *s, const char *text, struct err *err)
{
	char path[] = "/tmp/test-viztracer-XXXXXX";
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	r = emit_chrome_merge_viztracer(s->emit, path, err);
	unlink(path);
	return r;
}

static int count(const struct scene *s, const char *ph)
{
	const cJSON *event;
	int n = 0;

	cJSON_ArrayForEach(event, get(s->tree, "traceEvents")) n +=
		!strcmp(get_str(event, "ph"), ph);
	return n;
}

static void its_events_and_names_are_kept(void **state)
{
	struct emit_options options = scene_options();
	struct err err = {0};
	struct scene s;

	scene_init(&s, &options);
	s.process.pid = s.main.tid = 23717;
	s.worker.tid = 23721;
	assert_int_equal(merge(&s, "viztracer.json", &err), 0);
	scene_span(&s, &s.worker, SPAN_HAS_GIL, T0, T0 + MS);
	scene_hold(&s, &s.worker, T0, T0 + MS);
	scene_finish(&s);
	assert_int_equal(count(&s, "X"), 979 + 2);
	/* its names of Python's threads, not the kernel's, on our rows too */
	assert_non_null(scene_event(&s, "X", 1000000000, "B worker-1", 0));
	assert_string_equal(
		get_str(get(scene_event(&s, "M", 1000023721, "thread_name", 0), "args"), "name"),
		"worker-1 GIL");
	assert_non_null(scene_event(&s, "M", 23721, "thread_name", 0));
	assert_null(scene_event(&s, "M", 23721, "thread_name", 1));
	assert_null(scene_event(&s, "M", 23717, "process_name", 1));
	assert_non_null(scene_event(&s, "M", 23721, "thread_sort_index", 0));
	assert_true(cJSON_IsObject(get(get(s.tree, "file_info"), "functions")));
	assert_true(emit_chrome_merge_fits(s.emit));
	scene_done(&s);
}

static void plain_json_under_a_gz_name_is_read(void **state)
{
	struct emit_options options = scene_options();
	struct err err = {0};
	struct scene s;

	scene_init(&s, &options);
	assert_int_equal(merge(&s, "viztracer-plain.json.gz", &err), 0);
	scene_finish(&s);
	assert_true(count(&s, "X") > 900);
	scene_done(&s);
}

/* All of the text is there, but its checksum, at the very end, is another. */
static void a_damaged_archive_is_refused(void **state)
{
	static const char text[] = "{\"viztracer_metadata\": {}, \"traceEvents\": []}";
	struct emit_options options = scene_options();
	char path[] = "/tmp/test-viztracer-XXXXXX";
	int fd = mkstemp(path);
	gzFile file = gzdopen(fd, "wb");
	struct err err = {0};
	struct stat st;
	struct scene s;

	assert_non_null(file);
	assert_int_equal(gzwrite(file, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(gzclose(file), Z_OK);
	fd = open(path, O_WRONLY);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, "\xff\xff", 2, st.st_size - 8), 2);
	close(fd);
	scene_init(&s, &options);
	assert_int_equal(emit_chrome_merge_viztracer(s.emit, path, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "is damaged"));
	unlink(path);
	scene_finish(&s);
	scene_done(&s);
}

static void another_clock_is_refused(void **state)
{
	struct emit_options options = scene_options();
	struct err err = {0};
	struct scene s;

	options.clock_monotonic = false;
	scene_init(&s, &options);
	assert_int_equal(merge(&s, "viztracer.json", &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "CLOCK_MONOTONIC"));
	assert_string_not_equal(err.hint, "");
	scene_done(&s);
}

static void another_run_is_noticed(void **state)
{
	struct emit_options options = scene_options();
	struct err err = {0};
	struct scene s;

	scene_init(&s, &options);
	assert_int_equal(merge_text(&s,
				 "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1.5,\"dur\":9,\"pid\":1,"
				 "\"tid\":1,\"name\":\"f\"}],\"viztracer_metadata\":"
				 "{\"overflow\":true}}",
				 &err),
		0);
	scene_finish(&s);
	assert_false(emit_chrome_merge_fits(s.emit));
	assert_true(cJSON_IsTrue(get(get(s.tree, "viztracer_metadata"), "overflow")));
	scene_done(&s);
}

static void what_is_no_report_is_refused(void **state)
{
	static const char *const cases[] = {"", "<!DOCTYPE html>", "[]", "{}",
		"{\"traceEvents\":[]}", "{\"viztracer_metadata\":{}}",
		"{\"traceEvents\":{},\"viztracer_metadata\":{}}",
		"{\"traceEvents\":[1],\"viztracer_metadata\":{}}",
		"{\"traceEvents\":[],\"viztracer_metadata\":{}} more",
		"{\"traceEvents\":[{\"ph\":"};
	struct emit_options options = scene_options();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err err = {0};
		struct scene s;

		scene_init(&s, &options);
		if (merge_text(&s, cases[i], &err) != -EBADMSG)
			fail_msg("'%s' was accepted", cases[i]);
		assert_string_not_equal(err.text, "");
		scene_done(&s);
	}
}

static void bad_bytes_leave_valid_json(void **state)
{
	struct emit_options options = scene_options();
	struct err err = {0};
	struct scene s;
	const char *text;

	scene_init(&s, &options);
	assert_int_equal(merge_text(&s,
				 "{\"viztracer_metadata\":{},\"traceEvents\":[{\"ph\":\"M\","
				 "\"pid\":4711,\"tid\":4711,\"name\":\"thread_name\",\"args\":"
				 "{\"name\":\"\\ud83d\\udc0d \xff\"}},{\"ph\":\"M\"},{}]}",
				 &err),
		0);
	scene_hold(&s, &s.main, T0, T0 + MS);
	text = scene_finish(&s);
	assert_null(strchr(text, 0xff));
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_events_and_names_are_kept),
		cmocka_unit_test(plain_json_under_a_gz_name_is_read),
		cmocka_unit_test(a_damaged_archive_is_refused),
		cmocka_unit_test(another_clock_is_refused),
		cmocka_unit_test(another_run_is_noticed),
		cmocka_unit_test(what_is_no_report_is_refused),
		cmocka_unit_test(bad_bytes_leave_valid_json),
	};

	return RUN_TESTS(tests);
}

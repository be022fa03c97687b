/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "emit/names.h"
#include "scene.h"

static void empty_run_is_valid(void **state)
{
	struct emit_options options = {0};
	struct scene s;

	scene_init(&s, &options);
	s.result = (struct fold_result){0};
	assert_ptr_equal(strstr(scene_finish(&s), "{\"traceEvents\":["),
		out_memory_bytes(s.out, &(size_t){0}));
	assert_int_equal(cJSON_GetArraySize(get(s.tree, "traceEvents")), 0);
	assert_true(cJSON_IsFalse(get(get(s.tree, "viztracer_metadata"), "overflow")));
	assert_null(get(get(s.tree, "viztracer_metadata"), "baseTimeNanoseconds"));
	assert_null(get(s.tree, "displayTimeUnit"));
	scene_done(&s);
}

static void every_state_has_its_row_name_and_times(void **state)
{
	static const char *const names[SPAN_STATES] = {NULL, "GIL held, running",
		"GIL held, off-CPU", "waiting for GIL", "running without GIL", "waiting for a CPU",
		"I/O or sleep"};
	struct emit_options options = scene_options();
	struct scene s;
	const char *text;

	scene_init(&s, &options);
	for (int i = 0; i < SPAN_STATES; i++)
		scene_span(&s, &s.worker, (enum span_state)i, T0 + 1000u * i + 7,
			T0 + 1000u * i + 1007);
	text = scene_finish(&s);
	for (int i = 1; i < SPAN_STATES; i++)
		assert_non_null(scene_event(&s, "X", 1000004712, names[i], 0));
	assert_null(scene_event(&s, "X", 0, NULL, SPAN_STATES - 1));
	assert_int_equal(emit_chrome_slices(s.emit), SPAN_STATES - 1);
	/* exactly three decimals, whatever the digits */
	assert_non_null(strstr(text, "\"ts\":882250415.728,\"dur\":1.000,"));
	assert_non_null(strstr(text, "\"baseTimeNanoseconds\":1700000000000000123"));
	scene_done(&s);
}

static void rows_are_named_and_ordered(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;

	scene_init(&s, &options);
	scene_finish(&s);
	assert_string_equal(
		get_str(get(scene_event(&s, "M", 1000004712, "thread_name", 0), "args"), "name"),
		"worker \"0\"\xef\xbf\xbd GIL");
	assert_string_equal(
		get_str(get(scene_event(&s, "M", 1000000000, "thread_name", 0), "args"), "name"),
		"GIL");
	assert_string_equal(
		get_str(get(scene_event(&s, "M", 4711, "process_name", 0), "args"), "name"),
		"python3");
	for (int i = 0; i < 2; i++) {
		double row = i ? 1000004712 : 1000004711;
		double sort = get(get(scene_event(&s, "M", row, "thread_sort_index", 0), "args"),
			"sort_index")
				      ->valuedouble;
		double native = get(
			get(scene_event(&s, "M", row - EMIT_ROWS, "thread_sort_index", 0), "args"),
			"sort_index")
					->valuedouble;

		assert_true(sort == 2 * i + 2);
		assert_true(native == sort + 1);
	}
	scene_done(&s);
}

static void rows_of_further_gils_are_no_threads(void **state)
{
	struct fold_gil gil = {.number = 3};
	struct fold_thread thread = {.tid = 2};
	char name[EMIT_GIL_NAME];

	assert_int_equal(emit_gil_row(&gil), 999999998);
	assert_int_equal(emit_thread_row(&thread), 1000000002);
	assert_string_equal(emit_gil_name(&gil, name), "GIL #3");
}

static void check_wait(const struct scene *s)
{
	const cJSON *args = get(scene_event(s, "X", 0, "waiting for GIL", 0), "args");

	assert_null(scene_event(s, "X", 0, "waiting for GIL", 1));
	assert_string_equal(get_str(args, "holders"), "A python3, B worker \"0\"\xef\xbf\xbd");
	assert_string_equal(get_str(args, "holder_tids"), "4711, 4712");
	assert_true(get(args, "holder_off_cpu_us")->valuedouble == 1.001);
	assert_true(get(args, "holder_running_us")->valuedouble == 0.005);
	assert_true(get(args, "switch_requests")->valuedouble == 2);
	assert_null(get(args, "gil_free_us"));
	assert_null(get(args, "forced_switch"));
}

static void what_is_known_of_a_wait_is_told(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;

	scene_init(&s, &options);
	scene_wait(&s, &s.worker, T0, T0 + MS);
	scene_span(&s, &s.worker, SPAN_WAITING, T0, T0 + MS);
	scene_finish(&s);
	check_wait(&s);
	scene_done(&s);
}

/* The wait inside drop_gil and that inside take_gil, with nothing between. */
static void two_waits_can_be_one_span(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	const cJSON *args;

	scene_init(&s, &options);
	scene_wait(&s, &s.worker, T0, T0 + MS);
	scene_wait(&s, &s.worker, T0 + MS, T0 + 3 * MS);
	scene_span(&s, &s.worker, SPAN_WAITING, T0, T0 + 3 * MS);
	scene_finish(&s);
	args = get(scene_event(&s, "X", 0, "waiting for GIL", 0), "args");
	assert_string_equal(get_str(args, "holder_tids"), "4711, 4712");
	assert_true(get(args, "switch_requests")->valuedouble == 4);
	assert_true(get(args, "holder_off_cpu_us")->valuedouble == 2.002);
	scene_done(&s);
}

static void a_span_without_its_wait_is_written(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;

	scene_init(&s, &options);
	scene_wait(&s, &s.worker, T0 - 100, T0 - 1); /* of another span */
	scene_span(&s, &s.worker, SPAN_WAITING, T0, T0 + MS);
	scene_span(&s, &s.worker, SPAN_HAS_GIL, T0 + MS, T0 + 2 * MS);
	scene_span(&s, &s.worker, SPAN_WAITING, T0 + 2 * MS, T0 + 3 * MS);
	scene_finish(&s);
	for (int i = 0; i < 2; i++)
		assert_null(get(scene_event(&s, "X", 0, "waiting for GIL", i), "args"));
	assert_non_null(scene_event(&s, "X", 0, "waiting for GIL", 1));
	assert_null(scene_event(&s, "X", 0, "waiting for GIL", 2));
	scene_done(&s);
}

/* A recording can hold names of any length; a line is put together in a buffer. */
static void names_of_any_length_are_kept(void **state)
{
	struct emit_options options = scene_options();
	char name[2200];

	for (size_t size = 0; size<sizeof(name); size += size> 700 && size < 1100 ? 1 : 100) {
		struct scene s;

		memset(name, 'n', size);
		name[size] = '\0';
		scene_init(&s, &options);
		s.main.name = s.worker.name = name;
		scene_wait(&s, &s.worker, T0, T0 + MS);
		scene_span(&s, &s.worker, SPAN_WAITING, T0, T0 + MS);
		scene_hold(&s, &s.worker, T0, T0 + MS);
		scene_finish(&s);
		assert_int_equal(strlen(get_str(scene_event(&s, "X", 1000000000, NULL, 0), "name")),
			size ? size + 2 : 1);
		scene_done(&s);
	}
}

static void the_holders_row_has_letters(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	const cJSON *second;

	scene_init(&s, &options);
	scene_hold(&s, &s.worker, T0 + MS, T0 + 2 * MS); /* not in order: one was in doubt */
	scene_hold(&s, &s.main, T0, T0 + MS);
	scene_hold(&s, &s.main, T0 + 2 * MS, T0 + 2 * MS + 49999);
	scene_finish(&s);
	assert_non_null(scene_event(&s, "X", 1000000000, "A python3", 0));
	second = scene_event(&s, "X", 1000000000, "B worker \"0\"\xef\xbf\xbd", 0);
	assert_true(get(second, "dur")->valuedouble == 1000);
	assert_true(get(get(second, "args"), "on_cpu_percent")->valuedouble == 100);
	assert_true(get(get(second, "args"), "others_waited_us")->valuedouble == 0.077);
	assert_null(get(scene_event(&s, "X", 1000000000, "A python3", 1), "args"));
	assert_null(scene_event(&s, "X", 1000000000, NULL, 3));
	scene_done(&s);
}

static double counter(const struct scene *s, const char *name, int nth, const char *key)
{
	const cJSON *event = scene_event(s, "C", 0, name, nth);

	return event ? get(get(event, "args"), key)->valuedouble : -1;
}

static void counters_are_averages_and_changes(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	void *user;

	scene_init(&s, &options);
	user = s.sink->user;
	s.gil.end_ns = T0 + 200 * MS;
	s.sink->holder(user, &s.gil, T0, &s.main, NULL);
	s.sink->waiters(user, &s.gil, T0 + MS, 1, NULL);
	s.sink->waiters(user, &s.gil, T0 + MS + 100, 2, NULL); /* too soon: written when due */
	s.sink->waiters(user, &s.gil, T0 + 3 * MS, 1, NULL);
	s.sink->waiters(user, &s.gil, T0 + 100 * MS, 0, NULL);
	s.sink->holder(user, &s.gil, T0 + 150 * MS, NULL, NULL);
	scene_finish(&s);
	assert_true(counter(&s, "GIL", 0, "waiters") == 1);
	assert_true(counter(&s, "GIL", 1, "waiters") == 2);
	assert_true(get(scene_event(&s, "C", 0, "GIL", 1), "ts")->valuedouble == 882251914.721);
	assert_true(counter(&s, "GIL", 2, "waiters") == 1);
	assert_true(counter(&s, "GIL", 3, "waiters") == 0);
	assert_null(scene_event(&s, "C", 0, "GIL", 4));
	assert_true(counter(&s, "GIL held", 0, "%") == 100);
	assert_true(
		get(scene_event(&s, "C", 0, "GIL held", 0), "ts")->valuedouble == 882250414.721);
	assert_true(counter(&s, "GIL mean", 1, "waiters") == 1);
	scene_done(&s);
}

static void hand_overs_are_arrows_between_held_slices(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	const cJSON *from, *to;

	scene_init(&s, &options);
	/* the release's span comes before or after the hand-over is told */
	scene_span(&s, &s.main, SPAN_HAS_GIL, T0, T0 + MS);
	scene_wait(&s, &s.worker, T0, T0 + MS + 10000);
	scene_handoff(&s, &s.main, &s.worker, T0 + MS, T0 + MS + 10000);
	scene_span(&s, &s.worker, SPAN_WAITING, T0, T0 + MS + 10000);
	scene_handoff(&s, &s.worker, &s.main, T0 + 2 * MS, T0 + 4 * MS);
	scene_span(&s, &s.worker, SPAN_HAS_GIL, T0 + MS + 10000, T0 + 2 * MS);
	scene_span(&s, &s.main, SPAN_HAS_GIL, T0 + 4 * MS, T0 + 5 * MS);
	/* short waits in quick succession */
	scene_handoff(&s, &s.main, &s.worker, T0 + 5 * MS, T0 + 5 * MS + 10);
	scene_span(&s, &s.worker, SPAN_HAS_GIL, T0 + 5 * MS + 10, T0 + 6 * MS);
	/* a release whose slice was never drawn */
	scene_handoff(&s, &s.main, &s.worker, T0 + 7 * MS, T0 + 8 * MS);
	scene_span(&s, &s.worker, SPAN_HAS_GIL, T0 + 8 * MS, T0 + 9 * MS);
	scene_finish(&s);
	from = scene_event(&s, "s", 1000004711, "GIL hand-over", 0);
	to = scene_event(&s, "f", 1000004712, "GIL hand-over", 0);
	assert_true(get(from, "ts")->valuedouble == 882251414.720);
	assert_true(get(to, "ts")->valuedouble == 882251424.721);
	assert_true(get(from, "id")->valuedouble == get(to, "id")->valuedouble);
	assert_string_equal(get_str(to, "bp"), "e");
	assert_non_null(scene_event(&s, "s", 1000004712, NULL, 0));
	assert_non_null(scene_event(&s, "f", 1000004711, NULL, 0));
	assert_null(scene_event(&s, "s", 0, NULL, 2));
	assert_null(scene_event(&s, "f", 0, NULL, 2));
	scene_done(&s);
}

static void options_leave_slices_out_and_no_arrow_hangs(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;

	options.idle = false;
	options.min_dur_ns = MS;
	scene_init(&s, &options);
	scene_span(&s, &s.main, SPAN_BLOCKED, T0 - 9 * MS, T0);
	scene_span(&s, &s.main, SPAN_HAS_GIL, T0, T0 + MS - 1);
	scene_hold(&s, &s.main, T0, T0 + MS - 1);
	scene_handoff(&s, &s.main, &s.worker, T0 + MS - 1, T0 + MS);
	scene_span(&s, &s.worker, SPAN_HAS_GIL, T0 + MS, T0 + 3 * MS);
	scene_hold(&s, &s.worker, T0 + MS, T0 + 3 * MS);
	scene_handoff(&s, &s.worker, &s.main, T0 + 3 * MS, T0 + 3 * MS + 1);
	scene_span(&s, &s.main, SPAN_HAS_GIL, T0 + 3 * MS + 1, T0 + 3 * MS + 2);
	scene_finish(&s);
	assert_null(scene_event(&s, "X", 1000004711, NULL, 0));
	assert_null(scene_event(&s, "X", 1000000000, NULL, 1));
	assert_non_null(scene_event(&s, "X", 1000004712, NULL, 0));
	assert_null(scene_event(&s, "s", 0, NULL, 0));
	assert_null(scene_event(&s, "f", 0, NULL, 0));
	scene_done(&s);
}

static void without_releases_only_waits_are_drawn(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;

	options.waits_only = true;
	scene_init(&s, &options);
	scene_wait(&s, &s.worker, T0, T0 + MS);
	s.sink->holder(s.sink->user, &s.gil, T0 + MS, &s.worker, NULL);
	for (int i = 0; i < SPAN_STATES; i++)
		scene_span(&s, &s.worker, (enum span_state)i, T0 + i * MS, T0 + (i + 1) * MS);
	scene_hold(&s, &s.worker, T0 + MS, T0 + 2 * MS);
	scene_finish(&s);
	assert_non_null(scene_event(&s, "X", 0, "waiting for GIL", 0));
	assert_null(scene_event(&s, "X", 0, NULL, 1));
	for (int i = 0; i < 2; i++)
		assert_true(counter(&s, "GIL held", i, "%") <= 0);
	scene_done(&s);
}

static void thread_states_are_on_the_real_thread(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	struct fold_cpu cpu = {.start_ns = T0, .end_ns = T0 + 5, .cpu = 1, .name = "Running"};
	const cJSON *event;

	scene_init(&s, &options);
	cpu.thread = &s.worker;
	assert_int_equal(s.sink->cpu(s.sink->user, &cpu, NULL), 0);
	cpu = (struct fold_cpu){&s.worker, T0 + 5, T0 + 9, -1, "S"};
	assert_int_equal(s.sink->cpu(s.sink->user, &cpu, NULL), 0);
	scene_finish(&s);
	event = scene_event(&s, "T", 4712, "Running", 0);
	assert_true(get(get(event, "args"), "cpu")->valuedouble == 1);
	event = scene_event(&s, "T", 4712, "S", 0);
	assert_non_null(event);
	assert_null(get(event, "args"));
	scene_done(&s);
}

static void phases_are_named_slices(void **state)
{
	static const char *const names[] = {NULL, "serial", "threads"};
	struct emit_options options = scene_options();
	struct scene s;
	const cJSON *event;

	options.phase_names = names;
	options.n_phase_names = 3;
	scene_init(&s, &options);
	s.sink->mark(s.sink->user, T0, 1, NULL);
	s.sink->mark(s.sink->user, T0 + MS, 0, NULL);
	s.sink->mark(s.sink->user, T0 + 2 * MS, 2, NULL);
	scene_finish(&s);
	event = scene_event(&s, "X", 1000000000, "serial", 0);
	assert_true(get(event, "dur")->valuedouble == 1000);
	event = scene_event(&s, "X", 1000000000, "threads", 0);
	assert_true(get(event, "dur")->valuedouble == 998000);
	assert_null(scene_event(&s, "X", 0, NULL, 2));
	assert_string_equal(
		get_str(get(scene_event(&s, "M", 1000000000, "process_name", 0), "args"), "name"),
		"phase");
	scene_done(&s);
}

static void totals_stand_behind_the_events(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	const cJSON *own, *thread;

	scene_init(&s, &options);
	scene_span(&s, &s.worker, SPAN_NATIVE, T0, T0 + 12345);
	scene_finish(&s);
	own = get(s.tree, "gilprobe");
	assert_string_equal(get_str(own, "command"), "python3 \"app\".py");
	thread = cJSON_GetArrayItem(get(own, "threads"), 1);
	assert_true(get(thread, "native_ns")->valuedouble == 12345);
	assert_true(get(thread, "tid")->valuedouble == 4712);
	assert_int_equal(cJSON_GetArraySize(get(own, "gils")), 1);
	scene_done(&s);
}

static void a_full_disk_stops_the_run(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	struct out *full;
	struct emit_chrome *emit;
	struct err err = {0};
	struct span span = {.state = SPAN_NATIVE, .start_ns = T0, .end_ns = T0 + 1};
	int r = 0;

	scene_init(&s, &options);
	span.thread = &s.worker;
	assert_int_equal(out_create("/dev/full", &full, &err), 0);
	assert_int_equal(emit_chrome_new(full, &options, &emit, &err), 0);
	for (int i = 0; i < 100000 && r >= 0; i++)
		r = emit_chrome_sink(emit)->span(emit, &span, &err);
	assert_int_equal(r, -ENOSPC);
	assert_string_not_equal(err.text, "");
	emit_chrome_free(emit);
	out_free(full);
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_run_is_valid),
		cmocka_unit_test(every_state_has_its_row_name_and_times),
		cmocka_unit_test(rows_are_named_and_ordered),
		cmocka_unit_test(rows_of_further_gils_are_no_threads),
		cmocka_unit_test(what_is_known_of_a_wait_is_told),
		cmocka_unit_test(two_waits_can_be_one_span),
		cmocka_unit_test(a_span_without_its_wait_is_written),
		cmocka_unit_test(names_of_any_length_are_kept),
		cmocka_unit_test(the_holders_row_has_letters),
		cmocka_unit_test(counters_are_averages_and_changes),
		cmocka_unit_test(hand_overs_are_arrows_between_held_slices),
		cmocka_unit_test(options_leave_slices_out_and_no_arrow_hangs),
		cmocka_unit_test(without_releases_only_waits_are_drawn),
		cmocka_unit_test(thread_states_are_on_the_real_thread),
		cmocka_unit_test(phases_are_named_slices),
		cmocka_unit_test(totals_stand_behind_the_events),
		cmocka_unit_test(a_full_disk_stops_the_run),
	};

	return RUN_TESTS(tests);
}

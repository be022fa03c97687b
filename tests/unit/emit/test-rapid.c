/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "emit/chrome.h"
#include "emit/names.h"
#include "scene.h"

#define US 1000ull

/* @n states of 10 us by turns, from @start_ns. Returns where the last ends. */
static uint64_t alternate(struct scene *s, int n, uint64_t start_ns)
{
	for (int i = 0; i < n; i++, start_ns += 10 * US)
		scene_span(s, &s->worker, i % 2 ? SPAN_NATIVE : SPAN_HAS_GIL, start_ns,
			start_ns + 10 * US);
	return start_ns;
}

static int count(const struct scene *s, const char *ph, const char *name)
{
	int n = 0;

	while (scene_event(s, ph, 0, name, n))
		n++;
	return n;
}

static double rapid(const struct scene *s, int nth, const char *arg)
{
	const cJSON *value =
		get(get(scene_event(s, "X", 1000004712, EMIT_RAPID_NAME, nth), "args"), arg);

	return value ? value->valuedouble : 0;
}

static double told(const struct scene *s, const char *key)
{
	return get(get(get(s->tree, "gilprobe"), "rapid_switching"), key)->valuedouble;
}

static void few_short_states_are_drawn(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	uint64_t at;

	scene_init(&s, &options);
	at = alternate(&s, CHROME_RAPID_RUN - 1, T0);
	scene_span(&s, &s.worker, SPAN_NATIVE, at, at + MS);
	/* a gap ends a row of states, too */
	alternate(&s, CHROME_RAPID_RUN - 1, alternate(&s, CHROME_RAPID_RUN - 1, at + MS) + 1);
	scene_finish(&s);
	assert_int_equal(count(&s, "X", NULL), 3 * (CHROME_RAPID_RUN - 1) + 1);
	assert_int_equal(count(&s, "X", EMIT_RAPID_NAME), 0);
	assert_true(told(&s, "states") == 0);
	scene_done(&s);
}

static void many_are_drawn_together(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	uint64_t at;

	scene_init(&s, &options);
	scene_span(&s, &s.worker, SPAN_BLOCKED, T0 - MS, T0);
	at = alternate(&s, 250, T0);
	scene_span(&s, &s.worker, SPAN_NATIVE, at, at + MS);
	alternate(&s, 5, at + MS);
	scene_finish(&s);
	assert_int_equal(count(&s, "X", EMIT_RAPID_NAME), 3);
	assert_int_equal(count(&s, "X", NULL), 3 + 2 + 5);
	assert_true(rapid(&s, 0, "states") == 100);
	assert_true(rapid(&s, 0, "has_gil_us") == 500 && rapid(&s, 0, "native_us") == 500);
	assert_true(rapid(&s, 2, "states") == 50);
	assert_true(get(scene_event(&s, "X", 0, EMIT_RAPID_NAME, 1), "dur")->valuedouble == 1000);
	assert_true(told(&s, "slices") == 3 && told(&s, "states") == 250);
	scene_done(&s);
}

static void one_that_is_left_over_is_drawn_as_it_is(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;

	scene_init(&s, &options);
	alternate(&s, 101, T0);
	scene_finish(&s);
	assert_int_equal(count(&s, "X", EMIT_RAPID_NAME), 1);
	assert_int_equal(count(&s, "X", "GIL held, running"), 1);
	scene_done(&s);
}

static void what_is_not_drawn_counts_in_the_args(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;

	options.idle = false;
	scene_init(&s, &options);
	for (uint64_t i = 0, at = T0; i < 40; i++, at += 10 * US)
		scene_span(&s, &s.worker, i % 2 ? SPAN_UNKNOWN : SPAN_BLOCKED, at, at + 10 * US);
	scene_finish(&s);
	assert_int_equal(count(&s, "X", NULL), 1);
	assert_true(rapid(&s, 0, "blocked_us") == 200 && rapid(&s, 0, "unknown_us") == 200);
	scene_done(&s);
}

static void the_first_ones_and_all_are_drawn_on_request(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;

	options.rapid_after = 2 * CHROME_RAPID_RUN;
	scene_init(&s, &options);
	alternate(&s, 5 * CHROME_RAPID_RUN, T0);
	scene_finish(&s);
	assert_int_equal(count(&s, "X", "GIL held, running"), CHROME_RAPID_RUN);
	assert_true(rapid(&s, 0, "states") == 3 * CHROME_RAPID_RUN);
	scene_done(&s);

	options.all = true;
	scene_init(&s, &options);
	alternate(&s, 5 * CHROME_RAPID_RUN, T0);
	scene_finish(&s);
	assert_int_equal(count(&s, "X", NULL), 5 * CHROME_RAPID_RUN);
	assert_true(cJSON_IsNull(get(get(s.tree, "gilprobe"), "rapid_switching")));
	scene_done(&s);
}

/* A wait with args, a hold that an arrow points at; where the arrow comes from does not matter. */
static void what_has_something_to_tell_is_drawn_by_itself(void **state)
{
	struct emit_options options = scene_options();
	struct scene s;
	uint64_t at, end;

	scene_init(&s, &options);
	at = alternate(&s, 39, T0);
	scene_span(&s, &s.main, SPAN_NATIVE, T0 - MS, T0);
	for (end = T0; end < at + 10 * US; end += 10 * US)
		scene_span(&s, &s.main, SPAN_HAS_GIL, end, end + 10 * US);
	scene_wait(&s, &s.worker, at, at + 60 * US);
	scene_handoff(&s, &s.main, &s.worker, end, at + 60 * US);
	scene_span(&s, &s.worker, SPAN_WAITING, at, at + 60 * US);
	alternate(&s, 40, at + 60 * US);
	scene_finish(&s);
	assert_non_null(get(scene_event(&s, "X", 0, "waiting for GIL", 0), "args"));
	assert_int_equal(count(&s, "X", EMIT_RAPID_NAME), 3);
	assert_true(rapid(&s, 0, "states") == 39);
	assert_int_equal(count(&s, "s", NULL), 1);
	assert_true(
		get(scene_event(&s, "f", 0, NULL, 0), "ts")->valuedouble ==
		get(scene_event(&s, "X", 1000004712, "GIL held, running", 0), "ts")->valuedouble);
	scene_done(&s);
}

static void the_kernels_states_are_left_out(void **state)
{
	struct emit_options options = scene_options();
	struct fold_cpu cpu = {.start_ns = T0};
	struct scene s;

	scene_init(&s, &options);
	cpu.thread = &s.worker;
	for (int i = 0; i < 200; i++) {
		bool is_long = i % 100 == 99; /* the hundredth */

		cpu.cpu = i % 2 ? -1 : 0;
		cpu.name = i % 2 ? "S" : "Running";
		cpu.end_ns = cpu.start_ns + (is_long ? MS : 10 * US);
		assert_int_equal(s.sink->cpu(s.sink->user, &cpu, NULL), 0);
		cpu.start_ns = cpu.end_ns;
	}
	for (int i = 0; i < 31; i++) {
		cpu.end_ns = cpu.start_ns + 10 * US;
		assert_int_equal(s.sink->cpu(s.sink->user, &cpu, NULL), 0);
		cpu.start_ns = cpu.end_ns;
	}
	scene_finish(&s);
	assert_int_equal(count(&s, "T", NULL), 2 + 31);
	assert_true(told(&s, "kernel_states_left_out") == 198);
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_short_states_are_drawn),
		cmocka_unit_test(many_are_drawn_together),
		cmocka_unit_test(one_that_is_left_over_is_drawn_as_it_is),
		cmocka_unit_test(what_is_not_drawn_counts_in_the_args),
		cmocka_unit_test(the_first_ones_and_all_are_drawn_on_request),
		cmocka_unit_test(what_has_something_to_tell_is_drawn_by_itself),
		cmocka_unit_test(the_kernels_states_are_left_out),
	};

	return RUN_TESTS(tests);
}

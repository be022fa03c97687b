/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an event means, from its name and fields; and the samples' fields.
 */
#include "decode/recipe.h"

#include "test.h"

static void put_field(struct layout *layout, const char *name, uint16_t offset, uint16_t size)
{
	struct layout_field *field = &layout->fields[layout->n_fields++];

	strcpy(field->name, name);
	field->offset = offset;
	field->size = size;
	field->is_signed = size == 4;
}

static struct recipe recipe_of(const char *system, const char *name, const char *field0,
	const char *field1, const char *text)
{
	struct blob_format format = {system, text, strlen(text), 1};
	struct layout layout = {.system = system};
	struct recipe recipe;

	strcpy(layout.name, name);
	put_field(&layout, "common_pid", 4, 4);
	put_field(&layout, field0, 8, 8);
	if (field1)
		put_field(&layout, field1, 16, 8);
	recipe_from_layout(&layout, &format, false, &recipe);
	return recipe;
}

static void expect_gil(const char *system, const char *name, bool is_return, int kind)
{
	struct recipe recipe = recipe_of(system, name, is_return ? "__probe_func" : "__probe_ip",
		is_return ? "__probe_ret_ip" : NULL, "");

	if (kind < 0) {
		assert_int_equal(recipe.kind, RECIPE_FOREIGN);
		return;
	}
	assert_int_equal(recipe.kind, RECIPE_GIL);
	assert_int_equal(recipe.event_kind, kind);
	assert_false(recipe.own);
	assert_int_equal(recipe.arg.size, 0);
}

static void fields_and_not_names_tell_entry_from_return(void **state)
{
	expect_gil("python", "take_gil", false, EVENT_WANT);
	expect_gil("python", "take_gil__return", true, EVENT_ACQUIRE);
	expect_gil("python", "take_gil_ret__return", true, EVENT_ACQUIRE);
	expect_gil("python", "take_gil_1", true, EVENT_ACQUIRE);
	expect_gil("probe_libpython3", "take_gil_2", false, EVENT_WANT);
	expect_gil("python", "take_gil__return", false, EVENT_WANT);
	expect_gil("python", "drop_gil", false, EVENT_RELEASE);
	expect_gil("python", "drop_gil_1", true, EVENT_DROP_RETURN);
	expect_gil("python", "drop_gil", true, EVENT_DROP_RETURN);
}

static void other_names_are_not_ours(void **state)
{
	expect_gil("python", "mistake_gil", false, -1);
	expect_gil("python", "take_gills", false, -1);
	expect_gil("python", "PyEval_SaveThread", false, -1);
	expect_gil("python", "take_gil_drop_gil", false, -1);
	assert_int_equal(recipe_of("python", "take_gil", "x", NULL, "").kind, RECIPE_FOREIGN);
}

static void a_fetched_gil_is_the_key(void **state)
{
	struct recipe recipe = recipe_of("python", "take_gil", "__probe_ip", "gil", "");

	assert_int_equal(recipe.arg.offset, 16);
	assert_int_equal(recipe.arg.size, 8);
}

static void expect_own(const char *name, int kind, int64_t delta)
{
	struct recipe recipe = recipe_of("gilprobe_77", name, "__probe_ip", "gil", "");

	assert_true(recipe.own);
	assert_int_equal(recipe.kind, kind < 0 ? RECIPE_FOREIGN : RECIPE_GIL);
	if (kind < 0)
		return;
	assert_int_equal(recipe.event_kind, kind);
	assert_int_equal(recipe.delta, delta);
}

static void own_probes_say_all_in_their_names(void **state)
{
	expect_own("acquire88_0", EVENT_ACQUIRE, 88);
	expect_own("acquirem128_17", EVENT_ACQUIRE, -128);
	expect_own("signal_1", EVENT_SIGNAL, 0);
	expect_own("timedwait_2", EVENT_WANT, 0);
	expect_own("wait88_3", EVENT_COND_WAIT, 88);
	expect_own("acquire_0", -1, 0);
	expect_own("acquire88", -1, 0);
	expect_own("acquirem_1", -1, 0);
	expect_own("acquire99999999999_1", -1, 0);
	expect_own("other_1", -1, 0);
	assert_int_equal(
		recipe_of("gilprobe_77", "mark_0", "__probe_ip", "phase", "").kind, RECIPE_MARK);
	assert_int_equal(
		recipe_of("gilprobe_77", "mark_0", "__probe_ip", NULL, "").kind, RECIPE_FOREIGN);
}

static struct recipe switch_recipe(const char *text)
{
	struct blob_format format = {"sched", text, strlen(text), 1};
	struct layout layout = {.name = "sched_switch", .system = "sched"};
	struct recipe recipe;

	put_field(&layout, "prev_pid", 24, 4);
	put_field(&layout, "prev_state", 32, 8);
	put_field(&layout, "next_pid", 56, 4);
	recipe_from_layout(&layout, &format, false, &recipe);
	assert_int_equal(recipe.kind, RECIPE_SWITCH);
	return recipe;
}

static void expect_state(const struct recipe *recipe, uint64_t bits, char letter)
{
	bool preempted;

	assert_int_equal(recipe_state(recipe, bits, &preempted), letter);
	assert_int_equal(preempted, letter == 'R');
}

static void state_letters_come_from_the_print_format(void **state)
{
	/* Linux 6.18; 3.10, where a zombie was another bit; and a kernel that says nothing */
	struct recipe now = switch_recipe(
		"print fmt: __print_flags(REC->prev_state & 0xff, \"|\", { 0x00000001, \"S\" }, "
		"{ 0x00000002, \"D\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, "
		"{ 0x00000080, \"I\" }) : \"R\"");
	struct recipe old = switch_recipe(
		"print fmt: __print_flags(REC->prev_state & (1024-1), \"|\", { 1, \"S\"} , "
		"{ 2, \"D\" }, { 16, \"Z\" }, { 32, \"X\" }, {4096, \"?\"}, { 3, \"y\" }, {");
	struct recipe silent = switch_recipe("print fmt: \"\"");

	expect_state(&now, 0, 'R');
	expect_state(&now, 0x100, 'R');
	expect_state(&now, 1, 'S');
	expect_state(&now, 2, 'D');
	expect_state(&now, 0x20, 'Z');
	expect_state(&now, 0x80, 'I');
	expect_state(&old, 16, 'Z');
	expect_state(&old, 1024, 'R');
	expect_state(&silent, 0x10, 'X');
	expect_state(&silent, 0x40, 'P');
}

static void only_scheduler_events_of_sched_count(void **state)
{
	assert_int_equal(recipe_of("sched", "sched_wakeup", "pid", NULL, "").kind, RECIPE_WAKEUP);
	assert_int_equal(recipe_of("sched", "sched_waking", "pid", NULL, "").kind, RECIPE_WAKEUP);
	assert_int_equal(
		recipe_of("sched", "sched_stat_runtime", "pid", NULL, "").kind, RECIPE_FOREIGN);
	assert_int_equal(recipe_of("sched", "sched_wakeup", "x", NULL, "").kind, RECIPE_FOREIGN);
	assert_int_equal(recipe_of("mine", "sched_wakeup", "pid", NULL, "").kind, RECIPE_FOREIGN);
}

static void fields_are_read_within_the_payload(void **state)
{
	static const uint8_t raw[8] = {0xfe, 0xff, 0xff, 0xff, 1, 2, 3, 4};
	struct recipe recipe = {0};
	uint64_t v = 77;

	assert_true(recipe_read(&recipe, &(struct recipe_field){0, 4, true}, raw, 8, &v));
	assert_int_equal((int64_t)v, -2);
	assert_true(recipe_read(&recipe, &(struct recipe_field){0, 4, false}, raw, 8, &v));
	assert_int_equal(v, 0xfffffffe);
	assert_true(recipe_read(&recipe, &(struct recipe_field){4, 2, false}, raw, 8, &v));
	assert_int_equal(v, 0x201);
	assert_true(recipe_read(&recipe, &(struct recipe_field){7, 1, false}, raw, 8, &v));
	assert_int_equal(v, 4);
	recipe.swap = true;
	assert_true(recipe_read(&recipe, &(struct recipe_field){0, 8, false}, raw, 8, &v));
	assert_int_equal(v, 0xfeffffff01020304);
	assert_false(recipe_read(&recipe, &(struct recipe_field){1, 8, false}, raw, 8, &v));
	assert_false(
		recipe_read(&recipe, &(struct recipe_field){UINT16_MAX, 8, false}, raw, 8, &v));
	assert_false(recipe_read(&recipe, &(struct recipe_field){0}, raw, 8, &v));
	assert_int_equal(v, 0xfeffffff01020304);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_and_not_names_tell_entry_from_return),
		cmocka_unit_test(other_names_are_not_ours),
		cmocka_unit_test(a_fetched_gil_is_the_key),
		cmocka_unit_test(own_probes_say_all_in_their_names),
		cmocka_unit_test(state_letters_come_from_the_print_format),
		cmocka_unit_test(only_scheduler_events_of_sched_count),
		cmocka_unit_test(fields_are_read_within_the_payload),
	};
	return RUN_TESTS(tests);
}

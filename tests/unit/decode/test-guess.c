/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is told from payloads alone, without names and formats; and what must not be.
 */
#include "decode/guess.h"

#include <linux/perf_event.h>

#include "test.h"

enum { TAKE = 0x1000, DROP = 0x2000 };

static const struct perfdata_attr take_attr = {.config = 7}, take_return_attr = {.config = 8},
				  drop_attr = {.config = 9}, drop_return_attr = {.config = 10},
				  sched_attr = {.config = 11};

/* A sample of thread @tid whose payload is @values behind the common fields. */
static struct perfdata_sample sample(const struct perfdata_attr *attr, int32_t tid, uint64_t ip,
	const void *values, size_t size, uint8_t raw[96])
{
	uint16_t type = (uint16_t)attr->config;

	memset(raw, 0, 96);
	memcpy(raw, &type, 2);
	memcpy(raw + 4, &tid, 4);
	memcpy(raw + 8, values, size);
	return (struct perfdata_sample){.attr = attr,
		.present = PERF_SAMPLE_IP | PERF_SAMPLE_RAW,
		.ip = ip,
		.pid = 1,
		.tid = (uint32_t)tid,
		.raw = raw,
		.raw_size = (uint32_t)(8 + size + 4)};
}

/* The kind that a hit is taken for (-1: not known); it is noted as decode does. */
static int hit(struct guess *guess, const struct perfdata_attr *attr, int32_t tid,
	uint64_t function, uint64_t return_to)
{
	uint64_t values[2] = {function, return_to};
	uint8_t raw[96];
	struct perfdata_sample s = sample(
		attr, tid, return_to ? return_to : function, values, return_to ? 16 : 8, raw);
	struct recipe recipe;

	guess->has_live = true; /* no look at this machine */
	if (guess_recipe(guess, &s, false, &recipe) <= 0)
		return -1;
	assert_int_equal(recipe.kind, RECIPE_GIL);
	assert_int_equal(guess_note(guess, &s, &recipe), 0);
	return recipe.event_kind;
}

static void a_new_threads_first_call_is_take_gil(void **state)
{
	struct guess guess = {0};

	assert_int_equal(hit(&guess, &drop_attr, 5, DROP, 0), -1);
	assert_int_equal(guess_start(&guess, 6), 0);
	assert_int_equal(hit(&guess, &take_attr, 6, TAKE, 0), EVENT_WANT);
	assert_int_equal(hit(&guess, &take_return_attr, 6, TAKE, 0x4000), EVENT_ACQUIRE);
	assert_int_equal(hit(&guess, &drop_attr, 6, DROP, 0), EVENT_RELEASE);
	assert_int_equal(hit(&guess, &drop_return_attr, 6, DROP, 0x4001), EVENT_DROP_RETURN);
	/* what was learned holds for the process's other threads, but not for other processes */
	assert_int_equal(hit(&guess, &drop_attr, 5, DROP, 0), EVENT_RELEASE);
	guess_done(&guess);
}

static void returns_alone_can_tell(void **state)
{
	struct guess guess = {0};

	assert_int_equal(guess_start(&guess, 6), 0);
	assert_int_equal(hit(&guess, &take_return_attr, 6, TAKE, 0x4000), EVENT_ACQUIRE);
	assert_int_equal(hit(&guess, &drop_return_attr, 6, DROP, 0x4000), -1);
	guess_done(&guess);
}

static void probes_that_are_still_defined_have_names(void **state)
{
	struct guess guess = {.has_live = true};

	assert_int_equal(map_put(&guess.live, take_attr.config, 1), 0);
	assert_int_equal(map_put(&guess.live, drop_return_attr.config, 0), 0);
	assert_int_equal(hit(&guess, &drop_attr, 5, DROP, 0), -1);
	assert_int_equal(hit(&guess, &drop_return_attr, 5, DROP, 0x4000), EVENT_DROP_RETURN);
	assert_int_equal(hit(&guess, &take_attr, 6, TAKE, 0), EVENT_WANT);
	assert_int_equal(hit(&guess, &drop_attr, 5, DROP, 0), EVENT_RELEASE);
	guess_done(&guess);
}

struct task {
	char comm[16];
	int32_t pid, prio;
};

struct switch_payload {
	struct task prev;
	int64_t state;
	struct task next;
};

static int scheduler_kind(const void *payload, size_t size, int32_t current)
{
	struct guess guess = {0};
	struct recipe recipe = {.kind = RECIPE_GUESS};
	uint8_t raw[96];
	struct perfdata_sample s = sample(&sched_attr, current, 0xffff, payload, size, raw);

	(void)guess_recipe(&guess, &s, false, &recipe);
	return recipe.kind;
}

static void switches_are_recognised(void **state)
{
	struct switch_payload good = {{"python", 5, 120}, 1, {"swapper/0", 0, 120}};
	struct switch_payload bad;

	assert_int_equal(scheduler_kind(&good, sizeof(good), 5), RECIPE_SWITCH);
	assert_int_equal(scheduler_kind(&good, sizeof(good), 6), RECIPE_GUESS);
	bad = good;
	bad.prev.prio = 1000;
	assert_int_equal(scheduler_kind(&bad, sizeof(bad), 5), RECIPE_GUESS);
	bad = good;
	bad.next.comm[2] = 3;
	assert_int_equal(scheduler_kind(&bad, sizeof(bad), 5), RECIPE_GUESS);
	bad = good;
	memset(bad.next.comm, 'x', 16);
	assert_int_equal(scheduler_kind(&bad, sizeof(bad), 5), RECIPE_GUESS);
}

static void wakeups_are_recognised(void **state)
{
	struct {
		struct task task;
		uint32_t cpu;
	} wakeup = {{"worker", 6, 120}, 1};

	assert_int_equal(scheduler_kind(&wakeup, sizeof(wakeup), 5), RECIPE_WAKEUP);
	assert_int_equal(scheduler_kind(&wakeup, sizeof(wakeup), 6), RECIPE_GUESS); /* an exit */
	wakeup.cpu = 100000;
	assert_int_equal(scheduler_kind(&wakeup, sizeof(wakeup), 5), RECIPE_GUESS);
}

static void what_does_not_fit_is_left_alone(void **state)
{
	struct guess guess = {0};
	struct recipe recipe;
	uint64_t value = TAKE;
	uint8_t raw[96];
	struct perfdata_sample s = sample(&take_attr, 6, TAKE, &value, 8, raw);

	assert_int_equal(guess_start(&guess, 6), 0);
	raw[0] = 99; /* another event's number */
	assert_int_equal(guess_recipe(&guess, &s, false, &recipe), 0);
	raw[0] = 7;
	s.raw_size = 12;
	assert_int_equal(guess_recipe(&guess, &s, false, &recipe), 0);
	s.raw_size = 20;
	s.ip = 0x9999;
	assert_int_equal(guess_recipe(&guess, &s, false, &recipe), 0);
	s.ip = TAKE;
	s.present = PERF_SAMPLE_RAW;
	assert_int_equal(guess_recipe(&guess, &s, false, &recipe), 0);
	s.present |= PERF_SAMPLE_IP;
	assert_int_equal(guess_recipe(&guess, &s, false, &recipe), 1);
	guess_done(&guess);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_threads_first_call_is_take_gil),
		cmocka_unit_test(returns_alone_can_tell),
		cmocka_unit_test(probes_that_are_still_defined_have_names),
		cmocka_unit_test(switches_are_recognised),
		cmocka_unit_test(wakeups_are_recognised),
		cmocka_unit_test(what_does_not_fit_is_left_alone),
	};
	return RUN_TESTS(tests);
}

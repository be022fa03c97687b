/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold on streams of random events, sane and insane: spans tile, sums are exact, nothing negative,
 * nothing crashes, whatever the recording can tell and whatever window is asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"
#include "fold/fold.h"

#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 4096

struct seen {
	struct map ends; /* thread → end of its last span */
	uint64_t spans, holds, waits, hold_ns, wait_ns, blamed_ns;
	uint64_t last_waiters_ns;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int on_span(void *user, const struct span *span, struct err *err)
{
	struct seen *seen = user;
	uint64_t key = (uint64_t)(uintptr_t)span->thread, *end = map_get(&seen->ends, key);

	assert_true(span->end_ns > span->start_ns);
	assert_int_equal(span->start_ns, end ? *end : span->thread->first_ns);
	assert_true((span->gil != NULL) ==
		    (span->state >= SPAN_HAS_GIL && span->state <= SPAN_WAITING));
	assert_int_equal(map_put(&seen->ends, key, span->end_ns), 0);
	seen->spans++;
	return 0;
}

static int on_hold(void *user, const struct fold_hold *hold, struct err *err)
{
	struct seen *seen = user;
	uint64_t ns = hold->end_ns - hold->start_ns,
		 sum = hold->on_cpu_ns + hold->blocked_ns + hold->runnable_ns;

	assert_true(hold->end_ns >= hold->start_ns);
	assert_true(sum == ns || sum == 0);
	seen->holds++;
	seen->hold_ns += ns;
	seen->blamed_ns += hold->others_waited_ns;
	return 0;
}

static int on_wait(void *user, const struct fold_wait *wait, struct err *err)
{
	struct seen *seen = user;
	uint64_t ns = wait->end_ns - wait->start_ns;

	assert_true(wait->end_ns >= wait->start_ns);
	assert_int_equal(ns, wait->holder_on_cpu_ns + wait->holder_blocked_ns +
				     wait->holder_runnable_ns + wait->free_ns);
	assert_true(wait->holder_on_cpu_ns <= ns && wait->free_ns <= ns);
	seen->waits++;
	seen->wait_ns += ns;
	return 0;
}

static int on_handoff(void *user, const struct fold_handoff *handoff, struct err *err)
{
	assert_true(handoff->from != handoff->to);
	assert_true(handoff->release_ns <= handoff->acquire_ns);
	return 0;
}

static int on_cpu(void *user, const struct fold_cpu *cpu, struct err *err)
{
	assert_true(cpu->end_ns > cpu->start_ns);
	assert_non_null(cpu->name);
	return 0;
}

static int on_waiters(
	void *user, const struct fold_gil *gil, uint64_t time_ns, uint32_t waiters, struct err *err)
{
	struct seen *seen = user;

	assert_true(time_ns >= seen->last_waiters_ns && waiters < MAX_THREADS);
	seen->last_waiters_ns = time_ns;
	return 0;
}

/* @sane: a thread's GIL events come in the order CPython makes; else any kind at any time. */
static void make_event(struct event *event, uint64_t *seed, uint8_t phases[16], bool sane)
{
	static const uint8_t order[] = {
		EVENT_WANT, EVENT_ACQUIRE, EVENT_RELEASE, EVENT_DROP_RETURN};
	static const uint8_t kinds[] = {EVENT_SWITCH_IN, EVENT_SWITCH_OUT, EVENT_WAKEUP,
		EVENT_SWITCH_IN, EVENT_SWITCH_OUT, EVENT_WAKEUP, EVENT_FORK, EVENT_EXIT, EVENT_EXEC,
		EVENT_COMM, EVENT_LOST, EVENT_MARK, EVENT_MMAP, EVENT_SAMPLE};
	static const char letters[] = "RSDTXZ";
	unsigned who = (unsigned)(next_random(seed) % 12);
	size_t n;

	event->pid = (int32_t)(1 + who / 6) * 100;
	event->tid = event->pid + (int32_t)(who % 6);
	event->cpu = (int16_t)(next_random(seed) % 4);
	event->stream = next_random(seed) % 2;
	if (next_random(seed) % 3) {
		event->kind = sane ? order[phases[who]++ % 4]
				   : (uint8_t)(next_random(seed) % (EVENT_DROP_RETURN + 1));
		event->gil = sane ? 0 : next_random(seed) % 3 * 8;
		return;
	}
	n = next_random(seed) % 8 ? 6 : sizeof(kinds);
	event->kind = kinds[next_random(seed) % n];
	if (event->kind == EVENT_SWITCH_OUT) {
		n = next_random(seed) % 20 ? 4 : 6;
		event->out.state = letters[next_random(seed) % n];
		event->out.preempted = event->out.state == 'R' && next_random(seed) % 2;
	} else if (event->kind == EVENT_WAKEUP) {
		event->by = 100 + (int32_t)(next_random(seed) % 6);
	} else if (event->kind == EVENT_FORK) {
		event->fork.pid = (int32_t)(1 + next_random(seed) % 2) * 100;
		event->fork.tid = event->fork.pid + (int32_t)(next_random(seed) % 6);
	} else if (event->kind == EVENT_EXEC || event->kind == EVENT_COMM) {
		event->comm = next_random(seed) % 2 ? "name" : NULL;
	} else if (event->kind == EVENT_LOST) {
		event->lost = next_random(seed) % 100;
	}
}

static void check(const struct fold_result *result, struct seen *seen)
{
	uint64_t waiting = 0, held = 0, blamed = 0, others = 0;

	for (size_t i = 0; i < result->n_threads; i++) {
		const struct fold_thread *t = result->threads[i];
		uint64_t sum = 0, *end = map_get(&seen->ends, (uint64_t)(uintptr_t)t);

		for (int s = 0; s < SPAN_STATES; s++)
			sum += t->state_ns[s];
		assert_int_equal(sum, t->last_ns - t->first_ns);
		assert_int_equal(end ? *end : t->first_ns, t->last_ns);
		assert_int_equal(t->hold_blocked_ns + t->hold_runnable_ns,
			t->state_ns[SPAN_HAS_GIL_OFF_CPU]);
		assert_int_equal(t->wait_holder_on_cpu_ns + t->wait_holder_blocked_ns +
					 t->wait_holder_runnable_ns + t->wait_gil_free_ns,
			t->state_ns[SPAN_WAITING]);
		assert_true(t->yield_ns <= t->state_ns[SPAN_WAITING]);
		assert_true(t->wait_runnable_ns <= t->state_ns[SPAN_WAITING]);
		assert_true(t->blocked_by_sibling_ns <= t->state_ns[SPAN_BLOCKED]);
		assert_true(t->long_waited_ns <= t->others_waited_ns);
		waiting += t->state_ns[SPAN_WAITING];
		held += t->state_ns[SPAN_HAS_GIL] + t->state_ns[SPAN_HAS_GIL_OFF_CPU];
		others += t->others_waited_ns;
	}
	assert_int_equal(waiting, seen->wait_ns);
	if (!result->quality.release_missing) /* then holds are not in the totals */
		assert_int_equal(held, seen->hold_ns);
	for (size_t i = 0; i < result->n_blame; i++) {
		assert_true(result->blame[i].wait_ns > 0 && result->blame[i].waits > 0);
		assert_ptr_not_equal(result->blame[i].waiter, result->blame[i].holder);
		blamed += result->blame[i].wait_ns;
	}
	assert_int_equal(blamed, others);
	assert_int_equal(blamed, seen->blamed_ns);
	assert_true(blamed <= waiting);
	for (size_t i = 0; i < result->n_gils; i++) {
		const struct fold_gil *g = result->gils[i];

		assert_true(g->held_ns <= g->end_ns - g->start_ns);
		assert_true(g->contended_ns <= g->end_ns - g->start_ns);
		/* a wait whose end nobody saw counts as contention until its thread releases */
		assert_true(g->contended_ns <= g->waiters_ns || result->quality.unmatched);
		held -= g->held_ns;
		waiting -= g->waiters_ns;
	}
	assert_true(held == 0 || result->quality.release_missing);
	assert_int_equal(waiting, 0);
}

static void run(uint64_t seed, bool sane)
{
	struct seen seen = {0};
	struct sink sink = {.user = &seen,
		.span = on_span,
		.hold = on_hold,
		.wait = on_wait,
		.handoff = on_handoff,
		.cpu = on_cpu,
		.waiters = on_waiters};
	struct sink *sinks[] = {&sink};
	struct fold_options options = {.sinks = sinks, .n_sinks = 1, .to_ns = UINT64_MAX};
	struct decode_facts facts = {0};
	const struct fold_result *result;
	uint8_t phases[16] = {0};
	uint64_t now = 0, gap_ns, bits = next_random(&seed);
	struct fold *fold;
	struct err err = {0};

	if (next_random(&seed) % 3 == 0) {
		options.from_ns = next_random(&seed) % 3000000;
		options.to_ns = options.from_ns + next_random(&seed) % 3000000;
	}
	facts.own = bits & 1;
	facts.has_want = bits & 2;
	facts.has_acquire = true;
	facts.has_release = bits & 8;
	facts.has_yield = bits & 16;
	facts.has_drop_return = bits & 32;
	facts.has_sched_switch = bits & 64;
	facts.has_wakeup = bits & 128;
	facts.sched_cpu_wide = bits & 256;
	facts.has_switch_record = bits & 512;
	assert_int_equal(fold_new(&options, &fold, &err), 0);
	fold_facts(fold, &facts);
	for (unsigned i = 0; i < 400; i++) {
		struct event event = {0};

		gap_ns = next_random(&seed) % 4 ? 1000 : 100000;
		now += next_random(&seed) % gap_ns;
		event.time_ns = next_random(&seed) % 50 ? now : now / 2;
		make_event(&event, &seed, phases, sane);
		assert_int_equal(fold_feed(fold, &event, &err), 0);
	}
	assert_int_equal(fold_finish(fold, 0, 0, &result, &err), 0);
	check(result, &seen);
	fold_free(fold);
	map_done(&seen.ends);
}

static void test_any_order(void **state)
{
	for (uint64_t seed = 1; seed <= 3000; seed++)
		run(seed * 0x9e3779b97f4a7c15ull, false);
}

static void test_right_order(void **state)
{
	for (uint64_t seed = 1; seed <= 3000; seed++)
		run(seed * 0x9e3779b97f4a7c15ull, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_right_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

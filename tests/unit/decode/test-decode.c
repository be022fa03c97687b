/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings built in memory, and the events they become, as text: TIME PID TID CPU KIND DETAIL.
 */
#include "decode/decode.h"
#include "perfbuild.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test.h"

struct decoded {
	char text[4096];
	size_t n;
	struct decode_facts facts;
	char interpreters[512];
};

static void describe(struct decoded *to, const struct event *e)
{
	size_t room = sizeof(to->text) - to->n;
	char *at = to->text + to->n;
	int n = snprintf(at, room, "%" PRIu64 " %d %d %d %s", e->time_ns, e->pid, e->tid, e->cpu,
		event_kind_name(e->kind));

	at += n;
	room -= (size_t)n;
	if (e->kind == EVENT_SWITCH_OUT)
		snprintf(at, room, " %c%s", e->out.state ? e->out.state : '?',
			e->out.preempted ? "+" : "");
	else if (e->kind == EVENT_WAKEUP)
		snprintf(at, room, " %d", e->by);
	else if (e->kind == EVENT_FORK)
		snprintf(at, room, " %d/%d", e->fork.pid, e->fork.tid);
	else if (e->kind == EVENT_EXEC || e->kind == EVENT_COMM)
		snprintf(at, room, " %s", e->comm);
	else if (e->kind == EVENT_MMAP)
		snprintf(at, room, " %" PRIx64 " %s", e->mmap->start, e->mmap->path);
	else if (e->kind != EVENT_SWITCH_IN && e->kind != EVENT_EXIT && e->gil)
		snprintf(at, room, " %" PRIx64, e->gil);
	to->n += strlen(to->text + to->n);
	to->n += (size_t)snprintf(to->text + to->n, sizeof(to->text) - to->n, "\n");
	assert_true(to->n < sizeof(to->text));
}

/* Frees the builder. */
static struct decoded decode_all(struct perfbuild *b)
{
	struct decoded ret = {0};
	struct perfdata_record record;
	struct perfdata *pd = NULL;
	struct decode *decode = NULL;
	struct err err = {0};
	const char *const *paths;
	size_t size;
	const uint8_t *bytes = perfbuild_bytes(b, &size);

	assert_int_equal(perfdata_open_memory(bytes, size, &pd, &err), 0);
	assert_int_equal(decode_new(pd, 3, &decode, &err), 0);
	while (perfdata_next(pd, &record, &err) > 0) {
		struct event events[DECODE_MAX_EVENTS];
		int n = decode_record(decode, &record, events, &err);

		assert_in_range(n, 0, DECODE_MAX_EVENTS);
		for (int i = 0; i < n; i++) {
			assert_int_equal(events[i].stream, 3);
			describe(&ret, &events[i]);
		}
	}
	assert_string_equal(err.text, "");
	ret.facts = *decode_facts(decode);
	for (size_t i = decode_interpreters(decode, &paths); i-- > 0;) {
		strcat(ret.interpreters, paths[i]);
		strcat(ret.interpreters, " ");
	}
	decode_free(decode);
	perfdata_free(pd);
	perfbuild_free(b);
	return ret;
}

static void the_recipe_of_perf_probe(void **state)
{
	static const unsigned forms[] = {0, PERFBUILD_PERF, PERFBUILD_PIPE, PERFBUILD_BIG_ENDIAN,
		PERFBUILD_ZSTD, PERFBUILD_CALLCHAIN};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct perfbuild *b = perfbuild_new(forms[i]);
		struct decoded d;

		perfbuild_thread(b, 100, 101, 1);
		perfbuild_hit(b, 1000, "python:take_gil", 0);
		perfbuild_hit(b, 1001, "python:take_gil__return", 0);
		perfbuild_hit(b, 1002, "python:drop_gil", 0);
		perfbuild_hit(b, 1003, "python:drop_gil__return", 0);
		d = decode_all(b);
		assert_string_equal(d.text, "1000 100 101 1 want\n"
					    "1001 100 101 1 acquire\n"
					    "1002 100 101 1 release\n"
					    "1003 100 101 1 drop-return\n");
		assert_int_equal(d.facts.samples, 4);
		assert_int_equal(d.facts.gil_events, 4);
		assert_true(d.facts.has_want && d.facts.has_acquire && d.facts.has_release);
		assert_true(d.facts.has_drop_return && !d.facts.has_yield && !d.facts.own);
		assert_false(d.facts.sampled_probes || d.facts.formats_guessed);
		assert_true(d.facts.clock_known && d.facts.clock_monotonic);
		assert_int_equal(d.facts.clockid, CLOCK_MONOTONIC);
	}
}

static void our_own_probes(void **state)
{
	struct perfbuild *b = perfbuild_new(0);
	struct decoded d;

	perfbuild_thread(b, 100, 101, 0);
	perfbuild_hit(b, 1, "gilprobe_5:timedwait_2", 0x1000);
	perfbuild_hit(b, 2, "gilprobe_5:acquire88_0", 0x1058);
	perfbuild_hit(b, 3, "gilprobe_5:acquirem128_4", 0x1000);
	perfbuild_hit(b, 4, "gilprobe_5:signal_1", 0x1000);
	perfbuild_hit(b, 5, "gilprobe_5:wait88_3", 0x1058);
	perfbuild_hit(b, 6, "gilprobe_5:unheard_of_9", 1);
	d = decode_all(b);
	assert_string_equal(d.text, "1 100 101 0 want 1000\n"
				    "2 100 101 0 acquire 1000\n"
				    "3 100 101 0 acquire 1080\n"
				    "4 100 101 0 signal 1000\n"
				    "5 100 101 0 cond-wait 1000\n");
	assert_true(d.facts.own && d.facts.has_yield && !d.facts.has_drop_return);
	assert_true(d.facts.has_want && d.facts.has_acquire && d.facts.has_release);
	assert_int_equal(d.facts.gil_events, 5);
	assert_int_equal(d.facts.undecoded, 1);
}

static void scheduler_events(void **state)
{
	struct perfbuild *b = perfbuild_new(0);
	struct decoded d;

	perfbuild_thread(b, 100, 101, 1);
	perfbuild_switch(b, 1, "S", 7);
	perfbuild_switch(b, 2, "R+", 0);
	perfbuild_switch(b, 3, "R", 7);
	perfbuild_switch(b, 4, "D", 7);
	perfbuild_wakeup(b, 5, 102, false);
	perfbuild_wakeup(b, 6, 103, true);
	perfbuild_thread(b, (uint32_t)-1, (uint32_t)-1, 1);
	d = decode_all(b);
	assert_string_equal(d.text, "1 100 101 1 switch-out S\n"
				    "1 0 7 1 switch-in\n"
				    "2 100 101 1 switch-out R+\n"
				    "3 100 101 1 switch-out R+\n"
				    "3 0 7 1 switch-in\n"
				    "4 100 101 1 switch-out D\n"
				    "4 0 7 1 switch-in\n"
				    "5 0 102 1 wakeup 101\n"
				    "6 0 103 1 wakeup 101\n");
	assert_true(d.facts.has_sched_switch && d.facts.has_wakeup);
	assert_false(d.facts.sched_cpu_wide);
}

static void an_interrupt_is_no_waker(void **state)
{
	struct perfbuild *b = perfbuild_new(0);
	struct decoded d;

	perfbuild_thread(b, 100, 101, 1);
	perfbuild_trace_flags(b, 0x09); /* a timer, while 101 ran */
	perfbuild_wakeup(b, 1, 102, false);
	perfbuild_trace_flags(b, 0x10);
	perfbuild_wakeup(b, 2, 102, false);
	perfbuild_trace_flags(b, 0x01); /* interrupts are off, no more */
	perfbuild_wakeup(b, 3, 102, false);
	d = decode_all(b);
	assert_string_equal(d.text, "1 0 102 1 wakeup 0\n"
				    "2 0 102 1 wakeup 0\n"
				    "3 0 102 1 wakeup 101\n");
	assert_false(d.facts.sched_cpu_wide);
}

static void the_idle_task_shows_that_all_tasks_are_seen(void **state)
{
	struct perfbuild *b = perfbuild_new(0);
	struct decoded d;

	perfbuild_thread(b, 0, 0, 1);
	perfbuild_switch(b, 1, "R", 101);
	d = decode_all(b);
	assert_string_equal(d.text, "1 0 101 1 switch-in\n");
	assert_true(d.facts.sched_cpu_wide);
}

static void kernel_threads_show_that_all_tasks_are_seen(void **state)
{
	struct perfbuild *b = perfbuild_new(0);

	perfbuild_thread(b, 2, 2, 0);
	perfbuild_fork(b, 0, 15, 15); /* perf lists what was there before */
	perfbuild_thread(b, 100, 101, 1);
	perfbuild_switch(b, 1, "S", 15);
	assert_true(decode_all(b).facts.sched_cpu_wide);
}

static void switch_records(void **state)
{
	struct perfbuild *b = perfbuild_new(0);
	struct decoded d;

	perfbuild_thread(b, 100, 101, 0);
	perfbuild_switch_record(b, 1, true, false);
	perfbuild_switch_record(b, 2, false, false);
	perfbuild_switch_record(b, 3, true, true);
	d = decode_all(b);
	assert_string_equal(d.text, "1 100 101 0 switch-out ?\n"
				    "2 100 101 0 switch-in\n"
				    "3 100 101 0 switch-out R+\n");
	assert_true(d.facts.has_switch_record && !d.facts.has_sched_switch);
	assert_false(d.facts.sched_cpu_wide);

	b = perfbuild_new(0);
	perfbuild_thread(b, 100, 101, 0);
	perfbuild_switch_cpu_wide(b, 1, true, true, 0, 0);
	perfbuild_thread(b, 0, 0, 0);
	perfbuild_switch_cpu_wide(b, 1, false, false, 100, 101);
	d = decode_all(b);
	assert_string_equal(d.text, "1 100 101 0 switch-out R+\n");
	assert_true(d.facts.sched_cpu_wide);
}

static void tasks(void **state)
{
	struct perfbuild *b = perfbuild_new(0);
	struct decoded d;

	perfbuild_thread(b, 100, 100, 0);
	perfbuild_comm(b, 1, "python3", true);
	perfbuild_comm(b, 2, "a name", false);
	perfbuild_fork(b, 3, 100, 101);
	perfbuild_thread(b, 100, 101, 1);
	perfbuild_exit(b, 4);
	d = decode_all(b);
	assert_string_equal(d.text, "1 100 100 0 exec python3\n"
				    "2 100 100 0 comm a name\n"
				    "3 100 100 0 fork 100/101\n"
				    "4 100 101 1 exit\n");
	assert_true(d.facts.has_task);
}

static void mappings_show_the_interpreters(void **state)
{
	static const char *const paths[] = {"/usr/lib/libpython3.11.so.1.0", "/usr/bin/python3.13t",
		"/opt/python", "/usr/lib/libpython3.11.so.1.0", "/usr/bin/python-config",
		"/usr/bin/pythonw2", "/lib/libc.so.6"};
	struct perfbuild *b = perfbuild_new(0);
	struct decoded d;

	perfbuild_thread(b, 100, 100, 0);
	for (uint64_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		perfbuild_mmap(b, i + 1, 0x1000 * i, 0x1000, paths[i]);
	perfbuild_mmap(b, 9, 0, 0x1000, "//anon");
	perfbuild_mmap(b, 9, 0, 0x1000, "[vdso]");
	d = decode_all(b);
	assert_string_equal(d.interpreters, "/opt/python /usr/bin/python3.13t "
					    "/usr/lib/libpython3.11.so.1.0 ");
	assert_string_equal(d.text, "1 100 100 0 mmap 0 /usr/lib/libpython3.11.so.1.0\n"
				    "2 100 100 0 mmap 1000 /usr/bin/python3.13t\n"
				    "3 100 100 0 mmap 2000 /opt/python\n"
				    "4 100 100 0 mmap 3000 /usr/lib/libpython3.11.so.1.0\n"
				    "5 100 100 0 mmap 4000 /usr/bin/python-config\n"
				    "6 100 100 0 mmap 5000 /usr/bin/pythonw2\n"
				    "7 100 100 0 mmap 6000 /lib/libc.so.6\n");
}

static void losses_are_told_twice_and_counted_once(void **state)
{
	struct perfbuild *b = perfbuild_new(0);
	struct decoded d;

	perfbuild_thread(b, 100, 101, 0);
	perfbuild_lost(b, 5, 30);
	perfbuild_lost(b, 6, 12);
	perfbuild_lost_samples(b, 9, 40);
	d = decode_all(b);
	assert_string_equal(d.text, "5 100 101 0 lost 1e\n6 100 101 0 lost c\n");
	assert_int_equal(d.facts.lost, 42);

	b = perfbuild_new(0);
	perfbuild_lost_samples(b, 9, 40);
	d = decode_all(b);
	assert_string_equal(d.text, "");
	assert_int_equal(d.facts.lost, 40);
}

static void frequency_sampled_probes_are_noticed(void **state)
{
	struct perfbuild *b = perfbuild_new(PERFBUILD_FREQ);

	perfbuild_hit(b, 1, "python:take_gil", 0);
	assert_true(decode_all(b).facts.sampled_probes);
}

static void a_clock_that_is_not_named_is_not_known(void **state)
{
	struct perfbuild *b = perfbuild_new(PERFBUILD_NO_CLOCKID);

	perfbuild_hit(b, 1, "python:take_gil", 0);
	assert_false(decode_all(b).facts.clock_known);
}

static void instruction_pointer_samples(void **state)
{
	struct perfbuild *b = perfbuild_new(0);

	perfbuild_thread(b, 100, 101, 0);
	perfbuild_sample(b, 1, 0x4711);
	assert_string_equal(decode_all(b).text, "1 100 101 0 sample 4711\n");
}

static void damage_costs_a_count_and_no_more(void **state)
{
	static const uint8_t few[4] = {1, 2, 3, 4};
	static const uint8_t no_nul[12] = {1, 0, 0, 0, 1, 0, 0, 0, 'a', 'b', 'c', 'd'};
	struct perfbuild *b = perfbuild_new(0);
	struct decoded d;

	perfbuild_thread(b, 100, 101, 0);
	perfbuild_hit(b, 1, "python:take_gil", 0);
	for (uint32_t type = 1; type < 24; type++)
		perfbuild_record(b, type, 0, few, sizeof(few));
	perfbuild_record(b, PERF_RECORD_COMM, 0, no_nul, sizeof(no_nul));
	perfbuild_thread(b, (uint32_t)-1, (uint32_t)-1, 0);
	perfbuild_hit(b, 2, "python:take_gil", 0);
	perfbuild_thread(b, 100, 101, 0);
	perfbuild_hit(b, 3, "python:take_gil__return", 0);
	d = decode_all(b);
	assert_non_null(strstr(d.text, "1 100 101 0 want\n"));
	assert_non_null(strstr(d.text, "3 100 101 0 acquire\n"));
	assert_null(strstr(d.text, "2 -1"));
	assert_true(d.facts.undecoded > 8);
}

/* Names are there, in EVENT_DESC, but no formats: the payloads must tell the rest. */
static void without_formats_payloads_tell(void **state)
{
	struct perfbuild *b = perfbuild_new(PERFBUILD_NO_TRACING | PERFBUILD_PERF);
	struct decoded d;

	perfbuild_thread(b, 100, 101, 1);
	perfbuild_hit(b, 1, "python:take_gil", 0);
	perfbuild_hit(b, 2, "python:take_gil__return", 0);
	perfbuild_switch(b, 3, "S", 7);
	perfbuild_wakeup(b, 4, 102, false);
	perfbuild_hit(b, 5, "python:drop_gil", 0);
	perfbuild_hit(b, 6, "python:something_else", 0);
	d = decode_all(b);
	assert_string_equal(d.text, "1 100 101 1 want\n"
				    "2 100 101 1 acquire\n"
				    "3 100 101 1 switch-out S\n"
				    "3 0 7 1 switch-in\n"
				    "4 0 102 1 wakeup 101\n"
				    "5 100 101 1 release\n");
	assert_true(d.facts.formats_guessed);
	assert_int_equal(d.facts.undecoded, 1);
}

static void facts_of_two_inputs_add_up(void **state)
{
	struct decode_facts a = {.has_want = true, .samples = 3, .lost = 1};
	struct decode_facts b = {.has_sched_switch = true,
		.samples = 4,
		.clock_known = true,
		.clockid = CLOCK_MONOTONIC,
		.clock_monotonic = true};

	decode_facts_merge(&a, &b);
	assert_true(a.has_want && a.has_sched_switch && a.clock_monotonic);
	assert_int_equal(a.samples, 7);
	assert_int_equal(a.lost, 1);
}

static void kinds_have_words(void **state)
{
	for (unsigned kind = 0; kind <= EVENT_COND_WAIT; kind++)
		assert_true(strlen(event_kind_name(kind)) > 3);
	assert_string_equal(event_kind_name(EVENT_COND_WAIT + 1), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_recipe_of_perf_probe),
		cmocka_unit_test(our_own_probes),
		cmocka_unit_test(scheduler_events),
		cmocka_unit_test(an_interrupt_is_no_waker),
		cmocka_unit_test(the_idle_task_shows_that_all_tasks_are_seen),
		cmocka_unit_test(kernel_threads_show_that_all_tasks_are_seen),
		cmocka_unit_test(switch_records),
		cmocka_unit_test(tasks),
		cmocka_unit_test(mappings_show_the_interpreters),
		cmocka_unit_test(losses_are_told_twice_and_counted_once),
		cmocka_unit_test(frequency_sampled_probes_are_noticed),
		cmocka_unit_test(a_clock_that_is_not_named_is_not_known),
		cmocka_unit_test(instruction_pointer_samples),
		cmocka_unit_test(damage_costs_a_count_and_no_more),
		cmocka_unit_test(without_formats_payloads_tell),
		cmocka_unit_test(facts_of_two_inputs_add_up),
		cmocka_unit_test(kinds_have_words),
	};
	return RUN_TESTS(tests);
}

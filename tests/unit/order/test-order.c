/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "order/order.h"

#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 4096 };

struct seen {
	struct event events[MAX];
	size_t n;
	int fail_at; /* 0: never */
};

static int keep(void *user, const struct event *event, struct err *err)
{
	struct seen *seen = user;

	if (seen->fail_at && (int)seen->n + 1 == seen->fail_at)
		return err_set(err, -EINTR, "stopped");
	assert_true(seen->n < MAX);
	seen->events[seen->n++] = *event;
	return 0;
}

static struct order *new_order(struct seen *seen, size_t n_streams)
{
	struct order *o = NULL;

	assert_int_equal(order_new(keep, seen, n_streams, &o, NULL), 0);
	return o;
}

static struct event at(uint64_t time_ns, int32_t tid, unsigned kind)
{
	return (struct event){.time_ns = time_ns, .pid = 1, .tid = tid, .kind = (uint8_t)kind};
}

static void feed(struct order *o, struct event event)
{
	assert_int_equal(order_feed(o, &event, NULL), 0);
}

static void feed_times(struct order *o, size_t n, const uint64_t *times)
{
	for (size_t i = 0; i < n; i++)
		feed(o, at(times[i], 1, EVENT_WANT));
}

static void expect_times(struct seen *seen, size_t n, const uint64_t *times)
{
	assert_int_equal(seen->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(seen->events[i].time_ns, times[i]);
}

#define TIMES(...)                                                                                 \
	sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[])                                        \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* The diagram of order.h. */
static void a_round_lets_go_what_the_round_before_had(void **state)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 1);

	feed_times(o, TIMES(1, 4, 7, 2, 3, 9));
	assert_int_equal(order_round(o, 0, NULL), 0);
	expect_times(&seen, 0, NULL);
	feed_times(o, TIMES(12, 15, 8, 16, 17));
	assert_int_equal(order_round(o, 0, NULL), 0);
	expect_times(&seen, TIMES(1, 2, 3, 4, 7, 8, 9));
	assert_int_equal(order_flush(o, NULL), 0);
	expect_times(&seen, TIMES(1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17));
	assert_int_equal(order_stats(o)->late, 0);
	assert_int_equal(order_stats(o)->events, 11);
	order_free(o);
}

static int by_time_and_arrival(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid; /* numbered in file order */
}

/* Buffers of several CPUs, read in turn, against qsort; or overwrite buffers, newest first. */
static void check_random(unsigned cpus, unsigned rounds, bool descending, uint64_t random)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 1);
	struct event *model = calloc(MAX, sizeof(*model));
	size_t n = 0;

	assert_non_null(model);
	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned cpu = 0; cpu < cpus; cpu++) {
			unsigned count = (unsigned)(random >> 33) % 16;

			for (unsigned i = 0; i < count && n < MAX; i++) {
				unsigned place = descending ? count - i : i + 1;
				struct event event =
					at(round * 1000 + place * 50, (int32_t)n, EVENT_WANT);

				random = random * 6364136223846793005ull + 1442695040888963407ull;
				event.time_ns += (random >> 33) % 49 + 1;
				model[n++] = event;
				feed(o, event);
			}
			random = random * 6364136223846793005ull + 1442695040888963407ull;
		}
		assert_int_equal(order_round(o, 0, NULL), 0);
	}
	assert_int_equal(order_flush(o, NULL), 0);
	qsort(model, n, sizeof(*model), by_time_and_arrival);
	assert_int_equal(seen.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(seen.events[i].tid, model[i].tid);
	assert_int_equal(order_stats(o)->late, 0);
	order_free(o);
	free(model);
}

static void agrees_with_qsort(void **state)
{
	for (unsigned cpus = 1; cpus <= 9; cpus += 2)
		for (uint64_t seed = 1; seed <= 20; seed++) {
			check_random(cpus, 12, false, seed * 77);
			check_random(cpus, 12, true, seed * 77);
		}
}

static void equal_times_keep_file_order(void **state)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 1);

	feed(o, at(5, 1, EVENT_SWITCH_OUT));
	feed(o, at(5, 2, EVENT_SWITCH_IN));
	feed(o, at(3, 3, EVENT_WANT));
	feed(o, at(5, 3, EVENT_ACQUIRE));
	assert_int_equal(order_flush(o, NULL), 0);
	assert_int_equal(seen.n, 4);
	assert_int_equal(seen.events[0].tid, 3);
	assert_int_equal(seen.events[1].kind, EVENT_SWITCH_OUT);
	assert_int_equal(seen.events[2].kind, EVENT_SWITCH_IN);
	assert_int_equal(seen.events[3].kind, EVENT_ACQUIRE);
	order_free(o);
}

static void a_block_written_twice_counts_once(void **state)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 1);

	for (int copy = 0; copy < 2; copy++) {
		feed(o, at(5, 1, EVENT_WANT));
		feed(o, at(5, 2, EVENT_WANT));
		feed(o, at(6, 1, EVENT_ACQUIRE));
	}
	feed(o, at(6, 1, EVENT_RELEASE)); /* same time and thread, but another event */
	assert_int_equal(order_flush(o, NULL), 0);
	assert_int_equal(seen.n, 4);
	assert_int_equal(order_stats(o)->duplicated, 3);
	order_free(o);
}

/* Two perf processes that watch one target both write its task records. */
static void a_record_of_two_inputs_is_no_fault(void **state)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 2);
	struct event a = at(5, 1, EVENT_COMM), b = a;
	char same[] = "python";

	a.comm = "python";
	b.comm = same;
	b.stream = 1;
	feed(o, a);
	feed(o, b);
	assert_int_equal(order_flush(o, NULL), 0);
	assert_int_equal(seen.n, 1);
	assert_int_equal(order_stats(o)->duplicated, 0);
	order_free(o);
}

static void a_late_event_is_given_out_and_counted(void **state)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 1);

	feed_times(o, TIMES(10, 20));
	assert_int_equal(order_round(o, 0, NULL), 0);
	feed_times(o, TIMES(30));
	assert_int_equal(order_round(o, 0, NULL), 0);
	feed_times(o, TIMES(15, 40));
	assert_int_equal(order_flush(o, NULL), 0);
	expect_times(&seen, TIMES(10, 20, 15, 30, 40));
	assert_int_equal(order_stats(o)->late, 1);
	order_free(o);
}

static void streams_wait_for_each_other(void **state)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 2);
	struct event other = at(15, 9, EVENT_WAKEUP);

	other.stream = 1;
	feed_times(o, TIMES(10, 20));
	assert_int_equal(order_round(o, 0, NULL), 0);
	feed_times(o, TIMES(30));
	assert_int_equal(order_round(o, 0, NULL), 0);
	assert_int_equal(seen.n, 0);
	feed(o, other);
	assert_int_equal(order_round(o, 1, NULL), 0);
	assert_int_equal(order_round(o, 1, NULL), 0);
	expect_times(&seen, TIMES(10, 15));
	assert_int_equal(order_end(o, 1, NULL), 0);
	expect_times(&seen, TIMES(10, 15, 20));
	assert_int_equal(order_end(o, 0, NULL), 0);
	expect_times(&seen, TIMES(10, 15, 20, 30));
	order_free(o);
}

static void what_was_before_gets_the_first_time(void **state)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 1);

	feed_times(o, TIMES(0, 0));
	assert_int_equal(order_round(o, 0, NULL), 0);
	assert_int_equal(order_round(o, 0, NULL), 0);
	assert_int_equal(seen.n, 0);
	feed_times(o, TIMES(50, 40));
	assert_int_equal(order_round(o, 0, NULL), 0);
	feed_times(o, TIMES(0, 60));
	assert_int_equal(order_flush(o, NULL), 0);
	expect_times(&seen, TIMES(40, 40, 40, 40, 50, 60));
	assert_int_equal(order_stats(o)->late, 0);
	assert_int_equal(order_stats(o)->duplicated, 0);
	order_free(o);
}

static struct event with_gil(uint64_t time_ns, unsigned kind, uint64_t gil)
{
	struct event event = at(time_ns, 1, kind);

	event.gil = gil;
	return event;
}

/* The acquire stands behind the release in the file: another CPU's buffer. */
static void signals_of_known_gils_are_releases(void **state)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 1);
	struct event elsewhere = with_gil(7, EVENT_SIGNAL, 0x1000);

	elsewhere.pid = 2;
	feed(o, with_gil(4, EVENT_SIGNAL, 0x1000));
	feed(o, with_gil(5, EVENT_COND_WAIT, 0x1000));
	feed(o, with_gil(6, EVENT_SIGNAL, 0x2000));
	feed(o, elsewhere);
	feed(o, with_gil(3, EVENT_ACQUIRE, 0x1000));
	assert_int_equal(order_flush(o, NULL), 0);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.events[0].kind, EVENT_ACQUIRE);
	assert_int_equal(seen.events[1].kind, EVENT_RELEASE);
	assert_int_equal(seen.events[2].kind, EVENT_YIELD);
	assert_int_equal(order_stats(o)->foreign, 2);
	order_free(o);
}

static void a_stop_of_the_receiver_is_passed_up(void **state)
{
	struct seen seen = {.fail_at = 2};
	struct order *o = new_order(&seen, 1);
	struct err err = {0};

	feed_times(o, TIMES(1, 2, 3));
	assert_int_equal(order_flush(o, &err), -EINTR);
	assert_string_equal(err.text, "stopped");
	assert_int_equal(seen.n, 1);
	order_free(o);
	order_free(NULL);
}

static void nothing_in_nothing_out(void **state)
{
	struct seen seen = {0};
	struct order *o = new_order(&seen, 1);

	assert_int_equal(order_round(o, 0, NULL), 0);
	assert_int_equal(order_end(o, 0, NULL), 0);
	assert_int_equal(order_flush(o, NULL), 0);
	assert_int_equal(seen.n, 0);
	order_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_lets_go_what_the_round_before_had),
		cmocka_unit_test(agrees_with_qsort),
		cmocka_unit_test(equal_times_keep_file_order),
		cmocka_unit_test(a_block_written_twice_counts_once),
		cmocka_unit_test(a_record_of_two_inputs_is_no_fault),
		cmocka_unit_test(a_late_event_is_given_out_and_counted),
		cmocka_unit_test(streams_wait_for_each_other),
		cmocka_unit_test(what_was_before_gets_the_first_time),
		cmocka_unit_test(signals_of_known_gils_are_releases),
		cmocka_unit_test(a_stop_of_the_receiver_is_passed_up),
		cmocka_unit_test(nothing_in_nothing_out),
	};
	return RUN_TESTS(tests);
}

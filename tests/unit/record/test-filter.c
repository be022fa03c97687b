/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record: of the machine's records the filter keeps those of the traced tree, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "record/filter.h"

#define GIL 0x5000ull
#define DELTA 88

enum { ID_TASK = 100, ID_SWITCH, ID_WAKEUP, ID_ACQUIRE, ID_SIGNAL, ID_WAIT };

/* A record in the making. */
struct record {
	struct perf_event_header header;
	uint8_t body[256];
};

static struct record start(uint32_t type, uint16_t misc)
{
	return (struct record){.header = {type, misc, sizeof(struct perf_event_header)}};
}

static void put(struct record *record, const void *bytes, size_t size)
{
	memcpy((uint8_t *)record + record->header.size, bytes, size);
	record->header.size = (uint16_t)(record->header.size + size);
}

static void put32(struct record *record, uint32_t value)
{
	put(record, &value, sizeof(value));
}

static void put64(struct record *record, uint64_t value)
{
	put(record, &value, sizeof(value));
}

static struct record end(struct record record, uint32_t pid, uint32_t tid, uint64_t time)
{
	put32(&record, pid);
	put32(&record, tid);
	put64(&record, time);
	put64(&record, 0);
	put64(&record, ID_TASK);
	return record;
}

static struct record task(
	uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid, uint64_t time)
{
	struct record record = start(type, 0);

	put32(&record, pid);
	put32(&record, ppid);
	put32(&record, tid);
	put32(&record, ptid);
	put64(&record, time);
	return end(record, pid, tid, time);
}

static struct record comm(uint32_t pid, uint16_t misc, uint64_t time)
{
	struct record record = start(PERF_RECORD_COMM, misc);

	put32(&record, pid);
	put32(&record, pid);
	put(&record, "python3", 8);
	return end(record, pid, pid, time);
}

/* Raw data: common fields with the task's pid, then two words of four bytes, or one of eight. */
static struct record sample(
	uint64_t id, uint32_t pid, uint32_t tid, uint32_t common_pid, uint64_t time, uint64_t word)
{
	struct record record = start(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	put64(&record, id);
	put32(&record, pid);
	put32(&record, tid);
	put64(&record, time);
	put64(&record, 0);
	put32(&record, 20);
	put32(&record, 0);
	put32(&record, common_pid);
	put64(&record, word);
	put32(&record, 0);
	return record;
}

static uint64_t two(uint32_t first, uint32_t second)
{
	uint32_t words[] = {first, second};
	uint64_t both;

	memcpy(&both, words, sizeof(both));
	return both;
}

struct fixture {
	struct filter filter;
	struct events events;
	struct source sources[6];
	uint64_t ids[6];
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){
		.sources =
			{
				{.kind = SOURCE_TASK},
				{.kind = SOURCE_SWITCH, .offsets = {8, 12}},
				{.kind = SOURCE_WAKEUP, .offsets = {8}},
				{.kind = SOURCE_GIL, .offsets = {8}, .site = LOCATE_ACQUIRE},
				{.kind = SOURCE_GIL, .offsets = {8}, .site = LOCATE_SIGNAL},
				{.kind = SOURCE_GIL, .offsets = {8}, .site = LOCATE_WAIT},
			},
		.events = {.n = 6, .n_cpus = 1},
	};
	f.events.items = f.sources;
	for (size_t i = 0; i < 6; i++) {
		f.ids[i] = ID_TASK + i;
		f.sources[i].ids = &f.ids[i];
		f.sources[i].switch_delta = DELTA;
	}
	assert_int_equal(filter_add(&f.filter, &f.events), 0);
	assert_int_equal(tree_add(&f.filter.tree, 10, 10), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	filter_done(&((struct fixture *)*state)->filter);
	return 0;
}

static void learn(struct fixture *f, struct record record)
{
	assert_int_equal(filter_take(&f->filter, &record.header), 0);
	assert_true(filter_settle(&f->filter, UINT64_MAX) >= 0);
	assert_int_equal(filter_learn(&f->filter, &record.header), 0);
}

static bool keeps(struct fixture *f, struct record record)
{
	return filter_keep(&f->filter, &record.header);
}

static void test_scheduler_events(void **state)
{
	struct fixture *f = *state;

	assert_true(keeps(f, sample(ID_SWITCH, 10, 10, 10, 1, two(10, 99))));
	assert_true(keeps(f, sample(ID_SWITCH, 0, 0, 0, 1, two(0, 10))));
	assert_false(keeps(f, sample(ID_SWITCH, 99, 99, 99, 1, two(99, 98))));
	/* who woke it does not matter */
	assert_true(keeps(f, sample(ID_WAKEUP, 99, 99, 99, 2, two(10, 0))));
	assert_false(keeps(f, sample(ID_WAKEUP, 10, 10, 10, 2, two(99, 0))));
	assert_int_equal(f->filter.samples, 3);
	assert_int_equal(f->filter.first_ns, 1);
	assert_int_equal(f->filter.last_ns, 2);
}

static void test_only_gils(void **state)
{
	struct fixture *f = *state;

	/* a release before its GIL is known, and some other condition variable */
	assert_false(keeps(f, sample(ID_SIGNAL, 10, 10, 10, 1, GIL)));
	learn(f, sample(ID_SIGNAL, 10, 10, 10, 1, 0x9999));
	assert_false(keeps(f, sample(ID_SIGNAL, 10, 10, 10, 1, 0x9999)));
	learn(f, sample(ID_ACQUIRE, 10, 10, 10, 2, GIL + DELTA));
	assert_true(keeps(f, sample(ID_ACQUIRE, 10, 10, 10, 2, GIL + DELTA)));
	assert_true(keeps(f, sample(ID_SIGNAL, 10, 10, 10, 3, GIL)));
	assert_true(keeps(f, sample(ID_WAIT, 10, 10, 10, 3, GIL + DELTA)));
	assert_false(keeps(f, sample(ID_WAIT, 10, 10, 10, 3, GIL)));
	/* a foreign process with the same address */
	learn(f, sample(ID_ACQUIRE, 99, 99, 99, 4, GIL + DELTA));
	assert_false(keeps(f, sample(ID_ACQUIRE, 99, 99, 99, 4, GIL + DELTA)));
}

static void test_children(void **state)
{
	struct fixture *f = *state;
	struct record fork = task(PERF_RECORD_FORK, 20, 10, 20, 10, 1);
	struct record foreign = task(PERF_RECORD_FORK, 30, 99, 30, 99, 1);

	learn(f, fork);
	learn(f, foreign);
	assert_true(keeps(f, fork));
	assert_false(keeps(f, foreign));
	assert_true(keeps(f, comm(20, 0, 2)));
	assert_false(keeps(f, comm(30, 0, 2)));
	assert_true(keeps(f, sample(ID_SWITCH, 20, 20, 20, 3, two(20, 0))));
	learn(f, task(PERF_RECORD_EXIT, 20, 10, 20, 10, 4));
	assert_true(keeps(f, task(PERF_RECORD_EXIT, 20, 10, 20, 10, 4)));
	/* its last switch follows its EXIT */
	assert_true(keeps(f, sample(ID_SWITCH, UINT32_MAX, UINT32_MAX, 20, 5, two(20, 0))));
}

/* The buffer of the grandchild's CPU is read first, that of its parent's CPU a round later. */
static void test_forks_out_of_order(void **state)
{
	struct fixture *f = *state;
	struct record child = task(PERF_RECORD_FORK, 20, 10, 20, 10, 100);
	struct record grandchild = task(PERF_RECORD_FORK, 30, 20, 30, 20, 110);

	assert_int_equal(filter_take(&f->filter, &grandchild.header), 0);
	assert_int_equal(filter_settle(&f->filter, 105), 0);
	assert_false(tree_has_process(&f->filter.tree, 30));
	assert_int_equal(filter_take(&f->filter, &child.header), 0);
	assert_int_equal(filter_settle(&f->filter, 200), 1);
	assert_true(tree_has_process(&f->filter.tree, 20));
	assert_true(tree_has_process(&f->filter.tree, 30));
	assert_int_equal(filter_settle(&f->filter, 300), 0);
}

static void test_exec(void **state)
{
	struct fixture *f = *state;

	learn(f, sample(ID_ACQUIRE, 10, 10, 10, 1, GIL + DELTA));
	learn(f, comm(10, PERF_RECORD_MISC_COMM_EXEC, 2));
	assert_true(keeps(f, sample(ID_SIGNAL, 10, 10, 10, 1, GIL)));
	tree_next_round(&f->filter.tree);
	tree_next_round(&f->filter.tree);
	assert_false(keeps(f, sample(ID_SIGNAL, 10, 10, 10, 3, GIL)));
	assert_true(keeps(f, comm(10, PERF_RECORD_MISC_COMM_EXEC, 2)));
}

static void test_losses(void **state)
{
	struct fixture *f = *state;
	struct record record = start(PERF_RECORD_LOST, 0);

	put64(&record, ID_SWITCH);
	put64(&record, 7);
	record = end(record, 99, 99, 1);
	learn(f, record);
	assert_true(f->filter.gap);
	assert_true(keeps(f, record));
	assert_int_equal(f->filter.lost, 7);
	assert_false(keeps(f, end(start(PERF_RECORD_THROTTLE, 0), 10, 10, 1)));
}

static void test_pid_namespace(void **state)
{
	struct fixture *f = *state;
	struct record record = sample(ID_SWITCH, 10, 10, 5010, 2, two(5010, 10));
	uint32_t tids[2];

	f->filter.translate = true;
	learn(f, sample(ID_ACQUIRE, 10, 10, 5010, 1, GIL + DELTA));
	assert_true(keeps(f, sample(ID_WAKEUP, 0, 0, 77, 1, two(5010, 0))));
	/* the machine's 10 is not ours: it must not stay 10 */
	assert_false(keeps(f, sample(ID_WAKEUP, 0, 0, 77, 1, two(10, 0))));
	assert_true(filter_keep(&f->filter, &record.header));
	memcpy(tids, record.body + 36 + 8, sizeof(tids));
	assert_int_equal(tids[0], 10);
	assert_int_equal(tids[1], 0);
}

/* Whatever a record's size, nothing beyond it is read (for the sanitizer). */
static void test_short_records(void **state)
{
	struct fixture *f = *state;

	for (uint32_t type = 1; type < 20; type++) {
		for (size_t size = sizeof(struct perf_event_header); size < 64; size += 4) {
			struct perf_event_header *record = calloc(1, size);

			*record = (struct perf_event_header){type, 0xffff, (uint16_t)size};
			assert_int_equal(filter_take(&f->filter, record), 0);
			assert_int_equal(filter_learn(&f->filter, record), 0);
			filter_keep(&f->filter, record);
			free(record);
		}
	}
	assert_int_equal(f->filter.samples, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_scheduler_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_gils, setup, teardown),
		cmocka_unit_test_setup_teardown(test_children, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forks_out_of_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(test_losses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pid_namespace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_short_records, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

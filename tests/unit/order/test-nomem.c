/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Out of memory at the first allocation, the second, … of decoding and ordering a recording: it is
 * returned, with its words, and nothing is leaked.
 */
#include "decode/decode.h"
#include "nomem.h"
#include "order/order.h"
#include "perfbuild.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "test.h"

#define RECORD_FINISHED_ROUND 68

static int count(void *user, const struct event *event, struct err *err)
{
	++*(unsigned *)user;
	return 0;
}

static int feed(struct decode *decode, struct order *order, const struct perfdata_record *record,
	struct err *err)
{
	struct event events[DECODE_MAX_EVENTS];
	int n, r = 0;

	if (record->type == RECORD_FINISHED_ROUND)
		return order_round(order, 0, err);
	n = decode_record(decode, record, events, err);
	for (int i = 0; i < n && r >= 0; i++)
		r = order_feed(order, &events[i], err);
	return n < 0 ? n : r;
}

/* @allowed allocations, after the file was opened. */
static int read_all(const uint8_t *bytes, size_t size, long allowed, unsigned *ret_events)
{
	_cleanup_(cleanup_perfdata) struct perfdata *pd = NULL;
	_cleanup_(cleanup_decode) struct decode *decode = NULL;
	_cleanup_(cleanup_order) struct order *order = NULL;
	struct perfdata_record record;
	struct err err = {0};
	int r;

	assert_int_equal(perfdata_open_memory(bytes, size, &pd, &err), 0);
	nomem_left = allowed;
	r = decode_new(pd, 0, &decode, &err);
	if (r >= 0)
		r = order_new(count, ret_events, 1, &order, &err);
	while (r >= 0 && (r = perfdata_next(pd, &record, &err)) == 1)
		r = feed(decode, order, &record, &err);
	if (r >= 0)
		r = order_flush(order, &err);
	if (r < 0)
		assert_string_equal(err.text, "out of memory");
	return r;
}

static struct perfbuild *recording(unsigned flags)
{
	static const char *const names[] = {"python:take_gil", "python:take_gil__return",
		"python:drop_gil", "gilprobe_1:acquire88_0", "gilprobe_1:signal_1"};
	struct perfbuild *b = perfbuild_new(flags);

	perfbuild_thread(b, 7, 7, 0);
	perfbuild_comm(b, 0, "python3", true);
	perfbuild_mmap(b, 0, 0x1000, 0x1000, "/usr/bin/python3.11");
	for (uint64_t i = 0; i < 40; i++) {
		perfbuild_thread(b, 7, 7 + (uint32_t)i % 3, (uint32_t)i % 2);
		perfbuild_hit(b, 1000 - i, names[i % 5], 0x58 + i);
		perfbuild_switch(b, 2000 + i, "S", 8);
		perfbuild_fork(b, 3000 + i, 7, 100 + (uint32_t)i);
		if (i % 16 == 15)
			perfbuild_round(b);
	}
	return b;
}

static void it_is_returned_wherever_it_happens(void **state)
{
	static const unsigned forms[] = {0, PERFBUILD_NO_TRACING | PERFBUILD_PERF};

	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
		struct perfbuild *b = recording(forms[f]);
		unsigned events = 0, whole = 0;
		size_t size;
		const uint8_t *bytes = perfbuild_bytes(b, &size);
		long n = 0;

		assert_int_equal(read_all(bytes, size, -1, &whole), 0);
		while (read_all(bytes, size, n, &events) == -ENOMEM) {
			assert_in_range(events, 0, whole);
			assert_true(nomem_left < 0);
			events = 0;
			n++;
		}
		assert_true(nomem_left >= 0); /* it got by with n allocations */
		assert_int_equal(events, whole);
		assert_true(n > 10);
		nomem_left = -1;
		perfbuild_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_returned_wherever_it_happens),
	};
	return RUN_TESTS(tests);
}

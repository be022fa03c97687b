/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: what a viewer shows when a wait or a hold is selected. In: fold's accounts of both. Out:
 * an args object. Invariant: what is zero or unknown is left out.
 */
#include "emit/chrome.h"

#include <errno.h>

static void key(struct line *line, const char *name, bool *first)
{
	line_long(line, *first ? ",\"args\":{\"" : ",\"");
	line_long(line, name);
	line_lit(line, "\":");
	*first = false;
}

static void duration(struct line *line, const char *name, uint64_t ns, bool *first)
{
	if (!ns)
		return;
	key(line, name, first);
	line_us(line, ns);
}

static void flag(struct line *line, const char *name, bool set, bool *first)
{
	if (!set)
		return;
	key(line, name, first);
	line_lit(line, "true");
}

static void number(struct line *line, const char *name, uint64_t value, bool *first)
{
	if (!value)
		return;
	key(line, name, first);
	line_u64(line, value);
}

static int holders(
	struct emit_chrome *emit, struct line *line, const struct fold_wait *wait, bool *first)
{
	uint32_t n = wait->n_holders < FOLD_WAIT_HOLDERS ? wait->n_holders : FOLD_WAIT_HOLDERS;

	if (!n)
		return 0;
	key(line, "holders", first);
	for (uint32_t i = 0; i < n; i++) {
		struct chrome_row *row = chrome_row(emit, wait->holders[i]);
		const char *label = row ? chrome_label(emit, row) : NULL;

		if (!label)
			return -ENOMEM;
		line_long(line, i ? ", " : "\"");
		line_long(line, label);
	}
	if (wait->n_holders > n) {
		line_lit(line, ", +");
		line_u64(line, wait->n_holders - n);
	}
	line_lit(line, "\"");
	key(line, "holder_tids", first);
	for (uint32_t i = 0; i < n; i++) {
		line_long(line, i ? ", " : "\"");
		line_u64(line, (uint32_t)wait->holders[i]->tid);
	}
	line_lit(line, "\"");
	return 0;
}

int chrome_wait_args(struct emit_chrome *emit, struct line *line, const struct fold_wait *wait)
{
	bool first = true;
	int r;

	if (wait->end_ns - wait->start_ns < CHROME_DETAIL_NS)
		return 0;
	r = holders(emit, line, wait, &first);
	duration(line, "holder_running_us", wait->holder_on_cpu_ns, &first);
	duration(line, "holder_off_cpu_us", wait->holder_blocked_ns + wait->holder_runnable_ns,
		&first);
	duration(line, "gil_free_us", wait->free_ns, &first);
	number(line, "switch_requests", wait->requests, &first);
	flag(line, "forced_switch", wait->yield, &first);
	number(line, "gil", wait->gil->number > 1 ? wait->gil->number : 0, &first);
	if (!first)
		line_lit(line, "}");
	return r;
}

int chrome_hold_args(struct emit_chrome *emit, struct line *line, const struct fold_hold *hold)
{
	uint64_t known = hold->on_cpu_ns + hold->blocked_ns + hold->runnable_ns;
	bool first = true;

	if (hold->end_ns - hold->start_ns < CHROME_DETAIL_NS)
		return 0;
	number(line, "tid", (uint32_t)hold->thread->tid, &first);
	if (known) {
		key(line, "on_cpu_percent", &first);
		line_u64(line, hold->on_cpu_ns * 100 / known);
	}
	duration(line, "others_waited_us", hold->others_waited_ns, &first);
	number(line, "waiters", hold->n_waiters, &first);
	flag(line, "ended_by_request", hold->forced, &first);
	flag(line, "never_released", hold->open, &first);
	if (!first)
		line_lit(line, "}");
	return 0;
}

void chrome_sum_args(struct line *line, const struct chrome_sum *sum)
{
	static const char *const names[SPAN_STATES] = {
		[SPAN_UNKNOWN] = "unknown_us",
		[SPAN_HAS_GIL] = "has_gil_us",
		[SPAN_HAS_GIL_OFF_CPU] = "has_gil_off_cpu_us",
		[SPAN_WAITING] = "waiting_us",
		[SPAN_NATIVE] = "native_us",
		[SPAN_RUNNABLE] = "runnable_us",
		[SPAN_BLOCKED] = "blocked_us",
	};
	bool first = true;

	number(line, "states", sum->changes, &first);
	for (int i = 0; i < SPAN_STATES; i++)
		duration(line, names[i], sum->state_ns[i], &first);
	line_lit(line, "}");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: counters of a GIL. In: holds and changes of the number of waiters, each in time order.
 * Out: the number of waiters, and per 50 ms how much the GIL was held and how many waited.
 * Invariant: the waiters line is at most CHROME_WAITERS_NS late and right at the end of a burst.
 */
#include "emit/chrome.h"

/* One key each: two keys would be two tracks to one viewer and a stack to the other. */
static void begin(struct line *line, struct chrome_gil *gil, uint64_t time_ns, const char *name)
{
	char text[EMIT_GIL_NAME];

	chrome_line(gil->emit, line);
	line_lit(line, "{\"ph\":\"C\",\"pid\":");
	line_u64(line, (uint32_t)gil->gil->process->pid);
	line_lit(line, ",\"ts\":");
	line_us(line, time_ns);
	line_lit(line, ",\"name\":\"");
	line_long(line, emit_gil_name(gil->gil, text));
	line_long(line, name);
}

/* @value / 10^@decimals, then the end of the event. */
static void finish(struct line *line, uint64_t value, unsigned decimals)
{
	line_flush(line);
	out_fixed(line->out, value, decimals);
	line_lit(line, "}}");
	line_flush(line);
}

static void write_held(void *user, uint64_t start_ns, uint64_t value)
{
	struct line line;

	begin(&line, user, start_ns, " held\",\"args\":{\"%\":");
	finish(&line, value, 1);
}

static void write_mean(void *user, uint64_t start_ns, uint64_t value)
{
	struct line line;

	begin(&line, user, start_ns, " mean\",\"args\":{\"waiters\":");
	finish(&line, value, 2);
}

static void write_waiters(struct chrome_gil *gil, uint64_t time_ns)
{
	struct line line;

	begin(&line, gil, time_ns, "\",\"args\":{\"waiters\":");
	finish(&line, gil->waiters, 0);
	gil->waiters_dirty = false;
	gil->waiters_due_ns = time_ns + CHROME_WAITERS_NS;
}

void chrome_counters_init(struct chrome_gil *gil)
{
	gil->held = (struct bins){
		.scale = 1000, .first_ns = gil->gil->start_ns, .write = write_held, .user = gil};
	gil->waiting = gil->held;
	gil->waiting.scale = 100;
	gil->waiting.write = write_mean;
}

void chrome_counters_holder(struct chrome_gil *gil, uint64_t time_ns, bool held)
{
	bins_add(&gil->held, gil->held_ns, time_ns, gil->is_held);
	gil->held_ns = time_ns;
	gil->is_held = held;
}

void chrome_counters_waiters(struct chrome_gil *gil, uint64_t time_ns, uint32_t waiters)
{
	bins_add(&gil->waiting, gil->waiters_ns, time_ns, gil->waiters);
	if (gil->waiters_dirty && time_ns >= gil->waiters_due_ns)
		write_waiters(gil, gil->waiters_due_ns);
	if (waiters != gil->waiters) {
		gil->waiters = waiters;
		gil->waiters_dirty = true;
	}
	gil->waiters_ns = time_ns;
	if (gil->waiters_dirty && time_ns >= gil->waiters_due_ns)
		write_waiters(gil, time_ns);
}

void chrome_counters_end(struct chrome_gil *gil, uint64_t end_ns)
{
	if (gil->gil->end_ns && gil->gil->end_ns < end_ns)
		end_ns = gil->gil->end_ns;
	chrome_counters_waiters(gil, end_ns, 0);
	if (gil->waiters_dirty)
		write_waiters(gil, gil->waiters_due_ns);
	chrome_counters_holder(gil, end_ns, false);
	bins_finish(&gil->held, end_ns);
	bins_finish(&gil->waiting, end_ns);
}

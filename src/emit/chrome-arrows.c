/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: arrows of hand-overs, from the end of a hold to the begin of the next. In: hand-overs, and
 * held slices as they are drawn. Out: flow events. Invariant: an arrow without a slice at either
 * end is an error to viewers, so it waits until both are certain; since viewers sort by time, only
 * the slice that begins where an arrow ends must be in the file before it.
 */
#include "emit/chrome.h"

#include <errno.h>

/* One end of an arrow. Viewers tie it to the slice of the row that contains the time. */
static void write_arrow_end(struct emit_chrome *emit, const struct fold_thread *thread,
	const char *kind, uint64_t time_ns)
{
	struct line line;

	chrome_line(emit, &line);
	line_lit(&line, "{\"ph\":\"");
	line_long(&line, kind);
	line_lit(&line, ",\"pid\":");
	line_u64(&line, (uint32_t)thread->process->pid);
	line_lit(&line, ",\"tid\":");
	line_u64(&line, emit_thread_row(thread));
	line_lit(&line, ",\"ts\":");
	line_us(&line, time_ns);
	line_lit(&line, ",\"id\":");
	line_u64(&line, emit->arrows);
	line_lit(&line, ",\"name\":\"GIL hand-over\"");
	chrome_line_end(&line);
}

static void write_arrow(struct emit_chrome *emit, struct chrome_row *from)
{
	struct chrome_arrow *arrow = &from->arrow;

	if (!arrow->has_from || !arrow->has_to)
		return;
	emit->arrows++;
	write_arrow_end(emit, from->thread, "s\"", arrow->release_ns - 1);
	write_arrow_end(emit, arrow->to->thread, "f\",\"bp\":\"e\"", arrow->acquire_ns);
	arrow->to->arrow_from = NULL;
	*arrow = (struct chrome_arrow){0};
}

/* Whose arrow ends where @span begins, or NULL. */
static struct chrome_row *arrow_to(const struct chrome_row *row, const struct span *span)
{
	struct chrome_row *from = row->arrow_from;

	if (!chrome_is_held(span) || !from || from->arrow.to != row)
		return NULL;
	return from->arrow.acquire_ns == span->start_ns ? from : NULL;
}

bool chrome_arrow_ends(const struct chrome_row *row, const struct span *span)
{
	return arrow_to(row, span) != NULL;
}

void chrome_arrow_held(struct emit_chrome *emit, struct chrome_row *row, const struct span *span)
{
	struct chrome_row *from = arrow_to(row, span);

	row->held_end_ns = span->end_ns;
	if (from) {
		from->arrow.has_to = true;
		write_arrow(emit, from);
	}
	if (row->arrow.to && row->arrow.release_ns == span->end_ns) {
		row->arrow.has_from = true;
		write_arrow(emit, row);
	}
}

int chrome_arrow_add(struct emit_chrome *emit, const struct fold_handoff *handoff)
{
	struct chrome_row *from = chrome_row(emit, handoff->from);
	struct chrome_row *to = chrome_row(emit, handoff->to);
	uint64_t since_ns = handoff->release_ns;

	if (!from || !to)
		return -ENOMEM;
	if (to->has_wait && to->wait.end_ns == handoff->acquire_ns && to->wait.start_ns < since_ns)
		since_ns = to->wait.start_ns;
	if (handoff->acquire_ns - since_ns < CHROME_DETAIL_NS)
		return 0;
	from->arrow = (struct chrome_arrow){.to = to,
		.release_ns = handoff->release_ns,
		.acquire_ns = handoff->acquire_ns,
		.has_from = from->held_end_ns == handoff->release_ns};
	to->arrow_from = from;
	return 0;
}

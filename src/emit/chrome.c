/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: a Chrome JSON trace. In: what fold tells a sink. Out: events, one a line, as they come.
 * Invariants: slices of a row never overlap; times are printed from nanoseconds without a double;
 * memory grows with threads and GILs only.
 */
#include "emit/chrome.h"

#include "base/json.h"

#include <errno.h>
#include <stdlib.h>

static bool long_enough(const struct emit_chrome *emit, uint64_t start_ns, uint64_t end_ns)
{
	return end_ns - start_ns >= emit->options.min_dur_ns;
}

/* Writes a slice up to its args and closing brace. */
static void begin_slice(struct emit_chrome *emit, struct line *line, const char *head,
	size_t head_size, uint64_t start_ns, uint64_t end_ns)
{
	chrome_line(emit, line);
	line_mem(line, head, head_size);
	line_us(line, start_ns);
	line_lit(line, ",\"dur\":");
	line_us(line, end_ns - start_ns);
	line_lit(line, ",\"name\":\"");
	emit->slices++;
}

static void end_event(struct line *line)
{
	line_lit(line, "}");
	line_flush(line);
}

/* A state of a thread; @wait is what is known about a WAITING one, or NULL. */
static int write_state(struct emit_chrome *emit, struct chrome_row *row, const struct span *span,
	const struct fold_wait *wait)
{
	struct line line;
	int r;

	if (!long_enough(emit, span->start_ns, span->end_ns))
		return 0;
	begin_slice(emit, &line, row->head, row->head_size, span->start_ns, span->end_ns);
	line_long(&line, emit_state_name(span->state));
	line_lit(&line, "\",\"cname\":\"");
	line_long(&line, emit_state_cname(span->state));
	line_lit(&line, "\"");
	r = wait ? chrome_wait_args(emit, &line, wait) : 0;
	end_event(&line);
	return r;
}

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
	end_event(&line);
}

/* A held slice of @row was written: the arrow that ends there can be, and others start there. */
static void held_written(struct emit_chrome *emit, struct chrome_row *row, const struct span *span)
{
	const struct chrome_row *from = row->arrow_from;

	row->held_start_ns = span->start_ns;
	row->held_end_ns = span->end_ns;
	row->arrow_from = NULL;
	if (!from || row->arrow_acquire_ns != span->start_ns)
		return;
	emit->arrows++;
	write_arrow_end(emit, from->thread, "s\"", row->arrow_release_ns - 1);
	write_arrow_end(emit, row->thread, "f\",\"bp\":\"e\"", span->start_ns);
}

/* Writes a WAITING span whose wait was never told. */
static int flush_span(struct emit_chrome *emit, struct chrome_row *row)
{
	if (!row->has_span)
		return 0;
	row->has_span = false;
	return write_state(emit, row, &row->span, NULL);
}

static bool tells_of(const struct fold_wait *wait, const struct span *span)
{
	return wait->start_ns <= span->start_ns && span->end_ns <= wait->end_ns;
}

static int on_waiting_span(
	struct emit_chrome *emit, struct chrome_row *row, const struct span *span)
{
	bool told = row->has_wait && tells_of(&row->wait, span);

	row->has_wait = false;
	if (told)
		return write_state(emit, row, span, &row->wait);
	row->span = *span;
	row->has_span = true;
	return 0;
}

static int on_span(void *user, const struct span *span, struct err *err)
{
	struct emit_chrome *emit = user;
	struct chrome_row *row = chrome_row(emit, span->thread);
	int r;

	if (!row)
		return err_nomem(err);
	r = flush_span(emit, row);
	if (r < 0)
		return err_nomem(err);
	if (span->end_ns <= span->start_ns || !emit_state_name(span->state))
		return 0;
	if (span->state == SPAN_BLOCKED && !emit->options.idle)
		return 0;
	if (span->state == SPAN_WAITING)
		r = on_waiting_span(emit, row, span);
	else
		r = write_state(emit, row, span, NULL);
	if ((span->state == SPAN_HAS_GIL || span->state == SPAN_HAS_GIL_OFF_CPU) &&
		long_enough(emit, span->start_ns, span->end_ns))
		held_written(emit, row, span);
	if (r < 0)
		return err_nomem(err);
	r = out_error(emit->out);
	return r < 0 ? err_errno(err, r, "unable to write the trace") : 0;
}

static int on_wait(void *user, const struct fold_wait *wait, struct err *err)
{
	struct emit_chrome *emit = user;
	struct chrome_row *row = chrome_row(emit, wait->thread);

	if (!row)
		return err_nomem(err);
	if (row->has_span && tells_of(wait, &row->span)) {
		row->has_span = false;
		return write_state(emit, row, &row->span, wait) < 0 ? err_nomem(err) : 0;
	}
	row->wait = *wait;
	row->has_wait = true;
	return 0;
}

static int on_hold(void *user, const struct fold_hold *hold, struct err *err)
{
	struct emit_chrome *emit = user;
	struct chrome_row *row = chrome_row(emit, hold->thread);
	struct chrome_gil *gil = chrome_gil(emit, hold->gil);
	const char *label = row ? chrome_label(emit, row) : NULL;
	uint64_t start_ns = hold->start_ns;
	struct line line;
	int r;

	if (!gil || !label)
		return err_nomem(err);
	row->hold_ns = hold->end_ns - hold->start_ns;
	/* only damaged recordings have two holders at once: the later one is cut */
	if (start_ns < gil->end_ns)
		start_ns = gil->end_ns;
	if (hold->end_ns <= start_ns)
		return 0;
	gil->end_ns = hold->end_ns;
	chrome_counters_hold(gil, hold);
	if (!long_enough(emit, start_ns, hold->end_ns))
		return 0;
	begin_slice(emit, &line, gil->head, gil->head_size, start_ns, hold->end_ns);
	line_long(&line, label);
	line_lit(&line, "\"");
	r = chrome_hold_args(emit, &line, hold);
	end_event(&line);
	return r < 0 ? err_nomem(err) : 0;
}

static int on_handoff(void *user, const struct fold_handoff *handoff, struct err *err)
{
	struct emit_chrome *emit = user;
	struct chrome_row *from = chrome_row(emit, handoff->from);
	struct chrome_row *to = chrome_row(emit, handoff->to);
	bool brief;

	if (!from || !to)
		return err_nomem(err);
	brief = from->hold_ns < CHROME_DETAIL_NS &&
		handoff->acquire_ns - handoff->release_ns < CHROME_DETAIL_NS;
	to->arrow_from = NULL;
	/* an arrow without a slice at either end is an error to viewers */
	if (brief || from->held_end_ns != handoff->release_ns ||
		from->held_end_ns - from->held_start_ns < 1)
		return 0;
	to->arrow_from = from;
	to->arrow_release_ns = handoff->release_ns;
	to->arrow_acquire_ns = handoff->acquire_ns;
	return 0;
}

static int on_cpu(void *user, const struct fold_cpu *cpu, struct err *err)
{
	struct emit_chrome *emit = user;
	struct line line;

	if (cpu->end_ns <= cpu->start_ns || !long_enough(emit, cpu->start_ns, cpu->end_ns))
		return 0;
	chrome_line(emit, &line);
	line_lit(&line, "{\"ph\":\"T\",\"pid\":");
	line_u64(&line, (uint32_t)cpu->thread->process->pid);
	line_lit(&line, ",\"tid\":");
	line_u64(&line, (uint32_t)cpu->thread->tid);
	line_lit(&line, ",\"ts\":");
	line_us(&line, cpu->start_ns);
	line_lit(&line, ",\"dur\":");
	line_us(&line, cpu->end_ns - cpu->start_ns);
	line_lit(&line, ",\"name\":\"");
	line_long(&line, cpu->name);
	line_lit(&line, "\"");
	if (cpu->cpu >= 0) {
		line_lit(&line, ",\"args\":{\"cpu\":");
		line_u64(&line, (uint32_t)cpu->cpu);
		line_lit(&line, "}");
	}
	end_event(&line);
	return 0;
}

static int on_waiters(void *user, const struct fold_gil *fold_gil, uint64_t time_ns,
	uint32_t waiters, struct err *err)
{
	struct chrome_gil *gil = chrome_gil(user, fold_gil);

	if (!gil)
		return err_nomem(err);
	chrome_counters_waiters(gil, time_ns, waiters);
	return 0;
}

static void end_phase(struct emit_chrome *emit, uint64_t end_ns)
{
	const struct emit_options *o = &emit->options;
	const char *name = "phase";
	struct line line;

	if (o->phase_names)
		name = emit->phase < o->n_phase_names ? o->phase_names[emit->phase] : NULL;
	if (!emit->has_phase || !name || end_ns <= emit->phase_ns)
		return;
	chrome_line(emit, &line);
	line_lit(&line, "{\"ph\":\"X\",\"pid\":");
	line_u64(&line, EMIT_ROWS);
	line_lit(&line, ",\"tid\":");
	line_u64(&line, EMIT_ROWS);
	line_lit(&line, ",\"ts\":");
	line_us(&line, emit->phase_ns);
	line_lit(&line, ",\"dur\":");
	line_us(&line, end_ns - emit->phase_ns);
	line_lit(&line, ",\"name\":\"");
	line_flush(&line);
	json_escape(emit->out, name);
	line_lit(&line, "\",\"args\":{\"phase\":");
	line_u64(&line, emit->phase);
	line_lit(&line, "}");
	end_event(&line);
	emit->slices++;
}

static int on_mark(void *user, uint64_t time_ns, uint64_t phase, struct err *err)
{
	struct emit_chrome *emit = user;

	end_phase(emit, time_ns);
	emit->has_phase = true;
	emit->phase = phase;
	emit->phase_ns = time_ns;
	return 0;
}

static int on_done(void *user, const struct fold_result *result, struct err *err)
{
	struct emit_chrome *emit = user;
	int r;

	for (size_t i = 0; i < emit->n_rows; i++) {
		r = emit->rows[i] ? flush_span(emit, emit->rows[i]) : 0;
		if (r < 0)
			return err_nomem(err);
	}
	for (size_t i = 0; i < emit->n_gils; i++)
		if (emit->gils[i])
			chrome_counters_end(emit->gils[i], result->end_ns);
	end_phase(emit, result->end_ns);
	emit->start_ns = result->start_ns;
	emit->end_ns = result->end_ns;
	r = chrome_end(emit, result);
	return r < 0 ? err_nomem(err) : 0;
}

int emit_chrome_new(struct out *out, const struct emit_options *options, struct emit_chrome **ret,
	struct err *err)
{
	struct emit_chrome *emit = calloc(1, sizeof(*emit));

	if (!emit)
		return err_nomem(err);
	emit->out = out;
	emit->options = *options;
	emit->sink = (struct sink){.user = emit,
		.span = on_span,
		.hold = on_hold,
		.wait = on_wait,
		.handoff = on_handoff,
		.cpu = on_cpu,
		.waiters = on_waiters,
		.mark = on_mark,
		.done = on_done};
	emit->merged_start_ns = UINT64_MAX;
	out_str(out, "{\"traceEvents\":[\n");
	*ret = emit;
	return 0;
}

void emit_chrome_free(struct emit_chrome *emit)
{
	if (!emit)
		return;
	chrome_rows_done(emit);
	map_done(&emit->names);
	strtab_done(&emit->strings);
	out_free(emit->file_info);
	free(emit);
}

struct sink *emit_chrome_sink(struct emit_chrome *emit)
{
	return &emit->sink;
}

uint64_t emit_chrome_slices(const struct emit_chrome *emit)
{
	return emit->slices;
}

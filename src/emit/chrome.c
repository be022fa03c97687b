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

void chrome_slice_begin(struct emit_chrome *emit, struct line *line, const char *head,
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

static bool drawn(const struct emit_options *options, enum span_state state)
{
	if (options->waits_only)
		return state == SPAN_WAITING;
	return emit_state_name(state) && (state != SPAN_BLOCKED || options->idle);
}

int chrome_state(struct emit_chrome *emit, struct chrome_row *row, const struct span *span,
	const struct fold_wait *wait)
{
	struct line line;
	int r;

	if (!drawn(&emit->options, span->state))
		return 0;
	chrome_slice_begin(emit, &line, row->head, row->head_size, span->start_ns, span->end_ns);
	line_long(&line, emit_state_name(span->state));
	line_lit(&line, "\",\"cname\":\"");
	line_long(&line, emit_state_cname(span->state));
	line_lit(&line, "\"");
	r = wait ? chrome_wait_args(emit, &line, wait) : 0;
	chrome_line_end(&line);
	return r;
}

/* Draws @span at once, or leaves it to chrome-rapid.c. */
static int draw_span(struct emit_chrome *emit, struct chrome_row *row, const struct span *span,
	const struct fold_wait *wait)
{
	if (!chrome_rapid_state(&emit->options, span)) {
		chrome_rapid_end(emit, row);
		return chrome_state(emit, row, span, wait);
	}
	if (!chrome_arrow_ends(row, span))
		return chrome_rapid_add(emit, row, span);
	chrome_rapid_pass(emit, row, span);
	return chrome_state(emit, row, span, NULL);
}

static int on_span(void *user, const struct span *span, struct err *err)
{
	struct emit_chrome *emit = user;
	struct chrome_row *row = chrome_row(emit, span->thread);
	const struct fold_wait *wait;
	int r;

	if (!row)
		return err_nomem(err);
	wait = row->has_wait && row->wait.start_ns < span->end_ns &&
			       row->wait.end_ns > span->start_ns
		       ? &row->wait
		       : NULL;
	if (span->state == SPAN_WAITING)
		row->has_wait = false;
	else
		wait = NULL;
	if (span->end_ns <= span->start_ns || !long_enough(emit, span->start_ns, span->end_ns))
		return 0;
	r = draw_span(emit, row, span, wait);
	if (r < 0)
		return err_nomem(err);
	if (span->thread->ended) /* the last one */
		chrome_rapid_end(emit, row);
	if (chrome_is_held(span) && !emit->options.waits_only)
		chrome_arrow_held(emit, row, span);
	r = out_error(emit->out);
	return r < 0 ? err_errno(err, r, "unable to write the trace") : 0;
}

static void add_holder(struct fold_wait *sum, const struct fold_thread *holder)
{
	for (uint32_t i = 0; i < sum->n_holders && i < FOLD_WAIT_HOLDERS; i++)
		if (sum->holders[i] == holder)
			return;
	if (sum->n_holders < FOLD_WAIT_HOLDERS)
		sum->holders[sum->n_holders] = holder;
	sum->n_holders++;
}

/* A forced switch and the take that follows it at once are two waits in one span. */
static void add_wait(struct fold_wait *sum, const struct fold_wait *wait)
{
	sum->end_ns = wait->end_ns;
	sum->acquired = wait->acquired;
	sum->yield |= wait->yield;
	sum->requests += wait->requests;
	for (uint32_t i = 0; i < wait->n_holders && i < FOLD_WAIT_HOLDERS; i++)
		add_holder(sum, wait->holders[i]);
	sum->holder_on_cpu_ns += wait->holder_on_cpu_ns;
	sum->holder_blocked_ns += wait->holder_blocked_ns;
	sum->holder_runnable_ns += wait->holder_runnable_ns;
	sum->free_ns += wait->free_ns;
}

/* It is told before the span that it is in. */
static int on_wait(void *user, const struct fold_wait *wait, struct err *err)
{
	struct emit_chrome *emit = user;
	struct chrome_row *row = chrome_row(emit, wait->thread);

	if (!row)
		return err_nomem(err);
	if (row->has_wait && row->wait.end_ns == wait->start_ns && row->wait.gil == wait->gil)
		add_wait(&row->wait, wait);
	else
		row->wait = *wait;
	row->has_wait = true;
	return 0;
}

/* Told when it is known whether the release was forced: not in the order of time. */
static int on_hold(void *user, const struct fold_hold *hold, struct err *err)
{
	struct emit_chrome *emit = user;
	struct chrome_row *row = chrome_row(emit, hold->thread);
	struct chrome_gil *gil = chrome_gil(emit, hold->gil);
	const char *label = row ? chrome_label(emit, row) : NULL;
	struct line line;
	int r;

	if (!gil || !label)
		return err_nomem(err);
	if (emit->options.waits_only || hold->end_ns <= hold->start_ns ||
		!long_enough(emit, hold->start_ns, hold->end_ns))
		return 0;
	if (!gil->head_size)
		chrome_gil_head(gil);
	chrome_slice_begin(emit, &line, gil->head, gil->head_size, hold->start_ns, hold->end_ns);
	line_long(&line, label);
	line_lit(&line, "\"");
	r = chrome_hold_args(emit, &line, hold);
	chrome_line_end(&line);
	return r < 0 ? err_nomem(err) : 0;
}

static int on_holder(void *user, const struct fold_gil *fold_gil, uint64_t time_ns,
	const struct fold_thread *thread, struct err *err)
{
	struct emit_chrome *emit = user;
	struct chrome_gil *gil = chrome_gil(emit, fold_gil);

	if (!gil)
		return err_nomem(err);
	if (!emit->options.waits_only)
		chrome_counters_holder(gil, time_ns, thread != NULL);
	return 0;
}

static int on_handoff(void *user, const struct fold_handoff *handoff, struct err *err)
{
	return chrome_arrow_add(user, handoff) < 0 ? err_nomem(err) : 0;
}

static int on_cpu(void *user, const struct fold_cpu *cpu, struct err *err)
{
	struct emit_chrome *emit = user;
	struct chrome_row *row;
	int r;

	if (cpu->end_ns <= cpu->start_ns || !long_enough(emit, cpu->start_ns, cpu->end_ns))
		return 0;
	row = chrome_row(emit, cpu->thread);
	if (!row)
		return err_nomem(err);
	r = chrome_kernel_add(emit, row, cpu);
	if (r < 0)
		return err_nomem(err);
	if (cpu->thread->ended)
		chrome_kernel_end(emit, row);
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
	if (!emit->phase || !name || end_ns <= emit->phase_ns)
		return;
	chrome_line(emit, &line);
	line_lit(&line, "{\"ph\":\"X\",\"pid\":");
	line_u64(&line, EMIT_PHASES_PID);
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
	chrome_line_end(&line);
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

static int end_counters(struct emit_chrome *emit, const struct fold_gil *fold_gil, uint64_t end_ns)
{
	struct chrome_gil *gil = chrome_gil(emit, fold_gil);

	if (!gil)
		return -ENOMEM;
	chrome_counters_end(gil, end_ns);
	return 0;
}

static int end_row(struct emit_chrome *emit, const struct fold_thread *thread)
{
	struct chrome_row *row = chrome_row(emit, thread);

	if (!row)
		return -ENOMEM;
	chrome_rapid_end(emit, row);
	chrome_kernel_end(emit, row);
	return 0;
}

static int on_done(void *user, const struct fold_result *result, struct err *err)
{
	struct emit_chrome *emit = user;
	int r = 0;

	for (size_t i = 0; i < result->n_threads && r >= 0; i++)
		r = end_row(emit, result->threads[i]);
	for (size_t i = 0; i < result->n_gils && r >= 0; i++)
		r = end_counters(emit, result->gils[i], result->end_ns);
	if (r < 0)
		return err_nomem(err);
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
		.holder = on_holder,
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

void emit_chrome_describe(struct emit_chrome *emit, const struct emit_options *options)
{
	emit->options = *options;
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

uint64_t emit_chrome_rapid(const struct emit_chrome *emit)
{
	return emit->rapid_states;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: states in quick succession. In: a row's short states, and the kernel's. Out: each of them,
 * or, of CHROME_RAPID_RUN or more in a row, slices of about a millisecond that say how long each
 * state was. Invariant: what a row draws covers the same time either way, and the lengths in a
 * slice's args add up to its own, so nothing is missing from the sums.
 *
 *   state   | a long one | s s s s |    fewer than RUN: each is drawn when the next long one comes
 *   state   | a long one | s s s … s s s s s s s s | a long one |
 *                        | rapid 1 ms  | rapid     |
 */
#include "emit/chrome.h"

#include "base/vec.h"

#include <errno.h>

static void run_done(struct chrome_run *run)
{
	free(run->items);
	*run = (struct chrome_run){0};
}

void chrome_rapid_done(struct chrome_row *row)
{
	run_done(&row->states);
	run_done(&row->kernel);
}

/* Keeps a state that ends at @end_ns. */
static int keep(struct chrome_run *run, const struct chrome_item *item, uint64_t end_ns)
{
	if (vec_grow(run) < 0)
		return -ENOMEM;
	if (!run->n)
		run->start_ns = end_ns - item->ns;
	run->items[run->n++] = *item;
	return 0;
}

bool chrome_rapid_state(const struct emit_options *options, const struct span *span)
{
	/* a wait that has args is worth a slice of its own */
	uint64_t limit = span->state == SPAN_WAITING ? CHROME_DETAIL_NS : CHROME_RAPID_NS;

	return chrome_rapid(options) && span->end_ns - span->start_ns < limit;
}

static void draw_one(struct emit_chrome *emit, struct chrome_row *row, enum span_state state,
	uint64_t start_ns, uint64_t end_ns)
{
	struct span span = {.state = state, .start_ns = start_ns, .end_ns = end_ns};

	chrome_state(emit, row, &span, NULL);
}

static void sum_add(struct chrome_sum *sum, const struct chrome_item *item, uint64_t start_ns)
{
	if (!sum->changes)
		sum->start_ns = start_ns;
	sum->end_ns = start_ns + item->ns;
	sum->changes++;
	sum->last = item->state;
	sum->state_ns[item->state] += item->ns;
}

static void write_sum(
	struct emit_chrome *emit, struct chrome_row *row, const struct chrome_sum *sum)
{
	struct line line;

	chrome_slice_begin(emit, &line, row->head, row->head_size, sum->start_ns, sum->end_ns);
	line_lit(&line, EMIT_RAPID_NAME "\",\"cname\":\"" EMIT_RAPID_CNAME "\"");
	chrome_sum_args(&line, sum);
	chrome_line_end(&line);
}

/* Draws what was counted as one slice. */
static void sum_draw(struct emit_chrome *emit, struct chrome_row *row)
{
	struct chrome_sum *sum = &row->sum;

	if (sum->changes == 1) {
		draw_one(emit, row, sum->last, sum->start_ns, sum->end_ns);
	} else if (sum->changes) {
		write_sum(emit, row, sum);
		emit->rapid_slices++;
		emit->rapid_states += sum->changes;
	}
	*sum = (struct chrome_sum){0};
}

static void draw_kept(struct emit_chrome *emit, struct chrome_row *row)
{
	uint64_t at = row->states.start_ns;

	for (size_t i = 0; i < row->states.n; i++) {
		const struct chrome_item *item = &row->states.items[i];

		draw_one(emit, row, item->state, at, at + item->ns);
		at += item->ns;
	}
	row->states.n = 0;
	sum_draw(emit, row);
}

void chrome_rapid_end(struct emit_chrome *emit, struct chrome_row *row)
{
	draw_kept(emit, row);
	row->states.rapid = false;
	if (row->thread->ended) /* there may be thousands of them */
		run_done(&row->states);
}

void chrome_rapid_pass(struct emit_chrome *emit, struct chrome_row *row, const struct span *span)
{
	draw_kept(emit, row);
	row->states.rapid = row->states.rapid && row->states.end_ns == span->start_ns;
	row->states.end_ns = span->end_ns;
}

/* Rapid switching costs nothing while there is little of it. */
static bool drawn_singly(
	const struct emit_chrome *emit, const struct chrome_run *run, uint64_t *drawn)
{
	if (*drawn + run->n > emit->options.rapid_after)
		return false;
	*drawn += run->n;
	return true;
}

/* From here on they are drawn together. */
static void begin_rapid(struct chrome_row *row)
{
	struct chrome_run *run = &row->states;
	uint64_t at = run->start_ns;

	for (size_t i = 0; i < run->n; i++) {
		sum_add(&row->sum, &run->items[i], at);
		at += run->items[i].ns;
	}
	run->n = 0;
	run->rapid = true;
}

int chrome_rapid_add(struct emit_chrome *emit, struct chrome_row *row, const struct span *span)
{
	struct chrome_run *run = &row->states;
	struct chrome_item item = {
		.ns = (uint32_t)(span->end_ns - span->start_ns), .state = (uint8_t)span->state};

	if (run->end_ns != span->start_ns)
		chrome_rapid_end(emit, row);
	run->end_ns = span->end_ns;
	if (run->rapid) {
		sum_add(&row->sum, &item, span->start_ns);
	} else {
		if (keep(run, &item, span->end_ns) < 0)
			return -ENOMEM;
		if (run->n < CHROME_RAPID_RUN)
			return 0;
		if (drawn_singly(emit, run, &emit->rapid_single))
			draw_kept(emit, row);
		else
			begin_rapid(row);
	}
	if (row->sum.end_ns - row->sum.start_ns >= CHROME_RAPID_SLICE_NS)
		sum_draw(emit, row);
	return 0;
}

static void write_kernel(struct emit_chrome *emit, const struct fold_cpu *cpu)
{
	struct line line;

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
	chrome_line_end(&line);
}

void chrome_kernel_end(struct emit_chrome *emit, struct chrome_row *row)
{
	uint64_t at = row->kernel.start_ns;

	for (size_t i = 0; i < row->kernel.n; i++) {
		const struct chrome_item *item = &row->kernel.items[i];

		write_kernel(emit,
			&(struct fold_cpu){row->thread, at, at + item->ns, item->cpu, item->name});
		at += item->ns;
	}
	row->kernel.n = 0;
	row->kernel.rapid = false;
	if (row->thread->ended)
		run_done(&row->kernel);
}

int chrome_kernel_add(struct emit_chrome *emit, struct chrome_row *row, const struct fold_cpu *cpu)
{
	struct chrome_run *run = &row->kernel;
	struct chrome_item item;
	bool is_short =
		chrome_rapid(&emit->options) && cpu->end_ns - cpu->start_ns < CHROME_RAPID_NS;

	if (!is_short || run->end_ns != cpu->start_ns)
		chrome_kernel_end(emit, row);
	if (!is_short) {
		write_kernel(emit, cpu);
		return 0;
	}
	run->end_ns = cpu->end_ns;
	if (run->rapid) {
		emit->rapid_kernel++;
		return 0;
	}
	item = (struct chrome_item){.ns = (uint32_t)(cpu->end_ns - cpu->start_ns),
		.cpu = (int16_t)cpu->cpu,
		.name = cpu->name};
	if (keep(run, &item, cpu->end_ns) < 0)
		return -ENOMEM;
	if (run->n < CHROME_RAPID_RUN)
		return 0;
	if (drawn_singly(emit, run, &emit->rapid_kernel_single)) {
		chrome_kernel_end(emit, row);
		return 0;
	}
	emit->rapid_kernel += run->n;
	run->n = 0;
	run->rapid = true;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds a struct fold_result by hand. */
#include "totals.h"

#include "fold/hist.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint64_t ms(double t)
{
	return (uint64_t)(t * 1e6 + 0.5);
}

static void add_process(struct totals *t, size_t i)
{
	struct fold_process *p = &t->processes[i];

	assert(i < sizeof(t->processes) / sizeof(*t->processes));
	while (t->result.n_processes <= i) {
		size_t k = t->result.n_processes++;

		t->processes[k] = (struct fold_process){
			.index = (uint32_t)k,
			.pid = 100 * (int32_t)(k + 1),
			.name = "python3",
			.start_ns = UINT64_MAX,
		};
		t->process_list[k] = &t->processes[k];
	}
	p->n_threads++;
}

static struct fold_gil *add_gil(struct totals *t, struct fold_process *process, size_t i)
{
	assert(i < sizeof(t->gils) / sizeof(*t->gils));
	while (t->result.n_gils <= i) {
		size_t k = t->result.n_gils++;

		t->gils[k] = (struct fold_gil){
			.index = (uint32_t)k,
			.address = 0x1000 * (k + 1),
			.number = ++process->n_gils,
			.process = process,
			.start_ns = UINT64_MAX,
		};
		t->gil_list[k] = &t->gils[k];
	}
	return &t->gils[i];
}

static void fill_states(struct fold_thread *thread, const struct totals_row *row)
{
	uint64_t *state = thread->state_ns;

	state[SPAN_UNKNOWN] = ms(row->unknown);
	state[SPAN_HAS_GIL] = ms(row->hold);
	state[SPAN_HAS_GIL_OFF_CPU] = ms(row->hold_asleep) + ms(row->hold_ready);
	state[SPAN_WAITING] = ms(row->wait);
	state[SPAN_NATIVE] = ms(row->native);
	state[SPAN_RUNNABLE] = ms(row->ready);
	state[SPAN_BLOCKED] = ms(row->blocked);
	thread->hold_blocked_ns = ms(row->hold_asleep);
	thread->hold_runnable_ns = ms(row->hold_ready);
	thread->first_ns = thread->last_ns = ms(row->from);
	for (size_t i = 0; i < SPAN_STATES; i++)
		thread->last_ns += state[i];
	thread->wait_holder_blocked_ns = ms(row->wait_asleep);
	thread->wait_holder_runnable_ns = ms(row->wait_ready);
	thread->wait_gil_free_ns = ms(row->wait_free);
	thread->wait_holder_on_cpu_ns =
		ms(row->wait) - ms(row->wait_asleep) - ms(row->wait_ready) - ms(row->wait_free);
	thread->wait_runnable_ns = ms(row->wait_no_cpu);
	thread->blocked_by_sibling_ns = ms(row->by_sibling);
	thread->others_waited_ns = ms(row->others_waited);
	thread->long_waited_ns = ms(row->in_long);
}

static void add(struct hist *hist, uint64_t ns)
{
	if (hist_add(hist, ns) < 0)
		abort();
}

static void fill_counts(struct fold_thread *thread, const struct totals_row *row)
{
	double held = row->hold + row->hold_asleep + row->hold_ready;
	double each = row->each_wait > 0 ? row->each_wait
		      : row->waits	 ? row->wait / (double)row->waits
					 : 0;

	thread->takes = row->takes;
	thread->forced = row->forced;
	thread->waits = row->waits;
	thread->natives = row->natives;
	thread->blocks = row->blocks;
	thread->sibling_wakeups = row->wakeups;
	thread->max_hold_ns = ms(row->max_hold);
	thread->max_wait_ns = ms(row->max_wait);
	for (uint64_t i = 0; i < row->waits && i < 1000; i++) {
		add(&thread->wait_hist, ms(each));
		if (row->interval > 0)
			add(&thread->interval_hist, ms(row->interval));
	}
	for (uint64_t i = 0; i < row->takes && i < 1000; i++)
		add(&thread->holds, ms(held / (double)row->takes));
}

static void fill_gil(struct fold_gil *gil, const struct fold_thread *thread)
{
	gil->held_on_cpu_ns += thread->state_ns[SPAN_HAS_GIL];
	gil->held_blocked_ns += thread->hold_blocked_ns;
	gil->held_runnable_ns += thread->hold_runnable_ns;
	gil->held_ns = gil->held_on_cpu_ns + gil->held_blocked_ns + gil->held_runnable_ns;
	gil->waiters_ns += thread->state_ns[SPAN_WAITING];
	gil->contended_ns = gil->contended_ns > thread->state_ns[SPAN_WAITING]
				    ? gil->contended_ns
				    : thread->state_ns[SPAN_WAITING];
	gil->takes += thread->takes;
	gil->handoffs += thread->waits;
	gil->forced += thread->forced;
	if (thread->max_hold_ns > gil->max_hold_ns)
		gil->max_hold_ns = thread->max_hold_ns;
	if (thread->max_wait_ns > gil->max_wait_ns)
		gil->max_wait_ns = thread->max_wait_ns;
}

static void stretch(uint64_t *start, uint64_t *end, const struct fold_thread *thread)
{
	if (thread->first_ns < *start)
		*start = thread->first_ns;
	if (thread->last_ns > *end)
		*end = thread->last_ns;
}

static void add_row(struct totals *t, const struct totals_row *row, size_t i)
{
	struct fold_thread *thread = &t->threads[i];
	struct fold_process *process;
	struct fold_gil *gil;

	add_process(t, row->process);
	process = &t->processes[row->process];
	gil = add_gil(t, process, row->gil);
	*thread = (struct fold_thread){
		.index = (uint32_t)i,
		.number = process->n_threads - 1,
		.process = process,
		.tid = row->tid ? row->tid : 100 + (int32_t)i,
		.name = row->name,
		.gil = gil,
	};
	thread->main = thread->tid == process->pid;
	fill_states(thread, row);
	fill_counts(thread, row);
	fill_gil(gil, thread);
	stretch(&gil->start_ns, &gil->end_ns, thread);
	stretch(&process->start_ns, &process->end_ns, thread);
	stretch(&t->result.start_ns, &t->result.end_ns, thread);
	t->result.quality.events += row->takes * 2;
	t->result.quality.gil_events += row->takes * 2;
	t->thread_list[i] = thread;
	t->result.n_threads++;
}

void totals_build(struct totals *t, const struct totals_row *rows, size_t n_rows)
{
	assert(n_rows <= TOTALS_MAX);
	memset(t, 0, sizeof(*t));
	t->result.quality = (struct fold_quality){
		.cpu_known = true,
		.runnable_known = true,
		.wait_known = true,
		.forced_known = true,
	};
	t->result.start_ns = UINT64_MAX;
	for (size_t i = 0; i < n_rows; i++)
		add_row(t, &rows[i], i);
	for (size_t i = 0; i < n_rows; i++) {
		if (!rows[i].waits_for)
			continue;
		t->blame[t->result.n_blame++] = (struct fold_blame){
			.waiter = &t->threads[i],
			.holder = totals_thread(t, rows[i].waits_for),
			.wait_ns = ms(rows[i].wait),
			.waits = rows[i].waits,
		};
	}
	t->result.processes = t->process_list;
	t->result.gils = t->gil_list;
	t->result.threads = t->thread_list;
	t->result.blame = t->blame;
	t->result.holds = t->holds;
}

void totals_done(struct totals *t)
{
	for (size_t i = 0; i < t->result.n_threads; i++) {
		hist_done(&t->threads[i].holds);
		hist_done(&t->threads[i].wait_hist);
		hist_done(&t->threads[i].interval_hist);
	}
}

struct fold_thread *totals_thread(struct totals *t, const char *name)
{
	for (size_t i = 0; i < t->result.n_threads; i++)
		if (!strcmp(t->threads[i].name, name))
			return &t->threads[i];
	assert(!"no such thread");
	return NULL;
}

struct fold_hold *totals_hold(struct totals *t, const char *name, double from, double length,
	double on_cpu, double others_waited)
{
	struct fold_hold *hold = &t->holds[t->result.n_holds++];
	struct fold_thread *thread = totals_thread(t, name);

	assert(t->result.n_holds <= FOLD_TOP_HOLDS);
	*hold = (struct fold_hold){
		.thread = thread,
		.gil = thread->gil,
		.start_ns = ms(from),
		.end_ns = ms(from + length),
		.on_cpu_ns = ms(on_cpu),
		.blocked_ns = ms(length) - ms(on_cpu),
		.others_waited_ns = ms(others_waited),
	};
	return hold;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the table of `gilprobe scale`. In: what was measured, the verdict. Out: text for people.
 * Invariant: the shares of a row add up to 100 per cent of its workers' time. Where the GIL is off,
 * the columns of the GIL give way to one of lock waits: asleep until a thread of the process wakes
 * it.
 */
#include "report/scale.h"

#include "base/human.h"
#include "report/grid.h"
#include "report/text.h"

#include <stdio.h>

enum column {
	MODE,
	WORKERS,
	WALL,
	MEDIAN,
	CPU,
	CPU_PER_WALL,
	SPEEDUP,
	WORKER_CPU,
	HAS_GIL,
	OFF_CPU,
	WAITING,
	NATIVE,
	RUNNABLE,
	LOCKS,
	BLOCKED,
	HANDOFFS,
	COLUMNS
};

static void put_share(struct grid_cell *row, enum column column, uint64_t part, uint64_t life)
{
	double percent = life ? 100 * (double)part / (double)life : 0;

	snprintf(row[column].text, GRID_CELL, "%.1f%%", percent);
	if (column == WAITING && percent >= 20)
		row[column].paint = PAINT_RED;
}

static void fill_evidence(
	struct grid_cell *row, const struct scale_evidence *e, const struct grid_column *columns)
{
	uint64_t locks = columns[LOCKS].absent ? 0 : e->blocked_by_sibling_ns;

	char count[HUMAN_SIZE];

	if (!e->known) {
		for (enum column c = HAS_GIL; c < COLUMNS; c++)
			snprintf(row[c].text, GRID_CELL, "-");
		return;
	}
	put_share(row, HAS_GIL, e->held_ns, e->life_ns);
	put_share(row, OFF_CPU, e->held_asleep_ns + e->held_no_cpu_ns, e->life_ns);
	put_share(row, WAITING, e->waiting_ns, e->life_ns);
	put_share(row, NATIVE, e->native_ns, e->life_ns);
	put_share(row, RUNNABLE, e->runnable_ns, e->life_ns);
	put_share(row, LOCKS, locks, e->life_ns);
	put_share(row, BLOCKED, e->blocked_ns - locks, e->life_ns);
	snprintf(row[HANDOFFS].text, GRID_CELL, "%s", human_count(e->handoffs, count));
}

static void fill_row(struct grid_cell *row, const struct scale_result *result,
	const struct scale_phase *phase, const struct grid_column *columns)
{
	const struct scale_run *best = scale_best(phase);
	uint64_t wall_ns = best->end_ns - best->start_ns, least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < best->n_tasks; i++) {
		least = best->tasks[i].cpu_ns < least ? best->tasks[i].cpu_ns : least;
		most = best->tasks[i].cpu_ns > most ? best->tasks[i].cpu_ns : most;
	}
	snprintf(row[MODE].text, GRID_CELL, "%s", scale_mode_name(phase->mode));
	snprintf(row[WORKERS].text, GRID_CELL, "%u", phase->workers);
	snprintf(row[WALL].text, GRID_CELL, "%.3f", (double)wall_ns / 1e9);
	snprintf(row[MEDIAN].text, GRID_CELL, "%.3f", (double)scale_median_ns(phase) / 1e9);
	snprintf(row[CPU].text, GRID_CELL, "%.3f", (double)best->cpu_ns / 1e9);
	snprintf(row[CPU_PER_WALL].text, GRID_CELL, "%.2f",
		wall_ns ? (double)best->cpu_ns / (double)wall_ns : 0);
	snprintf(row[SPEEDUP].text, GRID_CELL, "%.2fx", scale_speedup(result, phase));
	snprintf(row[WORKER_CPU].text, GRID_CELL, "%.3f-%.3f", (double)least / 1e9,
		(double)most / 1e9);
	fill_evidence(row, &phase->evidence, columns);
}

static int write_grid(const struct page *page, const struct scale_result *result)
{
	bool none = true, gil = result->facts.gil_enabled_at_end;
	struct grid_column columns[COLUMNS] = {
		[MODE] = {"mode", .left = true},
		[WORKERS] = {"workers"},
		[WALL] = {"wall s"},
		[MEDIAN] = {"median s", .give_up = 2},
		[CPU] = {"cpu s", .give_up = 3},
		[CPU_PER_WALL] = {"cpu/wall", .give_up = 5},
		[SPEEDUP] = {"speedup"},
		[WORKER_CPU] = {"per-worker cpu s", .give_up = 1},
		[HAS_GIL] = {"has GIL"},
		[OFF_CPU] = {"off-CPU", .give_up = 7},
		[WAITING] = {"waiting"},
		[NATIVE] = {gil ? "native" : "on CPU", .give_up = 8},
		[RUNNABLE] = {"runnable", .give_up = 6},
		[LOCKS] = {"lock waits", .absent = gil},
		[BLOCKED] = {"blocked", .give_up = 8},
		[HANDOFFS] = {"hand-offs", .give_up = 4},
	};
	_cleanup_(cleanup_grid) struct grid grid = {.columns = columns, .n_columns = COLUMNS};

	for (size_t i = 0; i < result->n_phases; i++)
		none &= !result->phases[i].evidence.known;
	for (enum column c = HAS_GIL; c < COLUMNS; c++)
		columns[c].absent |= none;
	if (!gil)
		columns[HAS_GIL].absent = columns[OFF_CPU].absent = columns[WAITING].absent =
			columns[HANDOFFS].absent = true;
	for (size_t i = 0; i < result->n_phases; i++) {
		const struct scale_phase *phase = &result->phases[i];
		struct grid_cell *row;

		if (phase->unavailable || !phase->n_runs)
			continue;
		row = grid_row(&grid);
		if (!row)
			return -ENOMEM;
		fill_row(row, result, phase, columns);
	}
	grid_print(&grid, page);
	return 0;
}

static void write_unavailable(const struct page *page, const struct scale_result *result)
{
	for (size_t i = 0; i < result->n_phases; i++) {
		const struct scale_phase *phase = &result->phases[i];
		char line[640], clean[640];

		if (!phase->unavailable)
			continue;
		snprintf(line, sizeof(line), "%s with %u unavailable: %s",
			scale_mode_name(phase->mode), phase->workers, phase->unavailable);
		out_str(page->out, "  ");
		text_wrap(page, text_clean(clean, sizeof(clean), line, 0), 2, 4);
	}
}

static void write_head(const struct page *page, const struct report_scale *scale)
{
	const struct scale_facts *f = &scale->result->facts;
	const char *gil = f->gil_enabled_at_end ? "enabled" : "disabled";
	char target[512], line[1024];

	out_printf(page->out, "%s, %u run%s of each mode, the fastest is shown\n",
		text_clean(target, sizeof(target), scale->target, 0), scale->repeat,
		scale->repeat == 1 ? "" : "s");
	snprintf(line, sizeof(line),
		"%s %s (%s), %s, GIL %s at runtime, switch interval %.1f ms, usable CPUs %u",
		f->implementation, f->python, f->executable,
		f->free_threaded_build ? "free-threaded build" : "GIL build", gil,
		f->switch_interval_s * 1000, f->usable_cpus);
	text_wrap(page, line, 0, 2);
	if (f->gil_enabled_at_end && !f->gil_enabled)
		text_wrap(page,
			"the GIL was off at the start and is on at the end: an extension that the "
			"target imports enabled it",
			0, 2);
	out_printf(page->out, "CPU availability %.0f %% of one core%s\n\n",
		100 * f->cpu_availability,
		f->cpu_availability < 0.9 ? "  (machine is busy: speedups will be understated)"
					  : "");
}

static void write_fits(const struct page *page, const struct scale_result *result)
{
	double share = scaling_gil_share(result);

	for (enum scale_mode mode = SCALE_THREADS; mode < SCALE_MODES; mode++) {
		char line[256], measured[48] = "";
		struct scaling_fit fit;

		if (!scaling_fit(result, mode, &fit))
			continue;
		if (mode == SCALE_THREADS && share >= 0)
			snprintf(measured, sizeof(measured), ", measured GIL share %.2f", share);
		snprintf(line, sizeof(line),
			"%s: best with %u; serial fraction %.2f (Amdahl)%s; contention %.3f, coherence "
			"%.4f (USL)",
			scale_mode_name(mode), fit.best_workers, fit.amdahl_serial_fraction,
			measured, fit.usl_contention, fit.usl_coherence);
		text_wrap(page, line, 0, 2);
	}
}

static void write_verdict(const struct page *page, const struct report_scale *scale)
{
	const struct verdict *v = &scale->verdict->verdict;
	char line[CLASSIFY_REASON + 128];

	snprintf(line, sizeof(line), "%s (%s): %s", class_name(v->class),
		confidence_name(v->confidence), v->reason);
	text_paint(page, PAINT_BOLD, "verdict: ");
	text_wrap(page, line, 9, 9);
	out_str(page->out, "Classification: ");
	snprintf(line, sizeof(line), "%s  (confidence: %s)", scale->verdict->label,
		confidence_name(v->confidence));
	text_wrap(page, line, 16, 16);
	if (scale->no_evidence) {
		snprintf(line, sizeof(line), "by wall-clock time only: %s", scale->no_evidence);
		text_wrap(page, line, 0, 2);
	}
	for (size_t i = 0; i < v->n_advice; i++) {
		out_str(page->out, "Next step: ");
		text_wrap(page, v->advice[i], 11, 11);
	}
}

static void write_quality(const struct page *page, const struct fold_quality *q)
{
	char events[HUMAN_SIZE], lost[HUMAN_SIZE], hits[HUMAN_SIZE];

	if (q)
		out_printf(page->out, "quality: %s events, %s lost, %s probe hits\n",
			human_count(q->events, events), human_count(q->lost, lost),
			human_count(q->gil_events, hits));
}

int report_scale_table(struct out *out, const struct report_scale *scale,
	const struct report_options *options, struct err *err)
{
	struct page page = {.out = out, .color = options->color, .columns = options->columns};

	write_head(&page, scale);
	if (write_grid(&page, scale->result) < 0)
		return err_nomem(err);
	write_unavailable(&page, scale->result);
	out_str(out, "\n");
	write_fits(&page, scale->result);
	write_verdict(&page, scale);
	write_quality(&page, scale->quality);
	return out_error(out);
}

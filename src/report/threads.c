/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the thread table. In: rows. Out: aligned lines. Invariant: the percentages of a row add
 * up to 100; a dash stands for what the recording cannot tell.
 */
#include "report/parts.h"

#include "base/human.h"
#include "fold/letter.h"
#include "report/grid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum column {
	COLUMN_LETTER,
	COLUMN_NAME,
	COLUMN_TID,
	COLUMN_LIFE,
	COLUMN_HOLD,
	COLUMN_OFF_CPU,
	COLUMN_WAITING,
	COLUMN_NATIVE,
	COLUMN_RUNNABLE,
	COLUMN_BLOCKED,
	COLUMN_UNKNOWN,
	COLUMN_TAKES,
	COLUMN_MAX_HOLD,
	COLUMN_MAX_WAIT,
	COLUMN_CLASS,
	COLUMNS
};

static const struct grid_column columns[COLUMNS] = {
	[COLUMN_LETTER] = {"", .left = true},
	[COLUMN_NAME] = {"thread", .left = true},
	[COLUMN_TID] = {"tid", .give_up = 1},
	[COLUMN_LIFE] = {"life s", .give_up = 2},
	[COLUMN_HOLD] = {"has GIL"},
	[COLUMN_OFF_CPU] = {"off-CPU", .give_up = 5},
	[COLUMN_WAITING] = {"waiting"},
	[COLUMN_NATIVE] = {"native", .give_up = 7},
	[COLUMN_RUNNABLE] = {"runnable", .give_up = 6},
	[COLUMN_BLOCKED] = {"blocked", .give_up = 8},
	[COLUMN_UNKNOWN] = {"unknown"},
	[COLUMN_TAKES] = {"takes", .give_up = 3},
	[COLUMN_MAX_HOLD] = {"max hold", .give_up = 4},
	[COLUMN_MAX_WAIT] = {"max wait", .give_up = 9},
	[COLUMN_CLASS] = {"class", .left = true},
};

static void set(struct grid_cell *cell, bool known, const char *text)
{
	snprintf(cell->text, sizeof(cell->text), "%s", known ? text : "-");
}

static void set_permille(struct grid_cell *cell, bool known, unsigned permille)
{
	char text[16];

	snprintf(text, sizeof(text), "%u.%u%%", permille / 10, permille % 10);
	set(cell, known, text);
}

static void set_ns(struct grid_cell *cell, bool known, uint64_t ns)
{
	char text[HUMAN_SIZE];

	set(cell, known, ns ? human_ns(ns, text) : "0");
}

/* A tenth is worth a look, a fifth is what classify calls much. */
static enum paint loss(unsigned permille)
{
	return permille >= 200 ? PAINT_RED : permille >= 100 ? PAINT_YELLOW : PAINT_NONE;
}

static void fill_shares(
	struct grid_cell *cells, const struct row *row, const struct fold_quality *q)
{
	bool holds = !q->release_missing;
	unsigned share[SPAN_STATES];

	rows_permille(row, share);
	set_permille(&cells[COLUMN_HOLD], holds, share[SPAN_HAS_GIL]);
	set_permille(&cells[COLUMN_OFF_CPU], holds && q->cpu_known, share[SPAN_HAS_GIL_OFF_CPU]);
	set_permille(&cells[COLUMN_WAITING], q->wait_known, share[SPAN_WAITING]);
	set_permille(&cells[COLUMN_NATIVE], holds && q->cpu_known, share[SPAN_NATIVE]);
	set_permille(&cells[COLUMN_RUNNABLE], holds && q->runnable_known, share[SPAN_RUNNABLE]);
	set_permille(&cells[COLUMN_BLOCKED], holds && q->cpu_known,
		share[SPAN_BLOCKED] + (q->runnable_known ? 0 : share[SPAN_RUNNABLE]));
	set_permille(&cells[COLUMN_UNKNOWN], true,
		share[SPAN_UNKNOWN] + (q->wait_known ? 0 : share[SPAN_WAITING]));
	cells[COLUMN_WAITING].paint = q->wait_known ? loss(share[SPAN_WAITING]) : PAINT_NONE;
	cells[COLUMN_OFF_CPU].paint = loss(share[SPAN_HAS_GIL_OFF_CPU]);
	cells[COLUMN_RUNNABLE].paint = share[SPAN_RUNNABLE] >= 200 ? PAINT_YELLOW : PAINT_NONE;
}

static void fill(const struct sheet *sheet, struct grid_cell *cells, const struct row *row)
{
	const struct fold_quality *q = &sheet->result->quality;
	char text[64], letter[FOLD_LETTERS];

	if (row->thread) {
		set(&cells[COLUMN_LETTER], true, fold_letter(row->thread, letter));
		snprintf(text, sizeof(text), "%d", row->thread->tid);
		set(&cells[COLUMN_TID], true, text);
	}
	set(&cells[COLUMN_NAME], true, row->name);
	snprintf(text, sizeof(text), "%.3f", (double)row->life_ns / 1e9);
	set(&cells[COLUMN_LIFE], true, text);
	fill_shares(cells, row, q);
	set(&cells[COLUMN_TAKES], true, human_count(row->takes, text));
	set_ns(&cells[COLUMN_MAX_HOLD], !q->release_missing, row->max_hold_ns);
	set_ns(&cells[COLUMN_MAX_WAIT], q->wait_known, row->max_wait_ns);
	set(&cells[COLUMN_CLASS], true, class_name(row->verdict.class));
	if (class_is_gil_bound(row->verdict.class))
		cells[COLUMN_CLASS].paint = PAINT_RED;
	else if (row->verdict.class == CLASS_INCONCLUSIVE)
		cells[COLUMN_CLASS].paint = PAINT_DIM;
}

int parts_threads(const struct sheet *sheet, const struct fold_process *process)
{
	struct grid_column shown[COLUMNS];
	_cleanup_(cleanup_grid) struct grid grid = {.columns = shown, .n_columns = COLUMNS};
	bool unknown = !sheet->result->quality.cpu_known;

	memcpy(shown, columns, sizeof(shown));
	for (size_t i = 0; i < sheet->rows.n; i++) {
		const struct row *row = &sheet->rows.items[i];
		unsigned share[SPAN_STATES];
		struct grid_cell *cells;

		if (row->process != process)
			continue;
		cells = grid_row(&grid);
		if (!cells)
			return -ENOMEM;
		fill(sheet, cells, row);
		rows_permille(row, share);
		unknown |= share[SPAN_UNKNOWN] > 0;
	}
	shown[COLUMN_UNKNOWN].absent = !unknown;
	grid_print(&grid, &sheet->page);
	return 0;
}

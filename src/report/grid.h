/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of short texts, aligned, that gives up columns when the terminal is narrow. Private to
 * report.
 */
#ifndef GILPROBE_REPORT_GRID_H
#define GILPROBE_REPORT_GRID_H

#include "base/cleanup.h"
#include "report/text.h"

#define GRID_COLUMNS 16
#define GRID_CELL 96

struct grid_column {
	const char *title;
	bool left;	  /* aligned to the left */
	unsigned give_up; /* 0: never; else the lower, the earlier */
	bool absent;	  /* not shown at all */
};

struct grid_cell {
	char text[GRID_CELL];
	enum paint paint;
};

struct grid {
	const struct grid_column *columns;
	size_t n_columns;
	struct grid_cell *cells;
	size_t n_rows, cap; /* cap in cells */
};

void grid_done(struct grid *grid);
static inline void cleanup_grid(struct grid *grid)
{
	grid_done(grid);
}

/* Adds a row of empty cells; its first cell, valid until the next row, or NULL: out of memory. */
struct grid_cell *grid_row(struct grid *grid);

/* Title line (unless all are empty) and rows, two blanks between columns. */
void grid_print(const struct grid *grid, const struct page *page);

#endif

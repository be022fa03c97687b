/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: aligned tables. In: rows of short texts. Out: lines that fit the terminal. Invariant:
 * columns given up are named below the table, so nothing disappears in silence.
 */
#include "report/grid.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define GAP 2

void grid_done(struct grid *grid)
{
	free(grid->cells);
	grid->cells = NULL;
}

struct grid_cell *grid_row(struct grid *grid)
{
	struct grid_cell *row;

	if (vec_reserve(&grid->cells, &grid->cap, (grid->n_rows + 1) * grid->n_columns,
		    sizeof(*grid->cells)) < 0)
		return NULL;
	row = &grid->cells[grid->n_rows++ * grid->n_columns];
	memset(row, 0, grid->n_columns * sizeof(*row));
	return row;
}

static void measure(const struct grid *grid, size_t ret[GRID_COLUMNS])
{
	for (size_t c = 0; c < grid->n_columns; c++) {
		ret[c] = text_width(grid->columns[c].title);
		for (size_t r = 0; r < grid->n_rows; r++) {
			size_t width = text_width(grid->cells[r * grid->n_columns + c].text);

			if (width > ret[c])
				ret[c] = width;
		}
	}
}

static size_t line_width(const struct grid *grid, const size_t *widths, const bool *shown)
{
	size_t total = 0;

	for (size_t c = 0; c < grid->n_columns; c++)
		if (shown[c])
			total += GAP + widths[c];
	return total;
}

/* Gives up columns until the line fits. True when any was. */
static bool choose(
	const struct grid *grid, const struct page *page, const size_t *widths, bool *ret_shown)
{
	bool gave_up = false;

	for (size_t c = 0; c < grid->n_columns; c++)
		ret_shown[c] = !grid->columns[c].absent;
	for (unsigned turn = 1; turn <= GRID_COLUMNS; turn++) {
		if (!page->columns || line_width(grid, widths, ret_shown) <= page->columns)
			break;
		for (size_t c = 0; c < grid->n_columns; c++) {
			if (grid->columns[c].give_up == turn && ret_shown[c]) {
				ret_shown[c] = false;
				gave_up = true;
			}
		}
	}
	return gave_up;
}

static void print_cell(const struct page *page, const char *text, enum paint paint, size_t width,
	bool left, bool last)
{
	size_t blanks = width - text_width(text);

	text_blanks(page, GAP + (left ? 0 : blanks));
	text_paint(page, paint, text);
	if (left && !last)
		text_blanks(page, blanks);
}

/* @row NULL: the titles. */
static void print_row(const struct grid *grid, const struct page *page, const size_t *widths,
	const bool *shown, const struct grid_cell *row)
{
	size_t last = 0;

	for (size_t c = 0; c < grid->n_columns; c++)
		if (shown[c])
			last = c;
	for (size_t c = 0; c < grid->n_columns; c++) {
		const struct grid_column *column = &grid->columns[c];

		if (shown[c])
			print_cell(page, row ? row[c].text : column->title,
				row ? row[c].paint : PAINT_DIM, widths[c], column->left, c == last);
	}
	out_str(page->out, "\n");
}

void grid_print(const struct grid *grid, const struct page *page)
{
	size_t widths[GRID_COLUMNS];
	bool shown[GRID_COLUMNS];
	bool gave_up, first = true, titles = false;

	measure(grid, widths);
	gave_up = choose(grid, page, widths, shown);
	for (size_t c = 0; c < grid->n_columns; c++)
		titles |= *grid->columns[c].title != '\0';
	if (titles)
		print_row(grid, page, widths, shown, NULL);
	for (size_t r = 0; r < grid->n_rows; r++)
		print_row(grid, page, widths, shown, &grid->cells[r * grid->n_columns]);
	if (!gave_up || !titles)
		return;
	out_str(page->out, "  (for a wider terminal: ");
	for (size_t c = 0; c < grid->n_columns; c++) {
		if (shown[c] || grid->columns[c].absent)
			continue;
		out_printf(page->out, "%s%s", first ? "" : ", ", grid->columns[c].title);
		first = false;
	}
	out_str(page->out, ")\n");
}

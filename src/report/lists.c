/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: what stands below the thread table. In: holds, blame, quality. Out: text. Invariant:
 * holds are ranked by what they cost others; a long hold that nobody waited for is no finding.
 */
#include "report/parts.h"

#include "base/human.h"
#include "base/vec.h"
#include "fold/letter.h"
#include "report/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOLDS_SHOWN 10
#define BLAME_SHOWN 10

const char *parts_name(
	const struct sheet *sheet, const struct fold_thread *thread, char ret[PARTS_NAME])
{
	char letter[FOLD_LETTERS], name[32];

	text_clean(name, sizeof(name), thread->name ? thread->name : "", 20);
	if (!*name)
		snprintf(name, sizeof(name), "%d", thread->tid);
	if (sheet->several)
		snprintf(ret, PARTS_NAME, "%s %s (%d)", fold_letter(thread, letter), name,
			thread->process->pid);
	else
		snprintf(ret, PARTS_NAME, "%s %s", fold_letter(thread, letter), name);
	return ret;
}

static void waiters(const struct sheet *sheet, const struct fold_hold *hold, char *ret, size_t size)
{
	size_t n = hold->n_waiters < FOLD_HOLD_WAITERS ? hold->n_waiters : FOLD_HOLD_WAITERS;
	char name[PARTS_NAME], text[FOLD_HOLD_WAITERS * (PARTS_NAME + 2) + 24] = "";
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? ", " : "",
			parts_name(sheet, hold->waiters[i], name));
	if (hold->n_waiters > n)
		snprintf(text + at, sizeof(text) - at, " and %u more",
			hold->n_waiters - (unsigned)n);
	text_clean(ret, size, text, 0);
}

/* Why it was so long, where that can be told. */
static const char *why(const struct fold_hold *hold, uint64_t length)
{
	return hold->blocked_ns * 2 > length	? ", asleep"
	       : hold->runnable_ns * 2 > length ? ", no CPU"
	       : hold->deaf			? ", in one C call"
						: "";
}

static void fill_hold(
	const struct sheet *sheet, struct grid_cell *cells, const struct fold_hold *hold)
{
	uint64_t length = hold->end_ns - hold->start_ns;
	uint64_t known = hold->on_cpu_ns + hold->blocked_ns + hold->runnable_ns;
	char name[PARTS_NAME], text[HUMAN_SIZE];

	snprintf(cells[0].text, GRID_CELL, "%s%s", human_ns(length, text), hold->open ? "+" : "");
	snprintf(cells[1].text, GRID_CELL, "%s", parts_name(sheet, hold->thread, name));
	snprintf(cells[2].text, GRID_CELL, "at %.3f s",
		(double)(hold->start_ns - sheet->result->start_ns) / 1e9);
	snprintf(cells[3].text, GRID_CELL, "others waited %s",
		human_ns(hold->others_waited_ns, text));
	if (length && known)
		snprintf(cells[4].text, GRID_CELL, "on CPU %.0f %%%s",
			100 * (double)hold->on_cpu_ns / (double)length, why(hold, length));
	waiters(sheet, hold, cells[5].text, GRID_CELL);
}

int parts_holds(const struct sheet *sheet)
{
	static const struct grid_column columns[] = {{""}, {"", .left = true}, {"", .give_up = 1},
		{""}, {"", .left = true, .give_up = 3}, {"", .left = true, .give_up = 2}};
	const struct fold_result *result = sheet->result;
	_cleanup_(cleanup_grid) struct grid grid = {.columns = columns, .n_columns = 6};

	if (result->quality.release_missing || !result->quality.wait_known || !result->n_holds)
		return 0;
	for (size_t i = 0; i < result->n_holds && i < HOLDS_SHOWN; i++) {
		struct grid_cell *cells;

		if (result->holds[i].others_waited_ns <= result->holds[0].others_waited_ns / 100)
			break;
		cells = grid_row(&grid);
		if (!cells)
			return -ENOMEM;
		fill_hold(sheet, cells, &result->holds[i]);
	}
	out_str(sheet->page.out, "longest holds (by how long others waited meanwhile)\n");
	if (grid.n_rows)
		grid_print(&grid, &sheet->page);
	else
		out_str(sheet->page.out, "  none: nobody waited for any hold\n");
	return 0;
}

struct pair {
	const struct row *waiter, *holder;
	const struct fold_thread *waiter_thread, *holder_thread;
	uint64_t wait_ns;
};

struct pairs {
	struct pair *items;
	size_t n, cap;
};

static int add_pair(struct pairs *pairs, struct map *index, const struct sheet *sheet,
	const struct fold_blame *blame)
{
	const struct row *waiter = rows_find(&sheet->rows, blame->waiter);
	const struct row *holder = rows_find(&sheet->rows, blame->holder);
	uint64_t key, *at;

	if (!waiter || !holder)
		return 0;
	key = (uint64_t)(waiter - sheet->rows.items) << 32 | (uint64_t)(holder - sheet->rows.items);
	at = map_get(index, key);
	if (at) {
		pairs->items[*at].wait_ns += blame->wait_ns;
		return 0;
	}
	if (vec_grow(pairs) < 0)
		return -ENOMEM;
	pairs->items[pairs->n] =
		(struct pair){waiter, holder, blame->waiter, blame->holder, blame->wait_ns};
	return map_put(index, key, pairs->n++);
}

static int by_wait(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return x->waiter != y->waiter ? (x->waiter < y->waiter ? -1 : 1)
				      : (x->holder < y->holder ? -1 : x->holder > y->holder);
}

static const char *row_name(const struct sheet *sheet, const struct row *row,
	const struct fold_thread *thread, char ret[PARTS_NAME])
{
	if (row->thread)
		return parts_name(sheet, thread, ret);
	if (sheet->several)
		snprintf(ret, PARTS_NAME, "%s (%d)", row->name, row->process->pid);
	else
		snprintf(ret, PARTS_NAME, "%s", row->name);
	return ret;
}

static int print_pairs(const struct sheet *sheet, const struct pairs *pairs)
{
	static const struct grid_column columns[] = {
		{"", .left = true}, {"", .left = true}, {""}, {"", .give_up = 1}};
	_cleanup_(cleanup_grid) struct grid grid = {.columns = columns, .n_columns = 4};
	uint64_t total = 0;
	size_t shown = 0;

	for (size_t i = 0; i < pairs->n; i++)
		total += pairs->items[i].wait_ns;
	for (; shown < pairs->n && shown < BLAME_SHOWN; shown++) {
		const struct pair *pair = &pairs->items[shown];
		char name[PARTS_NAME], time[HUMAN_SIZE];
		struct grid_cell *cells;

		if (pair->wait_ns < total / 100)
			break;
		cells = grid_row(&grid);
		if (!cells)
			return -ENOMEM;
		snprintf(cells[0].text, GRID_CELL, "%s",
			row_name(sheet, pair->waiter, pair->waiter_thread, name));
		text_clean(cells[1].text, GRID_CELL, "← ", 0);
		snprintf(cells[1].text + strlen("← "), GRID_CELL - strlen("← "), "%s",
			row_name(sheet, pair->holder, pair->holder_thread, name));
		snprintf(cells[2].text, GRID_CELL, "%s", human_ns(pair->wait_ns, time));
		snprintf(cells[3].text, GRID_CELL, "%.0f %%",
			100 * (double)pair->wait_ns / (double)total);
	}
	out_str(sheet->page.out, "who blocked whom (waiting time)\n");
	grid_print(&grid, &sheet->page);
	if (pairs->n > shown)
		out_printf(sheet->page.out, "  and %zu more pair%s\n", pairs->n - shown,
			pairs->n - shown == 1 ? "" : "s");
	return 0;
}

int parts_blame(const struct sheet *sheet)
{
	struct pairs pairs = {0};
	struct map index = {0};
	int r = 0;

	if (!sheet->result->n_blame || sheet->result->quality.release_missing)
		return 0;
	for (size_t i = 0; i < sheet->result->n_blame && r >= 0; i++)
		r = add_pair(&pairs, &index, sheet, &sheet->result->blame[i]);
	if (r >= 0 && pairs.n) {
		qsort(pairs.items, pairs.n, sizeof(*pairs.items), by_wait);
		r = print_pairs(sheet, &pairs);
	}
	free(pairs.items);
	map_done(&index);
	return r;
}

static size_t count(char *text, size_t size, size_t at, uint64_t n, const char *what)
{
	char number[HUMAN_SIZE];
	int more = snprintf(text + at, size - at, ", %s %s", human_count(n, number), what);

	return more > 0 && (size_t)more < size - at ? at + (size_t)more : at;
}

static void cost(const struct sheet *sheet, char *text, size_t size)
{
	const struct fold_result *result = sheet->result;
	uint64_t hits = result->quality.gil_events;
	double spent = (double)hits * PROBE_HIT_NS, cpu = 0;
	char number[HUMAN_SIZE], share[HUMAN_SIZE + 32];

	for (size_t i = 0; i < result->n_threads && result->quality.cpu_known; i++)
		cpu += (double)(result->threads[i]->state_ns[SPAN_HAS_GIL] +
				result->threads[i]->state_ns[SPAN_NATIVE]);
	if (cpu > 0)
		snprintf(share, sizeof(share), "%.1f %% of the threads' CPU time",
			100 * spent / cpu);
	else
		snprintf(share, sizeof(share), "%s", human_ns((uint64_t)spent, number));
	snprintf(text, size, "; probes cost about %s (%.1f µs × %s)", share, PROBE_HIT_NS / 1e3,
		human_count(hits, number));
}

void parts_quality(const struct sheet *sheet)
{
	const struct fold_quality *q = &sheet->result->quality;
	char text[512], number[HUMAN_SIZE];
	size_t at =
		(size_t)snprintf(text, sizeof(text), "%s events", human_count(q->events, number));

	at = count(text, sizeof(text), at, q->lost, "lost");
	at = count(text, sizeof(text), at, q->duplicated, "duplicated");
	at = count(text, sizeof(text), at, q->unmatched, "unmatched");
	if (q->late)
		at = count(text, sizeof(text), at, q->late, "late");
	if (q->overlapping)
		at = count(text, sizeof(text), at, q->overlapping, "overlapping holds");
	if (q->release_missing)
		at = count(text, sizeof(text), at, q->acquires_while_holding,
			"takes of a GIL that was not released");
	cost(sheet, text + at, sizeof(text) - at);
	out_str(sheet->page.out, "quality: ");
	text_wrap(&sheet->page, text, 9, 9);
	for (size_t i = 0; i < sheet->recording->n_notes; i++) {
		out_str(sheet->page.out, "note: ");
		text_wrap(&sheet->page, sheet->recording->notes[i], 6, 6);
	}
}

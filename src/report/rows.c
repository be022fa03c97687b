/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: rows of the thread table. In: threads. Out: at most some dozens of rows per process.
 * Invariant: every thread is in exactly one row, and the threads that held and waited most have
 * rows of their own.
 */
#include "report/rows.h"

#include "base/cleanup.h"
#include "base/human.h"
#include "base/vec.h"
#include "report/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More kinds of merged threads than this become one row. */
#define KINDS_MAX 20

#define KIND 64

struct member {
	const struct fold_thread *thread;
	uint64_t gil_ns; /* holding and waiting */
	char kind[KIND]; /* its name with '*' for digits */
	bool alone;	 /* has a row of its own */
};

void rows_done(struct rows *rows)
{
	free(rows->items);
	rows->items = NULL;
	map_done(&rows->of_thread);
}

static uint64_t key_of(const struct fold_thread *thread)
{
	return (uint64_t)(uintptr_t)thread;
}

const struct row *rows_find(const struct rows *rows, const struct fold_thread *thread)
{
	const uint64_t *at = map_get(&rows->of_thread, key_of(thread));

	return at ? &rows->items[*at] : NULL;
}

static uint64_t gil_ns(const uint64_t state_ns[SPAN_STATES])
{
	return state_ns[SPAN_HAS_GIL] + state_ns[SPAN_HAS_GIL_OFF_CPU] + state_ns[SPAN_WAITING];
}

static void add_thread(struct row *row, const struct fold_thread *t)
{
	row->process = t->process;
	row->n_threads++;
	row->life_ns += t->last_ns - t->first_ns;
	for (size_t i = 0; i < SPAN_STATES; i++)
		row->state_ns[i] += t->state_ns[i];
	row->hold_blocked_ns += t->hold_blocked_ns;
	row->hold_runnable_ns += t->hold_runnable_ns;
	row->takes += t->takes;
	if (t->max_hold_ns > row->max_hold_ns)
		row->max_hold_ns = t->max_hold_ns;
	if (t->max_wait_ns > row->max_wait_ns)
		row->max_wait_ns = t->max_wait_ns;
}

static struct row *new_row(struct rows *rows)
{
	if (vec_grow(rows) < 0)
		return NULL;
	rows->items[rows->n] = (struct row){0};
	return &rows->items[rows->n++];
}

static int add_single(
	struct rows *rows, const struct fold_result *result, const struct fold_thread *thread)
{
	struct row *row = new_row(rows);

	if (!row)
		return -ENOMEM;
	add_thread(row, thread);
	row->thread = thread;
	text_clean(row->name, sizeof(row->name), thread->name ? thread->name : "", 20);
	classify_thread(result, thread, &row->verdict);
	return map_put(&rows->of_thread, key_of(thread), rows->n - 1);
}

/* One row for @n members; the kind is their common name, or "others". */
static int add_merged(struct rows *rows, const struct fold_result *result,
	const struct member *members, size_t n, const char *kind)
{
	_cleanup_free_ const struct fold_thread **threads = calloc(n, sizeof(*threads));
	struct row *row = new_row(rows);
	char count[HUMAN_SIZE], name[32];
	bool same = true;

	if (!row || !threads)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct fold_thread *t = threads[i] = members[i].thread;
		int r = map_put(&rows->of_thread, key_of(t), rows->n - 1);

		if (r < 0)
			return r;
		add_thread(row, t);
		same &= !strcmp(t->name, members[0].thread->name);
	}
	text_clean(name, sizeof(name), same ? members[0].thread->name : kind, 20);
	snprintf(row->name, sizeof(row->name), "%s × %s", name, human_count(n, count));
	classify_merged(result, threads, n, &row->verdict);
	return 0;
}

static void name_kind(char *ret, const char *name)
{
	size_t n = 0;

	for (; *name && n + 1 < KIND; name++) {
		bool digit = *name >= '0' && *name <= '9';

		if (!digit)
			ret[n++] = *name;
		else if (!n || ret[n - 1] != '*')
			ret[n++] = '*';
	}
	ret[n] = '\0';
}

static int by_gil(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->gil_ns != y->gil_ns)
		return x->gil_ns < y->gil_ns ? 1 : -1;
	return x->thread->index < y->thread->index ? -1 : x->thread->index > y->thread->index;
}

/* Those with rows of their own first, the rest by kind. */
static int by_kind(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order;

	if (x->alone != y->alone)
		return x->alone ? -1 : 1;
	order = strcmp(x->kind, y->kind);
	return order ? order : by_gil(a, b);
}

static bool long_lived(const struct member *m)
{
	return !classify_is_short(m->thread);
}

/* Gives the ROWS_MAX worst threads rows of their own; short ones only when they are few. */
static size_t choose(struct member *members, size_t n, bool all_threads)
{
	size_t alone = 0;

	qsort(members, n, sizeof(*members), by_gil);
	for (size_t i = 0; i < n; i++) {
		members[i].alone = all_threads || n <= ROWS_MAX ||
				   (alone < ROWS_MAX && long_lived(&members[i]));
		alone += members[i].alone;
	}
	qsort(members, n, sizeof(*members), by_kind);
	return alone;
}

static size_t kind_end(const struct member *members, size_t from, size_t n)
{
	size_t to = from + 1;

	while (to < n && !strcmp(members[from].kind, members[to].kind))
		to++;
	return to;
}

static int add_kinds(struct rows *rows, const struct fold_result *result,
	const struct member *members, size_t from, size_t n)
{
	size_t kinds = 0;

	for (size_t i = from; i < n; i = kind_end(members, i, n))
		kinds++;
	if (kinds > KINDS_MAX)
		return add_merged(rows, result, members + from, n - from, "others");
	for (size_t i = from, end; i < n; i = end) {
		int r;

		end = kind_end(members, i, n);
		r = end - i == 1 ? add_single(rows, result, members[i].thread)
				 : add_merged(rows, result, members + i, end - i, members[i].kind);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_process(struct rows *rows, const struct fold_result *result, struct member *members,
	size_t n, bool all_threads)
{
	size_t alone = choose(members, n, all_threads);

	qsort(members, alone, sizeof(*members), by_gil);
	for (size_t i = 0; i < alone; i++) {
		int r = add_single(rows, result, members[i].thread);

		if (r < 0)
			return r;
	}
	return add_kinds(rows, result, members, alone, n);
}

int rows_build(struct rows *rows, const struct fold_result *result, bool all_threads)
{
	_cleanup_free_ struct member *members = NULL;
	int r = 0;

	*rows = (struct rows){0};
	members = calloc(result->n_threads + 1, sizeof(*members));
	if (!members)
		return -ENOMEM;
	for (size_t p = 0; p < result->n_processes && r >= 0; p++) {
		size_t n = 0;

		for (size_t i = 0; i < result->n_threads; i++) {
			const struct fold_thread *t = result->threads[i];

			if (t->process != result->processes[p])
				continue;
			members[n] = (struct member){.thread = t, .gil_ns = gil_ns(t->state_ns)};
			name_kind(members[n++].kind, t->name ? t->name : "");
		}
		r = add_process(rows, result, members, n, all_threads);
	}
	return r;
}

void rows_permille(const struct row *row, unsigned ret[SPAN_STATES])
{
	uint64_t rest[SPAN_STATES], total = 0;
	unsigned given = 0;

	for (size_t i = 0; i < SPAN_STATES; i++)
		total += row->state_ns[i];
	for (size_t i = 0; i < SPAN_STATES; i++) {
		unsigned __int128 scaled = (unsigned __int128)row->state_ns[i] * 1000;

		ret[i] = total ? (unsigned)(scaled / total) : 0;
		rest[i] = total ? (uint64_t)(scaled % total) : 0;
		given += ret[i];
	}
	while (total && given < 1000) {
		size_t most = 0;

		for (size_t i = 1; i < SPAN_STATES; i++)
			if (rest[i] > rest[most])
				most = i;
		ret[most]++;
		rest[most] = 0;
		given++;
	}
}

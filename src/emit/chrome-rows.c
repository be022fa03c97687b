/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: the rows of a Chrome trace. In: fold's threads and GILs. Out: what every slice of a row
 * begins with, and labels. Invariant: a row is made once and stays where it is.
 */
#include "emit/chrome.h"

#include "base/json.h"
#include "base/vec.h"
#include "fold/letter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Makes room for index @at in an array of pointers; the new ones are NULL. */
static int reach(void *items, size_t *n, size_t *cap, size_t at)
{
	void ***array = items;
	int r = at < *n ? 0 : vec_reserve(items, cap, at + 1, sizeof(void *));

	if (r < 0)
		return r;
	while (*n <= at)
		(*array)[(*n)++] = NULL;
	return 0;
}

static size_t make_head(char *head, size_t size, const struct fold_process *process, uint32_t row)
{
	return (size_t)snprintf(head, size,
		"{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":", (uint32_t)process->pid, row);
}

struct chrome_row *chrome_row(struct emit_chrome *emit, const struct fold_thread *thread)
{
	struct chrome_row *row;

	if (thread->index < emit->n_rows && emit->rows[thread->index])
		return emit->rows[thread->index];
	if (reach(&emit->rows, &emit->n_rows, &emit->cap_rows, thread->index) < 0)
		return NULL;
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	row->thread = thread;
	row->head_size =
		make_head(row->head, sizeof(row->head), thread->process, emit_thread_row(thread));
	emit->rows[thread->index] = row;
	return row;
}

struct chrome_gil *chrome_gil(struct emit_chrome *emit, const struct fold_gil *fold_gil)
{
	struct chrome_gil *gil;

	if (fold_gil->index < emit->n_gils && emit->gils[fold_gil->index])
		return emit->gils[fold_gil->index];
	if (reach(&emit->gils, &emit->n_gils, &emit->cap_gils, fold_gil->index) < 0)
		return NULL;
	gil = calloc(1, sizeof(*gil));
	if (!gil)
		return NULL;
	gil->emit = emit;
	gil->gil = fold_gil;
	gil->head_size =
		make_head(gil->head, sizeof(gil->head), fold_gil->process, emit_gil_row(fold_gil));
	emit_gil_name(fold_gil, gil->name);
	chrome_counters_init(gil);
	emit->gils[fold_gil->index] = gil;
	return gil;
}

const char *chrome_thread_name(const struct emit_chrome *emit, const struct fold_thread *thread)
{
	uint64_t id = (uint64_t)(uint32_t)thread->process->pid << 32 | (uint32_t)thread->tid;
	const char *merged = map_get_ptr(&emit->names, id);

	if (merged)
		return merged;
	return thread->name ? thread->name : "";
}

const char *chrome_label(struct emit_chrome *emit, struct chrome_row *row)
{
	const char *name = chrome_thread_name(emit, row->thread), *text;
	_cleanup_(cleanup_out) struct out *out = NULL;
	char letter[FOLD_LETTERS];
	char *label;
	size_t size;

	if (row->label && row->label_of == name)
		return row->label;
	out = out_memory();
	if (!out)
		return NULL;
	out_str(out, fold_letter(row->thread, letter));
	out_str(out, *name ? " " : "");
	json_escape(out, name);
	text = out_memory_bytes(out, &size);
	if (out_error(out))
		return NULL;
	label = strndup(text, size);
	if (!label)
		return NULL;
	free(row->label);
	row->label = label;
	row->label_of = name;
	return label;
}

void chrome_rows_done(struct emit_chrome *emit)
{
	for (size_t i = 0; i < emit->n_rows; i++) {
		if (emit->rows[i])
			free(emit->rows[i]->label);
		free(emit->rows[i]);
	}
	for (size_t i = 0; i < emit->n_gils; i++)
		free(emit->gils[i]);
	free(emit->rows);
	free(emit->gils);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: the rows of a Chrome trace. In: fold's threads and GILs. Out: what every slice of a row
 * begins with, and labels. Invariant: a row is made once and stays where it is.
 */
#include "emit/chrome.h"

#include "base/json.h"
#include "fold/letter.h"

#include <stdio.h>
#include <stdlib.h>

static size_t make_head(char *head, size_t size, const struct fold_process *process, uint32_t row)
{
	return (size_t)snprintf(head, size,
		"{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":", (uint32_t)process->pid, row);
}

struct chrome_row *chrome_row(struct emit_chrome *emit, const struct fold_thread *thread)
{
	struct chrome_row *row = map_get_ptr(&emit->rows, (uint64_t)(uintptr_t)thread);

	if (row)
		return row;
	row = calloc(1, sizeof(*row));
	if (!row || map_put_ptr(&emit->rows, (uint64_t)(uintptr_t)thread, row) < 0) {
		free(row);
		return NULL;
	}
	row->thread = thread;
	row->head_size =
		make_head(row->head, sizeof(row->head), thread->process, emit_thread_row(thread));
	return row;
}

struct chrome_gil *chrome_gil(struct emit_chrome *emit, const struct fold_gil *fold_gil)
{
	struct chrome_gil *gil = map_get_ptr(&emit->gils, (uint64_t)(uintptr_t)fold_gil);

	if (gil)
		return gil;
	gil = calloc(1, sizeof(*gil));
	if (!gil || map_put_ptr(&emit->gils, (uint64_t)(uintptr_t)fold_gil, gil) < 0) {
		free(gil);
		return NULL;
	}
	gil->emit = emit;
	gil->gil = fold_gil;
	gil->head_size =
		make_head(gil->head, sizeof(gil->head), fold_gil->process, emit_gil_row(fold_gil));
	chrome_counters_init(gil);
	return gil;
}

void chrome_gil_head(struct chrome_gil *gil)
{
	gil->head_size =
		make_head(gil->head, sizeof(gil->head), gil->gil->process, emit_gil_row(gil->gil));
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
	out_write(out, "", 1);
	text = out_memory_bytes(out, &size);
	if (out_error(out))
		return NULL;
	label = strdup(text);
	if (!label)
		return NULL;
	free(row->label);
	row->label = label;
	row->label_of = name;
	return label;
}

void chrome_rows_done(struct emit_chrome *emit)
{
	struct map_slot *slot;

	for (size_t at = 0; (slot = map_next(&emit->rows, &at));) {
		struct chrome_row *row = (struct chrome_row *)(uintptr_t)slot->value;

		chrome_rapid_done(row);
		free(row->label);
		free(row);
	}
	for (size_t at = 0; (slot = map_next(&emit->gils, &at));)
		free((void *)(uintptr_t)slot->value);
	map_done(&emit->rows);
	map_done(&emit->gils);
}

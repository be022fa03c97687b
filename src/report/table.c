/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the full table and the summary. In: the result of fold. Out: text for people. Invariant:
 * the recording's verdict comes first, then the processes, the busiest first.
 */
#include "report/parts.h"

#include "base/human.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES_SHOWN 8
#define GILS_SHOWN 8
#define SUMMARY_PROCESSES 2

static int sheet_init(struct sheet *sheet, struct out *out, const struct fold_result *result,
	const struct report_recording *recording, const struct report_options *options)
{
	*sheet = (struct sheet){
		.page = {.out = out, .color = options->color, .columns = options->columns},
		.result = result,
		.recording = recording,
		.several = result->n_processes > 1,
	};
	return rows_build(&sheet->rows, result, options->all_threads);
}

static void more_processes(const struct sheet *sheet, size_t n)
{
	if (n)
		out_printf(sheet->page.out, "and %zu more process%s (--all-threads shows them)\n\n",
			n, n == 1 ? "" : "es");
}

static int write_processes(const struct sheet *sheet, const struct fold_process *const *processes,
	size_t n, const struct verdict *verdict)
{
	for (size_t i = 0; i < n; i++) {
		int r;

		parts_gils(sheet, processes[i], GILS_SHOWN);
		if (sheet->several) {
			struct verdict own;

			classify_process(sheet->result, processes[i], &own);
			parts_verdict(sheet, &own, 0);
		} else {
			parts_verdict(sheet, verdict, CLASSIFY_ADVICE);
		}
		out_str(sheet->page.out, "\n");
		r = parts_threads(sheet, processes[i]);
		if (r < 0)
			return r;
		out_str(sheet->page.out, "\n");
	}
	return 0;
}

static int write_table(const struct sheet *sheet, bool all)
{
	_cleanup_free_ const struct fold_process **processes = parts_processes(sheet->result);
	size_t n = sheet->result->n_processes,
	       shown = all || n < PROCESSES_SHOWN ? n : PROCESSES_SHOWN;
	struct verdict verdict;
	int r;

	if (!processes)
		return -ENOMEM;
	classify_recording(sheet->result, &verdict);
	if (n != 1) {
		out_printf(sheet->page.out, "%zu processes ran Python\n", n);
		parts_verdict(sheet, &verdict, CLASSIFY_ADVICE);
		out_str(sheet->page.out, "\n");
	}
	r = write_processes(sheet, processes, shown, &verdict);
	if (r < 0)
		return r;
	more_processes(sheet, n - shown);
	r = parts_holds(sheet);
	if (r >= 0)
		r = parts_blame(sheet);
	if (r < 0)
		return r;
	parts_quality(sheet);
	return 0;
}

int report_table(struct out *out, const struct fold_result *result,
	const struct report_recording *recording, const struct report_options *options,
	struct err *err)
{
	struct sheet sheet;
	int r = sheet_init(&sheet, out, result, recording, options);

	if (r >= 0)
		r = write_table(&sheet, options->all_threads);
	rows_done(&sheet.rows);
	return r < 0 ? err_nomem(err) : 0;
}

/* The thread that lost most to the GIL: by waiting, else by holding. */
static const struct row *worst(const struct rows *rows)
{
	const struct row *best = NULL;

	for (size_t i = 0; i < rows->n; i++) {
		const struct row *row = &rows->items[i];

		if (row->thread &&
			(!best || row->state_ns[SPAN_WAITING] > best->state_ns[SPAN_WAITING]))
			best = row;
	}
	return best && best->state_ns[SPAN_WAITING] ? best : NULL;
}

static void write_worst(const struct sheet *sheet)
{
	const struct row *row = worst(&sheet->rows);
	char name[PARTS_NAME], longest[HUMAN_SIZE], life[HUMAN_SIZE];
	unsigned share[SPAN_STATES];

	if (!row || !sheet->result->quality.wait_known)
		return;
	rows_permille(row, share);
	out_printf(sheet->page.out,
		"most waiting: %s, %u.%u %% of %s (longest %s), has the GIL %u.%u %%: %s\n",
		parts_name(sheet, row->thread, name), share[SPAN_WAITING] / 10,
		share[SPAN_WAITING] % 10, human_ns(row->life_ns, life),
		human_ns(row->max_wait_ns, longest), share[SPAN_HAS_GIL] / 10,
		share[SPAN_HAS_GIL] % 10, class_name(row->verdict.class));
}

static int write_summary(const struct sheet *sheet)
{
	_cleanup_free_ const struct fold_process **processes = parts_processes(sheet->result);
	size_t n = sheet->result->n_processes;
	struct verdict verdict;

	if (!processes)
		return -ENOMEM;
	for (size_t i = 0; i < n && i < SUMMARY_PROCESSES; i++)
		parts_gils(sheet, processes[i], 1);
	classify_recording(sheet->result, &verdict);
	parts_verdict(sheet, &verdict, 1);
	write_worst(sheet);
	return 0;
}

int report_summary(struct out *out, const struct fold_result *result,
	const struct report_recording *recording, const struct report_options *options,
	struct err *err)
{
	struct sheet sheet;
	int r = sheet_init(&sheet, out, result, recording, options);

	if (r >= 0)
		r = write_summary(&sheet);
	rows_done(&sheet.rows);
	return r < 0 ? err_nomem(err) : 0;
}

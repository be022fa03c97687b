/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the lines above the thread table. In: GILs and a verdict. Out: text. Invariant: what the
 * recording cannot tell is not printed as a number.
 */
#include "report/parts.h"

#include "base/human.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND_WIDTH 40

static double activity(const struct fold_result *result, const struct fold_process *process)
{
	double sum = 0;

	for (size_t i = 0; i < result->n_threads; i++) {
		const struct fold_thread *t = result->threads[i];

		if (t->process != process)
			continue;
		for (size_t s = SPAN_HAS_GIL; s <= SPAN_RUNNABLE; s++)
			sum += (double)t->state_ns[s];
	}
	return sum;
}

struct busy {
	const struct fold_process *process;
	double activity;
};

static int by_activity(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->activity > y->activity || x->activity < y->activity)
		return x->activity < y->activity ? 1 : -1;
	return x->process->index < y->process->index ? -1 : 1;
}

const struct fold_process **parts_processes(const struct fold_result *result)
{
	_cleanup_free_ struct busy *busy = calloc(result->n_processes + 1, sizeof(*busy));
	const struct fold_process **ret = calloc(result->n_processes + 1, sizeof(*ret));

	if (!busy || !ret) {
		free(ret);
		return NULL;
	}
	for (size_t i = 0; i < result->n_processes; i++)
		busy[i] =
			(struct busy){result->processes[i], activity(result, result->processes[i])};
	qsort(busy, result->n_processes, sizeof(*busy), by_activity);
	for (size_t i = 0; i < result->n_processes; i++)
		ret[i] = busy[i].process;
	return ret;
}

/* "python3 app.py" of "/usr/bin/python3 /srv/app.py": the names say more than the folders. */
static void without_folders(const char *command, char *ret, size_t size)
{
	size_t n = 0, word = 0; /* where in @ret the running word began */

	for (; *command && n + 1 < size; command++) {
		if (*command == '/' && command[1] && command[1] != ' ') {
			n = word;
			continue;
		}
		ret[n++] = *command;
		if (*command == ' ')
			word = n;
	}
	ret[n] = '\0';
}

/* The recorded command is that of the first process; the others have only their names. */
static const char *process_name(
	const struct sheet *sheet, const struct fold_process *process, char *ret, size_t size)
{
	const char *command = sheet->recording->command;
	char names[256];

	if (command && *command && process == sheet->result->processes[0]) {
		without_folders(command, names, sizeof(names));
		return text_clean(ret, size, names, COMMAND_WIDTH);
	}
	return text_clean(ret, size, process->name && *process->name ? process->name : "python", 0);
}

/* One fact of a GIL's line; what does not fit stands on the next line. */
static void fact(const struct page *page, size_t *at, const char *text)
{
	size_t width = text_width(text);

	if (page->columns && *at + 3 + width > page->columns) {
		out_str(page->out, "\n ");
		*at = 1;
	}
	text_blanks(page, 3);
	out_str(page->out, text);
	*at += 3 + width;
}

static void percent(
	const struct page *page, size_t *at, const char *what, uint64_t part, uint64_t whole)
{
	char text[48];

	if (!whole)
		return;
	snprintf(text, sizeof(text), "%s %.1f %%", what, 100 * (double)part / (double)whole);
	fact(page, at, text);
}

static void gil_facts(const struct sheet *sheet, const struct fold_gil *gil, size_t at)
{
	const struct fold_quality *q = &sheet->result->quality;
	uint64_t life = gil->end_ns > gil->start_ns ? gil->end_ns - gil->start_ns : 0;
	const struct page *page = &sheet->page;
	char number[HUMAN_SIZE], text[HUMAN_SIZE + 16];

	if (!q->release_missing) {
		percent(page, &at, "held", gil->held_ns, life);
		if (q->wait_known)
			percent(page, &at, "contended", gil->contended_ns, life);
		snprintf(text, sizeof(text), "hand-offs %s", human_count(gil->handoffs, number));
		fact(page, &at, text);
		snprintf(text, sizeof(text), "longest hold %s", human_ns(gil->max_hold_ns, number));
		fact(page, &at, text);
	}
	snprintf(text, sizeof(text), "takes %s", human_count(gil->takes, number));
	fact(page, &at, text);
	out_str(page->out, "\n");
}

static void gil_line(const struct sheet *sheet, const struct fold_gil *gil)
{
	const struct report_recording *recording = sheet->recording;
	const char *version =
		recording->n_interpreters == 1 ? recording->interpreters[0].version : NULL;
	char name[160], title[200], rest[96];
	int n;

	process_name(sheet, gil->process, name, sizeof(name));
	snprintf(title, sizeof(title), "GIL of %s", name);
	text_paint(&sheet->page, PAINT_BOLD, title);
	n = snprintf(rest, sizeof(rest), " (pid %d", gil->process->pid);
	if (gil->process->n_gils > 1)
		n += snprintf(rest + n, sizeof(rest) - (size_t)n, ", interpreter %u", gil->number);
	if (version)
		n += snprintf(rest + n, sizeof(rest) - (size_t)n, ", CPython %.20s%s", version,
			recording->interpreters[0].free_threaded ? "t" : "");
	snprintf(rest + n, sizeof(rest) - (size_t)n, ")");
	out_str(sheet->page.out, rest);
	gil_facts(sheet, gil, text_width(title) + text_width(rest));
}

static int by_held(const void *a, const void *b)
{
	const struct fold_gil *x = *(const struct fold_gil *const *)a;
	const struct fold_gil *y = *(const struct fold_gil *const *)b;

	if (x->held_ns != y->held_ns)
		return x->held_ns < y->held_ns ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void parts_gils(const struct sheet *sheet, const struct fold_process *process, size_t most)
{
	const struct fold_gil *first[16];
	size_t n = 0, all = 0;

	if (most > sizeof(first) / sizeof(*first))
		most = sizeof(first) / sizeof(*first);
	for (size_t i = 0; i < sheet->result->n_gils; i++) {
		const struct fold_gil *gil = sheet->result->gils[i];

		if (gil->process != process)
			continue;
		all++;
		if (n == most && by_held(&gil, &first[n - 1]) > 0)
			continue;
		if (n < most)
			n++;
		first[n - 1] = gil;
		qsort(first, n, sizeof(*first), by_held);
	}
	for (size_t i = 0; i < n; i++)
		gil_line(sheet, first[i]);
	if (all > n)
		out_printf(
			sheet->page.out, "  and %zu more interpreters' GILs, held less\n", all - n);
}

static enum paint verdict_paint(enum gil_class kind)
{
	if (class_is_gil_bound(kind) || kind == CLASS_DROPPED_TOO_OFTEN)
		return PAINT_RED;
	if (kind == CLASS_INCONCLUSIVE || kind == CLASS_CPU_STARVED ||
		kind == CLASS_LOCK_CONTENTION || kind == CLASS_MIXED)
		return PAINT_YELLOW;
	return PAINT_GREEN;
}

void parts_verdict(const struct sheet *sheet, const struct verdict *verdict, size_t advice)
{
	const struct fold_quality *q = &sheet->result->quality;
	const char *command = sheet->recording->command;
	char text[CLASSIFY_REASON + 200], clean[CLASSIFY_REASON + 200];
	size_t at;

	snprintf(text, sizeof(text), "%s (%s)", class_name(verdict->class),
		confidence_name(verdict->confidence));
	out_str(sheet->page.out, "verdict: ");
	text_paint(&sheet->page, verdict_paint(verdict->class), text);
	at = strlen("verdict: : ") + strlen(text);
	out_str(sheet->page.out, ": ");
	text_wrap(&sheet->page, text_clean(clean, sizeof(clean), verdict->reason, 0), at, 9);
	if ((q->release_missing || q->sampled) && command && *command) {
		snprintf(text, sizeof(text), "gilprobe record -- %s", command);
		out_str(sheet->page.out, "  try: ");
		text_wrap(&sheet->page, text_clean(clean, sizeof(clean), text, 0), 7, 9);
		return;
	}
	for (size_t i = 0; i < verdict->n_advice && i < advice; i++) {
		out_str(sheet->page.out, i ? "       " : "  try: ");
		text_wrap(&sheet->page, verdict->advice[i], 7, 9);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: from the lines of a run to a result, or to the words that say why there is none.
 */
#include "workload/log.h"

#include "base/parse.h"
#include "base/vec.h"
#include "workload/plan.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_LOST_FD 125 /* the runner's exit status when its pipe is gone */

struct log {
	struct scale_result *result;
	size_t phases_cap, runs_cap;
	bool done, ended;
};

static char *next_field(char **rest)
{
	return strsep(rest, "\t");
}

static int next_u64(char **rest, uint64_t *ret)
{
	char *field = next_field(rest);

	return field && parse_u64(field, ret) == 0 ? 0 : -EBADMSG;
}

static int keep(char **into, const char *text)
{
	free(*into);
	*into = strdup(text);
	return *into ? 0 : -ENOMEM;
}

static int take_fact(struct scale_facts *facts, char *rest)
{
	const char *key = next_field(&rest), *value = rest;
	uint32_t number = 0;
	int r;

	if (!key || !value)
		return -EBADMSG;
	if (strcmp(key, "python") == 0)
		return keep(&facts->python, value);
	if (strcmp(key, "implementation") == 0)
		return keep(&facts->implementation, value);
	if (strcmp(key, "executable") == 0)
		return keep(&facts->executable, value);
	if (strcmp(key, "switch_interval") == 0)
		return parse_double(value, &facts->switch_interval_s);
	if (strcmp(key, "cpu_availability") == 0)
		return parse_double(value, &facts->cpu_availability);
	r = parse_u32(value, 1u << 20, &number);
	if (strcmp(key, "free_threaded_build") == 0)
		facts->free_threaded_build = number;
	else if (strcmp(key, "gil_enabled") == 0)
		facts->gil_enabled = facts->gil_enabled_at_end = number;
	else if (strcmp(key, "gil_enabled_at_end") == 0)
		facts->gil_enabled_at_end = number;
	else if (strcmp(key, "cpu_count") == 0)
		facts->cpu_count = number;
	else if (strcmp(key, "usable_cpus") == 0)
		facts->usable_cpus = number;
	else
		return -EBADMSG;
	return r < 0 ? -EBADMSG : 0;
}

static int take_phase(struct log *log, char *rest)
{
	struct scale_result *result = log->result;
	uint64_t mode, workers;

	if (next_u64(&rest, &mode) < 0 || next_u64(&rest, &workers) < 0 || mode >= SCALE_MODES ||
		workers < 1 || workers > PLAN_WORKERS_MAX)
		return -EBADMSG;
	if (vec_reserve(&result->phases, &log->phases_cap, result->n_phases + 1,
		    sizeof(*result->phases)) < 0)
		return -ENOMEM;
	result->phases[result->n_phases++] =
		(struct scale_phase){.mode = (enum scale_mode)mode, .workers = (unsigned)workers};
	log->runs_cap = 0;
	return 0;
}

static int take_task(char **rest, struct scale_task *task)
{
	uint64_t pid, tid;

	if (next_u64(rest, &pid) < 0 || next_u64(rest, &tid) < 0 || pid > INT32_MAX ||
		tid > INT32_MAX || next_u64(rest, &task->start_ns) < 0 ||
		next_u64(rest, &task->end_ns) < 0 || next_u64(rest, &task->cpu_ns) < 0 ||
		task->end_ns < task->start_ns)
		return -EBADMSG;
	task->pid = (int32_t)pid;
	task->tid = (int32_t)tid;
	return 0;
}

static int take_run(struct log *log, struct scale_phase *phase, char *rest)
{
	struct scale_run run = {0};

	if (!phase || phase->n_runs >= PLAN_REPEAT_MAX || next_u64(&rest, &run.start_ns) < 0 ||
		next_u64(&rest, &run.end_ns) < 0 || next_u64(&rest, &run.cpu_ns) < 0 ||
		run.end_ns < run.start_ns)
		return -EBADMSG;
	if (vec_reserve(&phase->runs, &log->runs_cap, phase->n_runs + 1, sizeof(*phase->runs)) < 0)
		return -ENOMEM;
	run.tasks = calloc(phase->workers, sizeof(*run.tasks));
	if (!run.tasks)
		return -ENOMEM;
	run.n_tasks = phase->workers;
	phase->runs[phase->n_runs++] = run;
	for (size_t i = 0; i < run.n_tasks; i++)
		if (take_task(&rest, &run.tasks[i]) < 0)
			return -EBADMSG;
	return rest ? -EBADMSG : 0;
}

/* The interpreter ended before it had said all: during which phase, and may the rest stand? */
static int early_end(struct scale_result *result, const char *how, uint64_t number, struct err *err)
{
	struct scale_phase *phase = result->n_phases ? &result->phases[result->n_phases - 1] : NULL;
	bool by_signal = strcmp(how, "signal") == 0;
	char words[160];

	if (!by_signal && number == LOG_LOST_FD)
		snprintf(words, sizeof(words), "it closed descriptors that were not its own");
	else
		snprintf(words, sizeof(words),
			by_signal ? "ended by signal %d (%s)" : "exit status %d%s", (int)number,
			by_signal ? strsignal((int)number) : "");
	if (phase && phase->mode > SCALE_THREADS) {
		free(phase->unavailable);
		return asprintf(&phase->unavailable, "the interpreter is gone: %s", words) < 0
			       ? err_nomem(err)
			       : 0;
	}
	if (phase)
		return err_set(err, -ECHILD,
			"the target ended its interpreter during the %s run: %s",
			scale_mode_name(phase->mode), words);
	err_set(err, -ECHILD, "the interpreter ended before the first run: %s", words);
	return -ECHILD;
}

static int take_end(struct log *log, char *rest, struct err *err)
{
	struct scale_result *result = log->result;
	const char *how = next_field(&rest);
	uint64_t number;

	if (!how || next_u64(&rest, &number) < 0)
		return -EBADMSG;
	log->ended = true;
	if (strcmp(how, "interrupted") == 0)
		return err_set(err, -EINTR, "interrupted; killed the target and all its workers");
	if (log->done)
		return 0;
	if (strcmp(how, "timeout") == 0)
		return err_set(err, -ETIME,
			"timed out after %gs%s%s%s; killed the target and all its workers",
			(double)number / 1e9, result->n_phases ? " in the " : "",
			result->n_phases
				? scale_mode_name(result->phases[result->n_phases - 1].mode)
				: "",
			result->n_phases ? " run" : " while loading the target");
	return early_end(result, how, number, err);
}

static int take_line(struct log *log, char *line, struct err *err)
{
	struct scale_result *result = log->result;
	struct scale_phase *phase = result->n_phases ? &result->phases[result->n_phases - 1] : NULL;
	char *rest = line;
	const char *word = next_field(&rest);

	if (log->ended)
		return -EBADMSG;
	if (strcmp(word, "fact") == 0)
		return take_fact(&result->facts, rest);
	if (strcmp(word, "phase") == 0)
		return take_phase(log, rest);
	if (strcmp(word, "run") == 0)
		return take_run(log, phase, rest);
	if (strcmp(word, "unavailable") == 0 && phase && rest)
		return keep(&phase->unavailable, rest);
	if (strcmp(word, "fail") == 0 && rest)
		return err_set(err, -ECHILD, "%s", rest);
	if (strcmp(word, "done") == 0) {
		log->done = true;
		return 0;
	}
	if (strcmp(word, "end") == 0)
		return take_end(log, rest, err);
	return -EBADMSG;
}

int log_parse(char *text, size_t size, struct scale_result *ret, struct err *err)
{
	struct log log = {.result = ret};
	char *rest = text;
	int r = 0;

	*ret = (struct scale_result){0};
	while (r == 0 && rest && rest < text + size) {
		char *line = strsep(&rest, "\n");

		r = take_line(&log, line, err);
		if (r == -EBADMSG || r == -EINVAL || r == -ERANGE)
			return err_set(err, -EBADMSG,
				"what came back from the target's interpreter is no result: byte %zu",
				(size_t)(line - text));
		if (r == -ENOMEM)
			return err_nomem(err);
	}
	if (r == 0 && !log.ended)
		return err_set(err, -ECHILD, "the supervisor of the target is gone");
	return r;
}

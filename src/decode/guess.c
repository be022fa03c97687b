/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: inference where formats are missing. In: samples. Out: recipes. Invariant: what does not
 * fit is left alone, so a guess can miss events but does not make them up.
 */
#include "decode/guess.h"

#include "decode/live.h"

#include <errno.h>
#include <linux/perf_event.h>

/* struct trace_entry, before every payload: u16 type, u8 flags, u8 preempt_count, s32 pid */
enum { ENTRY_SIZE = 8 };

/* sched_switch: comm[16], pid, prio, long state, comm[16], pid, prio */
enum { SWITCH_MIN = 64, SWITCH_MAX = 72, SWITCH_PREV = ENTRY_SIZE, SWITCH_NEXT = 40 };

/* sched_wakeup: comm[16], pid, prio, (success,) target_cpu */
enum { WAKEUP_MIN = 36, WAKEUP_MAX = 44, WAKEUP_TASK = ENTRY_SIZE };

enum { COMM_SIZE = 16, MAX_PRIO = 140, MAX_CPUS = 8192 };

enum guess_call { CALL_NONE, CALL_STARTED, CALL_TAKE, CALL_DROP };

void guess_done(struct guess *guess)
{
	map_done(&guess->calls);
	map_done(&guess->functions);
	map_done(&guess->live);
}

int guess_start(struct guess *guess, int32_t tid)
{
	return map_put(&guess->calls, (uint32_t)tid, CALL_STARTED);
}

static uint64_t value(const struct recipe *recipe, const struct perfdata_sample *sample,
	unsigned offset, unsigned size, bool is_signed)
{
	const struct recipe_field field = {(uint16_t)offset, (uint8_t)size, is_signed};
	uint64_t v = 0;

	(void)recipe_read(recipe, &field, sample->raw, sample->raw_size, &v);
	return v;
}

/* A name of at most 15 bytes, a pid and a priority: how the scheduler's events name a task. */
static bool is_task(const struct recipe *recipe, const struct perfdata_sample *sample,
	unsigned offset, int32_t *ret_pid)
{
	const uint8_t *comm = sample->raw + offset;
	int64_t pid, prio;

	if (sample->raw_size < offset + COMM_SIZE + 8 || !memchr(comm, 0, COMM_SIZE))
		return false;
	for (unsigned i = 0; comm[i]; i++)
		if (comm[i] < ' ')
			return false;
	pid = (int64_t)value(recipe, sample, offset + COMM_SIZE, 4, true);
	prio = (int64_t)value(recipe, sample, offset + COMM_SIZE + 4, 4, true);
	*ret_pid = (int32_t)pid;
	return pid >= 0 && prio >= -1 && prio <= MAX_PRIO;
}

static struct recipe_field pid_at(unsigned task_offset)
{
	return (struct recipe_field){(uint16_t)(task_offset + COMM_SIZE), 4, true};
}

static bool is_switch(const struct perfdata_sample *sample, int32_t current, struct recipe *recipe)
{
	int32_t prev, next;

	if (sample->raw_size < SWITCH_MIN || sample->raw_size > SWITCH_MAX ||
		!is_task(recipe, sample, SWITCH_PREV, &prev) ||
		!is_task(recipe, sample, SWITCH_NEXT, &next) || prev != current || prev == next)
		return false;
	recipe->kind = RECIPE_SWITCH;
	recipe->prev_pid = pid_at(SWITCH_PREV);
	recipe->prev_state = (struct recipe_field){SWITCH_PREV + COMM_SIZE + 8, 8, true};
	recipe->next_pid = pid_at(SWITCH_NEXT);
	recipe_default_states(recipe);
	return true;
}

/* Its like, sched_process_exit and others, are about the task that runs. */
static bool is_wakeup(const struct perfdata_sample *sample, int32_t current, struct recipe *recipe)
{
	int32_t woken;

	if (sample->raw_size < WAKEUP_MIN || sample->raw_size > WAKEUP_MAX ||
		!is_task(recipe, sample, WAKEUP_TASK, &woken) || woken == current || !woken ||
		value(recipe, sample, WAKEUP_TASK + COMM_SIZE + 8, 4, false) >= MAX_CPUS)
		return false;
	recipe->kind = RECIPE_WAKEUP;
	recipe->pid = pid_at(WAKEUP_TASK);
	return true;
}

static uint64_t function_key(const struct perfdata_sample *sample, uint64_t address)
{
	return address + ((uint64_t)sample->pid << 42);
}

/* Which of the two functions is called, or returned from, at @address. False: no telling yet. */
static bool which_function(const struct guess *guess, const struct perfdata_sample *sample,
	uint64_t address, bool is_return, bool *ret_is_take)
{
	const uint64_t *known = map_get(&guess->functions, function_key(sample, address));
	const uint64_t *call = map_get(&guess->calls, sample->tid);

	if (known) {
		*ret_is_take = *known;
		return true;
	}
	if (!call || (is_return && *call != CALL_STARTED))
		return false;
	*ret_is_take = *call != CALL_TAKE;
	return true;
}

/* The same from the probes that are defined now. */
static int ask_tracefs(struct guess *guess, uint64_t id, bool *ret_is_take)
{
	const uint64_t *known;

	if (!guess->has_live) {
		guess->has_live = true;
		if (live_probes("/sys/kernel/tracing/events", &guess->live) < 0)
			return -ENOMEM;
	}
	known = map_get(&guess->live, id);
	if (known)
		*ret_is_take = *known;
	return known != NULL;
}

static int probe(struct guess *guess, const struct perfdata_sample *sample, struct recipe *recipe)
{
	uint64_t first = value(recipe, sample, ENTRY_SIZE, 8, false);
	uint64_t second = value(recipe, sample, ENTRY_SIZE + 8, 8, false);
	bool is_return = second == sample->ip, is_take;
	const char *name = sample->attr->name;
	int r = 1;

	if (!(sample->present & PERF_SAMPLE_IP) || !sample->ip ||
		(!is_return && first != sample->ip))
		return 0;
	if (name)
		r = recipe_function(name, &is_take);
	else if (!which_function(guess, sample, first, is_return, &is_take))
		r = ask_tracefs(guess, sample->attr->config, &is_take);
	if (r <= 0)
		return r;
	recipe->kind = RECIPE_GIL;
	recipe->event_kind = (uint8_t)recipe_event(is_take, is_return);
	return 1;
}

int guess_recipe(
	struct guess *guess, const struct perfdata_sample *sample, bool swap, struct recipe *ret)
{
	struct recipe recipe = {.kind = RECIPE_GUESS, .guessed = true, .swap = swap};
	int32_t current = (int32_t)value(&recipe, sample, 4, 4, true);
	int r = 1;

	if (sample->raw_size < ENTRY_SIZE + 8 ||
		value(&recipe, sample, 0, 2, false) != (sample->attr->config & UINT16_MAX))
		return 0;
	recipe.common_pid = (struct recipe_field){4, 4, true};
	recipe.common_flags = (struct recipe_field){2, 1, false};
	if (!is_switch(sample, current, &recipe) && !is_wakeup(sample, current, &recipe))
		r = probe(guess, sample, &recipe);
	if (r > 0)
		*ret = recipe;
	return r;
}

int guess_note(
	struct guess *guess, const struct perfdata_sample *sample, const struct recipe *recipe)
{
	bool is_take = recipe->event_kind == EVENT_WANT || recipe->event_kind == EVENT_ACQUIRE;
	uint64_t address = value(recipe, sample, ENTRY_SIZE, 8, false);

	if (map_put(&guess->calls, sample->tid, is_take ? CALL_TAKE : CALL_DROP) < 0)
		return -ENOMEM;
	return map_put(&guess->functions, function_key(sample, address), is_take);
}

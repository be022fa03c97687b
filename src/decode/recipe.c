/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: from an event's name and fields to what its samples mean. In: a layout. Out: a recipe.
 * Invariant: entry or return is told by the fields and never by the name, which perf makes up as
 * take_gil, take_gil__return, take_gil_ret__return or take_gil_1 for either.
 */
#include "decode/recipe.h"

#include "base/parse.h"

#include <ctype.h>
#include <stdlib.h>

static struct recipe_field field_of(const struct layout_field *field)
{
	struct recipe_field ret = {0};

	if (!field ||
		(field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8))
		return ret;
	ret.offset = field->offset;
	ret.size = (uint8_t)field->size;
	ret.is_signed = field->is_signed;
	return ret;
}

static struct recipe_field find(const struct layout *layout, const char *name)
{
	return field_of(layout_find(layout, name));
}

/* @stem in @name, not as a part of a longer word. */
static bool has_stem(const char *name, const char *stem)
{
	size_t n = strlen(stem);
	const char *at = strstr(name, stem);

	return at && (at == name || !isalnum((unsigned char)at[-1])) &&
	       !isalnum((unsigned char)at[n]);
}

bool recipe_function(const char *name, bool *ret_is_take)
{
	bool take = has_stem(name, "take_gil"), drop = has_stem(name, "drop_gil");

	if (take == drop)
		return false;
	*ret_is_take = take;
	return true;
}

enum event_kind recipe_event(bool is_take, bool is_return)
{
	if (is_take)
		return is_return ? EVENT_ACQUIRE : EVENT_WANT;
	return is_return ? EVENT_DROP_RETURN : EVENT_RELEASE;
}

static void foreign_probe(const struct layout *layout, struct recipe *recipe)
{
	bool is_return =
		layout_find(layout, "__probe_func") && layout_find(layout, "__probe_ret_ip");
	bool is_take;

	if (!is_return && !layout_find(layout, "__probe_ip"))
		return;
	if (!recipe_function(layout->name, &is_take))
		return;
	recipe->kind = RECIPE_GIL;
	recipe->event_kind = (uint8_t)recipe_event(is_take, is_return);
	recipe->arg = find(layout, "gil");
}

/* "88_0" behind "acquire", "m128_0": the delta before the underscore, m for minus. */
static bool parse_delta(const char *text, int64_t *ret)
{
	bool negative = *text == 'm';
	char digits[12];
	uint32_t value;
	size_t n;

	text += negative;
	n = strspn(text, "0123456789");
	if (n == 0 || n >= sizeof(digits) || text[n] != '_')
		return false;
	memcpy(digits, text, n);
	digits[n] = '\0';
	if (parse_u32(digits, INT32_MAX, &value) < 0)
		return false;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

/* The probes of gilprobe record: acquire<DELTA>_<n>, signal_<n>, timedwait_<n>, wait<DELTA>_<n>. */
static void own_probe(const struct layout *layout, struct recipe *recipe)
{
	const char *name = layout->name;

	recipe->own = true;
	recipe->kind = RECIPE_GIL;
	recipe->arg = find(layout, "gil");
	if (strncmp(name, "acquire", 7) == 0 && parse_delta(name + 7, &recipe->delta)) {
		recipe->event_kind = EVENT_ACQUIRE;
	} else if (strncmp(name, "wait", 4) == 0 && parse_delta(name + 4, &recipe->delta)) {
		recipe->event_kind = EVENT_COND_WAIT;
	} else if (strncmp(name, "signal_", 7) == 0) {
		recipe->event_kind = EVENT_SIGNAL;
	} else if (strncmp(name, "timedwait_", 10) == 0) {
		recipe->event_kind = EVENT_WANT;
	} else if (strncmp(name, "mark_", 5) == 0) {
		recipe->kind = RECIPE_MARK;
		recipe->arg = find(layout, "phase");
	} else {
		recipe->kind = RECIPE_FOREIGN;
		return;
	}
	if (!recipe->arg.size)
		recipe->kind = RECIPE_FOREIGN;
}

void recipe_default_states(struct recipe *recipe)
{
	static const char letters[] = "SDTtXZPI"; /* TASK_REPORT of Linux 4.14 and later */

	memset(recipe->states, 0, sizeof(recipe->states));
	memcpy(recipe->states, letters, sizeof(letters));
}

/* One pair such as { 0x0001, "S" }, from behind its brace. False: it is none. */
static bool read_state(const char *at, size_t size, struct recipe *recipe)
{
	char pair[24] = {0};
	char *behind;
	unsigned long flag;

	memcpy(pair, at, size < sizeof(pair) - 1 ? size : sizeof(pair) - 1);
	flag = strtoul(pair, &behind, 0);
	behind += strspn(behind, ", \"");
	if (!isalpha((unsigned char)*behind) || !flag || (flag & (flag - 1)) ||
		flag >> RECIPE_MAX_STATES)
		return false;
	recipe->states[__builtin_ctzl(flag)] = *behind;
	return true;
}

/* The state letters as this kernel prints them: which bit means what changed in Linux 4.14. */
static void read_states(const struct blob_format *format, struct recipe *recipe)
{
	const char *at = memmem(format->text, format->size, "__print_flags(", 14);
	const char *end = format->text + format->size;
	bool found = false;

	while (at && (at = memchr(at, '{', (size_t)(end - at)))) {
		at++;
		if (read_state(at, (size_t)(end - at), recipe))
			found = true;
	}
	if (!found)
		recipe_default_states(recipe);
}

static void scheduler_event(
	const struct layout *layout, const struct blob_format *format, struct recipe *recipe)
{
	recipe->common_pid = find(layout, "common_pid");
	recipe->common_flags = find(layout, "common_flags");
	if (strcmp(layout->name, "sched_switch") == 0) {
		recipe->prev_pid = find(layout, "prev_pid");
		recipe->prev_state = find(layout, "prev_state");
		recipe->next_pid = find(layout, "next_pid");
		if (recipe->prev_pid.size && recipe->next_pid.size)
			recipe->kind = RECIPE_SWITCH;
		read_states(format, recipe);
		return;
	}
	recipe->pid = find(layout, "pid");
	if (!recipe->pid.size)
		return;
	if (strcmp(layout->name, "sched_wakeup") == 0 ||
		strcmp(layout->name, "sched_wakeup_new") == 0 ||
		strcmp(layout->name, "sched_waking") == 0)
		recipe->kind = RECIPE_WAKEUP;
}

void recipe_from_layout(const struct layout *layout, const struct blob_format *format, bool swap,
	struct recipe *ret)
{
	*ret = (struct recipe){.kind = RECIPE_FOREIGN, .swap = swap};
	if (strcmp(layout->system, "sched") == 0)
		scheduler_event(layout, format, ret);
	else if (strncmp(layout->system, "gilprobe_", 9) == 0)
		own_probe(layout, ret);
	else
		foreign_probe(layout, ret);
}

char recipe_state(const struct recipe *recipe, uint64_t prev_state, bool *ret_preempted)
{
	char state = 'R';

	for (unsigned i = 0; i < RECIPE_MAX_STATES && state == 'R'; i++)
		if ((prev_state & (1u << i)) && recipe->states[i])
			state = recipe->states[i];
	*ret_preempted = state == 'R';
	return state;
}

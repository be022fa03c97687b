/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: samples. In: a PERF_RECORD_SAMPLE. Out: the events it stands for. Invariant: what an
 * attr's samples mean is found out at its first sample, after that a sample costs a few loads.
 */
#include "base/vec.h"
#include "decode/state.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* include/linux/trace_events.h: TRACE_FLAG_HARDIRQ, _SOFTIRQ, _NMI */
#define IN_INTERRUPT (0x08 | 0x10 | 0x40)

static void note_gil_fact(struct decode_facts *facts, unsigned kind)
{
	switch (kind) {
	case EVENT_WANT:
		facts->has_want = true;
		break;
	case EVENT_ACQUIRE:
		facts->has_acquire = true;
		break;
	case EVENT_RELEASE:
	case EVENT_SIGNAL:
		facts->has_release = true;
		break;
	case EVENT_YIELD:
	case EVENT_COND_WAIT:
		facts->has_yield = true;
		break;
	case EVENT_DROP_RETURN:
		facts->has_drop_return = true;
		break;
	default:
		break;
	}
}

static void note_facts(
	struct decode *d, const struct perfdata_attr *attr, const struct recipe *recipe)
{
	switch (recipe->kind) {
	case RECIPE_GIL:
		note_gil_fact(&d->facts, recipe->event_kind);
		if (attr->freq)
			d->facts.sampled_probes = true;
		break;
	case RECIPE_SWITCH:
		d->facts.has_sched_switch = true;
		if (d->system_wide || (d->facts.own && !attr->inherit))
			d->facts.sched_cpu_wide = true;
		break;
	case RECIPE_WAKEUP:
		d->facts.has_wakeup = true;
		break;
	default:
		break;
	}
}

/* Reads the tracing data when it is new. */
static int refresh_blob(struct decode *d, struct err *err)
{
	unsigned generation;
	size_t size;
	const uint8_t *bytes = perfdata_tracing_data(d->pd, &size, &generation);
	int r;

	if (!bytes || (d->has_blob && generation == d->generation))
		return 0;
	blob_done(&d->blob);
	d->has_blob = false;
	r = blob_init(&d->blob, bytes, size, err);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		err_clear(err); /* as good as none */
		return 0;
	}
	d->has_blob = true;
	d->generation = generation;
	return 0;
}

static void make_recipe(
	const struct decode *d, const struct perfdata_attr *attr, struct recipe *ret)
{
	const struct blob_format *format;
	struct layout layout;
	bool swap = d->blob.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	*ret = (struct recipe){.kind = RECIPE_FOREIGN};
	if (attr->type != PERF_TYPE_TRACEPOINT) {
		ret->kind = RECIPE_IP;
		return;
	}
	format = blob_find(&d->blob, attr->config);
	if (!format && (!d->has_blob || d->blob.truncated))
		ret->kind = RECIPE_GUESS;
	if (format && layout_read(format, &layout))
		recipe_from_layout(&layout, format, swap, ret);
}

/* Recipes of all attrs that there are so far. */
static int make_recipes(struct decode *d, struct err *err)
{
	size_t first = d->recipes.n, n = perfdata_attr_count(d->pd);
	int r = refresh_blob(d, err);

	if (r < 0)
		return r;
	if (vec_reserve(&d->recipes.items, &d->recipes.cap, n, sizeof(*d->recipes.items)) < 0)
		return err_nomem(err);
	for (; d->recipes.n < n; d->recipes.n++) {
		struct recipe *recipe = &d->recipes.items[d->recipes.n];

		make_recipe(d, perfdata_attr(d->pd, d->recipes.n), recipe);
		d->facts.own |= recipe->own;
	}
	for (size_t i = first; i < n; i++)
		note_facts(d, perfdata_attr(d->pd, i), &d->recipes.items[i]);
	return 0;
}

/* The recipe of @attr; in pipe mode attrs can still come between samples. NULL: see @err. */
static const struct recipe *recipe_of(
	struct decode *d, const struct perfdata_attr *attr, struct err *err)
{
	if (attr->index >= d->recipes.n && make_recipes(d, err) < 0)
		return NULL;
	return &d->recipes.items[attr->index];
}

static int gil_event(struct decode *d, const struct recipe *recipe,
	const struct perfdata_sample *sample, struct event *ret)
{
	uint64_t arg = 0;

	if (recipe->arg.size &&
		!recipe_read(recipe, &recipe->arg, sample->raw, sample->raw_size, &arg))
		return -EBADMSG;
	*ret = decode_event(d, recipe->event_kind, sample);
	if (recipe->kind == RECIPE_MARK) {
		ret->kind = EVENT_MARK;
		ret->mark = arg;
		return 1;
	}
	if (ret->tid <= 0)
		return -EBADMSG; /* a GIL event of nobody */
	if (recipe->guessed && guess_note(&d->guess, sample, recipe) < 0)
		return -ENOMEM;
	ret->gil = recipe->arg.size ? arg - (uint64_t)recipe->delta : 0;
	d->facts.gil_events++;
	return 1;
}

static int switch_events(struct decode *d, const struct recipe *recipe,
	const struct perfdata_sample *sample, struct event ret[2])
{
	uint64_t prev, next, state = 0;
	int n = 0;

	if (!recipe_read(recipe, &recipe->prev_pid, sample->raw, sample->raw_size, &prev) ||
		!recipe_read(recipe, &recipe->next_pid, sample->raw, sample->raw_size, &next) ||
		!recipe_read(recipe, &recipe->prev_state, sample->raw, sample->raw_size, &state))
		return -EBADMSG;
	if (prev == 0)
		d->facts.sched_cpu_wide = true; /* only then is the idle task seen */
	if (prev) {
		struct event *out = &ret[n++];

		*out = decode_event(d, EVENT_SWITCH_OUT, sample);
		if (out->tid != (int32_t)prev)
			out->pid = 0; /* a dying task's sample says -1 */
		out->tid = (int32_t)prev;
		out->out.state = recipe_state(recipe, state, &out->out.preempted);
	}
	if (next) {
		struct event *in = &ret[n++];

		*in = decode_event(d, EVENT_SWITCH_IN, sample);
		in->pid = 0;
		in->tid = (int32_t)next;
	}
	return n;
}

/*
 * sched_waking comes before sched_wakeup, and from the waker's own context, while the latter may
 * come from the CPU where the task will run. Both are given: the first one ends the sleep.
 */
static int wakeup_event(struct decode *d, const struct recipe *recipe,
	const struct perfdata_sample *sample, struct event *ret)
{
	uint64_t pid, by = 0, flags = 0;

	if (!recipe_read(recipe, &recipe->pid, sample->raw, sample->raw_size, &pid))
		return -EBADMSG;
	(void)recipe_read(recipe, &recipe->common_pid, sample->raw, sample->raw_size, &by);
	(void)recipe_read(recipe, &recipe->common_flags, sample->raw, sample->raw_size, &flags);
	if (by == 0)
		d->facts.sched_cpu_wide = true;
	if (flags & IN_INTERRUPT)
		by = 0; /* a timer's or a device's doing, not that of the task it interrupted */
	*ret = decode_event(d, EVENT_WAKEUP, sample);
	ret->pid = 0;
	ret->tid = (int32_t)pid;
	ret->by = (int32_t)by;
	return 1;
}

static int by_recipe(struct decode *d, const struct recipe *recipe,
	const struct perfdata_sample *sample, struct event ret[DECODE_MAX_EVENTS]);

static int guess(
	struct decode *d, const struct perfdata_sample *sample, struct event ret[DECODE_MAX_EVENTS])
{
	struct recipe *recipe = &d->recipes.items[sample->attr->index];
	int r = guess_recipe(&d->guess, sample, perfdata_info(d->pd)->swapped, recipe);

	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	d->facts.formats_guessed = true;
	note_facts(d, sample->attr, recipe);
	return by_recipe(d, recipe, sample, ret);
}

static int by_recipe(struct decode *d, const struct recipe *recipe,
	const struct perfdata_sample *sample, struct event ret[DECODE_MAX_EVENTS])
{
	switch (recipe->kind) {
	case RECIPE_GIL:
	case RECIPE_MARK:
		return gil_event(d, recipe, sample, ret);
	case RECIPE_SWITCH:
		return switch_events(d, recipe, sample, ret);
	case RECIPE_WAKEUP:
		return wakeup_event(d, recipe, sample, ret);
	case RECIPE_IP:
		*ret = decode_event(d, EVENT_SAMPLE, sample);
		ret->ip = sample->ip;
		return 1;
	case RECIPE_GUESS:
		return guess(d, sample, ret);
	default:
		return -EBADMSG;
	}
}

int decode_sample(struct decode *d, const struct perfdata_record *record,
	struct event ret[DECODE_MAX_EVENTS], struct err *err)
{
	struct perfdata_sample sample;
	const struct recipe *recipe;
	int r = perfdata_sample(d->pd, record, &sample);

	if (r <= 0) {
		d->facts.undecoded++;
		return 0;
	}
	recipe = recipe_of(d, sample.attr, err);
	if (!recipe)
		return -ENOMEM;
	if (sample.time > d->newest_ns)
		d->newest_ns = sample.time;
	if (!(sample.present & PERF_SAMPLE_RAW))
		sample.raw_size = 0;
	r = by_recipe(d, recipe, &sample, ret);
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0) {
		d->facts.undecoded++;
		return 0;
	}
	return r;
}

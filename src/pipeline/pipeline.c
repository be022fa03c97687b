/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pipeline: perfdata → decode → order → fold → sinks. In: opened inputs. Out: a fold_result.
 * Invariant: of several inputs the one that lags in time is read next, so what order must keep
 * is bounded by how far one input runs ahead, not by the length of the recordings.
 */
#include "pipeline/pipeline.h"

#include "fold/fold.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INPUTS 64
#define RECORD_FINISHED_ROUND 68 /* tools/lib/perf/include/perf/event.h */
#define RECORDS_PER_TURN 4096	 /* of one input, and between progress reports */

struct input {
	struct perfdata *pd;
	struct decode *decode;
	char *path;
	uint64_t newest_ns;
	uint64_t first_switch_ns; /* 0: none yet */
	bool ended;
};

struct pipeline {
	struct pipeline_options options;
	struct input inputs[MAX_INPUTS];
	size_t n_inputs;
	struct order *order;
	struct fold *fold; /* made at the first event, whose time the window is relative to */
	struct decode_facts facts;
};

int pipeline_new(const struct pipeline_options *options, struct pipeline **ret, struct err *err)
{
	struct pipeline *p = calloc(1, sizeof(*p));

	if (!p)
		return err_nomem(err);
	p->options = *options;
	*ret = p;
	return 0;
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	fold_free(p->fold);
	order_free(p->order);
	for (size_t i = 0; i < p->n_inputs; i++) {
		decode_free(p->inputs[i].decode);
		perfdata_free(p->inputs[i].pd);
		free(p->inputs[i].path);
	}
	free(p);
}

static void merge_facts(struct pipeline *p)
{
	struct decode_facts all = *decode_facts(p->inputs[0].decode);

	for (size_t i = 1; i < p->n_inputs; i++)
		decode_facts_merge(&all, decode_facts(p->inputs[i].decode));
	p->facts = all;
	if (p->fold)
		fold_facts(p->fold, &p->facts);
}

int pipeline_add(struct pipeline *p, struct perfdata *pd, const char *path, struct err *err)
{
	_cleanup_(cleanup_perfdata) struct perfdata *owned = pd;
	struct input *input = &p->inputs[p->n_inputs];
	int r;

	if (p->n_inputs == MAX_INPUTS)
		return err_set(err, -E2BIG, "more than %d input files", MAX_INPUTS);
	input->path = strdup(path);
	if (!input->path)
		return err_nomem(err);
	r = decode_new(pd, (uint8_t)p->n_inputs, &input->decode, err);
	if (r < 0) {
		free(steal_ptr(input->path));
		return r;
	}
	input->pd = steal_ptr(owned);
	p->n_inputs++;
	merge_facts(p);
	return 0;
}

static uint64_t add_time(uint64_t start_ns, uint64_t offset_ns)
{
	return offset_ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + offset_ns;
}

static int make_fold(struct pipeline *p, uint64_t first_ns, struct err *err)
{
	struct fold_options options = {
		.sinks = p->options.sinks,
		.n_sinks = p->options.n_sinks,
		.only_pid = p->options.only_pid,
		.from_ns = p->options.from_ns ? add_time(first_ns, p->options.from_ns) : 0,
		.to_ns = add_time(first_ns, p->options.to_ns),
		.watch = p->options.watch,
		.watch_user = p->options.watch_user,
	};
	int r = fold_new(&options, &p->fold, err);

	if (r < 0)
		return r;
	merge_facts(p);
	return 0;
}

/*
 * Of two recorders of one run the one of scheduler events can start later and end earlier. What
 * was read of an input lies before what comes out here, so its first switch and end are known.
 */
static int check_cover(struct pipeline *p, uint64_t now_ns, struct err *err)
{
	bool covered = false, any = false;

	for (size_t i = 0; i < p->n_inputs; i++) {
		const struct input *input = &p->inputs[i];
		const struct decode_facts *facts = decode_facts(input->decode);

		if (!facts->has_sched_switch && !facts->has_switch_record)
			continue;
		any = true;
		covered |= input->first_switch_ns && input->first_switch_ns <= now_ns &&
			   !(input->ended && input->newest_ns < now_ns);
	}
	return any ? fold_covered(p->fold, covered, err) : 0;
}

static int ordered(void *user, const struct event *event, struct err *err)
{
	struct pipeline *p = user;
	int r;

	if (!p->fold) {
		r = make_fold(p, event->time_ns, err);
		if (r < 0)
			return r;
	}
	if (p->options.event) {
		r = p->options.event(p->options.event_user, event, err);
		if (r < 0)
			return r;
	}
	if (p->n_inputs > 1) {
		r = check_cover(p, event->time_ns, err);
		if (r < 0)
			return r;
	}
	return fold_feed(p->fold, event, err);
}

/* Inputs whose times are of different clocks would be interleaved wrongly. */
static int check_clocks(const struct pipeline *p, struct err *err)
{
	const struct input *first = NULL;

	for (size_t i = 0; i < p->n_inputs; i++) {
		const struct input *input = &p->inputs[i];
		const struct decode_facts *facts = decode_facts(input->decode), *other;

		if (!facts->samples)
			continue; /* a pipe tells its clock with its first sample */
		other = first ? decode_facts(first->decode) : facts;
		first = first ? first : input;
		if (other->clock_known == facts->clock_known && other->clockid == facts->clockid)
			continue;
		err_hint(err, "record both with the same clock: perf record -k CLOCK_MONOTONIC");
		return err_set(err, -EOPNOTSUPP,
			"'%s' and '%s' were recorded with different clocks", first->path,
			input->path);
	}
	return 0;
}

static int feed_record(struct pipeline *p, struct input *input, size_t index,
	const struct perfdata_record *record, struct err *err)
{
	struct event events[DECODE_MAX_EVENTS];
	int n, r;

	if (record->type == RECORD_FINISHED_ROUND) {
		merge_facts(p);
		return order_round(p->order, (uint8_t)index, err);
	}
	n = decode_record(input->decode, record, events, err);
	for (int i = 0; i < n; i++) {
		if (events[i].time_ns > input->newest_ns)
			input->newest_ns = events[i].time_ns;
		if (!input->first_switch_ns &&
			(events[i].kind == EVENT_SWITCH_IN || events[i].kind == EVENT_SWITCH_OUT))
			input->first_switch_ns = events[i].time_ns;
		r = order_feed(p->order, &events[i], err);
		if (r < 0)
			return r;
	}
	return n < 0 ? n : 0;
}

static struct input *lagging(struct pipeline *p)
{
	struct input *found = NULL;

	for (size_t i = 0; i < p->n_inputs; i++)
		if (!p->inputs[i].ended && (!found || p->inputs[i].newest_ns < found->newest_ns))
			found = &p->inputs[i];
	return found;
}

static int report_progress(struct pipeline *p)
{
	uint64_t done = 0, total = 0;
	bool known = true;

	if (!p->options.progress)
		return 0;
	for (size_t i = 0; i < p->n_inputs; i++) {
		uint64_t size;

		done += perfdata_position(p->inputs[i].pd, &size);
		total += size;
		known = known && size;
	}
	return p->options.progress(p->options.progress_user, done, known ? total : 0);
}

/* Reads up to a turn's worth of records from @input, so that several inputs advance together. */
static int take_turn(struct pipeline *p, struct input *input, struct err *err)
{
	size_t index = (size_t)(input - p->inputs);

	for (unsigned i = 0; i < RECORDS_PER_TURN; i++) {
		struct perfdata_record record;
		int r = perfdata_next(input->pd, &record, err);

		if (r < 0)
			return r;
		if (r == 0) {
			input->ended = true;
			return order_end(p->order, (uint8_t)index, err);
		}
		r = feed_record(p, input, index, &record, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int pipeline_run(struct pipeline *p, const struct fold_result **ret, struct err *err)
{
	const struct order_stats *stats;
	struct input *input;
	int r = order_new(ordered, p, p->n_inputs, &p->order, err);

	while (r >= 0 && (input = lagging(p))) {
		r = take_turn(p, input, err);
		if (r >= 0)
			r = check_clocks(p, err);
		if (r >= 0)
			r = report_progress(p);
	}
	if (r >= 0)
		merge_facts(p);
	if (r >= 0)
		r = order_flush(p->order, err);
	if (r >= 0 && !p->fold)
		r = make_fold(p, 0, err);
	if (r < 0)
		return r;
	merge_facts(p);
	stats = order_stats(p->order);
	return fold_finish(p->fold, stats->duplicated, stats->late, ret, err);
}

const struct decode_facts *pipeline_facts(const struct pipeline *p)
{
	return &p->facts;
}

const struct perfdata_info *pipeline_info(const struct pipeline *p, size_t i)
{
	return perfdata_info(p->inputs[i].pd);
}

size_t pipeline_interpreters(const struct pipeline *p, size_t i, const char *const **ret_paths)
{
	return decode_interpreters(p->inputs[i].decode, ret_paths);
}

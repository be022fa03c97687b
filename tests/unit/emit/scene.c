/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

struct emit_options scene_options(void)
{
	return (struct emit_options){.idle = true,
		.version = "1.2",
		.command = "python3 \"app\".py",
		.clock_monotonic = true,
		.has_wall = true,
		.realtime_minus_clock_ns = 1700000000000000123};
}

void scene_init(struct scene *s, const struct emit_options *options)
{
	struct err err = {0};

	*s = (struct scene){
		.process = {.pid = 4711, .name = "python3", .n_gils = 1, .n_threads = 2},
		.gil = {.number = 1, .start_ns = T0, .end_ns = T0 + 1000 * MS},
		.main = {.tid = 4711, .name = "python3", .main = true},
		.worker = {.index = 1, .number = 1, .tid = 4712, .name = "worker \"0\"\xff"},
		.result = {.n_processes = 1,
			.n_gils = 1,
			.n_threads = 2,
			.start_ns = T0,
			.end_ns = T0 + 1000 * MS}};
	s->gil.process = s->main.process = s->worker.process = &s->process;
	s->processes[0] = &s->process;
	s->gils[0] = &s->gil;
	s->threads[0] = &s->main;
	s->threads[1] = &s->worker;
	s->result.processes = s->processes;
	s->result.gils = s->gils;
	s->result.threads = s->threads;
	s->out = out_memory();
	assert_non_null(s->out);
	assert_int_equal(emit_chrome_new(s->out, options, &s->emit, &err), 0);
	s->sink = emit_chrome_sink(s->emit);
}

void scene_done(struct scene *s)
{
	cJSON_Delete(s->tree);
	emit_chrome_free(s->emit);
	out_free(s->out);
}

void scene_span(struct scene *s, struct fold_thread *thread, enum span_state state,
	uint64_t start_ns, uint64_t end_ns)
{
	struct span span = {.thread = thread,
		.state = state,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.gil = state == SPAN_HAS_GIL || state == SPAN_WAITING ? &s->gil : NULL};

	thread->state_ns[state] += end_ns - start_ns;
	assert_int_equal(s->sink->span(s->sink->user, &span, NULL), 0);
}

void scene_hold(struct scene *s, struct fold_thread *thread, uint64_t start_ns, uint64_t end_ns)
{
	struct fold_hold hold = {.thread = thread,
		.gil = &s->gil,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.on_cpu_ns = end_ns - start_ns,
		.others_waited_ns = 77};

	assert_int_equal(s->sink->hold(s->sink->user, &hold, NULL), 0);
}

void scene_wait(struct scene *s, struct fold_thread *thread, uint64_t start_ns, uint64_t end_ns)
{
	struct fold_wait wait = {.thread = thread,
		.gil = &s->gil,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.acquired = true,
		.requests = 2,
		.n_holders = 2,
		.holders = {&s->main, &s->worker},
		.holder_on_cpu_ns = 5,
		.holder_blocked_ns = 1000,
		.holder_runnable_ns = 1};

	assert_int_equal(s->sink->wait(s->sink->user, &wait, NULL), 0);
}

void scene_handoff(struct scene *s, struct fold_thread *from, struct fold_thread *to,
	uint64_t release_ns, uint64_t acquire_ns)
{
	struct fold_handoff handoff = {.gil = &s->gil,
		.from = from,
		.to = to,
		.release_ns = release_ns,
		.acquire_ns = acquire_ns};

	assert_int_equal(s->sink->handoff(s->sink->user, &handoff, NULL), 0);
}

const char *scene_finish(struct scene *s)
{
	const char *text;
	size_t size;

	assert_int_equal(s->sink->done(s->sink->user, &s->result, NULL), 0);
	text = out_memory_bytes(s->out, &size);
	assert_int_equal(out_error(s->out), 0);
	s->tree = cJSON_ParseWithLength(text, size);
	assert_non_null(s->tree);
	out_write(s->out, "", 1);
	return out_memory_bytes(s->out, &size);
}

const cJSON *get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *get_str(const cJSON *object, const char *key)
{
	const cJSON *item = get(object, key);

	return cJSON_IsString(item) ? item->valuestring : "";
}

const cJSON *scene_event(
	const struct scene *s, const char *ph, double tid, const char *name, int nth)
{
	const cJSON *event;

	cJSON_ArrayForEach(event, get(s->tree, "traceEvents"))
	{
		if (strcmp(get_str(event, "ph"), ph) ||
			(name && strcmp(get_str(event, "name"), name)))
			continue;
		if (tid && (!get(event, "tid") || get(event, "tid")->valuedouble != tid))
			continue;
		if (nth-- == 0)
			return event;
	}
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of one process, two threads and one GIL, told to the writer by hand. */
#ifndef GILPROBE_TESTS_UNIT_EMIT_SCENE_H
#define GILPROBE_TESTS_UNIT_EMIT_SCENE_H

#include "emit/emit.h"

#include <cjson/cJSON.h>

#include "test.h"

#define MS 1000000ull
#define T0 882250414721ull

struct scene {
	struct fold_process process;
	struct fold_gil gil;
	struct fold_thread main, worker;
	struct fold_process *processes[1];
	struct fold_gil *gils[1];
	struct fold_thread *threads[2];
	struct fold_result result;
	struct out *out;
	struct emit_chrome *emit;
	struct sink *sink;
	cJSON *tree; /* after scene_finish */
};

struct emit_options scene_options(void);
void scene_init(struct scene *s, const struct emit_options *options);
void scene_done(struct scene *s);
void scene_span(struct scene *s, struct fold_thread *thread, enum span_state state,
	uint64_t start_ns, uint64_t end_ns);
void scene_hold(struct scene *s, struct fold_thread *thread, uint64_t start_ns, uint64_t end_ns);
void scene_wait(struct scene *s, struct fold_thread *thread, uint64_t start_ns, uint64_t end_ns);
void scene_handoff(struct scene *s, struct fold_thread *from, struct fold_thread *to,
	uint64_t release_ns, uint64_t acquire_ns);
/* Ends the run and parses what was written. Returns the text, which stays the scene's. */
const char *scene_finish(struct scene *s);
const cJSON *get(const cJSON *object, const char *key);
const char *get_str(const cJSON *object, const char *key);

/* The @nth event (from 0) of kind @ph on row @tid (0: any) that is called @name (NULL: any). */
const cJSON *scene_event(
	const struct scene *s, const char *ph, double tid, const char *name, int nth);

#endif

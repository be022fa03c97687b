/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays events written as text and writes down what fold makes of them.
 *
 * Events: "TIME[@CPU] KIND THREAD [ARGUMENT]" separated by ';', times in µs. Threads are letters: A
 * to F belong to process 100 (A is its main thread, tid 100), G to L to process 200, M to R to 300,
 * …
 *
 *   want/acquire/release/yield/return T [GIL]    the GIL events; GIL is a number, default 0
 *   in T, out T STATE (S, D, R; R+ preempted), wake T [BY]
 *   fork T NEW, exit T, exec T NAME, comm T NAME, lost, mark N
 *
 * What fold gives out, in the same words: see the texts the tests expect.
 */
#ifndef PLAY_H
#define PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fold/fold.h"

enum recording {
	OWN_WIDE,   /* gilprobe record: scheduler events of every task */
	OWN_SWITCH, /* … without the privilege: context switch records */
	OWN_BARE,   /* … without any */
	PERF_WIDE,  /* take_gil, drop_gil and their returns; sched events of every task */
	PERF_TASK,  /* … sched events of the traced tasks only */
	PERF_BARE,  /* … no scheduler events */
	PERF_NO_DROP_RETURN,
};

struct play {
	struct fold *fold;
	const struct fold_result *result;
	struct decode_facts facts;
	struct sink sink, *sinks[1];
	struct err err;
	char spans[26][2048]; /* by letter */
	char holds[4096], waits[4096], handoffs[2048], cpus[4096], waiters[2048];
};

void play_start(struct play *p, enum recording recording);
void play_start_window(
	struct play *p, enum recording recording, uint64_t from_us, uint64_t to_us, int32_t pid);
/* @watch: as of fold_options. */
void play_start_watch(
	struct play *p, enum recording recording, bool (*watch)(void *user, int32_t tid));
void play(struct play *p, const char *events);
void play_finish(struct play *p);
void play_done(struct play *p);

/* The totals of thread @letter; its latest incarnation. */
const struct fold_thread *play_thread(const struct play *p, char letter);
const struct fold_gil *play_gil(const struct play *p, size_t index);

/* Compares the spans of @letter with @want: "waiting 10-20, has-gil 20-50". */
#define assert_spans(p, letter, want) assert_string_equal(play_spans(p, letter), want)
const char *play_spans(const struct play *p, char letter);

/* All from start to finish, for the tests that need nothing special. */
#define PLAY(p, recording, events)                                                                 \
	do {                                                                                       \
		play_start(p, recording);                                                          \
		play(p, events);                                                                   \
		play_finish(p);                                                                    \
	} while (0)

#endif

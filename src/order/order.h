/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order: events sorted by (time, file order), duplicates taken out, in bounded memory.
 *
 * perf writes each CPU's buffer in turn, then FINISHED_ROUND. Everything older than the newest
 * event of the round before can be let go:
 *
 *   buffer 0:  a1 a4 a7 |      b2 b5 |
 *   buffer 1:  a2 a3 a9 |   a8 b6 b7 |        round b still brings a8 < a9, but nothing < max(round
 *              round a         round b        before a): so at the end of round b, events up to
 *                                             max(a) leave in order
 */
#ifndef GILPROBE_ORDER_ORDER_H
#define GILPROBE_ORDER_ORDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "decode/event.h"

#include <stddef.h>
#include <stdint.h>

struct order;

struct order_stats {
	uint64_t events;     /* given out */
	uint64_t duplicated; /* equal (time, tid, kind, payload) neighbours, dropped */
	uint64_t late; /* came after a newer event had left; given out, with the time it has */
	uint64_t
		foreign; /* signals of and waits for condition variables that are no GIL, dropped */
};

/* Receives events in order. A negative return stops and is passed up. */
typedef int (*order_emit)(void *user, const struct event *event, struct err *err);

/* @n_streams inputs will be fed, numbered from 0. */
int order_new(order_emit emit, void *user, size_t n_streams, struct order **ret, struct err *err);
void order_free(struct order *o);

DEFINE_CLEANUP(struct order, order, order_free)

int order_feed(struct order *o, const struct event *event, struct err *err);

/* FINISHED_ROUND of @stream was read. With several streams, only what all have passed leaves. */
int order_round(struct order *o, uint8_t stream, struct err *err);

/* @stream has ended: it holds nothing back any more. */
int order_end(struct order *o, uint8_t stream, struct err *err);

/* Everything left goes out. */
int order_flush(struct order *o, struct err *err);

const struct order_stats *order_stats(const struct order *o);

#endif

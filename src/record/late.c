/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: interpreters that locate could not foresee. In: a traced process that mapped one. Out:
 * one more group of events, with buffers of its own.
 *
 * Invariant: the recording goes on whatever happens here. What the process did before its probes
 * were in is not in the file.
 */
#include "record/session.h"

#include "perfdata/writer.h"
#include "record/tracing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

static bool is_known(const struct filter *filter, const struct locate_binary *binary)
{
	return filter_knows(filter, major(binary->dev), minor(binary->dev), binary->ino);
}

static int mark_known(struct filter *filter, const struct locate_binary *binary)
{
	return filter_know(filter, major(binary->dev), minor(binary->dev), binary->ino);
}

/* 1: its events are open; 0: it could not be. */
static int open_group(struct session *s, struct locate_binary *binary, struct err *err)
{
	struct record_removal *made = &s->made;
	struct events *events = &made->events[made->n_events];
	size_t first = made->probes.n;
	struct err ignored = {0};

	if (probes_define(&made->probes, &binary, 1, &ignored) < 0 || made->probes.n == first)
		return 0;
	if (events_open_more(events, &made->probes, first, s->options->buffer_bytes, &ignored) <
		0) {
		events_done(events);
		return 0;
	}
	/* each millisecond counts: what the file must know of them is written before the events */
	events_enable(events);
	made->n_events++;
	s->rounds.n_events = made->n_events;
	for (size_t i = 0; i < events->n_fds; i++)
		if (control_watch_fd(&s->control, events->fds[i], err) < 0)
			return -ENOMEM;
	return filter_add(&s->filter, events) < 0 ? err_nomem(err) : 1;
}

static int probe_binary(struct session *s, struct locate_binary *binary, struct err *err)
{
	int r;

	if (s->made.n_events == EVENTS_MAX || is_known(&s->filter, binary))
		return 0;
	if (mark_known(&s->filter, binary) < 0)
		return err_nomem(err);
	r = open_group(s, binary, err);
	if (r <= 0)
		return r;
	if (!s->late_path)
		s->late_path = strdup(binary->path);
	return session_describe(s, &s->made.events[s->made.n_events - 1], err);
}

int session_probe_late(struct session *s, pid_t pid, struct err *err)
{
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	struct err ignored = {0};
	int r = locate_process(pid, &target, &ignored);

	if (r < 0)
		return r == -ENOMEM ? err_nomem(err) : 0;
	for (size_t i = 0; r >= 0 && i < target->n_binaries; i++)
		r = probe_binary(s, target->binaries[i], err);
	return r;
}

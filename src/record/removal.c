/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the end of probes. In: open events, defined probes. Out: none of them.
 * Invariant: events are closed before their definitions are deleted, and the janitor is let go
 * last, so it finds nothing to do unless this is cut short.
 */
#include "record/removal.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct running {
	struct record_removal what; /* first: callers hold a pointer to it */
	pthread_t thread;
};

void removal_run(struct record_removal *removal)
{
	for (size_t i = 0; i < removal->n_events; i++)
		events_done(&removal->events[i]);
	if (removal->probes.group[0])
		probes_delete_group(removal->probes.group);
	probes_done(&removal->probes);
	janitor_stop(&removal->janitor);
}

static void *run_in_thread(void *removal)
{
	removal_run(removal);
	return NULL;
}

struct record_removal *removal_start(struct record_removal *removal)
{
	struct running *running = calloc(1, sizeof(*running));
	sigset_t all, old;
	int r = -1;

	if (running) {
		running->what = *removal;
		/* signals are for the thread that reports */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		r = pthread_create(&running->thread, NULL, run_in_thread, &running->what);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	if (r) {
		free(running);
		removal_run(removal);
		running = NULL;
	}
	*removal = (struct record_removal){.janitor = JANITOR_NONE};
	return (struct record_removal *)running;
}

void removal_wait(struct record_removal *removal)
{
	struct running *running = (struct running *)removal;

	if (!running)
		return;
	pthread_join(running->thread, NULL);
	free(running);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One GIL: who holds it, who waits for it, and for how long in which state.
 */
#ifndef GILPROBE_FOLD_GIL_H
#define GILPROBE_FOLD_GIL_H

#include "fold/inner.h"

struct gil {
	struct fold_gil pub;
	struct gil *next; /* of its process */
	struct thread *holder;
	uint64_t ticks[TICKS], ticks_ns; /* how long its holder was in which state, up to when */
	enum tick tick;
	uint64_t tick_since_ns;
	struct thread *waiters, *last_waiter, *droppers;
	uint32_t n_waiters, n_yielders;
	uint64_t contended_since_ns, idle_since_ns, free_since_ns;
	struct thread *releaser; /* of the last release, while nobody has taken it since */
	uint64_t release_ns;
	bool release_forced, visible;
	uint64_t takes; /* also those outside the window */
};

/* The process's GIL at @address; @t is who named it (0: its only one, or the one @t last used). */
int gil_get(struct fold *f, struct thread *t, uint64_t address, struct gil **ret);

/* Gives it its place in the result. */
int gil_show(struct fold *f, struct gil *g);

/* Counts the time up to now. */
void gil_advance(struct fold *f, struct gil *g);

/* Its holder's CPU side has changed. */
void gil_holder_cpu(struct fold *f, struct gil *g);

/* @t's last release of it was a forced switch. */
void gil_forced(struct gil *g, struct thread *t);

/* Nobody holds it; @t has released it, or (NULL) nobody knows when. */
void gil_released(struct fold *f, struct gil *g, struct thread *t);

/*
 * @t begins to wait at @start_ns (now, or the time at which @ticks were taken; NULL: now). @side is
 * WANT or YIELD. Ends at @end_ns: now, or earlier if its holder has done the same since.
 */
int wait_begin(struct fold *f, struct thread *t, struct gil *g, enum side side, uint64_t start_ns,
	const uint64_t *ticks);
int wait_end(struct fold *f, struct thread *t, uint64_t end_ns, bool acquired);

/* Counts the stretch of waiting (a forced wait and the take after it are one) that has ended. */
int stretch_flush(struct fold *f, struct thread *t);

/* @t holds from @start_ns (now, or earlier if nobody has held it since). */
int hold_begin(struct fold *f, struct thread *t, struct gil *g, uint64_t start_ns);

/* Ends at @end_ns (as a wait does); stays pending until hold_flush, when it is known whether it was
 * forced. */
int hold_end(struct fold *f, struct thread *t, uint64_t end_ns, bool open);

/* A waiter that has waited since @waited_since_ns for one interval asks the holder to give way. */
void hold_ask(struct fold *f, struct gil *g, uint64_t waited_since_ns);
int hold_flush(struct fold *f, struct thread *t);

static inline bool cpu_known(const struct fold *f)
{
	return !f->uncovered && (f->facts.has_sched_switch || f->facts.has_switch_record);
}

#endif

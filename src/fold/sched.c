/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: the CPU side. In: switch-in, switch-out, wakeup of threads that had a GIL event. Out:
 * their CPU side. Invariant: what a recording cannot tell is not guessed: without the switches of
 * foreign tasks most switch-ins are missing, so the end of a preemption is unknown and wakeups
 * (only those made by traced tasks) say nothing about how long the thread was runnable.
 */
#include "fold/sched.h"

#include "fold/state.h"
#include "fold/task.h"
#include "fold/thread.h"

#include <string.h>

/* A static string of one letter. */
static const char *letter_name(char letter)
{
	static const char names[] = "A\0B\0C\0D\0E\0F\0G\0H\0I\0J\0K\0L\0M\0N\0O\0P\0Q\0R\0S\0T\0"
				    "U\0V\0W\0X\0Y\0Z\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0"
				    "o\0p\0q\0r\0s\0t\0u\0v\0w\0x\0y\0z";

	if (letter >= 'A' && letter <= 'Z')
		return &names[(letter - 'A') * 2];
	if (letter >= 'a' && letter <= 'z')
		return &names[(letter - 'a' + 26) * 2];
	return "S";
}

/* A thread of an interpreter whose GIL is off begins when it first runs. */
static int watch(struct fold *f, const struct event *event)
{
	struct thread *t;
	int r;

	if (!f->options.watch || !f->options.watch(f->options.watch_user, event->tid))
		return 0;
	r = task_thread(f, event, &t);
	if (r < 0 || !t)
		return r;
	t->side = SIDE_NONE;
	return thread_begin(f, t, event->cpu);
}

int sched_in(struct fold *f, const struct event *event)
{
	struct thread *t = task_find_thread(f, event->tid);
	bool slept;
	int r;

	if (!t || !t->begun)
		return watch(f, event);
	f->result.quality.switches_in++;
	slept = t->slept;
	if (t->preempted) /* as long as that, it turns out */
		thread_was_runnable(f, t);
	r = thread_cpu(f, t, CPU_ON, "Running", event->cpu);
	return r < 0 || !slept ? r : state_input(f, t, t->gil, INPUT_WOKEN);
}

/* Where every switch is seen, the time until it is switched in again is known. */
static bool ends_seen(const struct fold *f)
{
	return f->facts.sched_cpu_wide || f->facts.has_switch_record;
}

int sched_out(struct fold *f, const struct event *event)
{
	struct thread *t = task_find_thread(f, event->tid);
	char letter = event->out.state;
	int r;

	if (letter == 'X' || letter == 'Z' || letter == 'x')
		return task_gone(f, event->tid);
	if (!t || !t->begun)
		return 0;
	thread_runs(f, t);
	if (event->out.preempted || letter == 'R') {
		t->pub.preempted += f->inside && event->out.preempted && t->cpu == CPU_ON;
		if (ends_seen(f))
			return thread_cpu(
				f, t, CPU_RUNNABLE, event->out.preempted ? "R+" : "R", -1);
		r = thread_cpu(f, t, CPU_UNKNOWN, NULL, -1);
		t->preempted = true;
		return r;
	}
	r = thread_advance(f, t, f->now);
	if (r >= 0 && t->doubt == DOUBT_DROP && t->returned && f->facts.has_drop_return)
		r = doubt_settle(f, t); /* it sleeps for something else than a switch */
	if (r < 0)
		return r;
	t->slept = true;
	return thread_cpu(f, t, CPU_BLOCKED, letter_name(letter), -1);
}

/*
 * A kernel may not tell of the switches out of a CPU's idle task (seen on a virtual machine's
 * second CPU, with perf and ftrace too): then a thread that was woken long ago, by a timer, is
 * still taken for asleep when a sibling wakes it from what it is about to wait for. So who ended a
 * sleep counts when the thread runs next; if it is switched out first, it was on a CPU all the
 * time.
 */
int sched_wakeup(struct fold *f, const struct event *event)
{
	struct thread *t = task_find_thread(f, event->tid);
	uint64_t slept_ns;
	bool sibling;
	int r;

	if (!t || !t->begun || t->cpu != CPU_BLOCKED)
		return 0;
	sibling = event->by > 0 && event->by != t->pub.tid &&
		  task_process(f, event->by) == t->process;
	if (!f->facts.sched_cpu_wide) {
		t->sibling = sibling;
		return 0;
	}
	slept_ns = f->now - t->since_ns;
	r = thread_cpu(f, t, CPU_RUNNABLE, "R", -1);
	t->woken_ns = sibling ? slept_ns : 0;
	return r;
}

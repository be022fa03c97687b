/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the traced process tree. In: FORK, EXIT, exec and GIL sightings. Out: who is traced.
 *
 * Invariant: a task is in the map from its FORK until two rounds after its EXIT, so that its last
 * scheduler events, which follow the EXIT, are still known to be its.
 */
#include "record/tree.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

struct tree_process {
	struct map gils; /* address of cond → when it was last seen to be a GIL's */
	uint32_t alive;	 /* threads that have not ended */
	uint64_t round;	 /* when the last one ended */
};

/* A task's value: its pid, and whether it ended. */
#define ENDED (1ull << 32)

static struct tree_process *process_of(const struct tree *tree, uint32_t pid)
{
	return map_get_ptr(&tree->processes, pid);
}

static void process_free(struct tree_process *process)
{
	if (process)
		map_done(&process->gils);
	free(process);
}

static void forget_process(struct tree *tree, uint32_t pid)
{
	process_free(process_of(tree, pid));
	map_del(&tree->processes, pid);
}

void tree_done(struct tree *tree)
{
	struct map_slot *slot;

	for (size_t at = 0; (slot = map_next(&tree->processes, &at));)
		process_free((struct tree_process *)(uintptr_t)slot->value);
	map_done(&tree->processes);
	map_done(&tree->tasks);
	free(tree->ends.items);
	*tree = (struct tree){0};
}

static struct tree_process *process_made(struct tree *tree, uint32_t pid)
{
	struct tree_process *process = process_of(tree, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (process && map_put_ptr(&tree->processes, pid, process) < 0) {
		free(process);
		return NULL;
	}
	return process;
}

/* Takes a task's end back, or a reused tid from its former process. */
static void drop_task(struct tree *tree, uint32_t tid)
{
	uint64_t *task = map_get(&tree->tasks, tid);
	struct tree_process *process;

	if (!task)
		return;
	process = process_of(tree, (uint32_t)*task);
	if (process && !(*task & ENDED))
		process->alive--;
	map_del(&tree->tasks, tid);
}

int tree_add(struct tree *tree, uint32_t pid, uint32_t tid)
{
	struct tree_process *process = process_made(tree, pid);

	if (!process)
		return -ENOMEM;
	drop_task(tree, tid);
	if (map_put(&tree->tasks, tid, pid) < 0)
		return -ENOMEM;
	process->alive++;
	return 0;
}

static int copy_gils(struct tree *tree, uint32_t from, uint32_t to)
{
	struct tree_process *parent = process_of(tree, from), *child = process_of(tree, to);
	struct map_slot *slot;

	for (size_t at = 0; parent && child && (slot = map_next(&parent->gils, &at));)
		if (map_put(&child->gils, slot->key, slot->value) < 0)
			return -ENOMEM;
	return 0;
}

int tree_fork(struct tree *tree, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid)
{
	int r;

	if (!process_of(tree, ppid) && !map_get(&tree->tasks, ptid)) {
		drop_task(tree, tid); /* the tid of a task that we knew has a new owner */
		return 0;
	}
	if (pid == tid && pid != ppid)
		forget_process(tree, pid);
	r = tree_add(tree, pid, tid);
	return r < 0 || pid == ppid ? r : copy_gils(tree, ppid, pid);
}

static int mark_end(struct tree *tree, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	if (vec_grow(&tree->ends) < 0)
		return -ENOMEM;
	tree->ends.items[tree->ends.n++] = (struct tree_end){pid, tid, time_ns, tree->round};
	return 0;
}

int tree_exit(struct tree *tree, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint64_t *task = map_get(&tree->tasks, tid);
	struct tree_process *process = process_of(tree, pid);

	if (!task || *task != pid || !process)
		return 0;
	*task |= ENDED;
	process->alive--;
	process->round = tree->round;
	return mark_end(tree, pid, tid, time_ns);
}

int tree_exec(struct tree *tree, uint32_t pid, uint64_t time_ns)
{
	struct map_slot *slot;
	int r = 0;

	if (!process_of(tree, pid))
		return 0;
	/* the calling thread took over the leader's tid, and its own vanished without an EXIT */
	for (size_t at = 0; r >= 0 && (slot = map_next(&tree->tasks, &at));)
		if (slot->value == pid && slot->key != pid)
			r = tree_exit(tree, pid, (uint32_t)slot->key, time_ns);
	if (r >= 0)
		r = tree_add(tree, pid, pid);
	return r < 0 ? r : mark_end(tree, pid, 0, time_ns);
}

int tree_learn_gil(struct tree *tree, uint32_t pid, uint64_t cond, uint64_t time_ns)
{
	struct tree_process *process = process_of(tree, pid);

	return process ? map_put(&process->gils, cond, time_ns) : 0;
}

bool tree_has_process(const struct tree *tree, uint32_t pid)
{
	return process_of(tree, pid) != NULL;
}

bool tree_has_task(const struct tree *tree, uint32_t tid)
{
	return map_get(&tree->tasks, tid) != NULL;
}

bool tree_has_gil(const struct tree *tree, uint32_t pid, uint64_t cond)
{
	const struct tree_process *process = process_of(tree, pid);

	return process && map_get(&process->gils, cond) != NULL;
}

/* Those that were learned before the exec; the new image may have shown some already. */
static void forget_gils(struct tree_process *process, uint64_t before_ns)
{
	struct map kept = {0};
	struct map_slot *slot;

	for (size_t at = 0; (slot = map_next(&process->gils, &at));)
		if (slot->value >= before_ns && map_put(&kept, slot->key, slot->value) < 0) {
			map_done(&kept);
			return; /* an old address too many does no harm */
		}
	map_done(&process->gils);
	process->gils = kept;
}

/* Nothing that is still to be filtered is as old. */
static bool is_over(const struct tree *tree, uint64_t round)
{
	return round + 2 <= tree->round;
}

static void apply_end(struct tree *tree, const struct tree_end *end)
{
	struct tree_process *process = process_of(tree, end->pid);
	uint64_t *task = map_get(&tree->tasks, end->tid);

	if (process && !end->tid)
		forget_gils(process, end->time_ns);
	if (end->tid && task && *task == (end->pid | ENDED))
		map_del(&tree->tasks, end->tid);
	/* that an earlier thread's time is up says nothing of the last one */
	if (process && !process->alive && is_over(tree, process->round))
		forget_process(tree, end->pid);
}

void tree_next_round(struct tree *tree)
{
	size_t n = 0;

	tree->round++;
	for (size_t i = 0; i < tree->ends.n; i++) {
		if (is_over(tree, tree->ends.items[i].round))
			apply_end(tree, &tree->ends.items[i]);
		else
			tree->ends.items[n++] = tree->ends.items[i];
	}
	tree->ends.n = n;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fold: identity. In: fork, exit, exec, comm. Out: the thread and process that an id means now.
 * Invariant: a task without GIL events leaves nothing behind when it exits, nor does a process;
 * a process and its GILs are new after every fork and exec, whatever their ids and addresses.
 */
#include "fold/task.h"

#include "base/vec.h"
#include "fold/gil.h"
#include "fold/thread.h"

#include <errno.h>
#include <stdlib.h>

/* Two inputs of one run both tell of an exec; their clock readings differ by less. */
#define SAME_EXEC_NS 1000000

static struct process *process_find(const struct fold *f, int32_t pid)
{
	return map_get_ptr(&f->processes, (uint32_t)pid);
}

static struct task *task_find(const struct fold *f, int32_t tid)
{
	return map_get_ptr(&f->tasks, (uint32_t)tid);
}

static int process_new(struct fold *f, int32_t pid, struct process **ret)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return -ENOMEM;
	if (map_put_ptr(&f->processes, (uint32_t)pid, process) < 0) {
		free(process);
		return -ENOMEM;
	}
	process->pub.pid = pid;
	process->pub.name = "";
	process->last_gil = &process->gils;
	*ret = process;
	return 0;
}

/* Its pid means something else from now on. */
static void process_close(struct fold *f, struct process *process)
{
	if (process_find(f, process->pub.pid) == process)
		map_del(&f->processes, (uint32_t)process->pub.pid);
	process->closed = true;
	if (!process->kept)
		free(process);
}

int process_show(struct fold *f, struct process *process)
{
	int r;

	if (process->visible)
		return 0;
	r = vec_grow(&f->processes_shown);
	if (r < 0)
		return r;
	process->visible = true;
	process->pub.index = (uint32_t)f->processes_shown.n;
	f->processes_shown.items[f->processes_shown.n++] = &process->pub;
	return 0;
}

static void rename_task(struct task *task, const char *name)
{
	task->name = name;
	if (task->thread)
		task->thread->pub.name = name;
	if (task->tid == task->process->pub.pid)
		task->process->pub.name = name;
}

static int task_new(struct fold *f, struct process *process, int32_t tid, struct task **ret)
{
	struct task *task = calloc(1, sizeof(*task));

	if (!task)
		return -ENOMEM;
	if (map_put_ptr(&f->tasks, (uint32_t)tid, task) < 0) {
		free(task);
		return -ENOMEM;
	}
	task->tid = tid;
	task->process = process;
	task->name = "";
	task->next = process->tasks;
	if (process->tasks)
		process->tasks->prev = task;
	process->tasks = task;
	*ret = task;
	return 0;
}

/* Ends a task; its process stays open. */
static int task_remove(struct fold *f, struct task *task)
{
	int r = task->thread ? thread_end(f, task->thread, true) : 0;

	if (task->prev)
		task->prev->next = task->next;
	else
		task->process->tasks = task->next;
	if (task->next)
		task->next->prev = task->prev;
	map_del(&f->tasks, (uint32_t)task->tid);
	free(task);
	return r;
}

static int process_end(struct fold *f, struct process *process)
{
	int r = 0;

	while (process->tasks && r >= 0)
		r = task_remove(f, process->tasks);
	if (r >= 0) {
		process->pub.ended = true;
		process_close(f, process);
	}
	return r;
}

static int task_get(struct fold *f, int32_t pid, int32_t tid, struct task **ret)
{
	struct process *process;
	struct task *task = task_find(f, tid);
	int r;

	if (task && (pid <= 0 || task->process->pub.pid == pid)) {
		*ret = task;
		return 0;
	}
	if (task) {
		r = task_remove(f, task);
		if (r < 0)
			return r;
	}
	process = process_find(f, pid);
	if (!process) {
		r = process_new(f, pid, &process);
		if (r < 0)
			return r;
	}
	return task_new(f, process, tid, ret);
}

static void keep_process(struct fold *f, struct process *process)
{
	if (process->kept)
		return;
	process->kept = true;
	*f->last_process = process;
	f->last_process = &process->all;
}

int task_thread(struct fold *f, const struct event *event, struct thread **ret)
{
	int32_t only = f->options.only_pid;
	struct task *task;
	int r;

	*ret = NULL;
	if (event->tid <= 0 || (event->pid <= 0 && !task_find(f, event->tid)))
		return 0;
	r = task_get(f, event->pid, event->tid, &task);
	if (r < 0 || (only && task->process->pub.pid != only))
		return r;
	if (!task->thread) {
		r = thread_new(f, task->process, task->tid, task->name, &task->thread);
		if (r < 0)
			return r;
		keep_process(f, task->process);
	}
	*ret = task->thread;
	return 0;
}

struct thread *task_find_thread(const struct fold *f, int32_t tid)
{
	const struct task *task = task_find(f, tid);

	return task ? task->thread : NULL;
}

const struct process *task_process(const struct fold *f, int32_t tid)
{
	const struct task *task = task_find(f, tid);

	return task ? task->process : NULL;
}

/* By another input (at the time, or in its list of what ran when it began), or in perf's list. */
static bool told_before(const struct task *task, const struct event *event)
{
	return task->stream != event->stream || !event->time_ns;
}

int task_fork(struct fold *f, const struct event *event)
{
	struct task *task = task_find(f, event->fork.tid), *parent;
	struct process *process;
	int r;

	if (event->fork.tid <= 0 || event->fork.pid <= 0)
		return 0;
	if (task && task->process->pub.pid == event->fork.pid && told_before(task, event))
		return 0;
	if (task) {
		r = task_remove(f, task);
		if (r < 0)
			return r;
	}
	process = process_find(f, event->fork.pid);
	if (process && event->fork.pid == event->fork.tid && event->time_ns) {
		r = process_end(f, process);
		if (r < 0)
			return r;
	}
	r = task_get(f, event->fork.pid, event->fork.tid, &task);
	if (r < 0)
		return r;
	task->stream = event->stream;
	if (event->fork.pid != event->pid)
		task->process->pub.parent_pid = event->pid;
	parent = task_find(f, event->tid);
	if (parent)
		rename_task(task, parent->name);
	return 0;
}

int task_gone(struct fold *f, int32_t tid)
{
	struct task *task = task_find(f, tid);
	struct process *process;
	int r;

	if (!task)
		return 0;
	process = task->process;
	r = task_remove(f, task);
	if (r < 0)
		return r;
	if (tid == process->pub.pid)
		process->leader_gone = process->pub.ended = true;
	if (process->leader_gone && !process->tasks)
		process_close(f, process);
	return 0;
}

int task_exit(struct fold *f, const struct event *event)
{
	struct process *process;

	if (task_find(f, event->tid))
		return task_gone(f, event->tid);
	process = event->pid > 0 ? process_find(f, event->pid) : NULL;
	if (!process || event->tid != event->pid)
		return 0;
	process->leader_gone = process->pub.ended = true;
	if (!process->tasks)
		process_close(f, process);
	return 0;
}

int task_exec(struct fold *f, const struct event *event)
{
	int32_t pid = event->pid > 0 ? event->pid : event->tid, parent_pid = 0;
	struct process *process = process_find(f, pid);
	const char *name;
	struct task *task;
	int r;

	task = task_find(f, pid);
	if (pid <= 0 || (task && task->exec_ns && told_before(task, event) &&
				event->time_ns - task->exec_ns < SAME_EXEC_NS))
		return 0;
	if (process) {
		parent_pid = process->pub.parent_pid;
		r = process_end(f, process);
		if (r < 0)
			return r;
	}
	r = task_get(f, pid, pid, &task);
	if (r < 0)
		return r;
	task->exec_ns = event->time_ns;
	task->stream = event->stream;
	task->process->pub.parent_pid = parent_pid;
	name = strtab_intern(&f->names, event->comm ? event->comm : "");
	if (!name)
		return -ENOMEM;
	rename_task(task, name);
	return 0;
}

int task_comm(struct fold *f, const struct event *event)
{
	struct task *task;
	const char *name;
	int r;

	if (event->tid <= 0 || (event->pid <= 0 && !task_find(f, event->tid)))
		return 0;
	r = task_get(f, event->pid, event->tid, &task);
	if (r < 0)
		return r;
	name = strtab_intern(&f->names, event->comm ? event->comm : "");
	if (!name)
		return -ENOMEM;
	rename_task(task, name);
	return 0;
}

void task_done(struct fold *f)
{
	struct map_slot *slot;
	struct process *process;
	size_t at = 0;

	while ((slot = map_next(&f->tasks, &at)))
		free((void *)(uintptr_t)slot->value);
	at = 0;
	while ((slot = map_next(&f->processes, &at))) {
		process = (void *)(uintptr_t)slot->value;
		if (!process->kept)
			free(process);
	}
	while ((process = f->all_processes)) {
		f->all_processes = process->all;
		while (process->gils) {
			struct gil *g = process->gils;

			process->gils = g->next;
			free(g);
		}
		free(process);
	}
	while (f->all_threads) {
		struct thread *t = f->all_threads;

		f->all_threads = t->all;
		thread_free(t);
	}
	map_done(&f->tasks);
	map_done(&f->processes);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: which tasks belong to the traced process tree, and the GILs that its processes have.
 *
 * Task records are applied as soon as they are read, one round before the records of the same time
 * are filtered. So what ends is only marked, and forgotten when a round begins that cannot hold
 * anything older.
 */
#ifndef GILPROBE_RECORD_TREE_H
#define GILPROBE_RECORD_TREE_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_process;

/* What ended, and when. */
struct tree_end {
	uint32_t pid, tid; /* tid 0: the GILs of pid's image before an exec */
	uint64_t time_ns;
	uint64_t round;
};

struct tree {
	struct map tasks;     /* tid → pid */
	struct map processes; /* pid → struct tree_process * */
	struct {
		struct tree_end *items;
		size_t n, cap;
	} ends;
	uint64_t round;
};

void tree_done(struct tree *tree);

/* A task that exists already. 0 or -ENOMEM, here and below. */
int tree_add(struct tree *tree, uint32_t pid, uint32_t tid);

/* Follows a FORK when its parent is traced; a new process knows its parent's GILs. */
int tree_fork(struct tree *tree, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid);

/* At @time_ns a thread ended; a process goes with its last. */
int tree_exit(struct tree *tree, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* At @time_ns @pid got a new image: its thread is @pid itself, its GILs are to be learned again. */
int tree_exec(struct tree *tree, uint32_t pid, uint64_t time_ns);

/* @pid showed at @time_ns that @cond is a GIL's. Does nothing for a foreign process. */
int tree_learn_gil(struct tree *tree, uint32_t pid, uint64_t cond, uint64_t time_ns);

bool tree_has_process(const struct tree *tree, uint32_t pid);
bool tree_has_task(const struct tree *tree, uint32_t tid);
bool tree_has_gil(const struct tree *tree, uint32_t pid, uint64_t cond);

/* A new round begins: forgets what ended two rounds ago or earlier. */
void tree_next_round(struct tree *tree);

#endif

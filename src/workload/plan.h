/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the runner shall do, and how it travels: NUL-terminated `key=value` strings in a memfd that
 * the runner and its worker processes read. Shared by gilprobe and the runner; needs nothing else.
 */
#ifndef GILPROBE_WORKLOAD_PLAN_H
#define GILPROBE_WORKLOAD_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#define PLAN_WORKERS_MAX 256
#define PLAN_COUNTS 16
#define PLAN_REPEAT_MAX 50

struct plan {
	const char *target;  /* MODULE:FUNC or path/to/file.py:FUNC, or NULL */
	const char *builtin; /* name of a built-in workload, or NULL */
	const char *const *args;
	size_t n_args;
	double scale;		       /* of the built-in's work */
	unsigned workers[PLAN_COUNTS]; /* each from 1 to PLAN_WORKERS_MAX, ascending, different */
	size_t n_workers;	       /* at least 1 */
	unsigned repeat;	       /* from 1 to PLAN_REPEAT_MAX */
	bool interpreters;	       /* sub-interpreters too */
};

/* A sealed memfd (close-on-exec) that holds @plan, or a negative errno. */
int plan_write(const struct plan *plan);

/*
 * Reads what plan_write wrote, from the start and without moving the file's offset. @ret points
 * into the returned memory (plan_free). 0, or a negative errno.
 */
int plan_read(int fd, struct plan *ret, void **ret_memory);
void plan_free(void *memory);

#endif

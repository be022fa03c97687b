/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this machine allows, and the command that allows more: for `gilprobe check` and for the
 * hints of failures.
 */
#ifndef GILPROBE_RECORD_PRIVILEGES_H
#define GILPROBE_RECORD_PRIVILEGES_H

#include <stddef.h>

enum privilege_state { PRIVILEGE_OK, PRIVILEGE_WARN, PRIVILEGE_MISSING };

/* One thing that recording needs. */
struct privilege {
	enum privilege_state state;
	const char *name; /* "tracefs", "uprobes", "perf_event_paranoid", … */
	char fact[256];	  /* what was read */
	char fix[256];	  /* the command that gives it, or "" */
};

#define PRIVILEGES_MAX 16

/* Fills @ret and returns how many. Changes nothing but opens and closes an event to try it. */
size_t privileges_check(struct privilege ret[PRIVILEGES_MAX]);

#endif

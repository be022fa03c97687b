/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: from a command line or a process to the file that holds CPython's GIL code, and in it
 * the instructions to probe, whether stripped or not.
 *
 * The sites are the calls of pthread_cond_signal, _timedwait and _wait that Python/ceval_gil.c
 * makes; their first argument tells which GIL, and acquire from release. A site is given only
 * when the bytes in the file are exactly the expected call.
 */
#ifndef GILPROBE_LOCATE_LOCATE_H
#define GILPROBE_LOCATE_LOCATE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum locate_kind {
	LOCATE_ACQUIRE, /* pthread_cond_signal in take_gil: the argument is &gil->switch_cond */
	LOCATE_SIGNAL, /* any other pthread_cond_signal: a release when the argument is a GIL's cond
			*/
	LOCATE_TIMEDWAIT, /* pthread_cond_timedwait in take_gil: waiting for &gil->cond */
	LOCATE_WAIT, /* pthread_cond_wait: a forced switch when the argument is a switch_cond */
};

struct locate_site {
	enum locate_kind kind;
	uint64_t vaddr;	   /* as linked */
	uint64_t offset;   /* in the file, by program headers: what uprobe_events wants */
	uint64_t function; /* vaddr of the function that holds it */
	bool slow;	   /* `call *…` (-fno-plt): right, but the kernel single-steps it */
};

/* A file that holds an interpreter. */
struct locate_binary {
	char *path; /* real path */
	dev_t dev;
	ino_t ino;
	uint32_t major, minor, micro;
	char version[32];  /* "3.11.7"; "" unknown */
	char build_id[41]; /* hexadecimal; "" none */
	bool free_threaded;
	uint16_t machine;     /* EM_X86_64, EM_AARCH64 */
	int64_t switch_delta; /* &switch_cond - &cond */
	struct locate_site *sites;
	size_t n_sites;
};

/*
 * Reads one ELF file. With words: -ENOENT when it does not exist or holds no GIL code (a thin
 * executable, another program), -EBADMSG when it is no ELF file or a damaged one, -EOPNOTSUPP when
 * it is Python but not of a supported form (2.7, PyPy, 32-bit, no site found).
 */
int locate_binary(const char *path, struct locate_binary **ret, struct err *err);

/* The same over a file's bytes; path is "memory", dev and ino are 0. */
int locate_binary_memory(
	const void *bytes, size_t size, struct locate_binary **ret, struct err *err);
void locate_binary_free(struct locate_binary *binary);

DEFINE_CLEANUP(struct locate_binary, locate_binary, locate_binary_free)

/* "acquire", "signal", "timedwait", "wait". */
const char *locate_kind_name(enum locate_kind kind);

/* How sure it is that the interpreters found will run. */
enum locate_how {
	LOCATE_DIRECT, /* the program, or what its `#!` line or env names, is one */
	LOCATE_LIKELY, /* a shim leads to one, or a word of the command or of a script names one */
	LOCATE_GUESS,  /* nothing points to Python: only what PATH and the venv would give */
};

/* What a command line leads to. */
struct locate_target {
	char *program; /* the file that execvp would run */
	/* interpreters that it may map, most likely first; each a different file */
	struct locate_binary **binaries;
	size_t n_binaries;
	enum locate_how how;
	char *interpreter; /* executable that leads to binaries[0], as it was named; may be NULL */
};

/*
 * Follows argv[0] over PATH, `#!` lines (env too), shims and venv links, and DT_NEEDED to the
 * interpreters that may run, and adds @python (may be NULL), PATH's python3, and the active venv's.
 * With words: -ENOENT (no such command or @python), -EACCES (not executable), -EINVAL (@python is
 * no Python), -EOPNOTSUPP (the program is a Python of no supported form). No interpreter found is
 * success with n_binaries 0 and words in @err's hint.
 */
int locate_command(
	char *const argv[], const char *python, struct locate_target **ret, struct err *err);

/*
 * The interpreters that process @pid maps now, in its own mount namespace; a path of another
 * namespace or of a deleted file is given as a link of /proc, which probes accept while @pid lives.
 * -ESRCH, -EACCES, -EOPNOTSUPP with words; none mapped is success with words in @err's hint.
 */
int locate_process(pid_t pid, struct locate_target **ret, struct err *err);
void locate_target_free(struct locate_target *target);

DEFINE_CLEANUP(struct locate_target, locate_target, locate_target_free)

/* How many other processes map @binary now, and (the first @max of) their pids. */
size_t locate_users(const struct locate_binary *binary, pid_t *ret_pids, size_t max);

#endif

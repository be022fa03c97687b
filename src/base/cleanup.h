/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cleanup attributes for locals. Every helper keeps errno, accepts the empty value (NULL, -1), and
 * is defined here because the compiler calls it at scope exit.
 */
#ifndef GILPROBE_BASE_CLEANUP_H
#define GILPROBE_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir)

/* Defines cleanup_NAME for a `type *` whose destructor accepts NULL. */
#define DEFINE_CLEANUP(type, name, destructor)                                                     \
	static inline __attribute__((unused)) void cleanup_##name(type **p)                        \
	{                                                                                          \
		int saved = errno;                                                                 \
                                                                                                   \
		destructor(*p);                                                                    \
		errno = saved;                                                                     \
	}

static inline void cleanup_free(void *p)
{
	int saved = errno;

	free(*(void **)p);
	errno = saved;
}

static inline void cleanup_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void cleanup_fclose(FILE **f)
{
	int saved = errno;

	if (*f)
		fclose(*f);
	errno = saved;
}

static inline void cleanup_closedir(DIR **d)
{
	int saved = errno;

	if (*d)
		closedir(*d);
	errno = saved;
}

/* Takes the pointer (or fd) out of a cleanup variable, for returning it. */
#define steal_ptr(p)                                                                               \
	__extension__({                                                                            \
		__typeof__(p) stolen_ = (p);                                                       \
		(p) = NULL;                                                                        \
		stolen_;                                                                           \
	})

static inline int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

#endif

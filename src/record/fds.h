/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the descriptors of our perf events, which libperf does not show but polling needs.
 */
#ifndef GILPROBE_RECORD_FDS_H
#define GILPROBE_RECORD_FDS_H

#include <stddef.h>

/*
 * All perf event descriptors of this process, in memory that the caller frees. Without /proc there
 * are none. 0 or -ENOMEM.
 */
int fds_of_events(int **ret, size_t *ret_n);

#endif

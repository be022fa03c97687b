/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the feature sections: what machine, command and clock a recording is of.
 */
#ifndef GILPROBE_RECORD_SECTIONS_H
#define GILPROBE_RECORD_SECTIONS_H

#include "base/err.h"
#include "locate/locate.h"
#include "perfdata/writer.h"

#include <sys/types.h>

/* @argv is the target's command line; NULL: that of process @pid. */
int sections_write(struct perfdata_writer *writer, char *const argv[], pid_t pid,
	const struct locate_target *target, struct err *err);

#endif

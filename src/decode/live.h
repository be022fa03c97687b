/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: the probes that this machine's tracefs knows now. A recorder that was killed left its
 * probes behind, so their names are still there when the recording is looked at before a reboot.
 */
#ifndef GILPROBE_DECODE_LIVE_H
#define GILPROBE_DECODE_LIVE_H

#include "base/map.h"

/*
 * Adds every event below @events_path (such as "/sys/kernel/tracing/events") that is named after
 * take_gil or drop_gil: its number → 1 for take_gil, 0 for drop_gil. What cannot be read is passed
 * over: without privileges there is nothing to see. 0 or -ENOMEM.
 */
int live_probes(const char *events_path, struct map *ret);

#endif

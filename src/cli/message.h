/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only place that talks: lines on standard error with the prefix "gilprobe: ".
 */
#ifndef GILPROBE_CLI_MESSAGE_H
#define GILPROBE_CLI_MESSAGE_H

#include "base/err.h"

/* An error and its hints. A broken pipe says nothing. */
void say_error(const struct err *err);

/* One error of the command line, with "try 'gilprobe NAME -h'". Returns 2. */
int say_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line for people; left out with -q. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A line with -v only. */
void say_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void say_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void say_level(bool quiet, bool verbose);

#endif

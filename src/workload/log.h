/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines that the runner and the supervisor say, read into a result.
 *
 *   fact KEY VALUE                   about the interpreter
 *   phase MODE WORKERS               a phase is being prepared; later lines are about it
 *   run START END CPU [PID TID START END CPU]…
 *   unavailable WORDS                this phase cannot be measured
 *   fail WORDS                       nothing more will come
 *   done                             all phases are over
 *   end exit|signal|timeout|interrupted NUMBER    the supervisor's last word
 *
 * Fields are separated by tabs. The target can write to the same descriptor if it wants to harm
 * itself, so nothing is believed: a line that is none is an error, never a crash.
 */
#ifndef GILPROBE_WORKLOAD_LOG_H
#define GILPROBE_WORKLOAD_LOG_H

#include "base/err.h"
#include "workload/result.h"

#include <stddef.h>

/*
 * Parses @text (changes it; @size bytes and a NUL behind them). 0, or as workload_result with
 * words; scale_result_done(@ret) is due in both cases.
 */
int log_parse(char *text, size_t size, struct scale_result *ret, struct err *err);

#endif

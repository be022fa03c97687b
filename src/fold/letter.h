/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The letter that stands for a thread in the trace's holder row and in the report's table.
 *
 * A to Z, then AA, AB, …, by the thread's number within its process: the same thread has the same
 * letter in both, and slices of threads whose names differ in digits only get their own colours.
 */
#ifndef GILPROBE_FOLD_LETTER_H
#define GILPROBE_FOLD_LETTER_H

#include "fold/totals.h"

#define FOLD_LETTERS 8 /* room for every number, with the NUL */

/* Writes @thread's letters into @ret and returns @ret. */
const char *fold_letter(const struct fold_thread *thread, char ret[FOLD_LETTERS]);

#endif

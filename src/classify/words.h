/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice for a class. Private to classify. */
#ifndef GILPROBE_CLASSIFY_WORDS_H
#define GILPROBE_CLASSIFY_WORDS_H

#include "classify/classify.h"

/* Fills in the advice of @verdict->class. */
void words_advise(struct verdict *verdict);

#endif

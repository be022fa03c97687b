/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From evidence to a verdict. Private to classify. */
#ifndef GILPROBE_CLASSIFY_CONCLUDE_H
#define GILPROBE_CLASSIFY_CONCLUDE_H

#include "classify/evidence.h"

/* Class, confidence, reason and advice. */
void conclude(const struct evidence *e, struct verdict *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calling the sinks.
 */
#ifndef GILPROBE_FOLD_SINKS_H
#define GILPROBE_FOLD_SINKS_H

#include "fold/inner.h"

/* Calls one callback of every sink that has it. */
#define sinks_call(f, callback, ...)                                                               \
	__extension__({                                                                            \
		int ret_ = 0;                                                                      \
		for (size_t i_ = 0; i_ < (f)->options.n_sinks && ret_ >= 0; i_++) {                \
			const struct sink *sink_ = (f)->options.sinks[i_];                         \
			if (sink_->callback)                                                       \
				ret_ = sink_->callback(sink_->user, __VA_ARGS__, (f)->err);        \
		}                                                                                  \
		ret_;                                                                              \
	})

#endif

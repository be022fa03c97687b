/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: the words for event kinds. In: a kind. Out: a constant text. Invariant: every kind that
 * leaves order has a word.
 */
#include "decode/event.h"

static const char *const names[EVENT_COND_WAIT + 1] = {
	[EVENT_WANT] = "want",
	[EVENT_ACQUIRE] = "acquire",
	[EVENT_RELEASE] = "release",
	[EVENT_YIELD] = "yield",
	[EVENT_DROP_RETURN] = "drop-return",
	[EVENT_SWITCH_IN] = "switch-in",
	[EVENT_SWITCH_OUT] = "switch-out",
	[EVENT_WAKEUP] = "wakeup",
	[EVENT_FORK] = "fork",
	[EVENT_EXIT] = "exit",
	[EVENT_EXEC] = "exec",
	[EVENT_COMM] = "comm",
	[EVENT_MMAP] = "mmap",
	[EVENT_LOST] = "lost",
	[EVENT_MARK] = "mark",
	[EVENT_SAMPLE] = "sample",
	[EVENT_SIGNAL] = "signal",
	[EVENT_COND_WAIT] = "cond-wait",
};

const char *event_kind_name(unsigned kind)
{
	if (kind >= sizeof(names) / sizeof(names[0]))
		return "?";
	return names[kind];
}

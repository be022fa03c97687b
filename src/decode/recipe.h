/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode: how the samples of one attr become events, found out once, so that a sample costs a few
 * loads.
 */
#ifndef GILPROBE_DECODE_RECIPE_H
#define GILPROBE_DECODE_RECIPE_H

#include "decode/event.h"
#include "decode/layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum recipe_kind {
	RECIPE_UNSEEN,	/* not looked at yet */
	RECIPE_FOREIGN, /* an event that is none of ours */
	RECIPE_GIL,	/* one GIL event, or a candidate for one */
	RECIPE_MARK,
	RECIPE_SWITCH, /* sched_switch */
	RECIPE_WAKEUP,
	RECIPE_IP,    /* a sample of an instruction pointer, no tracepoint */
	RECIPE_GUESS, /* no format is known: see guess.h */
};

struct recipe_field {
	uint16_t offset;
	uint8_t size; /* 1, 2, 4, 8; 0: there is none */
	bool is_signed;
};

#define RECIPE_MAX_STATES 12

struct recipe {
	uint8_t kind;			  /* enum recipe_kind */
	uint8_t event_kind;		  /* of RECIPE_GIL */
	bool own;			  /* a probe of gilprobe record */
	bool guessed;			  /* without a format */
	bool swap;			  /* payloads are of the other byte order */
	int64_t delta;			  /* &switch_cond minus &cond: taken off the argument */
	struct recipe_field arg;	  /* gil: the argument, or none; mark: the phase */
	struct recipe_field common_pid;	  /* the task that ran */
	struct recipe_field common_flags; /* and whether it was interrupted meanwhile */
	struct recipe_field prev_pid, prev_state, next_pid;
	struct recipe_field pid;	/* who is woken */
	char states[RECIPE_MAX_STATES]; /* letter of prev_state's bit 0, 1, …; 0: no such bit */
};

/* What the samples of an event of that layout mean; @format gives the state letters. */
void recipe_from_layout(const struct layout *layout, const struct blob_format *format, bool swap,
	struct recipe *ret);

/* Which half of the take_gil/drop_gil recipe @name stands for. False: neither. */
bool recipe_function(const char *name, bool *ret_is_take);

/* The event of a hit of take_gil's or drop_gil's entry or return. */
enum event_kind recipe_event(bool is_take, bool is_return);

/* The letters of Linux 4.14 and later. */
void recipe_default_states(struct recipe *recipe);

/* The letter of @prev_state as the kernel prints it, and whether the task was still runnable. */
char recipe_state(const struct recipe *recipe, uint64_t prev_state, bool *ret_preempted);

/* A field's value, sign-extended. False: it lies beyond the payload. */
static inline bool recipe_read(const struct recipe *recipe, const struct recipe_field *field,
	const uint8_t *raw, uint32_t raw_size, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned shift = 64 - 8u * field->size;

	if (!field->size || (uint32_t)field->offset + field->size > raw_size)
		return false;
	switch (field->size) {
	case 8:
		memcpy(&v, raw + field->offset, 8);
		v = recipe->swap ? __builtin_bswap64(v) : v;
		break;
	case 4: {
		uint32_t u;

		memcpy(&u, raw + field->offset, 4);
		v = recipe->swap ? __builtin_bswap32(u) : u;
		break;
	}
	case 2: {
		uint16_t u;

		memcpy(&u, raw + field->offset, 2);
		v = recipe->swap ? __builtin_bswap16(u) : u;
		break;
	}
	default:
		v = raw[field->offset];
	}
	*ret = field->is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
	return true;
}

#endif

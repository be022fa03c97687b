/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: attrs. In: perf_event_attr as it lies on disk, of any size and byte order. Out: the
 * fields that matter, and a compiled layout of its samples so that each costs a few loads.
 * Invariant: an attr's address stays until perfdata_free.
 */
#include "base/vec.h"
#include "perfdata/internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#define FLAGS_OFFSET 40u
enum attr_flag {
	FLAG_INHERIT = 1,
	FLAG_FREQ = 10,
	FLAG_SAMPLE_ID_ALL = 18,
	FLAG_USE_CLOCKID = 25,
	FLAG_CONTEXT_SWITCH = 26,
};

/* C bit-fields start at the lowest bit of the first byte, or at the highest on big-endian. */
static bool flag(const uint8_t *attr, enum attr_flag bit, bool big_endian)
{
	unsigned in_byte = bit % 8u;

	return attr[FLAGS_OFFSET + bit / 8u] >> (big_endian ? 7 - in_byte : in_byte) & 1;
}

static int8_t take_slot(struct layout *l, uint64_t type, uint64_t field)
{
	if (!(type & field))
		return -1;
	l->present |= field;
	return (int8_t)l->slots++;
}

static struct layout sample_layout(uint64_t type)
{
	struct layout l = {0};
	int8_t identifier = take_slot(&l, type, PERF_SAMPLE_IDENTIFIER);

	l.ip = take_slot(&l, type, PERF_SAMPLE_IP);
	l.tid = take_slot(&l, type, PERF_SAMPLE_TID);
	l.time = take_slot(&l, type, PERF_SAMPLE_TIME);
	l.addr = take_slot(&l, type, PERF_SAMPLE_ADDR);
	l.id = take_slot(&l, type, PERF_SAMPLE_ID);
	(void)take_slot(&l, type, PERF_SAMPLE_STREAM_ID);
	l.cpu = take_slot(&l, type, PERF_SAMPLE_CPU);
	l.period = take_slot(&l, type, PERF_SAMPLE_PERIOD);
	if (identifier >= 0)
		l.id = identifier;
	return l;
}

static struct layout trailer_layout(uint64_t type)
{
	struct layout l = {.ip = -1, .addr = -1, .period = -1};
	int8_t identifier;

	l.tid = take_slot(&l, type, PERF_SAMPLE_TID);
	l.time = take_slot(&l, type, PERF_SAMPLE_TIME);
	l.id = take_slot(&l, type, PERF_SAMPLE_ID);
	(void)take_slot(&l, type, PERF_SAMPLE_STREAM_ID);
	l.cpu = take_slot(&l, type, PERF_SAMPLE_CPU);
	identifier = take_slot(&l, type, PERF_SAMPLE_IDENTIFIER);
	if (identifier >= 0)
		l.id = identifier;
	return l;
}

static void parse(struct perfdata_attr *a, const uint8_t *bytes, size_t size, bool swap)
{
	struct cursor c = cursor_over(bytes, size, swap);
	bool big = swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	a->type = cursor_u32(&c);
	cursor_skip(&c, 4);
	a->config = cursor_u64(&c);
	a->sample_freq = cursor_u64(&c);
	a->sample_type = cursor_u64(&c);
	a->read_format = cursor_u64(&c);
	a->inherit = flag(bytes, FLAG_INHERIT, big);
	a->freq = flag(bytes, FLAG_FREQ, big);
	a->sample_id_all = flag(bytes, FLAG_SAMPLE_ID_ALL, big);
	a->use_clockid = flag(bytes, FLAG_USE_CLOCKID, big);
	a->context_switch = flag(bytes, FLAG_CONTEXT_SWITCH, big);
	/* behind: flags, wakeup, bp_type, config1, config2; what an older attr lacks reads as 0 */
	cursor_skip(&c, 32);
	a->branch_sample_type = cursor_u64(&c);
	a->sample_regs_user = cursor_u64(&c);
	cursor_skip(&c, 4);
	a->clockid = (int32_t)cursor_u32(&c);
	a->sample_regs_intr = cursor_u64(&c);
}

/* All attrs of a recording have their id at one place; the first that has one shows it. */
static void note_id_place(struct perfdata *pd, const struct attr *attr)
{
	if (!pd->anonymous || attr->sample.id < 0)
		return;
	pd->anonymous = false;
	pd->id_slot = attr->sample.id;
	pd->id_back = attr->trailer.slots - attr->trailer.id;
}

int attr_add(struct perfdata *pd, const uint8_t *bytes, size_t size, struct attr **ret,
	size_t *ret_used, struct err *err)
{
	struct attr *attr;
	uint32_t own;

	if (size < PERF_ATTR_SIZE_VER0)
		return err_set(err, -EBADMSG, "'%s': an event's attributes are cut off", pd->name);
	own = get_u32(bytes + 4, pd->swap);
	if (!own)
		own = PERF_ATTR_SIZE_VER0;
	if (own < PERF_ATTR_SIZE_VER0 || own > size)
		return err_set(err, -EBADMSG,
			"'%s': an event's attributes have an impossible size (%u)", pd->name, own);
	if (vec_reserve(&pd->attrs, &pd->attrs_cap, pd->n_attrs + 1, sizeof(struct attr *)) < 0)
		return err_nomem(err);
	attr = calloc(1, sizeof(*attr));
	if (!attr)
		return err_nomem(err);
	parse(&attr->pub, bytes, own, pd->swap);
	attr->pub.index = (uint32_t)pd->n_attrs;
	attr->sample = sample_layout(attr->pub.sample_type);
	attr->trailer = trailer_layout(attr->pub.sample_type);
	note_id_place(pd, attr);
	if (attr->pub.use_clockid && !pd->info.has_clockid) {
		pd->info.has_clockid = true;
		pd->info.clockid = attr->pub.clockid;
	}
	pd->attrs[pd->n_attrs++] = attr;
	*ret = attr;
	*ret_used = own;
	return 0;
}

int attr_add_id(struct perfdata *pd, struct attr *attr, uint64_t id)
{
	pd->recent[id % RECENT_IDS].attr = NULL;
	return map_put_ptr(&pd->ids, id, attr);
}

size_t perfdata_attr_count(const struct perfdata *pd)
{
	return pd->n_attrs;
}

const struct perfdata_attr *perfdata_attr(const struct perfdata *pd, size_t index)
{
	return index < pd->n_attrs ? &pd->attrs[index]->pub : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: a sample's fields. In: a record and the layouts of the attrs. Out: struct
 * perfdata_sample. Invariant: every load is checked against the record's end; fields behind RAW
 * are not looked at.
 */
#include "perfdata/internal.h"

#include <errno.h>
#include <linux/perf_event.h>

#define READ_FORMAT_LOST (1u << 4) /* since Linux 6.0 */

/* The attr that @id names, provided that it keeps its ids where this one was found. */
static const struct attr *attr_of_id(struct perfdata *pd, uint64_t id)
{
	size_t at = id % RECENT_IDS;
	const struct attr *attr = pd->recent[at].attr;

	if (attr && pd->recent[at].id == id)
		return attr;
	attr = map_get_ptr(&pd->ids, id);
	if (!attr || attr->sample.id != pd->id_slot ||
		attr->trailer.slots - attr->trailer.id != pd->id_back)
		return NULL;
	pd->recent[at].id = id;
	pd->recent[at].attr = attr;
	return attr;
}

static void load_slots(
	const struct layout *l, const uint8_t *at, bool swap, struct perfdata_sample *ret)
{
	if (l->tid >= 0) {
		ret->pid = get_u32(at + 8 * l->tid, swap);
		ret->tid = get_u32(at + 8 * l->tid + 4, swap);
	}
	if (l->time >= 0)
		ret->time = get_u64(at + 8 * l->time, swap);
	if (l->id >= 0)
		ret->id = get_u64(at + 8 * l->id, swap);
	if (l->cpu >= 0)
		ret->cpu = get_u32(at + 8 * l->cpu, swap);
	if (l->ip >= 0)
		ret->ip = get_u64(at + 8 * l->ip, swap);
	if (l->addr >= 0)
		ret->addr = get_u64(at + 8 * l->addr, swap);
	if (l->period >= 0)
		ret->period = get_u64(at + 8 * l->period, swap);
}

/* PERF_SAMPLE_READ: one counter, or a group of them. */
static void skip_read(struct cursor *c, uint64_t format)
{
	size_t times = 8u * (!!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
				    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
	size_t each = 8u * (1u + !!(format & PERF_FORMAT_ID) + !!(format & READ_FORMAT_LOST));
	uint64_t nr = 1;

	if (format & PERF_FORMAT_GROUP)
		nr = cursor_u64(c);
	cursor_skip(c, times);
	if (nr > cursor_left(c) / each)
		c->bad = true;
	else
		cursor_skip(c, (size_t)nr * each);
}

static void load_callchain(struct cursor *c, struct perfdata_sample *ret)
{
	uint64_t nr = cursor_u64(c);

	if (nr > cursor_left(c) / 8) {
		c->bad = true;
		return;
	}
	ret->callchain_nr = nr;
	ret->callchain = cursor_bytes(c, (size_t)nr * 8);
	ret->present |= PERF_SAMPLE_CALLCHAIN;
}

static int load_variable(struct perfdata *pd, const struct attr *attr, const uint8_t *at,
	size_t size, struct perfdata_sample *ret)
{
	uint64_t type = attr->pub.sample_type;
	struct cursor c = cursor_over(at, size, pd->swap);

	if (type & PERF_SAMPLE_READ)
		skip_read(&c, attr->pub.read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		load_callchain(&c, ret);
	if (type & PERF_SAMPLE_RAW) {
		ret->raw_size = cursor_u32(&c);
		ret->raw = cursor_bytes(&c, ret->raw_size);
		ret->present |= PERF_SAMPLE_RAW;
	}
	return c.bad ? -EBADMSG : 1;
}

static int sample_fields(
	struct perfdata *pd, const struct perfdata_record *record, struct perfdata_sample *ret)
{
	const struct attr *attr = pd->attrs[0];
	size_t fixed;

	if (pd->n_attrs > 1 && !pd->anonymous) {
		if (record->size < 8u * (unsigned)(pd->id_slot + 1))
			return -EBADMSG;
		attr = attr_of_id(pd, get_u64(record->body + 8 * pd->id_slot, pd->swap));
		if (!attr)
			return -ENOENT;
	}
	fixed = 8u * attr->sample.slots;
	if (record->size < fixed)
		return -EBADMSG;
	*ret = (struct perfdata_sample){.attr = &attr->pub, .present = attr->sample.present};
	load_slots(&attr->sample, record->body, pd->swap, ret);
	return load_variable(pd, attr, record->body + fixed, record->size - fixed, ret);
}

static int trailer_fields(
	struct perfdata *pd, const struct perfdata_record *record, struct perfdata_sample *ret)
{
	const uint8_t *end = record->body + record->size;
	const struct attr *attr = pd->attrs[0];
	size_t size;

	if (record->type >= PERFDATA_HEADER_ATTR || !attr->pub.sample_id_all)
		return 0;
	if (pd->n_attrs > 1 && !pd->anonymous) {
		uint64_t id;

		if (record->size < 8u * (unsigned)pd->id_back)
			return -EBADMSG;
		id = get_u64(end - 8 * pd->id_back, pd->swap);
		if (!id) /* made up by perf: it has the room but no values */
			return 0;
		attr = attr_of_id(pd, id);
		if (!attr)
			return -ENOENT;
	}
	size = 8u * attr->trailer.slots;
	if (record->size < size)
		return -EBADMSG;
	*ret = (struct perfdata_sample){.attr = &attr->pub, .present = attr->trailer.present};
	load_slots(&attr->trailer, end - size, pd->swap, ret);
	return 1;
}

/* As perfdata_sample; -ENOENT: it belongs to no known attr. */
static int fields(
	struct perfdata *pd, const struct perfdata_record *record, struct perfdata_sample *ret)
{
	if (!pd->n_attrs)
		return -ENOENT;
	if (record->type == PERF_RECORD_SAMPLE)
		return sample_fields(pd, record, ret);
	return trailer_fields(pd, record, ret);
}

int perfdata_sample(
	struct perfdata *pd, const struct perfdata_record *record, struct perfdata_sample *ret)
{
	struct perfdata_sample sample;
	int r = fields(pd, record, &sample);

	if (r == 1)
		*ret = sample;
	if (r == -ENOENT) {
		pd->info.unknown_ids++;
		return 0;
	}
	return r;
}

bool sample_time(struct perfdata *pd, const struct perfdata_record *record, uint64_t *ret)
{
	struct perfdata_sample sample;

	if (fields(pd, record, &sample) != 1 || !(sample.present & PERF_SAMPLE_TIME))
		return false;
	*ret = sample.time;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: records that describe the file. In: a record. Out: changed tables. Invariant: what
 * perf adds and we do not use is passed over; what nobody knows is passed over and counted.
 */
#include "perfdata/internal.h"

#include <errno.h>
#include <stdlib.h>

#define EVENT_UPDATE_NAME 2u

/* attr, then its ids to the record's end. A file has its attrs in the header already. */
static int header_attr(struct perfdata *pd, const struct perfdata_record *record)
{
	struct attr *attr;
	size_t used;
	int r;

	if (!pd->info.pipe)
		return 1;
	r = attr_add(pd, record->body, record->size, &attr, &used, NULL);
	if (r < 0)
		return r;
	for (; used + 8 <= record->size; used += 8)
		if (attr_add_id(pd, attr, get_u64(record->body + used, pd->swap)) < 0)
			return -ENOMEM;
	return 1;
}

static int event_update(struct perfdata *pd, const struct perfdata_record *record)
{
	struct cursor c = cursor_over(record->body, record->size, pd->swap);
	uint64_t type = cursor_u64(&c), id = cursor_u64(&c);
	struct attr *attr = map_get_ptr(&pd->ids, id);
	const char *name;

	if (c.bad || type != EVENT_UPDATE_NAME || !attr)
		return 1;
	name = strtab_intern_n(
		&pd->strings, (const char *)c.at, strnlen((const char *)c.at, cursor_left(&c)));
	if (!name)
		return -ENOMEM;
	attr->pub.name = name;
	return 1;
}

static int header_feature(struct perfdata *pd, const struct perfdata_record *record)
{
	struct cursor c = cursor_over(record->body, record->size, pd->swap);
	uint64_t number = cursor_u64(&c);
	struct feature *f;
	int r;

	if (c.bad)
		return -EBADMSG;
	/* an empty one behind the last that this perf knows ends the list */
	if (number > PERFDATA_FEATURE_LAST && cursor_left(&c))
		pd->info.unknown_features++;
	if (number >= PERF_FEATURES || number == PERFDATA_TRACING_DATA)
		return 1;
	f = &pd->features[number];
	if (!f->present) {
		size_t left = cursor_left(&c);

		f->bytes = malloc(left ? left : 1);
		if (!f->bytes)
			return -ENOMEM;
		memcpy(f->bytes, c.at, left);
		f->size = left;
		f->present = true;
	}
	r = feature_parse(pd, (unsigned)number, c.at, cursor_left(&c));
	return r < 0 ? r : 1;
}

/* The blob follows the record, padded, and is not counted in the record's size. */
static int tracing_data(struct perfdata *pd, struct stream *s, const struct perfdata_record *record)
{
	uint8_t *bytes;
	uint32_t size;
	int r;

	if (record->size < 4)
		return -EBADMSG;
	size = get_u32(record->body, pd->swap);
	if (!size)
		return 1;
	r = input_take(&s->in, size, &bytes);
	if (r < 0)
		return r;
	r = feature_set_tracing(pd, bytes, size);
	return r < 0 ? r : 1;
}

/* Hardware trace: its payload follows the record, and is none of ours. */
static int auxtrace(struct perfdata *pd, struct stream *s, const struct perfdata_record *record)
{
	int r;

	if (record->size < 8)
		return -EBADMSG;
	r = input_skip(&s->in, get_u64(record->body, pd->swap));
	return r < 0 ? r : 1;
}

static int compressed(struct perfdata *pd, struct stream *s, const struct perfdata_record *record)
{
	struct cursor c = cursor_over(record->body, record->size, pd->swap);
	uint64_t size = record->size;
	const uint8_t *bytes;
	int r;

	if (record->type == PERFDATA_COMPRESSED2)
		size = cursor_u64(&c);
	if (size > cursor_left(&c))
		return -EBADMSG;
	bytes = cursor_bytes(&c, (size_t)size);
	if (!bytes)
		return -EBADMSG;
	pd->info.compressed = true;
	r = unpack_feed(&s->unpack, bytes, (size_t)size);
	return r < 0 ? r : 1;
}

int meta_record(
	struct perfdata *pd, struct stream *s, const struct perfdata_record *record, bool packed)
{
	switch (record->type) {
	case PERFDATA_FINISHED_ROUND:
		return !!pd->merge; /* one stream's round says nothing of the others */
	case PERFDATA_HEADER_ATTR:
		return header_attr(pd, record);
	case PERFDATA_EVENT_UPDATE:
		return event_update(pd, record);
	case PERFDATA_HEADER_FEATURE:
		return header_feature(pd, record);
	case PERFDATA_HEADER_TRACING_DATA:
		return packed ? -EBADMSG : tracing_data(pd, s, record);
	case PERFDATA_AUXTRACE:
		return packed ? -EBADMSG : auxtrace(pd, s, record);
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
		return packed ? -EBADMSG : compressed(pd, s, record);
	}
	if (record->type && record->type <= PERFDATA_KERNEL_LAST)
		return 0;
	if (record->type < PERFDATA_HEADER_ATTR || record->type > PERFDATA_USER_LAST)
		pd->info.unknown_records++;
	return 1;
}

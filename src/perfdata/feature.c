/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: feature sections. In: their bytes, from the table behind the data or from FEATURE
 * records. Out: perfdata_info, names of events, the tracing data. Invariant: what is damaged is
 * left out and marks the file as truncated; of several of a kind the first counts.
 */
#include "perfdata/internal.h"

#include <errno.h>
#include <stdlib.h>

/* u32 length, then that many bytes with a NUL among them. NULL: damage or out of memory. */
static const char *take_string(struct perfdata *pd, struct cursor *c)
{
	uint32_t len = cursor_u32(c);
	const uint8_t *bytes = cursor_bytes(c, len);

	if (!bytes)
		return NULL;
	return strtab_intern_n(
		&pd->strings, (const char *)bytes, strnlen((const char *)bytes, len));
}

static int parse_string(struct perfdata *pd, struct cursor *c, const char **to)
{
	const char *text = take_string(pd, c);

	if (!text)
		return c->bad ? -EBADMSG : -ENOMEM;
	if (!*to)
		*to = text;
	return 0;
}

static int parse_cmdline(struct perfdata *pd, struct cursor *c)
{
	uint32_t n = cursor_u32(c);
	_cleanup_free_ const char **words = NULL;

	if (pd->info.cmdline)
		return 0;
	if (c->bad || n > cursor_left(c) / 4)
		return -EBADMSG;
	words = calloc(n + 1u, sizeof(*words));
	if (!words)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		words[i] = take_string(pd, c);
		if (!words[i])
			return c->bad ? -EBADMSG : -ENOMEM;
	}
	pd->info.n_cmdline = n;
	pd->info.cmdline = steal_ptr(words);
	return 0;
}

/* nr, size of an attr; then for each event: attr, number of ids, name, ids. */
static int parse_event_desc(struct perfdata *pd, struct cursor *c)
{
	uint32_t n = cursor_u32(c), attr_size = cursor_u32(c);

	for (uint32_t i = 0; i < n; i++) {
		struct attr *attr = i < pd->n_attrs ? pd->attrs[i] : NULL;
		uint32_t n_ids;
		const char *name;

		cursor_skip(c, attr_size);
		n_ids = cursor_u32(c);
		name = take_string(pd, c);
		if (!name)
			return c->bad ? -EBADMSG : -ENOMEM;
		if (n_ids > cursor_left(c) / 8)
			return -EBADMSG;
		if (n_ids) {
			struct attr *owner = map_get_ptr(&pd->ids, get_u64(c->at, c->swap));

			attr = owner ? owner : attr;
			cursor_skip(c, (size_t)n_ids * 8);
		}
		if (attr && !attr->pub.name)
			attr->pub.name = name;
	}
	return 0;
}

static int parse_sample_time(struct perfdata_info *info, struct cursor *c)
{
	uint64_t first = cursor_u64(c), last = cursor_u64(c);

	if (c->bad)
		return -EBADMSG;
	info->has_sample_time = true;
	info->first_sample_ns = first;
	info->last_sample_ns = last;
	return 0;
}

static int parse_clock_data(struct perfdata_info *info, struct cursor *c)
{
	uint32_t version = cursor_u32(c);
	uint64_t wall, ref;

	cursor_skip(c, 4); /* clock id: the attrs have it too */
	wall = cursor_u64(c);
	ref = cursor_u64(c);
	if (c->bad || version != 1)
		return -EBADMSG;
	info->has_clock_data = true;
	info->clock_wall_ns = wall;
	info->clock_ref_ns = ref;
	return 0;
}

static int dispatch(struct perfdata *pd, unsigned feature, struct cursor *c)
{
	switch (feature) {
	case PERFDATA_HOSTNAME:
		return parse_string(pd, c, &pd->info.hostname);
	case PERFDATA_OSRELEASE:
		return parse_string(pd, c, &pd->info.osrelease);
	case PERFDATA_VERSION:
		return parse_string(pd, c, &pd->info.version);
	case PERFDATA_ARCH:
		return parse_string(pd, c, &pd->info.arch);
	case PERFDATA_NRCPUS:
		cursor_skip(c, 4); /* available */
		pd->info.nr_cpus_online = cursor_u32(c);
		return c->bad ? -EBADMSG : 0;
	case PERFDATA_CMDLINE:
		return parse_cmdline(pd, c);
	case PERFDATA_EVENT_DESC:
		return parse_event_desc(pd, c);
	case PERFDATA_SAMPLE_TIME:
		return parse_sample_time(&pd->info, c);
	case PERFDATA_CLOCK_DATA:
		return parse_clock_data(&pd->info, c);
	}
	return 0;
}

int feature_parse(struct perfdata *pd, unsigned feature, const uint8_t *bytes, size_t size)
{
	struct cursor c = cursor_over(bytes, size, pd->swap);
	int r = dispatch(pd, feature, &c);

	if (r == -EBADMSG) {
		pd->info.truncated = true;
		return 0;
	}
	return r;
}

int feature_set_tracing(struct perfdata *pd, uint8_t *bytes, size_t size)
{
	free(pd->tracing);
	pd->tracing = bytes;
	pd->tracing_size = size;
	pd->tracing_generation++;
	return 0;
}

/* The bytes of a section that the table promised, kept. 0 or -errno. */
static int load(struct perfdata *pd, struct feature *f)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	int r;

	if (f->bytes)
		return 0;
	bytes = malloc(f->size ? (size_t)f->size : 1);
	if (!bytes)
		return -ENOMEM;
	r = source_read(&pd->file, f->offset, bytes, (size_t)f->size);
	if (r < 0)
		return r;
	f->bytes = steal_ptr(bytes);
	return 0;
}

static int load_tracing(struct perfdata *pd, struct feature *f)
{
	int r = load(pd, f);

	if (r < 0)
		return r;
	return feature_set_tracing(pd, steal_ptr(f->bytes), (size_t)f->size);
}

int feature_load_all(struct perfdata *pd)
{
	static const uint8_t wanted[] = {PERFDATA_HOSTNAME, PERFDATA_OSRELEASE, PERFDATA_VERSION,
		PERFDATA_ARCH, PERFDATA_NRCPUS, PERFDATA_CMDLINE, PERFDATA_EVENT_DESC,
		PERFDATA_SAMPLE_TIME, PERFDATA_CLOCK_DATA};
	int r = 0;

	for (size_t i = 0; i < sizeof(wanted) && r >= 0; i++) {
		struct feature *f = &pd->features[wanted[i]];

		if (!f->present)
			continue;
		r = load(pd, f);
		if (r >= 0)
			r = feature_parse(pd, wanted[i], f->bytes, (size_t)f->size);
	}
	if (r >= 0 && pd->features[PERFDATA_TRACING_DATA].present)
		r = load_tracing(pd, &pd->features[PERFDATA_TRACING_DATA]);
	return r;
}

const uint8_t *perfdata_tracing_data(
	const struct perfdata *pd, size_t *ret_size, unsigned *ret_generation)
{
	if (ret_generation)
		*ret_generation = pd->tracing_generation;
	if (!pd->tracing)
		return NULL;
	*ret_size = pd->tracing_size;
	return pd->tracing;
}

const uint8_t *perfdata_feature(struct perfdata *pd, unsigned feature, size_t *ret_size)
{
	struct feature *f;

	if (feature == PERFDATA_TRACING_DATA)
		return perfdata_tracing_data(pd, ret_size, NULL);
	if (feature >= PERF_FEATURES)
		return NULL;
	f = &pd->features[feature];
	if (!f->present || load(pd, f) < 0)
		return NULL;
	*ret_size = (size_t)f->size;
	return f->bytes;
}

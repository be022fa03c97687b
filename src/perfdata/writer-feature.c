/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: the writer's feature sections. In: texts and numbers. Out: bodies in perf's encoding,
 * and the table behind the data. Invariant: the table has one entry per bit of the header, in
 * ascending order.
 */
#include "base/out.h"
#include "perfdata/writer-internal.h"

#include <errno.h>

#define STRING_ALIGN 64u /* perf pads its strings */

int perfdata_writer_feature(struct perfdata_writer *w, unsigned feature, const void *bytes,
	size_t size, struct err *err)
{
	void *copy;

	if (feature >= WRITER_FEATURES)
		return err_set(err, -EINVAL, "no feature %u in '%s'", feature, w->path);
	copy = malloc(size ? size : 1);
	if (!copy)
		return err_nomem(err);
	if (size)
		memcpy(copy, bytes, size);
	free(w->features[feature].bytes);
	w->features[feature] = (struct writer_feature){copy, size, 0};
	return 0;
}

static void put_u32(struct out *out, uint32_t v)
{
	out_write(out, &v, sizeof(v));
}

static void put_string(struct out *out, const char *text)
{
	static const char zeros[STRING_ALIGN];
	size_t len = strlen(text) + 1;
	size_t padded = (len + STRING_ALIGN - 1) / STRING_ALIGN * STRING_ALIGN;

	put_u32(out, (uint32_t)padded);
	out_write(out, text, len);
	out_write(out, zeros, padded - len);
}

/* Sets a feature to what was written to @out. */
static int set_from(struct perfdata_writer *w, unsigned feature, struct out *out, struct err *err)
{
	size_t size;
	const char *bytes = out_memory_bytes(out, &size);

	if (out_error(out) < 0)
		return err_nomem(err);
	return perfdata_writer_feature(w, feature, bytes, size, err);
}

int perfdata_writer_feature_str(
	struct perfdata_writer *w, unsigned feature, const char *text, struct err *err)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();

	if (!out)
		return err_nomem(err);
	put_string(out, text);
	return set_from(w, feature, out, err);
}

int perfdata_writer_feature_argv(
	struct perfdata_writer *w, unsigned feature, char *const *argv, struct err *err)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	uint32_t n = 0;

	if (!out)
		return err_nomem(err);
	while (argv[n])
		n++;
	put_u32(out, n);
	for (uint32_t i = 0; i < n; i++)
		put_string(out, argv[i]);
	return set_from(w, feature, out, err);
}

int perfdata_writer_feature_clock(struct perfdata_writer *w, int32_t clockid, uint64_t wall_ns,
	uint64_t ref_ns, struct err *err)
{
	const struct {
		uint32_t version;
		int32_t clockid;
		uint64_t wall_ns, ref_ns;
	} data = {1, clockid, wall_ns, ref_ns};
	const uint64_t resolution_ns = 1;
	int r = perfdata_writer_feature(
		w, PERFDATA_CLOCKID, &resolution_ns, sizeof(resolution_ns), err);

	return r < 0 ? r
		     : perfdata_writer_feature(w, PERFDATA_CLOCK_DATA, &data, sizeof(data), err);
}

int perfdata_writer_feature_cpus(
	struct perfdata_writer *w, uint32_t available, uint32_t online, struct err *err)
{
	const uint32_t data[] = {available, online};

	return perfdata_writer_feature(w, PERFDATA_NRCPUS, data, sizeof(data), err);
}

static int make_event_desc(struct perfdata_writer *w)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();

	if (!out)
		return -ENOMEM;
	put_u32(out, (uint32_t)w->n);
	put_u32(out, PERF_ATTR_SIZE_VER5);
	for (size_t i = 0; i < w->n; i++) {
		const struct writer_attr *a = &w->items[i];

		out_write(out, &a->attr, PERF_ATTR_SIZE_VER5);
		put_u32(out, (uint32_t)a->n_ids);
		put_string(out, a->name);
		out_write(out, a->ids, a->n_ids * sizeof(uint64_t));
	}
	return set_from(w, PERFDATA_EVENT_DESC, out, NULL);
}

static int make_own(struct perfdata_writer *w)
{
	struct writer_feature *tracing = &w->features[PERFDATA_TRACING_DATA];
	const uint64_t times[] = {w->first_ns, w->last_ns};
	int r = make_event_desc(w);

	if (r >= 0 && w->has_sample_time)
		r = perfdata_writer_feature(w, PERFDATA_SAMPLE_TIME, times, sizeof(times), NULL);
	if (r >= 0 && w->tracing) {
		r = perfdata_writer_feature(
			w, PERFDATA_TRACING_DATA, w->tracing, w->tracing_size, NULL);
		tracing->at = w->tracing_at;
	}
	return r;
}

int writer_features(struct perfdata_writer *w, uint64_t *at)
{
	uint64_t table[WRITER_FEATURES][2];
	uint64_t body;
	size_t n = 0;
	int r = make_own(w);

	if (r < 0)
		return r;
	for (size_t i = 0; i < WRITER_FEATURES; i++)
		n += !!w->features[i].bytes;
	body = *at + n * sizeof(table[0]);
	n = 0;
	for (size_t i = 0; i < WRITER_FEATURES; i++) {
		const struct writer_feature *f = &w->features[i];

		if (!f->bytes)
			continue;
		table[n][0] = f->at ? f->at : body;
		table[n++][1] = f->size;
		if (f->at)
			continue;
		writer_pwrite(w, body, f->bytes, f->size);
		body += f->size;
	}
	writer_pwrite(w, *at, table, n * sizeof(table[0]));
	*at = body;
	return w->error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: the writer. In: attrs, records, features. Out: a perf.data file as writer.h draws it.
 * Invariant: at every moment the file on disk can be read up to its last flush; a table is
 * written before the header's count of it grows.
 */
#include "perfdata/writer.h"

#include "base/vec.h"
#include "perfdata/writer-internal.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#define BUFFER ((size_t)1 << 20)

int writer_pwrite(struct perfdata_writer *w, uint64_t offset, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	while (size && !w->error) {
		ssize_t n = pwrite(w->fd, from, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			w->error = n < 0 ? -errno : -EIO;
			break;
		}
		from += n;
		offset += (size_t)n;
		size -= (size_t)n;
	}
	return w->error;
}

int writer_result(const struct perfdata_writer *w, struct err *err)
{
	return w->error < 0 ? err_errno(err, w->error, "unable to write '%s'", w->path) : 0;
}

int perfdata_writer_new(int fd, const char *path, struct perfdata_writer **ret, struct err *err)
{
	struct perfdata_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return err_nomem(err);
	w->fd = -1;
	w->path = strdup(path);
	w->buffer = malloc(BUFFER);
	if (!w->path || !w->buffer) {
		perfdata_writer_free(w);
		return err_nomem(err);
	}
	w->fd = fd;
	*ret = w;
	return 0;
}

static void flush(struct perfdata_writer *w)
{
	writer_pwrite(w, w->data_at + w->data_size, w->buffer, w->buffered);
	w->data_size += w->buffered;
	w->buffered = 0;
}

void perfdata_writer_free(struct perfdata_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0) {
		if (w->begun && !w->finished)
			flush(w);
		close(w->fd);
	}
	for (size_t i = 0; i < w->n; i++) {
		free(w->items[i].name);
		free(w->items[i].ids);
	}
	for (size_t i = 0; i < WRITER_FEATURES; i++)
		free(w->features[i].bytes);
	free(w->items);
	free(w->tracing);
	free(w->buffer);
	free(w->path);
	free(w);
}

/* One entry of the attr table. */
static int write_entry(struct perfdata_writer *w, size_t i, uint64_t entry_at, uint64_t ids_at)
{
	const struct writer_attr *a = &w->items[i];
	uint64_t section[2] = {ids_at, a->n_ids * sizeof(uint64_t)};
	uint8_t entry[WRITER_ENTRY];

	memcpy(entry, &a->attr, PERF_ATTR_SIZE_VER5);
	memcpy(entry + PERF_ATTR_SIZE_VER5, section, sizeof(section));
	writer_pwrite(w, ids_at, a->ids, a->n_ids * sizeof(uint64_t));
	return writer_pwrite(w, entry_at, entry, sizeof(entry));
}

int writer_tables(struct perfdata_writer *w, size_t from, uint64_t attrs_at, uint64_t ids_at)
{
	for (size_t i = from; i < w->n; i++) {
		write_entry(w, i, attrs_at + i * WRITER_ENTRY, ids_at);
		ids_at += w->items[i].n_ids * sizeof(uint64_t);
	}
	return w->error;
}

static bool fits(const struct perfdata_writer *w)
{
	return w->n <= w->attrs_room && w->n_ids <= w->ids_room;
}

static int add(struct perfdata_writer *w, const struct perf_event_attr *attr, const char *name,
	const uint64_t *ids, size_t n_ids)
{
	struct writer_attr a = {.attr = *attr, .n_ids = n_ids};

	a.attr.size = PERF_ATTR_SIZE_VER5;
	if (vec_grow(w) < 0)
		return -ENOMEM;
	a.name = strdup(name);
	a.ids = malloc(n_ids ? n_ids * sizeof(*ids) : 1);
	if (!a.name || !a.ids) {
		free(a.name);
		free(a.ids);
		return -ENOMEM;
	}
	if (n_ids)
		memcpy(a.ids, ids, n_ids * sizeof(*ids));
	w->items[w->n++] = a;
	w->n_ids += n_ids;
	return 0;
}

int perfdata_writer_add_attr(struct perfdata_writer *w, const struct perf_event_attr *attr,
	const char *name, const uint64_t *ids, size_t n_ids, struct err *err)
{
	size_t index = w->n;
	uint64_t ids_at = w->ids_at + w->n_ids * sizeof(uint64_t);

	if (add(w, attr, name, ids, n_ids) < 0)
		return err_nomem(err);
	if (w->begun && fits(w)) {
		writer_tables(w, index, w->attrs_at, ids_at);
		w->n_early = w->n;
		writer_header(w, false);
	}
	return w->error < 0 ? writer_result(w, err) : (int)index;
}

int writer_header(struct perfdata_writer *w, bool final)
{
	size_t n = final ? w->n : w->n_early;
	uint64_t words[PERFDATA_HEADER_SIZE / 8] = {
		PERFDATA_MAGIC,
		PERFDATA_HEADER_SIZE,
		WRITER_ENTRY,
		w->attrs_at,
		n * WRITER_ENTRY,
		w->data_at,
		final ? w->data_size : 0,
	};

	if (final)
		for (size_t i = 0; i < WRITER_FEATURES; i++)
			if (w->features[i].bytes)
				words[9] |= 1ull << i;
	return writer_pwrite(w, 0, words, sizeof(words));
}

int perfdata_writer_begin(
	struct perfdata_writer *w, const void *tracing_data, size_t size, struct err *err)
{
	w->attrs_room = w->n + WRITER_LATE_ATTRS;
	/* a late event is opened on as many CPUs as the widest early one */
	w->ids_room = w->n_ids;
	for (size_t i = 0; i < w->n; i++)
		if (w->items[i].n_ids * WRITER_LATE_ATTRS > w->ids_room - w->n_ids)
			w->ids_room = w->n_ids + w->items[i].n_ids * WRITER_LATE_ATTRS;
	w->attrs_at = PERFDATA_HEADER_SIZE;
	w->ids_at = w->attrs_at + w->attrs_room * WRITER_ENTRY;
	w->tracing_room_at = w->ids_at + w->ids_room * sizeof(uint64_t);
	w->data_at = w->tracing_room_at + (tracing_data ? 2 * size + WRITER_LATE_TRACING : 0);
	w->data_at = (w->data_at + 4095) & ~4095ull;
	w->begun = true;
	w->n_early = w->n;
	writer_tables(w, 0, w->attrs_at, w->ids_at);
	if (tracing_data) {
		int r = perfdata_writer_tracing_data(w, tracing_data, size, err);

		if (r < 0)
			return r;
	}
	writer_header(w, false);
	return writer_result(w, err);
}

int perfdata_writer_tracing_data(
	struct perfdata_writer *w, const void *tracing_data, size_t size, struct err *err)
{
	uint64_t at = (w->tracing_room_at + 7) & ~7ull;
	const uint8_t *bytes = tracing_data;
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return err_nomem(err);
	memcpy(copy, bytes, size);
	free(w->tracing);
	w->tracing = copy;
	w->tracing_size = size;
	w->tracing_at = 0;
	if (size > 8 && at + size <= w->data_at) {
		/* readers of unfinished files take the last that begins with the magic */
		writer_pwrite(w, at + 8, bytes + 8, size - 8);
		writer_pwrite(w, at, bytes, 8);
		w->tracing_at = at;
		w->tracing_room_at = at + size;
	}
	return writer_result(w, err);
}

void perfdata_writer_record(struct perfdata_writer *w, const void *record, size_t size)
{
	struct perf_event_header header;

	assert(w->begun);
	if (w->error)
		return;
	if (size >= sizeof(header))
		memcpy(&header, record, sizeof(header));
	if (size < sizeof(header) || header.size != size) {
		w->error = -EINVAL;
		return;
	}
	if (w->buffered + size > BUFFER)
		flush(w);
	memcpy(w->buffer + w->buffered, record, size);
	w->buffered += size;
	w->since_round = true;
}

int perfdata_writer_round(struct perfdata_writer *w, struct err *err)
{
	struct perf_event_header round = {
		.type = PERFDATA_FINISHED_ROUND, .size = sizeof(struct perf_event_header)};

	if (w->since_round)
		perfdata_writer_record(w, &round, sizeof(round));
	w->since_round = false;
	flush(w);
	return writer_result(w, err);
}

int perfdata_writer_finish(struct perfdata_writer *w, struct err *err)
{
	uint64_t at;
	int r;

	assert(w->begun);
	flush(w);
	at = w->data_at + w->data_size;
	r = writer_features(w, &at);
	if (r == -ENOMEM)
		return err_nomem(err);
	if (!fits(w)) {
		w->attrs_at = (at + 7) & ~7ull;
		w->ids_at = w->attrs_at + w->n * WRITER_ENTRY;
		writer_tables(w, 0, w->attrs_at, w->ids_at);
	}
	writer_header(w, true);
	w->finished = true;
	return writer_result(w, err);
}

void perfdata_writer_sample_time(struct perfdata_writer *w, uint64_t first_ns, uint64_t last_ns)
{
	w->has_sample_time = true;
	w->first_ns = first_ns;
	w->last_ns = last_ns;
}

uint64_t perfdata_writer_bytes(const struct perfdata_writer *w)
{
	return w->data_at + w->data_size + w->buffered;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: a directory's streams as one. In: a stream per thread of the recorder, each about in
 * order of time. Out: always the oldest of their next records. Invariant: the heap's root is the
 * stream whose head was given out last, or has the oldest head.
 *
 * The streams have no FINISHED_ROUND, without which everything would have to be kept for sorting.
 * So the merge makes one each ROUND records: what is further out of order than that within one
 * stream comes late, and order counts it.
 */
#include "perfdata/internal.h"

#include <errno.h>
#include <stdlib.h>

#define ROUND (1u << 18)

struct merge {
	struct stream *streams; /* of data.0, data.1, … */
	size_t n_streams;
	struct stream **heap;
	size_t n;
	bool primed;
	bool given; /* the root's head was given out, its next must be read */
	uint32_t since_round;
	struct stream *first;
	uint64_t total;
};

/* Reads the next head of @s. 1, 0: it has ended, -errno. */
static int advance(struct perfdata *pd, struct stream *s, struct err *err)
{
	int r = stream_next(pd, s, &s->head, err);

	/* what tells no time stays with what came before it */
	if (r == 1)
		(void)sample_time(pd, &s->head, &s->time);
	return r;
}

static void sift_down(struct merge *m, size_t at)
{
	struct stream *s = m->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= m->n)
			break;
		if (child + 1 < m->n && m->heap[child + 1]->time < m->heap[child]->time)
			child++;
		if (s->time <= m->heap[child]->time)
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = s;
}

/* Takes ended streams out and brings the oldest head to the root. 0 or -errno. */
static int prime(struct perfdata *pd, struct merge *m, struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		int r = advance(pd, m->heap[i], err);

		if (r < 0)
			return r;
		if (r)
			m->heap[n++] = m->heap[i];
	}
	m->n = n;
	for (size_t i = n / 2; i-- > 0;)
		sift_down(m, i);
	m->primed = true;
	return 0;
}

static int replace_root(struct perfdata *pd, struct merge *m, struct err *err)
{
	int r = advance(pd, m->heap[0], err);

	if (r < 0)
		return r;
	if (!r)
		m->heap[0] = m->heap[--m->n];
	if (m->n)
		sift_down(m, 0);
	m->given = false;
	return 0;
}

int merge_next(struct perfdata *pd, struct merge *m, struct perfdata_record *ret, struct err *err)
{
	int r = 0;

	if (!m->primed)
		r = prime(pd, m, err);
	else if (m->given)
		r = replace_root(pd, m, err);
	if (r < 0)
		return r;
	if (!m->n)
		return 0;
	if (m->since_round++ == ROUND) {
		m->since_round = 0;
		*ret = (struct perfdata_record){
			.type = PERFDATA_FINISHED_ROUND, .offset = m->heap[0]->head.offset};
		return 1;
	}
	*ret = m->heap[0]->head;
	m->given = true;
	return 1;
}

static int open_streams(struct merge *m, struct directory *dir, struct err *err)
{
	struct source src;
	int r;

	while ((r = directory_next(dir, &src, err)) == 1) {
		struct stream *s = &m->streams[m->n_streams++];

		m->total += src.size;
		m->heap[m->n++] = s;
		s->in.src = src;
		if (input_section(&s->in, &src, 0, UINT64_MAX) < 0)
			return err_nomem(err);
	}
	return r;
}

int merge_new(struct perfdata *pd, struct directory *dir, struct merge **ret, struct err *err)
{
	size_t n = directory_count(dir);
	struct merge *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return err_nomem(err);
	m->streams = calloc(n, sizeof(*m->streams));
	m->heap = calloc(n + 1, sizeof(struct stream *));
	if (!m->streams || !m->heap) {
		merge_free(m);
		return err_nomem(err);
	}
	m->first = &pd->first;
	m->total = pd->file.size;
	m->heap[m->n++] = m->first;
	r = open_streams(m, dir, err);
	if (r < 0) {
		merge_free(m);
		return r;
	}
	*ret = m;
	return 0;
}

uint64_t merge_position(const struct merge *m, uint64_t *ret_total)
{
	uint64_t at = m->first->in.offset;

	for (size_t i = 0; i < m->n_streams; i++)
		at += m->streams[i].in.offset;
	*ret_total = m->total;
	return at;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_streams; i++) {
		source_close(&m->streams[i].in.src);
		stream_done(&m->streams[i]);
	}
	free(m->streams);
	free(m->heap);
	free(m);
}

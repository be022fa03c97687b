/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata: one stream of records. In: a window of bytes. Out: records in file order. Invariant: a
 * record is yielded only when all its bytes are there; damage ends the stream with what came
 * before it kept and said in perfdata_info, unless nothing came.
 */
#include "perfdata/internal.h"

#include <errno.h>

int read_failed(const struct perfdata *pd, int r, struct err *err)
{
	if (r == -ENOMEM)
		return err_nomem(err);
	return err_errno(err, r, "unable to read '%s'", pd->name);
}

/* The next whole record of the input. 1, 0: the end, -EBADMSG: damage, -errno. */
static int next_outer(struct perfdata *pd, struct stream *s, struct perfdata_record *ret)
{
	struct input *in = &s->in;
	uint16_t size = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		size_t left = input_left(in);
		int r;

		if (left >= 8) {
			size = record_header(in->at, pd->swap, ret);
			if (size < 8)
				return -EBADMSG;
			if (size <= left) {
				ret->offset = in->offset;
				input_advance(in, size);
				return 1;
			}
		}
		r = input_fill(in, RECORD_MAX);
		if (r < 0)
			return r;
	}
	/* the section was promised longer: the file shrank, or a record is cut off */
	if (input_left(in) || (in->stop != UINT64_MAX && in->offset < in->stop))
		pd->info.truncated = true;
	return 0;
}

/* The stream cannot be read any further: what came before counts. */
static int damaged(struct perfdata *pd, struct stream *s, const struct perfdata_record *record,
	struct err *err)
{
	const struct input *in = &s->in;
	uint64_t end = in->stop < in->src.size ? in->stop : in->src.size;

	if (!pd->any_record && !pd->info.unfinished)
		return err_set(err, -EBADMSG, "'%s': damaged record at offset %llu", pd->name,
			(unsigned long long)record->offset);
	pd->info.truncated = true;
	if (end != UINT64_MAX && end > in->offset)
		pd->info.skipped_bytes += end - in->offset;
	s->ended = true;
	return 0;
}

/* One record, of whatever type. 1, 0: this stream has ended, -errno as from damage. */
static int next_any(
	struct perfdata *pd, struct stream *s, struct perfdata_record *ret, bool *ret_packed)
{
	if (s->unpack) {
		int r = unpack_next(s->unpack, pd->swap, ret);

		if (r) {
			*ret_packed = true;
			return r;
		}
	}
	*ret_packed = false;
	ret->offset = s->in.offset;
	return next_outer(pd, s, ret);
}

int stream_next(struct perfdata *pd, struct stream *s, struct perfdata_record *ret, struct err *err)
{
	struct perfdata_record record = {0};

	while (!s->ended) {
		bool packed;
		int r = next_any(pd, s, &record, &packed);

		if (r == 0) {
			if (s->unpack && unpack_torn(s->unpack))
				pd->info.truncated = true;
			s->ended = true;
			return 0;
		}
		if (r > 0) {
			r = meta_record(pd, s, &record, packed);
			if (r == 0) {
				pd->any_record = true;
				*ret = record;
				return 1;
			}
		}
		if (r == -EBADMSG || r == -ENODATA)
			r = damaged(pd, s, &record, err);
		if (r < 0)
			return read_failed(pd, r, err);
	}
	return 0;
}

void stream_done(struct stream *s)
{
	unpack_free(s->unpack);
	input_done(&s->in);
}

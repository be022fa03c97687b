/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata, inside: the reader's state and what its files ask of each other.
 *
 * A perfdata is one recording: tables (attrs, ids, features) and the stream of records.
 */
#ifndef GILPROBE_PERFDATA_INTERNAL_H
#define GILPROBE_PERFDATA_INTERNAL_H

#include "base/map.h"
#include "base/strtab.h"
#include "perfdata/format.h"
#include "perfdata/input.h"
#include "perfdata/perfdata.h"

/* Where each fixed-size field of a sample lies, in 8-byte slots; -1: absent. */
struct layout {
	uint64_t present; /* PERF_SAMPLE_… of the slots, ID standing for IDENTIFIER too */
	int8_t tid, time, id, ip, addr, cpu, period;
	uint8_t slots;
};

struct attr {
	struct perfdata_attr pub;
	struct layout sample;  /* slots from the body's start */
	struct layout trailer; /* slots from the trailer's start; it ends with the record */
};

struct directory;
struct merge;

#define RECENT_IDS 64u /* one per event and CPU of a usual recording */

/* A feature section; bytes are loaded when they are asked for. */
struct feature {
	bool present;
	uint64_t offset, size;
	uint8_t *bytes;
};

/* Records in a row: all of a file, or one of a directory's. */
struct stream {
	struct input in;
	struct unpack *unpack; /* COMPRESSED: what comes out; NULL until the first */
	bool ended;
	struct perfdata_record head; /* merge.c: the next record, and its time */
	uint64_t time;
};

struct perfdata {
	char *name; /* for messages */
	bool swap;
	bool any_record; /* at least one was yielded */
	bool anonymous;	 /* no attr has ids: every record belongs to the first */
	struct source file;
	struct stream first;
	struct merge *merge; /* of a directory's streams, or NULL */
	struct perfdata_info info;
	struct strtab strings;

	struct attr **attrs;
	size_t n_attrs, attrs_cap;
	struct map ids; /* id → attr */
	uint64_t n_ids;
	int id_slot; /* of the id, from a sample's start; -1: none */
	int id_back; /* of the id, from a trailer's end */
	struct {
		uint64_t id;
		const struct attr *attr; /* NULL: empty */
	} recent[RECENT_IDS];		 /* by the id's lowest bits */

	struct feature features[PERF_FEATURES];
	uint64_t feature_bytes; /* of all sections together */
	uint8_t *tracing;
	size_t tracing_size;
	unsigned tracing_generation;
};

/* header.c: magic, header, attr table, features of a file; only magic and size of a pipe. */
int header_read(struct perfdata *pd, struct err *err);

/* attr.c. @bytes holds an attr of its on-disk size. 0 or -errno. */
int attr_add(struct perfdata *pd, const uint8_t *bytes, size_t size, struct attr **ret,
	size_t *ret_used, struct err *err);
int attr_add_id(struct perfdata *pd, struct attr *attr, uint64_t id);

/* feature.c: makes facts of one feature's bytes. Damaged ones are left out, and said. */
int feature_parse(struct perfdata *pd, unsigned feature, const uint8_t *bytes, size_t size);
int feature_load_all(struct perfdata *pd);
int feature_set_tracing(struct perfdata *pd, uint8_t *bytes, size_t size);

/* meta.c: a record that describes the file. 1: it was one; 0: it is to be yielded; -errno. */
int meta_record(
	struct perfdata *pd, struct stream *s, const struct perfdata_record *record, bool packed);

/* unpack.c: the zstd stream of COMPRESSED records. */
int unpack_feed(struct unpack **u, const uint8_t *bytes, size_t size);
/* 1: a record; 0: more must be fed; -EBADMSG: damage; -ENOMEM. */
int unpack_next(struct unpack *u, bool swap, struct perfdata_record *ret);
/* Bytes of an unfinished record are left. */
bool unpack_torn(const struct unpack *u);
void unpack_free(struct unpack *u);

/* stream.c: words for a read that failed. Returns @r. */
int read_failed(const struct perfdata *pd, int r, struct err *err);

/* The next record that is to be yielded. 1, 0: the end, -errno. */
int stream_next(
	struct perfdata *pd, struct stream *s, struct perfdata_record *ret, struct err *err);
void stream_done(struct stream *s);

/* sample.c: the record's time, or false when it tells none. */
bool sample_time(struct perfdata *pd, const struct perfdata_record *record, uint64_t *ret);

/* merge.c: the streams of @dir and pd->first as one, in order of time. */
int merge_new(struct perfdata *pd, struct directory *dir, struct merge **ret, struct err *err);
int merge_next(struct perfdata *pd, struct merge *m, struct perfdata_record *ret, struct err *err);
uint64_t merge_position(const struct merge *m, uint64_t *ret_total);
void merge_free(struct merge *m);

/* directory.c: the files of a directory. */
int directory_open(const char *path, int *ret_fd, struct directory **ret, struct err *err);
/* Opens the next stream. 1, 0: there is none, -errno. */
int directory_next(struct directory *dir, struct source *ret, struct err *err);
size_t directory_count(const struct directory *dir);
void directory_free(struct directory *dir);

/* Splits a record's header off. Bytes: at least 8. */
static inline uint16_t record_header(const uint8_t *p, bool swap, struct perfdata_record *ret)
{
	uint16_t size = get_u16(p + 6, swap);

	ret->type = get_u32(p, swap);
	ret->misc = get_u16(p + 4, swap);
	ret->body = p + 8;
	ret->size = size >= 8 ? size - 8u : 0;
	return size;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A streaming JSON writer onto a byte sink. It places commas; the caller pairs begin and end.
 *
 * Strings may hold any bytes: what is not UTF-8 becomes U+FFFD, so the output is always valid.
 * Depth is limited to 64, which is an assertion: no input decides it.
 */
#ifndef GILPROBE_BASE_JSON_H
#define GILPROBE_BASE_JSON_H

#include "base/out.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
	struct out *out;
	uint64_t has_items; /* one bit per level: a comma is due */
	unsigned depth;
	bool after_key;
};

static inline struct json json_to(struct out *out)
{
	return (struct json){.out = out};
}

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);
void json_key(struct json *json, const char *key);

/* NULL writes null. */
void json_str(struct json *json, const char *text);
void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* Six significant digits behind the point at most; not-a-number and infinity write null. */
void json_double(struct json *json, double value);

/* Nanoseconds as seconds with nine decimals, or as microseconds with three. */
void json_ns_as_s(struct json *json, uint64_t ns);
void json_ns_as_us(struct json *json, uint64_t ns);

/* Text that is JSON already, but perhaps not UTF-8: what is not becomes U+FFFD. */
void json_raw(struct out *out, const char *text, size_t size);

/* A key and its value at once. */
void json_put_str(struct json *json, const char *key, const char *text);
void json_put_u64(struct json *json, const char *key, uint64_t value);
void json_put_i64(struct json *json, const char *key, int64_t value);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_double(struct json *json, const char *key, double value);
void json_put_ns_as_s(struct json *json, const char *key, uint64_t ns);

/* A string's bytes, escaped, without the quotes and without a comma: for writers of their own. */
void json_escape(struct out *out, const char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base: the JSON writer. In: values in order. Out: text. Invariant: the output is UTF-8 and valid
 * JSON whatever bytes the strings hold, and numbers do not depend on the locale.
 */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void value(struct json *json)
{
	uint64_t bit = 1ull << json->depth;

	if (!json->after_key && (json->has_items & bit))
		out_write(json->out, ",", 1);
	json->has_items |= bit;
	json->after_key = false;
}

static void begin(struct json *json, char bracket)
{
	value(json);
	assert(json->depth < 63);
	json->depth++;
	json->has_items &= ~(1ull << json->depth);
	out_write(json->out, &bracket, 1);
}

static void end(struct json *json, char bracket)
{
	assert(json->depth > 0);
	json->depth--;
	out_write(json->out, &bracket, 1);
}

void json_object_begin(struct json *json)
{
	begin(json, '{');
}

void json_object_end(struct json *json)
{
	end(json, '}');
}

void json_array_begin(struct json *json)
{
	begin(json, '[');
}

void json_array_end(struct json *json)
{
	end(json, ']');
}

/* The length of the well-formed UTF-8 sequence at @s, or 0 (Unicode 15, table 3-7). */
static size_t utf8_length(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

void json_escape(struct out *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text, *plain = s;

	while (*s) {
		size_t n = utf8_length(s);

		if (n && *s >= 0x20 && *s != '"' && *s != '\\' && *s != 0x7f) {
			s += n;
			continue;
		}
		out_write(out, plain, (size_t)(s - plain));
		if (!n)
			out_str(out, "\xef\xbf\xbd");
		else if (*s == '"' || *s == '\\')
			out_printf(out, "\\%c", *s);
		else
			out_printf(out, "\\u%04x", *s);
		plain = ++s;
	}
	out_write(out, plain, (size_t)(s - plain));
}

void json_raw(struct out *out, const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text, *plain = s, *end = s + size;

	while (s < end) {
		size_t n = *s < 0x80 ? 1 : utf8_length(s);

		if (n) {
			s += n;
			continue;
		}
		out_write(out, plain, (size_t)(s - plain));
		out_str(out, "\xef\xbf\xbd");
		plain = ++s;
	}
	out_write(out, plain, (size_t)(s - plain));
}

static void quoted(struct json *json, const char *text)
{
	out_write(json->out, "\"", 1);
	json_escape(json->out, text);
	out_write(json->out, "\"", 1);
}

void json_key(struct json *json, const char *key)
{
	value(json);
	quoted(json, key);
	out_write(json->out, ":", 1);
	json->after_key = true;
}

void json_str(struct json *json, const char *text)
{
	if (!text) {
		json_null(json);
		return;
	}
	value(json);
	quoted(json, text);
}

void json_u64(struct json *json, uint64_t number)
{
	value(json);
	out_u64(json->out, number);
}

void json_i64(struct json *json, int64_t number)
{
	value(json);
	out_printf(json->out, "%lld", (long long)number);
}

void json_bool(struct json *json, bool truth)
{
	value(json);
	out_str(json->out, truth ? "true" : "false");
}

void json_null(struct json *json)
{
	value(json);
	out_str(json->out, "null");
}

void json_double(struct json *json, double number)
{
	double magnitude = fabs(number);

	if (!isfinite(number) || magnitude >= 9e12) {
		json_null(json);
		return;
	}
	value(json);
	if (number < 0)
		out_write(json->out, "-", 1);
	out_fixed(json->out, (uint64_t)(magnitude * 1e6 + 0.5), 6);
}

void json_ns_as_s(struct json *json, uint64_t ns)
{
	value(json);
	out_fixed(json->out, ns, 9);
}

void json_ns_as_us(struct json *json, uint64_t ns)
{
	value(json);
	out_fixed(json->out, ns, 3);
}

void json_put_str(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_str(json, text);
}

void json_put_u64(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

void json_put_i64(struct json *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_i64(json, value);
}

void json_put_bool(struct json *json, const char *key, bool truth)
{
	json_key(json, key);
	json_bool(json, truth);
}

void json_put_double(struct json *json, const char *key, double number)
{
	json_key(json, key);
	json_double(json, number);
}

void json_put_ns_as_s(struct json *json, const char *key, uint64_t ns)
{
	json_key(json, key);
	json_ns_as_s(json, ns);
}

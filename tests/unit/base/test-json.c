/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static char *text_of(struct out *out)
{
	size_t size;
	const char *bytes = out_memory_bytes(out, &size);

	return strndup(bytes, size);
}

static void commas_and_nesting(void **state)
{
	struct out *out = out_memory();
	struct json json = json_to(out);
	char *text;

	json_object_begin(&json);
	json_key(&json, "a");
	json_array_begin(&json);
	json_u64(&json, 1);
	json_i64(&json, -2);
	json_object_begin(&json);
	json_object_end(&json);
	json_array_end(&json);
	json_key(&json, "b");
	json_null(&json);
	json_key(&json, "c");
	json_bool(&json, true);
	json_object_end(&json);
	text = text_of(out);
	assert_string_equal(text, "{\"a\":[1,-2,{}],\"b\":null,\"c\":true}");
	free(text);
	out_free(out);
}

static void numbers(void **state)
{
	struct out *out = out_memory();
	struct json json = json_to(out);
	char *text;

	json_array_begin(&json);
	json_ns_as_s(&json, 1);
	json_ns_as_s(&json, UINT64_MAX);
	json_ns_as_us(&json, 1234567);
	json_double(&json, -0.25);
	json_double(&json, NAN);
	json_double(&json, INFINITY);
	json_array_end(&json);
	text = text_of(out);
	assert_string_equal(
		text, "[0.000000001,18446744073.709551615,1234.567,-0.250000,null,null]");
	free(text);
	out_free(out);
}

/* Every byte pair in front of a letter: the output must always parse, as UTF-8 and as JSON. */
static void any_bytes_give_valid_json(void **state)
{
	for (unsigned a = 1; a < 256; a++) {
		for (unsigned b = 1; b < 256; b++) {
			char raw[] = {(char)a, (char)b, 'z', 0};
			struct out *out = out_memory();
			struct json json = json_to(out);
			char *text;
			cJSON *tree;

			json_str(&json, raw);
			text = text_of(out);
			tree = cJSON_Parse(text);
			assert_non_null(tree);
			assert_non_null(strchr(tree->valuestring, 'z'));
			for (const char *p = text; *p; p++)
				assert_true((unsigned char)*p >= 0x20);
			cJSON_Delete(tree);
			free(text);
			out_free(out);
		}
	}
}

static void bad_utf8_is_replaced_and_good_is_kept(void **state)
{
	static const struct {
		const char *raw, *json;
	} cases[] = {
		{"na\xc3\xafve", "\"na\xc3\xafve\""},
		{"\xf0\x9f\x90\x8d", "\"\xf0\x9f\x90\x8d\""},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
		{"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},		      /* overlong */
		{"cut\xe2\x82", "\"cut\xef\xbf\xbd\xef\xbf\xbd\""},
		{"q\"b\\n\n\x7f", "\"q\\\"b\\\\n\\u000a\\u007f\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct out *out = out_memory();
		struct json json = json_to(out);
		char *text;

		json_str(&json, cases[i].raw);
		text = text_of(out);
		assert_string_equal(text, cases[i].json);
		free(text);
		out_free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_and_nesting),
		cmocka_unit_test(numbers),
		cmocka_unit_test(any_bytes_give_valid_json),
		cmocka_unit_test(bad_utf8_is_replaced_and_good_is_kept),
	};
	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "emit/json-scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "test.h"

/* Scans @size bytes of @json as one value. */
static int scan_bytes(const char *json, size_t size, bool gzip, struct text *into, struct err *err)
{
	char path[] = "/tmp/test-json-scan-XXXXXX";
	_cleanup_(cleanup_json_scan) struct json_scan *scan = NULL;
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	if (gzip) {
		gzFile file = gzdopen(fd, "wb");

		assert_int_equal(gzwrite(file, json, (unsigned)size), (int)size);
		assert_int_equal(gzclose(file), Z_OK);
	} else {
		assert_int_equal(write(fd, json, size), size);
		close(fd);
	}
	r = json_scan_open(path, &scan, err);
	assert_int_equal(r, 0);
	r = json_scan_value(scan, into, err);
	if (r >= 0 && json_scan_peek(scan) >= 0)
		r = -EBADMSG;
	unlink(path);
	return r;
}

static void blanks_go_and_the_rest_stays(void **state)
{
	static const char json[] = " { \"a b\\u00e9\\\"\" : [ 1 , -0.5e+3 ,\n true,null , \"\" ] ,"
				   "\t\"o\":{} , \"l\" : [ ] }\r\n";
	struct text text = {0};

	for (int gzip = 0; gzip < 2; gzip++) {
		struct err err = {0};

		assert_int_equal(scan_bytes(json, strlen(json), gzip, &text, &err), 0);
		assert_string_equal(text.items,
			"{\"a b\\u00e9\\\"\":[1,-0.5e+3,true,null,\"\"],\"o\":{},\"l\":[]}");
		assert_int_equal(text.n, strlen(text.items));
	}
	text_done(&text);
}

static void what_is_no_json_is_refused(void **state)
{
	static const char *const cases[] = {"", "{", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}",
		"{1:2}", "\"open", "\"\\x\"", "\"\\u12g4\"", "\"a\nb\"", "01", "-", "1.", "1e",
		"tru", "nul", "+1", "[", "[}", "{]", "{\"a\":1,}", "\"\\", "NaN", "'a'", "[1]]",
		"\x1f\x8b"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct text text = {0};
		struct err err = {0};
		int r = scan_bytes(cases[i], strlen(cases[i]), false, &text, &err);

		if (r != -EBADMSG)
			fail_msg("'%s' gives %d", cases[i], r);
		text_done(&text);
	}
}

static void the_place_is_named(void **state)
{
	struct err err = {0};

	assert_int_equal(scan_bytes("[1, 2, x]", 9, false, NULL, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "at byte 7"));
	err_clear(&err);
	assert_int_equal(scan_bytes("[1, 2", 5, false, NULL, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "it ends at byte 5"));
}

static void nesting_is_limited(void **state)
{
	char json[2048];
	struct err err = {0};

	memset(json, '[', 99);
	memset(json + 99, ']', 99);
	assert_int_equal(scan_bytes(json, 198, false, NULL, &err), 0);
	memset(json, '[', sizeof(json));
	assert_int_equal(scan_bytes(json, sizeof(json), false, NULL, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "too deep"));
}

/* Strings and numbers that lie across the reader's buffer. */
static void a_large_value_passes_whole(void **state)
{
	size_t size = 600000;
	char *json = malloc(size);
	struct text text = {0};
	struct err err = {0};

	assert_non_null(json);
	memset(json, 'x', size);
	json[0] = '[';
	json[1] = json[400000] = '"';
	json[400001] = ',';
	memset(json + 400002, '7', size - 400003);
	json[size - 1] = ']';
	for (int gzip = 0; gzip < 2; gzip++) {
		assert_int_equal(scan_bytes(json, size, gzip, &text, &err), 0);
		assert_int_equal(text.n, size);
		assert_memory_equal(text.items, json, size);
	}
	text_done(&text);
	free(json);
}

static void a_damaged_archive_is_told(void **state)
{
	unsigned char gz[200];
	uLongf packed = sizeof(gz);
	z_stream z = {.next_in = (Bytef *)(uintptr_t) "[\"0123456789abcdef\", \"fedcba\"]",
		.avail_in = 30,
		.next_out = gz,
		.avail_out = sizeof(gz)};
	struct err err = {0};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	packed = z.total_out;
	deflateEnd(&z);
	assert_int_equal(scan_bytes((char *)gz, packed, false, NULL, &err), 0);
	assert_int_equal(scan_bytes((char *)gz, packed / 2, false, NULL, &err), -EBADMSG);
	gz[12] ^= 0xff;
	gz[13] ^= 0xff;
	err_clear(&err);
	assert_int_equal(scan_bytes((char *)gz, packed, false, NULL, &err), -EBADMSG);
	assert_string_not_equal(err.text, "");
}

static void what_cannot_be_opened_is_named(void **state)
{
	struct json_scan *scan = NULL;
	struct err err = {0};

	assert_int_equal(json_scan_open("/nonexistent/x.json", &scan, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x.json"));
	err_clear(&err);
	assert_int_equal(json_scan_open("/tmp", &scan, &err), -EISDIR);
	assert_null(scan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_go_and_the_rest_stays),
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(the_place_is_named),
		cmocka_unit_test(nesting_is_limited),
		cmocka_unit_test(a_large_value_passes_whole),
		cmocka_unit_test(a_damaged_archive_is_told),
		cmocka_unit_test(what_cannot_be_opened_is_named),
	};

	return RUN_TESTS(tests);
}

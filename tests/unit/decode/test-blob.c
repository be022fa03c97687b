/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracing data: its walk, and the formats in it, whole, cut anywhere, and damaged.
 */
#include "decode/blob.h"
#include "decode/layout.h"
#include "perfbuild.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

/* The tracing data of a small recording, copied to a block of exactly its size. */
static uint8_t *sample_blob(unsigned flags, size_t *ret_size)
{
	struct perfbuild *b = perfbuild_new(flags);
	struct perfdata *pd = NULL;
	struct perfdata_record record;
	const uint8_t *bytes;
	unsigned generation;
	uint8_t *copy;
	size_t size;

	perfbuild_thread(b, 1, 1, 0);
	perfbuild_hit(b, 1, "python:take_gil", 0);
	perfbuild_switch(b, 2, "S", 2);
	perfbuild_hit(b, 3, "gilprobe_9:acquire88_0", 5);
	bytes = perfbuild_bytes(b, &size);
	assert_int_equal(perfdata_open_memory(bytes, size, &pd, NULL), 0);
	while (perfdata_next(pd, &record, NULL) > 0)
		;
	bytes = perfdata_tracing_data(pd, ret_size, &generation);
	assert_non_null(bytes);
	copy = malloc(*ret_size);
	assert_non_null(copy);
	memcpy(copy, bytes, *ret_size);
	perfdata_free(pd);
	perfbuild_free(b);
	return copy;
}

static void check_formats(const uint8_t *bytes, size_t size, bool big_endian)
{
	struct layout layout;
	struct blob blob;

	assert_int_equal(blob_init(&blob, bytes, size, NULL), 0);
	assert_false(blob.truncated);
	assert_int_equal(blob.big_endian, big_endian);
	assert_int_equal(blob.long_size, 8);
	assert_int_equal(blob.n, 3);
	for (size_t i = 0; i < blob.n; i++) {
		const struct blob_format *format = &blob.items[i];

		assert_ptr_equal(blob_find(&blob, format->id), format);
		assert_true(layout_read(format, &layout));
		assert_string_equal(layout.system, format->system);
		if (strcmp(layout.name, "sched_switch") == 0) {
			const struct layout_field *field = layout_find(&layout, "next_pid");

			assert_int_equal(field->offset, 56);
			assert_int_equal(field->size, 4);
			assert_true(field->is_signed);
			assert_int_equal(layout.n_fields, 4 + 7);
			assert_int_equal(layout_find(&layout, "prev_comm")->size, 16);
		}
	}
	assert_null(blob_find(&blob, 0));
	assert_null(blob_find(&blob, 999999));
	blob_done(&blob);
}

static void formats_of_either_byte_order_are_found(void **state)
{
	size_t size;
	uint8_t *bytes = sample_blob(0, &size);

	check_formats(bytes, size, false);
	free(bytes);
	bytes = sample_blob(PERFBUILD_BIG_ENDIAN, &size);
	check_formats(bytes, size, true);
	free(bytes);
}

static void a_cut_blob_gives_what_is_whole(void **state)
{
	size_t size, last = 0;
	uint8_t *bytes = sample_blob(0, &size);

	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *copy = malloc(cut + 1);
		struct blob blob;
		int r;

		memcpy(copy, bytes, cut);
		r = blob_init(&blob, copy, cut, NULL);
		if (cut < 10) {
			assert_int_equal(r, -EBADMSG);
		} else {
			assert_int_equal(r, 0);
			assert_true(blob.n >= last);
			last = blob.n;
			blob_done(&blob);
		}
		free(copy);
	}
	assert_int_equal(last, 3);
	free(bytes);
}

static void sizes_beyond_the_end_are_not_believed(void **state)
{
	static const uint8_t huge[] = "\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0"
				      "\xff\xff\xff\xff\xff\xff\xff\xff";
	struct blob blob;

	assert_int_equal(blob_init(&blob, huge, sizeof(huge) - 1, NULL), 0);
	assert_true(blob.truncated);
	assert_int_equal(blob.n, 0);
	blob_done(&blob);
}

static bool read_text(const char *text, struct layout *ret)
{
	struct blob_format format = {"sched", text, strlen(text), 1};

	return layout_read(&format, ret);
}

#define HEAD "name: x\nID: 1\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static void lines_of_another_form_are_passed_over(void **state)
{
	struct layout layout;

	assert_true(read_text(HEAD "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
				   "\tfield:__data_loc char[] s;\toffset:12;\tsize:4;\tsigned:0;\n"
				   "\tfield:int (*f)(int);\toffset:16;\tsize:8;\tsigned:0;\n"
				   "\tfield:int;\toffset:16;\tsize:8;\tsigned:0;\n"
				   "\tfield:int a[9;\toffset:16;\tsize:8;\tsigned:0;\n"
				   "\tfield:int b;\toffset:x;\tsize:8;\tsigned:0;\n"
				   "\tfield:int c;\toffset:999999;\tsize:8;\tsigned:0;\n"
				   "\tfield:unsigned long *d;\toffset:16;\tsize:8;\tsigned:0;\n"
				   "\nprint fmt: ((((((((((\"%s",
		&layout));
	assert_int_equal(layout.n_fields, 3);
	assert_non_null(layout_find(&layout, "common_pid"));
	assert_non_null(layout_find(&layout, "pid"));
	assert_non_null(layout_find(&layout, "d"));
}

static void what_is_no_format_is_an_error(void **state)
{
	struct layout layout;

	assert_false(read_text("", &layout));
	assert_false(read_text("name: \nID: 1\n", &layout));
	assert_false(read_text("name: x y\nID: 1\n", &layout));
	assert_false(read_text("name: x\nID: 1\nformat:\n\nprint fmt: \"\"\n", &layout));
	assert_false(read_text("\n\n\n\n", &layout));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_of_either_byte_order_are_found),
		cmocka_unit_test(a_cut_blob_gives_what_is_whole),
		cmocka_unit_test(sizes_beyond_the_end_are_not_believed),
		cmocka_unit_test(lines_of_another_form_are_passed_over),
		cmocka_unit_test(what_is_no_format_is_an_error),
	};
	return RUN_TESTS(tests);
}

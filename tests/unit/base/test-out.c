/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/out.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "test.h"

static char folder[64];

static int setup(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/gilprobe-out-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static unsigned files_here(void)
{
	DIR *d = opendir(".");
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static int teardown(void **state)
{
	DIR *d = opendir(".");
	struct dirent *e;

	while ((e = readdir(d)))
		unlink(e->d_name);
	closedir(d);
	return rmdir(folder);
}

static void a_file_appears_only_at_commit(void **state)
{
	struct out *out;
	char text[16] = {0};
	int fd;

	assert_int_equal(out_create("a.json", &out, NULL), 0);
	out_str(out, "hello");
	assert_int_equal(access("a.json", F_OK), -1);
	assert_int_equal(out_commit(out, NULL), 0);
	out_free(out);
	fd = open("a.json", O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	close(fd);
	assert_string_equal(text, "hello");
	assert_int_equal(files_here(), 1);
}

static void without_commit_the_old_file_stays(void **state)
{
	struct out *out;
	struct stat st;

	assert_int_equal(out_create("a.json", &out, NULL), 0);
	for (int i = 0; i < 100000; i++)
		out_str(out, "something much longer");
	out_free(out);
	assert_int_equal(stat("a.json", &st), 0);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(files_here(), 1);
}

static void a_link_is_followed_not_replaced(void **state)
{
	struct out *out;
	struct stat st;

	assert_int_equal(symlink("a.json", "link.json"), 0);
	assert_int_equal(out_create("link.json", &out, NULL), 0);
	out_str(out, "through");
	assert_int_equal(out_commit(out, NULL), 0);
	out_free(out);
	assert_int_equal(lstat("link.json", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat("a.json", &st), 0);
	assert_int_equal(st.st_size, 7);
	assert_int_equal(files_here(), 2);
}

static void gz_names_are_compressed(void **state)
{
	struct out *out;
	char text[8] = {0};
	gzFile gz;

	assert_int_equal(out_create("b.json.gz", &out, NULL), 0);
	out_str(out, "zipped");
	assert_int_equal(out_commit(out, NULL), 0);
	out_free(out);
	gz = gzopen("b.json.gz", "rb");
	assert_int_equal(gzdirect(gz), 0);
	assert_int_equal(gzread(gz, text, 7), 6);
	gzclose(gz);
	assert_string_equal(text, "zipped");
}

static void errors_stick_and_come_at_commit(void **state)
{
	struct out *out;
	struct err err = {0};

	assert_int_equal(out_create("/dev/full", &out, &err), 0);
	for (int i = 0; i < 100000; i++)
		out_str(out, "more than one buffer");
	assert_int_equal(out_error(out), -ENOSPC);
	assert_int_equal(out_commit(out, &err), -ENOSPC);
	assert_string_equal(err.text, "unable to write '/dev/full': No space left on device");
	out_free(out);
}

static void a_missing_folder_is_said(void **state)
{
	struct out *out;
	struct err err = {0};

	assert_int_equal(out_create("no/such/x.json", &out, &err), -ENOENT);
	assert_string_equal(
		err.text, "unable to write 'no/such/x.json': No such file or directory");
	assert_string_equal(err.hint, "the folder 'no/such' must exist");
}

static void fixed_point_is_exact(void **state)
{
	static const struct {
		uint64_t ns;
		unsigned decimals;
		const char *text;
	} cases[] = {
		{0, 3, "0.000"},
		{1, 3, "0.001"},
		{999, 3, "0.999"},
		{1000, 3, "1.000"},
		{1234567, 3, "1234.567"},
		{UINT64_MAX, 3, "18446744073709551.615"},
		{0, 0, "0"},
		{42, 0, "42"},
		{5, 9, "0.000000005"},
		{1000000000, 9, "1.000000000"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct out *out = out_memory();
		size_t size;
		const char *bytes;

		out_fixed(out, cases[i].ns, cases[i].decimals);
		bytes = out_memory_bytes(out, &size);
		assert_int_equal(size, strlen(cases[i].text));
		assert_memory_equal(bytes, cases[i].text, size);
		out_free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_appears_only_at_commit),
		cmocka_unit_test(without_commit_the_old_file_stays),
		cmocka_unit_test(a_link_is_followed_not_replaced),
		cmocka_unit_test(gz_names_are_compressed),
		cmocka_unit_test(errors_stick_and_come_at_commit),
		cmocka_unit_test(a_missing_folder_is_said),
		cmocka_unit_test(fixed_point_is_exact),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}

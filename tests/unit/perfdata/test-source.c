/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where bytes come from: a file larger than the window, a pipe that delivers a few bytes at a
 * time, a directory of streams.
 */
#include "perfbuild.h"
#include "perfdata/format.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "test.h"

#define HITS 20000u

static struct perfbuild *many(unsigned flags, uint32_t tid)
{
	struct perfbuild *b = perfbuild_new(flags);

	perfbuild_thread(b, 100, tid, tid);
	for (uint64_t i = 1; i <= HITS; i++)
		perfbuild_hit(b, i, i % 2 ? "python:take_gil" : "python:drop_gil", 0);
	return b;
}

/* The samples of thread @tid that come, in order of time. */
static void expect_hits(struct perfdata *pd, uint32_t tid)
{
	struct perfdata_record record;
	struct perfdata_sample s;

	for (uint64_t i = 1; i <= HITS; i++) {
		assert_int_equal(perfdata_next(pd, &record, NULL), 1);
		assert_int_equal(perfdata_sample(pd, &record, &s), 1);
		assert_int_equal(s.time, i);
		assert_int_equal(s.tid, tid);
		assert_string_equal(s.attr->name, i % 2 ? "python:take_gil" : "python:drop_gil");
	}
}

static void expect_end(struct perfdata *pd)
{
	struct perfdata_record record;

	assert_int_equal(perfdata_next(pd, &record, NULL), 0);
	assert_false(perfdata_info(pd)->truncated);
}

static void put_file(int dirfd, const char *name, const uint8_t *bytes, size_t size)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
}

static void file_larger_than_the_window(void **state)
{
	static const unsigned forms[] = {0, PERFBUILD_PIPE, PERFBUILD_ZSTD};

	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
		struct perfbuild *b = many(forms[f], 7);
		_cleanup_close_ int fd = memfd_create("perf.data", MFD_CLOEXEC);
		uint64_t total;
		struct perfdata *pd;
		char path[64];
		size_t size;
		const uint8_t *bytes = perfbuild_bytes(b, &size);

		assert_int_equal(write(fd, bytes, size), size);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(perfdata_open(path, &pd, NULL), 0);
		expect_hits(pd, 7);
		expect_end(pd);
		assert_true(perfdata_position(pd, &total) <= total);
		assert_int_equal(total, size);
		perfdata_free(pd);
		perfbuild_free(b);
	}
}

/* Pieces that end anywhere, in records' headers too. */
static void write_in_pieces(int fd, const uint8_t *bytes, size_t size)
{
	size_t step = 1;

	while (size) {
		size_t n = step < size ? step : size;

		if (write(fd, bytes, n) != (ssize_t)n)
			_exit(1);
		bytes += n;
		size -= n;
		step = step % 997 + 13;
	}
	_exit(0);
}

static struct perfdata *open_pipe(struct perfbuild *b, size_t cut, pid_t *ret_writer)
{
	size_t size;
	const uint8_t *bytes = perfbuild_bytes(b, &size);
	struct perfdata *pd;
	char path[64];
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*ret_writer = fork();
	assert_true(*ret_writer >= 0);
	if (!*ret_writer)
		write_in_pieces(ends[1], bytes, size - cut);
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	assert_int_equal(perfdata_open(path, &pd, NULL), 0);
	close(ends[0]);
	return pd;
}

static void pipe_delivers_pieces(void **state)
{
	struct perfbuild *b = many(PERFBUILD_PIPE, 7);
	uint64_t total;
	pid_t writer;
	struct perfdata *pd = open_pipe(b, 0, &writer);

	expect_hits(pd, 7);
	expect_end(pd);
	(void)perfdata_position(pd, &total);
	assert_int_equal(total, 0);
	perfdata_free(pd);
	waitpid(writer, NULL, 0);
	perfbuild_free(b);
}

static void pipe_that_breaks_off_says_so(void **state)
{
	struct perfbuild *b = many(PERFBUILD_PIPE, 7);
	struct perfdata_record record;
	pid_t writer;
	struct perfdata *pd = open_pipe(b, 5, &writer);
	unsigned n = 0;

	while (perfdata_next(pd, &record, NULL) == 1)
		n++;
	assert_int_equal(n, HITS - 1);
	assert_true(perfdata_info(pd)->truncated);
	perfdata_free(pd);
	waitpid(writer, NULL, 0);
	perfbuild_free(b);
}

/* A file has its tables behind the data, so it is kept aside first. */
static void file_through_a_pipe_is_read(void **state)
{
	struct perfbuild *b = many(0, 7);
	pid_t writer;
	struct perfdata *pd = open_pipe(b, 0, &writer);

	assert_false(perfdata_info(pd)->pipe);
	expect_hits(pd, 7);
	expect_end(pd);
	perfdata_free(pd);
	waitpid(writer, NULL, 0);
	perfbuild_free(b);
}

/* As perf record --threads leaves it: one stream empty, and files that are none of ours. */
static void make_directory(const char *path, struct perfbuild *first, struct perfbuild *second)
{
	struct perfbuild *head = perfbuild_new(0);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY);
	size_t size;
	const uint8_t *bytes;

	perfbuild_probe(head, "python:take_gil", PERFBUILD_ENTRY);
	perfbuild_probe(head, "python:drop_gil", PERFBUILD_ENTRY);
	perfbuild_round(head);
	bytes = perfbuild_bytes(head, &size);
	put_file(fd, "data", bytes, size);
	bytes = perfbuild_stream(first, &size);
	put_file(fd, "data.2", bytes, size);
	bytes = perfbuild_stream(second, &size);
	put_file(fd, "data.10", bytes, size);
	put_file(fd, "data.3", bytes, 0);
	put_file(fd, "data.old", (const uint8_t *)"garbage", 7);
	perfbuild_free(head);
	perfbuild_free(first);
	perfbuild_free(second);
}

static void remove_directory(const char *path)
{
	static const char *const names[] = {"data", "data.2", "data.3", "data.10", "data.old"};
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlinkat(fd, names[i], 0);
	rmdir(path);
}

static void directory_is_read_in_order_of_time(void **state)
{
	static const unsigned forms[] = {0, PERFBUILD_ZSTD};

	for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
		char path[] = "perf.data.XXXXXX";
		struct perfdata_record record;
		struct perfdata_sample s;
		uint64_t total, at;
		struct perfdata *pd;

		assert_non_null(mkdtemp(path));
		make_directory(path, many(forms[f], 8), many(forms[f], 9));
		assert_int_equal(perfdata_open(path, &pd, NULL), 0);
		assert_true(perfdata_info(pd)->directory);
		for (uint64_t i = 0; i < 2 * HITS; i++) {
			assert_int_equal(perfdata_next(pd, &record, NULL), 1);
			assert_int_equal(perfdata_sample(pd, &record, &s), 1);
			assert_int_equal(s.time, i / 2 + 1);
		}
		expect_end(pd);
		at = perfdata_position(pd, &total);
		assert_true(at > 0 && at <= total);
		perfdata_free(pd);
		remove_directory(path);
	}
}

/* Sorting needs rounds to let go of what it holds; a directory has none of its own. */
static void directory_makes_rounds(void **state)
{
	enum { N = 400000 };
	struct perfbuild *b = perfbuild_new(PERFBUILD_ZSTD), *other = many(0, 9);
	char path[] = "perf.data.XXXXXX";
	struct perfdata_record record;
	unsigned rounds = 0, n = 0;
	struct perfdata *pd;

	perfbuild_thread(b, 100, 8, 0);
	for (uint64_t i = 0; i < N; i++)
		perfbuild_hit(b, i, "python:take_gil", 0);
	assert_non_null(mkdtemp(path));
	make_directory(path, b, other);
	assert_int_equal(perfdata_open(path, &pd, NULL), 0);
	while (perfdata_next(pd, &record, NULL) == 1)
		if (record.type == PERFDATA_FINISHED_ROUND)
			rounds++;
		else
			n++;
	assert_int_equal(n, N + HITS);
	assert_int_equal(rounds, 1);
	perfdata_free(pd);
	remove_directory(path);
}

static void directory_without_data_is_refused(void **state)
{
	char path[] = "perf.data.XXXXXX";
	struct err err = {0};
	struct perfdata *pd;

	assert_non_null(mkdtemp(path));
	assert_int_equal(perfdata_open(path, &pd, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/data'"));
	rmdir(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_larger_than_the_window),
		cmocka_unit_test(pipe_delivers_pieces),
		cmocka_unit_test(pipe_that_breaks_off_says_so),
		cmocka_unit_test(file_through_a_pipe_is_read),
		cmocka_unit_test(directory_is_read_in_order_of_time),
		cmocka_unit_test(directory_makes_rounds),
		cmocka_unit_test(directory_without_data_is_refused),
	};

	return RUN_TESTS(tests);
}

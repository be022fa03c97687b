/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "workload/plan.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void comes_back_as_written(void **state)
{
	const char *args[] = {"", "a=b", "[1, 'two\n']"};
	const struct plan plan = {.target = "pkg.mod:Class.f",
		.args = args,
		.n_args = 3,
		.scale = 0.1,
		.workers = {1, 2, 256},
		.n_workers = 3,
		.repeat = 50,
		.interpreters = true};
	struct plan back;
	void *memory;
	int fd = plan_write(&plan);

	assert_true(fd >= 0);
	assert_int_equal(plan_read(fd, &back, &memory), 0);
	assert_string_equal(back.target, plan.target);
	assert_null(back.builtin);
	assert_int_equal(back.n_args, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(back.args[i], args[i]);
	assert_true(back.scale == 0.1);
	assert_int_equal(back.n_workers, 3);
	assert_memory_equal(back.workers, plan.workers, sizeof(plan.workers));
	assert_int_equal(back.repeat, 50);
	assert_true(back.interpreters);
	plan_free(memory);
	assert_int_equal(write(fd, "x", 1), -1); /* sealed */
	close(fd);
}

static int read_bytes(const char *bytes, size_t size)
{
	int fd = memfd_create("plan", 0), r;
	struct plan plan;
	void *memory = NULL;

	assert_int_equal(write(fd, bytes, size), size);
	r = plan_read(fd, &plan, &memory);
	close(fd);
	if (r == 0)
		plan_free(memory);
	return r;
}

static void refuses_what_is_no_plan(void **state)
{
	static const char good[] = "workers=2\0repeat=1";

	assert_int_equal(read_bytes(good, sizeof(good)), 0);
	assert_int_equal(read_bytes(good, sizeof(good) - 1), -EBADMSG); /* no NUL */
	assert_int_equal(read_bytes("", 0), -EBADMSG);
	assert_int_equal(read_bytes("workers=2", 10), -EBADMSG); /* no repeat */
	assert_int_equal(read_bytes("nonsense", 9), -EBADMSG);
	assert_int_equal(read_bytes("color=red", 10), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_as_written), cmocka_unit_test(refuses_what_is_no_plan)};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record: the tree follows forks, keeps the dead for two rounds, and forgets reused tids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/tree.h"

static void rounds(struct tree *tree, unsigned n)
{
	while (n--)
		tree_next_round(tree);
}

static void test_forks_are_followed(void **state)
{
	struct tree tree = {0};

	assert_int_equal(tree_add(&tree, 10, 10), 0);
	assert_int_equal(tree_fork(&tree, 10, 11, 10, 10), 0);
	assert_int_equal(tree_fork(&tree, 20, 20, 10, 11), 0);
	assert_int_equal(tree_fork(&tree, 30, 30, 99, 99), 0);
	assert_true(tree_has_task(&tree, 11));
	assert_true(tree_has_process(&tree, 20));
	assert_false(tree_has_process(&tree, 11));
	assert_false(tree_has_process(&tree, 30));
	assert_false(tree_has_task(&tree, 30));
	assert_false(tree_has_task(&tree, 0));
	tree_done(&tree);
}

static void test_the_dead_stay_two_rounds(void **state)
{
	struct tree tree = {0};

	assert_int_equal(tree_add(&tree, 10, 10), 0);
	assert_int_equal(tree_fork(&tree, 10, 11, 10, 10), 0);
	assert_int_equal(tree_exit(&tree, 10, 11, 100), 0);
	rounds(&tree, 1);
	assert_true(tree_has_task(&tree, 11));
	rounds(&tree, 1);
	assert_false(tree_has_task(&tree, 11));
	assert_true(tree_has_process(&tree, 10));
	assert_int_equal(tree_exit(&tree, 10, 10, 200), 0);
	assert_true(tree_has_process(&tree, 10));
	rounds(&tree, 2);
	assert_false(tree_has_process(&tree, 10));
	tree_done(&tree);
}

/* A short life: an exec, and threads that end in different rounds. */
static void test_the_last_end_counts(void **state)
{
	struct tree tree = {0};

	assert_int_equal(tree_add(&tree, 10, 10), 0);
	assert_int_equal(tree_exec(&tree, 10, 50), 0);
	assert_int_equal(tree_fork(&tree, 10, 11, 10, 10), 0);
	assert_int_equal(tree_exit(&tree, 10, 11, 100), 0);
	rounds(&tree, 1);
	assert_int_equal(tree_exit(&tree, 10, 10, 200), 0);
	rounds(&tree, 1);
	assert_false(tree_has_task(&tree, 11));
	assert_true(tree_has_task(&tree, 10));
	assert_true(tree_has_process(&tree, 10));
	rounds(&tree, 1);
	assert_false(tree_has_process(&tree, 10));
	assert_false(tree_has_task(&tree, 10));
	tree_done(&tree);
}

static void test_tids_are_reused(void **state)
{
	struct tree tree = {0};

	assert_int_equal(tree_add(&tree, 10, 10), 0);
	assert_int_equal(tree_fork(&tree, 10, 11, 10, 10), 0);
	assert_int_equal(tree_exit(&tree, 10, 11, 100), 0);
	/* by us: the end of the first 11 must not take the second away */
	assert_int_equal(tree_fork(&tree, 10, 11, 10, 10), 0);
	rounds(&tree, 3);
	assert_true(tree_has_task(&tree, 11));
	/* by somebody else, its EXIT being lost */
	assert_int_equal(tree_fork(&tree, 50, 11, 50, 50), 0);
	assert_false(tree_has_task(&tree, 11));
	/* the count of living threads is still right */
	assert_int_equal(tree_exit(&tree, 10, 10, 300), 0);
	rounds(&tree, 2);
	assert_false(tree_has_process(&tree, 10));
	tree_done(&tree);
}

static void test_gils_are_per_process(void **state)
{
	struct tree tree = {0};

	assert_int_equal(tree_add(&tree, 10, 10), 0);
	assert_int_equal(tree_learn_gil(&tree, 10, 0x1000, 5), 0);
	assert_int_equal(tree_learn_gil(&tree, 99, 0x1000, 5), 0);
	assert_true(tree_has_gil(&tree, 10, 0x1000));
	assert_false(tree_has_gil(&tree, 10, 0x2000));
	assert_false(tree_has_gil(&tree, 99, 0x1000));
	/* a forked child has it at the same address */
	assert_int_equal(tree_fork(&tree, 20, 20, 10, 10), 0);
	assert_true(tree_has_gil(&tree, 20, 0x1000));
	assert_int_equal(tree_learn_gil(&tree, 20, 0x3000, 6), 0);
	assert_false(tree_has_gil(&tree, 10, 0x3000));
	tree_done(&tree);
}

static void test_exec_forgets(void **state)
{
	struct tree tree = {0};

	assert_int_equal(tree_add(&tree, 10, 10), 0);
	assert_int_equal(tree_fork(&tree, 10, 11, 10, 10), 0);
	assert_int_equal(tree_learn_gil(&tree, 10, 0x1000, 5), 0);
	/* thread 11 calls execve: the leader exits, and 11 becomes 10 */
	assert_int_equal(tree_exit(&tree, 10, 10, 7), 0);
	assert_int_equal(tree_exec(&tree, 10, 8), 0);
	assert_int_equal(tree_learn_gil(&tree, 10, 0x2000, 9), 0);
	assert_true(tree_has_gil(&tree, 10, 0x1000));
	rounds(&tree, 2);
	assert_false(tree_has_gil(&tree, 10, 0x1000));
	assert_true(tree_has_gil(&tree, 10, 0x2000));
	assert_true(tree_has_task(&tree, 10));
	assert_false(tree_has_task(&tree, 11));
	assert_int_equal(tree_exit(&tree, 10, 10, 20), 0);
	rounds(&tree, 2);
	assert_false(tree_has_process(&tree, 10));
	tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forks_are_followed),
		cmocka_unit_test(test_the_dead_stay_two_rounds),
		cmocka_unit_test(test_the_last_end_counts),
		cmocka_unit_test(test_tids_are_reused),
		cmocka_unit_test(test_gils_are_per_process),
		cmocka_unit_test(test_exec_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fold's state machine: one test for each cell of its table and each rule about missing partners.
 */
#include "play.h"

static void test_take_and_drop(void **state)
{
	struct play p;

	PLAY(&p, PERF_WIDE,
		"10 want A; 20 acquire A; 50 release A; 51 return A; 60 out A S; 80 wake A;"
		"90 in A; 95 want A; 97 acquire A; 120 release A; 121 return A; 130 exit A");
	assert_spans(&p, 'A',
		"waiting 10-20, has-gil 20-50, native 50-60, blocked 60-80, runnable 80-90, "
		"native 90-95, waiting 95-97, has-gil 97-120, native 120-130");
	assert_string_equal(p.holds, "A 20-50, A 97-120");
	assert_string_equal(p.waits, "A 10-20, A 95-97");
	assert_int_equal(p.result->quality.unmatched, 0);
	assert_int_equal(play_thread(&p, 'A')->takes, 2);
	play_done(&p);
}

static void test_forced_own(void **state)
{
	struct play p;

	PLAY(&p, OWN_WIDE,
		"10 acquire A; 20 want B; 25 out B S; 5020 in B; 5021 want B; 5022 out B S;"
		"5030 release A; 5031 wake B A; 5032 yield A; 5034 out A S; 5040 in B;"
		"5042 wake A B; 5043 acquire B; 5050 in A; 5055 want A; 5056 out A S;"
		"5100 release B; 5101 wake A B; 5105 in A; 5107 acquire A; 5200 exit A; 5200 exit B");
	assert_spans(&p, 'A', "has-gil 10-5030, waiting 5030-5107, has-gil 5107-5200");
	assert_spans(&p, 'B', "waiting 20-5043, has-gil 5043-5100, native 5100-5200");
	assert_string_equal(p.holds, "A 10-5030 forced, A 5107-5200 open, B 5043-5100");
	assert_string_equal(
		p.waits, "B 20-5043, 1 requests, A 5030-5050 yield gave up, A 5050-5107");
	assert_string_equal(p.handoffs, "A-B 5030-5043 forced, B-A 5100-5107");
	assert_int_equal(play_thread(&p, 'A')->forced, 1);
	assert_int_equal(play_thread(&p, 'A')->waits, 1);
	assert_int_equal(play_thread(&p, 'A')->max_wait_ns, 77000);
	assert_int_equal(play_thread(&p, 'A')->yield_ns, 20000);
	play_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take_and_drop),
		cmocka_unit_test(test_forced_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

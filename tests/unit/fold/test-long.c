/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fold: which holds are too long for bytecode. */
#include "play.h"

static uint64_t long_waited_us(enum recording recording, const char *events)
{
	struct play p;
	uint64_t ns;

	PLAY(&p, recording, events);
	ns = play_thread(&p, 'A')->long_waited_ns;
	play_done(&p);
	return ns / 1000;
}

/* The waiter asked after 5 ms, and the holder went on for 15 ms. */
static void test_deaf_to_a_request(void **state)
{
	assert_int_equal(long_waited_us(OWN_WIDE,
				 "0 in A; 0 acquire A; 100 want B; 110 out B S; 5100 in B;"
				 "5101 want B; 5102 out B S; 20200 release A; 20201 wake B A;"
				 "20202 in B; 20210 acquire B; 20300 exit A; 20300 exit B"),
		20100);
}

static void test_gives_way(void **state)
{
	assert_int_equal(long_waited_us(OWN_WIDE,
				 "0 in A; 0 acquire A; 90000 want B; 90010 out B S; 95100 in B;"
				 "95101 want B; 95102 out B S; 95200 release A; 95201 wake B A;"
				 "95202 in B; 95210 acquire B; 95300 exit A; 95300 exit B"),
		0);
}

/* Asked in time, but then the holder had no CPU: the machine's fault. */
static void test_holder_without_a_cpu(void **state)
{
	assert_int_equal(long_waited_us(OWN_WIDE,
				 "0 in A; 0 acquire A; 100 want B; 110 out B S; 5100 in B;"
				 "5101 want B; 5102 out B S; 6000 out A R+; 40000 in A;"
				 "40200 release A; 40201 wake B A; 40202 in B; 40210 acquire B;"
				 "40300 exit A; 40300 exit B"),
		0);
}

/* The waiter had no CPU to ask with. */
static void test_waiter_without_a_cpu(void **state)
{
	assert_int_equal(long_waited_us(OWN_WIDE,
				 "0 in A; 0 acquire A; 100 want B; 110 out B S; 5100 wake B;"
				 "50000 in B; 50001 want B; 50002 out B S; 50010 release A;"
				 "50011 wake B A; 50012 in B; 50020 acquire B; 50300 exit A;"
				 "50300 exit B"),
		0);
}

/* A want that follows a switch asks nobody: take_gil starts a new interval. */
static void test_lost_the_race(void **state)
{
	assert_int_equal(long_waited_us(OWN_WIDE,
				 "0 in C; 0 acquire C; 100 want B; 110 out B S; 1000 release C;"
				 "1001 wake B C; 1002 in A; 1002 acquire A; 1010 in B;"
				 "1011 want B; 1012 out B S; 15000 release A; 15001 wake B A;"
				 "15002 in B; 15010 acquire B; 15300 exit A; 15300 exit B"),
		0);
}

/* Other recordings do not show requests: only length tells. */
static void test_other_recordings(void **state)
{
	assert_int_equal(long_waited_us(PERF_WIDE,
				 "0 in A; 0 acquire A; 100 want B; 110 out B S; 25000 release A;"
				 "25001 wake B A; 25002 in B; 25010 acquire B; 25300 exit A;"
				 "25300 exit B"),
		0);
	assert_int_equal(long_waited_us(PERF_WIDE,
				 "0 in A; 0 acquire A; 100 want B; 110 out B S; 35000 release A;"
				 "35001 wake B A; 35002 in B; 35010 acquire B; 35300 exit A;"
				 "35300 exit B"),
		34900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deaf_to_a_request),
		cmocka_unit_test(test_gives_way),
		cmocka_unit_test(test_holder_without_a_cpu),
		cmocka_unit_test(test_waiter_without_a_cpu),
		cmocka_unit_test(test_lost_the_race),
		cmocka_unit_test(test_other_recordings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

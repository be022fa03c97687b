/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every unit test includes: cmocka with the headers that it wants before it. */
#ifndef GILPROBE_TESTS_LIB_TEST_H
#define GILPROBE_TESTS_LIB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)

#endif

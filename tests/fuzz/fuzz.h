/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzz target is one function over bytes. It is linked with libFuzzer (clang) for finding, and
 * with replay.c for running the kept corpus under any compiler's sanitizers.
 */
#ifndef GILPROBE_TESTS_FUZZ_H
#define GILPROBE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Out of memory at a chosen allocation: the linker routes malloc & Co. of our own code through
 * here (nomem_dep).
 */
#ifndef GILPROBE_TESTS_LIB_NOMEM_H
#define GILPROBE_TESTS_LIB_NOMEM_H

extern long nomem_left; /* allocations until one fails; negative: none does */

#endif

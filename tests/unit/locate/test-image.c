/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of locate_binary over libraries built in the forms that interpreters come in, and over
 * cut, patched and damaged copies of them in blocks of exactly their size.
 */
#include "locate/locate.h"
#include "symtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

enum { PLAIN, SYSV, WRAPPED, STATIC, EXECUTABLE, HIDDEN, NO_PLT, FORMS };

static const char *paths[FORMS]; /* from the command line; NULL: not built here */

static const struct locate_site *site_of(const struct locate_binary *binary, enum locate_kind kind)
{
	for (size_t i = 0; i < binary->n_sites; i++)
		if (binary->sites[i].kind == kind)
			return &binary->sites[i];
	return NULL;
}

static size_t count(const struct locate_binary *binary, enum locate_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < binary->n_sites; i++)
		n += binary->sites[i].kind == kind;
	return n;
}

static int64_t usual_delta(const struct locate_binary *binary)
{
	return binary->machine == EM_AARCH64 ? 96 : 88;
}

/* The compiler may have made a copy, take_gil.constprop.0. */
static void assert_in(const struct symtab *symtab, const struct locate_site *site, const char *name)
{
	assert_int_equal(strncmp(symtab_at(symtab, site->vaddr), name, strlen(name)), 0);
}

/* Two signals besides take_gil's: drop_gil's and the queue's; without a PLT one more. */
static void check_sites(const struct locate_binary *binary, struct symtab *symtab, int form)
{
	assert_int_equal(count(binary, LOCATE_ACQUIRE), 1);
	assert_int_equal(count(binary, LOCATE_TIMEDWAIT), 1);
	assert_int_equal(count(binary, LOCATE_SIGNAL), form == NO_PLT ? 3 : 2);
	assert_int_equal(count(binary, LOCATE_WAIT), 1);
	assert_in(symtab, site_of(binary, LOCATE_ACQUIRE), "take_gil");
	assert_in(symtab, site_of(binary, LOCATE_WAIT), "drop_gil");
	for (size_t i = 0; i < binary->n_sites; i++)
		assert_int_equal(
			binary->sites[i].offset, symtab_offset(symtab, binary->sites[i].vaddr));
}

static void check_form(int form, const char *version, const char *waiter)
{
	_cleanup_(cleanup_locate_binary) struct locate_binary *binary = NULL;
	_cleanup_(cleanup_symtab) struct symtab *symtab = NULL;
	struct err err = {0};
	int r;

	if (!paths[form])
		skip();
	symtab = symtab_read(paths[form]);
	assert_non_null(symtab);
	r = locate_binary(paths[form], &binary, &err);
	if (r)
		print_message("%s\n", err.text);
	assert_int_equal(r, 0);
	check_sites(binary, symtab, form);
	assert_in(symtab, site_of(binary, LOCATE_TIMEDWAIT), waiter);
	assert_string_equal(binary->version, version);
	assert_int_equal(site_of(binary, LOCATE_ACQUIRE)->slow, form == NO_PLT);
	if (form == STATIC)
		assert_int_equal(
			binary->switch_delta, (int64_t)(symtab_find(symtab, "switch_cond") -
							symtab_find(symtab, "gil_cond")));
	else
		assert_int_equal(binary->switch_delta, usual_delta(binary));
}

static void test_plain(void **state)
{
	check_form(PLAIN, "3.12.1", "take_gil");
}

static void test_sysv_hash(void **state)
{
	check_form(SYSV, "3.12.1", "take_gil");
}

static void test_not_inlined(void **state)
{
	check_form(WRAPPED, "3.12.1", "timed_wait");
}

static void test_separate_variables(void **state)
{
	check_form(STATIC, "3.6.15", "take_gil");
}

static void test_executable(void **state)
{
	check_form(EXECUTABLE, "3.12.1", "take_gil");
}

/* Nothing exported: only the texts of the fatal errors say what it is. */
static void test_hidden(void **state)
{
	check_form(HIDDEN, "", "take_gil");
}

static void test_no_plt(void **state)
{
	check_form(NO_PLT, "3.12.1", "take_gil");
}

/* The bytes of the plain form. */
static uint8_t *load(size_t *ret_size)
{
	FILE *f = fopen(paths[PLAIN], "r");
	uint8_t *bytes;
	long size;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	rewind(f);
	bytes = malloc((size_t)size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)size, f), size);
	fclose(f);
	*ret_size = (size_t)size;
	return bytes;
}

/* Reads a copy in a block of its exact size, so that a sanitizer sees every byte too far. */
static int read_copy(const uint8_t *bytes, size_t size, struct locate_binary **ret, struct err *err)
{
	uint8_t *copy = malloc(size ? size : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	r = locate_binary_memory(copy, size, ret, err);
	free(copy);
	return r;
}

static void test_no_sections(void **state)
{
	_cleanup_(cleanup_locate_binary) struct locate_binary *binary = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;
	Elf64_Ehdr *ehdr;

	bytes = load(&size);
	ehdr = (Elf64_Ehdr *)bytes;
	/* strip also cuts them off */
	if (ehdr->e_shoff < size)
		size = ehdr->e_shoff;
	ehdr->e_shoff = 0;
	ehdr->e_shnum = 0;
	ehdr->e_shstrndx = 0;
	assert_int_equal(read_copy(bytes, size, &binary, NULL), 0);
	assert_int_equal(count(binary, LOCATE_ACQUIRE), 1);
	assert_int_equal(count(binary, LOCATE_SIGNAL), 2);
}

/* Bytes in mid-instruction that look exactly like a call are no site. */
static void test_false_call(void **state)
{
	static const uint8_t constant[8] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
	_cleanup_(cleanup_locate_binary) struct locate_binary *before = NULL, *after = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	const struct locate_site *site;
	int32_t distance;
	uint8_t *fake;
	size_t size;

	bytes = load(&size);
	assert_int_equal(read_copy(bytes, size, &before, NULL), 0);
	if (before->machine != EM_X86_64)
		skip();
	site = site_of(before, LOCATE_ACQUIRE);
	fake = memmem(bytes, size, constant, sizeof(constant));
	assert_non_null(fake);
	memcpy(&distance, bytes + site->offset + 1, sizeof(distance));
	/* both lie in the code's segment: addresses differ as offsets do */
	distance += (int32_t)((int64_t)site->offset - (fake - bytes));
	fake[0] = 0xe8;
	memcpy(fake + 1, &distance, sizeof(distance));
	assert_int_equal(read_copy(bytes, size, &after, NULL), 0);
	assert_int_equal(after->n_sites, before->n_sites);
}

static void expect(const uint8_t *bytes, size_t size, int code, const char *words)
{
	struct locate_binary *binary = NULL;
	struct err err = {0};

	assert_int_equal(read_copy(bytes, size, &binary, &err), code);
	assert_null(binary);
	assert_non_null(strstr(err.text, words));
}

static void test_other_files(void **state)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;
	Elf64_Ehdr *ehdr;

	bytes = load(&size);
	ehdr = (Elf64_Ehdr *)bytes;
	expect(bytes, 0, -EBADMSG, "not an ELF file");
	expect((const uint8_t *)"#!/bin/sh\n", 10, -EBADMSG, "not an ELF file");
	expect(bytes, 20, -EBADMSG, "");
	expect(bytes, size / 2, -EBADMSG, "cut short");
	ehdr->e_ident[EI_CLASS] = ELFCLASS32;
	expect(bytes, size, -EOPNOTSUPP, "64-bit");
	ehdr->e_ident[EI_CLASS] = ELFCLASS64;
	ehdr->e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	expect(bytes, size, -EOPNOTSUPP, "byte order");
	ehdr->e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	ehdr->e_machine = EM_S390;
	expect(bytes, size, -EOPNOTSUPP, "another machine");
}

/* Any length: an answer, never a crash. */
static void test_truncated(void **state)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;

	bytes = load(&size);
	for (size_t n = 0; n < size; n += n < 2048 ? 1 : 61) {
		struct locate_binary *binary = NULL;
		struct err err = {0};
		int r = read_copy(bytes, n, &binary, &err);

		assert_true(r <= 0);
		assert_true(r == 0 || err.text[0]);
		locate_binary_free(binary);
	}
}

/* A small generator with a fixed start, so that a failure repeats. */
static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void test_damaged(void **state)
{
	static const uint8_t nasty[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
	_cleanup_free_ uint8_t *bytes = NULL, *damaged = NULL;
	uint32_t random = 12345;
	size_t size;

	bytes = load(&size);
	damaged = malloc(size);
	assert_non_null(damaged);
	for (unsigned int round = 0; round < 3000; round++) {
		struct locate_binary *binary = NULL;
		/* the headers and tables stand in front; damage there says most */
		size_t reach = round % 3 ? 4096 : size;

		memcpy(damaged, bytes, size);
		for (unsigned int i = 0; i < 1 + round % 7; i++)
			damaged[next_random(&random) % (reach < size ? reach : size)] =
				nasty[next_random(&random) % sizeof(nasty)];
		read_copy(damaged, size, &binary, NULL);
		locate_binary_free(binary);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_sysv_hash),
		cmocka_unit_test(test_not_inlined),
		cmocka_unit_test(test_separate_variables),
		cmocka_unit_test(test_executable),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_no_plt),
		cmocka_unit_test(test_no_sections),
		cmocka_unit_test(test_false_call),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_damaged),
	};

	for (int i = 0; i < FORMS && i + 1 < argc; i++)
		paths[i] = argv[i + 1];
	return cmocka_run_group_tests_name("locate/image", tests, NULL, NULL);
}

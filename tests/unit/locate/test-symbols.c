/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of the sites of real interpreters against their symbols, for those that have .symtab.
 */
#include "locate/locate.h"
#include "pythons.h"
#include "symtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Symbols of copies too: take_gil.constprop.0, take_gil.cold, drop_gil_impl. */
static void check_site(
	const struct locate_site *site, const char *name, size_t *n_take, size_t *n_drop)
{
	if (begins(name, "take_gil")) {
		assert_true(site->kind == LOCATE_ACQUIRE || site->kind == LOCATE_TIMEDWAIT);
		*n_take += 1;
	} else if (begins(name, "drop_gil")) {
		assert_true(site->kind == LOCATE_SIGNAL || site->kind == LOCATE_WAIT);
		*n_drop += 1;
	} else if (site->kind == LOCATE_TIMEDWAIT) {
		/* a build without inlining waits in a function of its own */
		assert_true(begins(name, "PyCOND_TIMEDWAIT") || !begins(name, "Py"));
	}
}

static void check_binary(const struct locate_binary *binary, const struct symtab *symtab)
{
	size_t n_take = 0, n_drop = 0;

	for (size_t i = 0; i < binary->n_sites; i++) {
		const struct locate_site *site = &binary->sites[i];

		check_site(site, symtab_at(symtab, site->vaddr), &n_take, &n_drop);
		assert_int_equal(site->offset, symtab_offset(symtab, site->vaddr));
	}
	/* a function that was inlined everywhere has no symbol */
	if (symtab_find(symtab, "take_gil"))
		assert_true(n_take >= 2);
	if (symtab_find(symtab, "drop_gil"))
		assert_true(n_drop >= 1);
}

static void test_symbols(void **state)
{
	static struct python pythons[PYTHONS_MAX];
	size_t n = pythons_find(pythons), checked = 0;

	for (size_t i = 0; i < n; i++) {
		_cleanup_(cleanup_locate_binary) struct locate_binary *binary = NULL;
		_cleanup_(cleanup_symtab) struct symtab *symtab = symtab_read(pythons[i].binary);

		if (!symtab || pythons[i].version[0] == '2')
			continue;
		assert_int_equal(locate_binary(pythons[i].binary, &binary, NULL), 0);
		check_binary(binary, symtab);
		checked++;
	}
	if (!checked)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_symbols)};

	return cmocka_run_group_tests_name("locate/symbols", tests, NULL, NULL);
}

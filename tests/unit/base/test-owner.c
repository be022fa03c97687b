/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/owner.h"

#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static bool behind(const char *uid, const char *gid, struct owner *owner)
{
	setenv("SUDO_UID", uid, 1);
	setenv("SUDO_GID", gid, 1);
	return owner_behind_sudo(owner);
}

static void only_root_behind_sudo_has_an_owner(void **state)
{
	struct owner owner = {0};

	if (geteuid() != 0) {
		assert_false(behind("1000", "1000", &owner));
		return;
	}
	assert_true(behind("1000", "1001", &owner));
	assert_int_equal(owner.uid, 1000);
	assert_int_equal(owner.gid, 1001);
	assert_false(behind("0", "0", &owner));
	assert_false(behind("-1", "1", &owner));
	assert_false(behind("4294967295", "1", &owner)); /* (uid_t)-1 means "leave it" to chown */
	assert_false(behind("1000x", "1", &owner));
	unsetenv("SUDO_UID");
	assert_false(owner_behind_sudo(&owner));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(only_root_behind_sudo_has_an_owner)};
	return RUN_TESTS(tests);
}

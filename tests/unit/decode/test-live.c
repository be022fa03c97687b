/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder built like tracefs's events.
 */
#include "decode/live.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static void add(const char *top, const char *group, const char *event, const char *id)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", top, group);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", top, group, event);
	assert_int_equal(mkdir(path, 0700), 0);
	if (!id)
		return;
	snprintf(path, sizeof(path), "%s/%s/%s/id", top, group, event);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, id, strlen(id)), strlen(id));
	close(fd);
}

static void names_tell_the_function(void **state)
{
	char top[] = "/tmp/gilprobe-live-XXXXXX", command[64];
	struct map probes = {0};

	assert_non_null(mkdtemp(top));
	add(top, "python", "take_gil", "2339\n");
	add(top, "python", "drop_gil__return", "2342\n");
	add(top, "python", "take_gil_1", "nonsense\n");
	add(top, "python", "drop_gil_1", NULL);
	add(top, "sched", "sched_switch", "372\n");
	assert_int_equal(live_probes(top, &probes), 0);
	assert_int_equal(probes.n, 2);
	assert_int_equal(*map_get(&probes, 2339), 1);
	assert_int_equal(*map_get(&probes, 2342), 0);
	map_done(&probes);
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

static void without_tracefs_nothing_is_known(void **state)
{
	struct map probes = {0};

	assert_int_equal(live_probes("/nonexistent", &probes), 0);
	assert_int_equal(probes.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_the_function),
		cmocka_unit_test(without_tracefs_nothing_is_known),
	};
	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test help: recording python3 and reading the result back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording.h"

#include "perfdata/perfdata.h"
#include "record/tracing.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/gilprobe-test-XXXXXX";

void recording_needs_root(void)
{
	struct err err = {0};
	const char *ci = getenv("CI");

	if (geteuid() == 0 && tracing_ready(&err) >= 0)
		return;
	fprintf(stderr, "needs root and tracefs: %s\n", err.text);
	exit(ci && !strcmp(ci, "true") ? 1 : 77);
}

void recording_enter(void)
{
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
}

void recording_leave(void)
{
	char command[128];

	assert_int_equal(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0);
}

void recording_init(struct recording *recording, const char *script)
{
	*recording = (struct recording){
		.options = {.output = "x.data"},
		.argv = {(char *)"python3", (char *)"-c", (char *)script},
	};
	recording->options.argv = recording->argv;
}

int recording_run(struct recording *recording)
{
	_cleanup_(cleanup_locate_target) struct locate_target *target = NULL;
	char *python[] = {(char *)"python3", NULL};
	struct locate_binary none = {.path = (char *)"/proc/self/exe"}, *binaries[] = {&none};
	struct locate_target other = {.binaries = binaries, .n_binaries = 1};
	int r = locate_command(python, NULL, &target, &recording->err);
	struct stat st;
	char *late;

	assert_int_equal(stat(none.path, &st), 0);
	none.dev = st.st_dev;
	none.ino = st.st_ino;

	if (r < 0)
		fail_msg("%s", recording->err.text);
	assert_true(target->n_binaries > 0);
	recording->options.target = target;
	/* not a shim that would run a shell or two first */
	if (!strcmp(recording->argv[0], "python3") && target->interpreter)
		recording->argv[0] = target->interpreter;
	if (recording->unforeseen)
		recording->options.target = &other;
	r = record_run(&recording->options, &recording->result, &recording->err);
	late = steal_ptr(recording->result.late_path);
	record_settle(&recording->result);
	recording->result.late_path = late;
	return r;
}

static void count_sample(
	struct perfdata *pd, const struct perfdata_record *record, struct contents *c)
{
	struct perfdata_sample sample;
	const char *name;
	bool acquire;

	assert_int_equal(perfdata_sample(pd, record, &sample), 1);
	c->samples++;
	name = sample.attr->name ? sample.attr->name : "";
	acquire = strstr(name, ":acquire");
	c->acquires += acquire;
	c->releases += strstr(name, ":signal") != NULL;
	c->switches += strstr(name, "sched_switch") != NULL;
	c->wakeups += strstr(name, "sched_wakeup") != NULL;
	for (unsigned i = 0; acquire && i < c->n_pids; i++)
		if (c->pids[i] == sample.pid)
			return;
	if (acquire && c->n_pids < 64)
		c->pids[c->n_pids++] = sample.pid;
}

static void count(struct perfdata *pd, const struct perfdata_record *record, struct contents *c)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		count_sample(pd, record, c);
		break;
	case PERF_RECORD_FORK:
		c->forks++;
		break;
	case PERF_RECORD_EXIT:
		c->exits++;
		break;
	case PERF_RECORD_MMAP2:
		c->maps++;
		break;
	case PERF_RECORD_COMM:
		c->execs += record->misc & PERF_RECORD_MISC_COMM_EXEC ? 1 : 0;
		break;
	case 68:
		c->rounds++;
		break;
	}
}

struct contents recording_read(const char *path)
{
	_cleanup_(cleanup_perfdata) struct perfdata *pd = NULL;
	struct contents c = {0};
	struct perfdata_record record;
	struct err err = {0};
	int r = perfdata_open(path, &pd, &err);

	while (r >= 0 && (r = perfdata_next(pd, &record, &err)) > 0)
		count(pd, &record, &c);
	if (r < 0)
		fail_msg("%s: %s", path, err.text);
	c.unfinished = perfdata_info(pd)->unfinished;
	return c;
}

bool recording_has_group(int pid)
{
	char name[64];

	snprintf(name, sizeof(name), "gilprobe_%d", pid);
	return tracing_has_group(name);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two recordings of one run: their events are one stream, and neither says more than it saw. */
#include "perfbuild.h"
#include "pipeline/pipeline.h"

#include <errno.h>
#include <string.h>

#include "test.h"

#define US 1000
#define PID 100
#define TID 101

struct run {
	struct perfbuild *gil, *sched;
	struct pipeline *pipeline;
	const struct fold_result *result;
	struct err err;
};

static void run_init(struct run *run, unsigned gil_flags, unsigned sched_flags)
{
	*run = (struct run){.gil = perfbuild_new(gil_flags), .sched = perfbuild_new(sched_flags)};
	perfbuild_thread(run->gil, PID, TID, 0);
	perfbuild_thread(run->sched, PID, TID, 0);
}

static void add(struct run *run, struct perfbuild *b)
{
	struct perfdata *pd;
	size_t size;
	const uint8_t *bytes = perfbuild_bytes(b, &size);

	assert_int_equal(perfdata_open_memory(bytes, size, &pd, &run->err), 0);
	assert_int_equal(pipeline_add(run->pipeline, pd, "file", &run->err), 0);
}

static int run_finish(struct run *run)
{
	struct pipeline_options options = {.to_ns = UINT64_MAX};

	assert_int_equal(pipeline_new(&options, &run->pipeline, &run->err), 0);
	add(run, run->sched);
	add(run, run->gil);
	return pipeline_run(run->pipeline, &run->result, &run->err);
}

static void run_done(struct run *run)
{
	pipeline_free(run->pipeline);
	perfbuild_free(run->gil);
	perfbuild_free(run->sched);
}

static uint64_t state_us(const struct run *run, enum span_state state)
{
	return run->result->threads[0]->state_ns[state] / US;
}

static void hold(struct run *run, uint64_t from_us, uint64_t to_us)
{
	perfbuild_hit(run->gil, from_us * US, "python:take_gil", 0);
	perfbuild_hit(run->gil, from_us * US, "python:take_gil__return", 0);
	perfbuild_hit(run->gil, to_us * US, "python:drop_gil", 0);
	perfbuild_hit(run->gil, to_us * US, "python:drop_gil__return", 0);
}

/* Sleeps between holds, of which the scheduler's recorder saw the second only. */
static void what_one_recorder_did_not_see_is_unknown(void **state)
{
	struct run run;

	run_init(&run, PERFBUILD_PERF, PERFBUILD_PERF);
	hold(&run, 100, 110);
	hold(&run, 1000, 1010);
	perfbuild_switch(run.sched, 1020 * US, "S", 0);
	perfbuild_thread(run.sched, 0, 0, 0);
	perfbuild_switch(run.sched, 1990 * US, "R", TID);
	perfbuild_thread(run.sched, 0, 0, 1);
	perfbuild_switch(run.sched, 2005 * US, "R", 55);
	hold(&run, 2000, 2010);
	hold(&run, 3000, 3010);
	hold(&run, 4000, 4010);
	assert_int_equal(run_finish(&run), 0);
	assert_true(run.result->quality.cpu_known);
	assert_int_equal(state_us(&run, SPAN_HAS_GIL), 50);
	assert_int_equal(state_us(&run, SPAN_HAS_GIL_OFF_CPU), 0);
	assert_int_equal(state_us(&run, SPAN_BLOCKED), 970);
	assert_int_equal(state_us(&run, SPAN_NATIVE), 10);
	assert_int_equal(state_us(&run, SPAN_UNKNOWN), 2880);
	run_done(&run);
}

static void different_clocks_are_refused(void **state)
{
	struct run run;

	run_init(&run, PERFBUILD_PERF, PERFBUILD_PERF | PERFBUILD_NO_CLOCKID);
	hold(&run, 100, 110);
	perfbuild_switch(run.sched, 1020 * US, "S", 0);
	assert_int_equal(run_finish(&run), -EOPNOTSUPP);
	assert_non_null(strstr(run.err.text, "different clocks"));
	run_done(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_recorder_did_not_see_is_unknown),
		cmocka_unit_test(different_clocks_are_refused),
	};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What scale's verdict says of measured numbers and of evidence, without any measurement. */
#include "test.h"

#include "classify/scaling.h"

#include <string.h>

#define MS 1000000ull

/* A result with one run per mode, and room to change everything. */
struct bench {
	struct scale_result result;
	struct scale_phase phases[SCALE_MODES];
	struct scale_run runs[SCALE_MODES];
};

static void set_run(
	struct bench *b, enum scale_mode mode, unsigned workers, double wall_ms, double cpu_ms)
{
	size_t i = b->result.n_phases++;

	b->runs[i] = (struct scale_run){
		.end_ns = (uint64_t)(wall_ms * MS), .cpu_ns = (uint64_t)(cpu_ms * MS)};
	b->phases[i] = (struct scale_phase){
		.mode = mode, .workers = workers, .runs = &b->runs[i], .n_runs = 1};
}

/* Wall and CPU time of serial, threads and (not below 0) processes with @workers tasks each. */
static void set_bench(struct bench *b, unsigned workers, const double ms[6])
{
	*b = (struct bench){.result = {.phases = b->phases,
				    .facts = {.cpu_availability = 1, .gil_enabled_at_end = true}}};
	set_run(b, SCALE_SERIAL, workers, ms[0], ms[1]);
	set_run(b, SCALE_THREADS, workers, ms[2], ms[3]);
	if (ms[4] >= 0)
		set_run(b, SCALE_PROCESSES, workers, ms[4], ms[5]);
}

static void without_evidence_the_rules_of_the_reference_answer(void **state)
{
	static const struct {
		unsigned workers;
		double ms[6], available;
		enum gil_class class;
		enum confidence confidence;
		const char *label;
	} cases[] = {
		{4, {400, 4, 101, 4, 101, 4}, 1, CLASS_IO_BOUND, CONFIDENCE_HIGH,
			"I/O-bound: threads and asyncio scale (waiting, not computing)"},
		{4, {400, 4, 390, 4, 101, 4}, 1, CLASS_IO_BOUND, CONFIDENCE_MEDIUM,
			"I/O-bound but threads did not overlap the waits (shared lock or serial "
			"resource?)"},
		{2, {400, 200, 250, 200, 210, 200}, 1, CLASS_MIXED, CONFIDENCE_MEDIUM,
			"mixed I/O + CPU: threads overlap the waits, the CPU part still serialises "
			"on the GIL"},
		{2, {400, 200, 390, 200, 390, 200}, 1, CLASS_MIXED, CONFIDENCE_MEDIUM,
			"mixed I/O + CPU: no thread speedup"},
		{2, {400, 400, 205, 402, 205, 402}, 1, CLASS_RELEASES, CONFIDENCE_HIGH,
			"releases the GIL: CPU-bound and threads scale"},
		{2, {400, 400, 300, 500, 205, 402}, 1, CLASS_RELEASES, CONFIDENCE_MEDIUM,
			"releases the GIL: threads scale (limited by free cores)"},
		{2, {400, 400, 390, 750, 205, 402}, 1, CLASS_LOCK_CONTENTION, CONFIDENCE_MEDIUM,
			"CPU-bound, does not scale: threads keep cores busy without speedup (memory "
			"bandwidth, lock contention or false sharing)"},
		{2, {400, 400, 410, 410, 205, 402}, 1, CLASS_GIL_BOUND, CONFIDENCE_HIGH,
			"GIL-bound: scales with processes but not threads"},
		{2, {400, 400, 410, 410, 290, 402}, 1, CLASS_GIL_BOUND, CONFIDENCE_MEDIUM,
			"GIL-bound: scales with processes but not threads"},
		{2, {400, 400, 410, 410, -1, -1}, 1, CLASS_GIL_BOUND, CONFIDENCE_MEDIUM,
			"GIL-bound: threads run one at a time (processes not measured)"},
		{2, {400, 400, 410, 410, 395, 402}, 1, CLASS_GIL_BOUND, CONFIDENCE_LOW,
			"likely GIL-bound: threads never ran in parallel, but processes did not "
			"scale either, so the machine may be too busy to tell; re-run on an idle "
			"machine"},
		{2, {400, 400, 320, 410, 205, 402}, 1, CLASS_INCONCLUSIVE, CONFIDENCE_LOW,
			"inconclusive: threads ran partly in parallel; re-run with --repeat 5 on an "
			"idle machine"},
		/* half a CPU is all there is: the task is no mixture */
		{2, {800, 400, 820, 410, 610, 402}, 0.5, CLASS_GIL_BOUND, CONFIDENCE_MEDIUM,
			"GIL-bound: scales with processes but not threads"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b;
		struct scaling_verdict v;

		set_bench(&b, cases[i].workers, cases[i].ms);
		b.result.facts.cpu_availability = cases[i].available;
		scaling_classify(&b.result, &v);
		assert_string_equal(v.label, cases[i].label);
		assert_int_equal(v.verdict.class, cases[i].class);
		assert_int_equal(v.verdict.confidence, cases[i].confidence);
		assert_false(v.by_evidence);
	}
}

static void without_a_gil_nothing_is_bound_by_it(void **state)
{
	struct bench b;
	struct scaling_verdict v;

	set_bench(&b, 2, (double[]){400, 400, 410, 410, 205, 402});
	b.result.facts.gil_enabled_at_end = false;
	scaling_classify(&b.result, &v);
	assert_int_equal(v.verdict.class, CLASS_INCONCLUSIVE);
}

static void one_worker_tells_nothing(void **state)
{
	struct bench b;
	struct scaling_verdict v;

	set_bench(&b, 1, (double[]){400, 400, 400, 400, 400, 400});
	scaling_classify(&b.result, &v);
	assert_string_equal(v.label, "inconclusive: need --workers >= 2");
	assert_int_equal(v.verdict.class, CLASS_INCONCLUSIVE);
}

/* Milliseconds of each state, of one task alone and of all tasks among threads. */
struct time {
	unsigned held, asleep, held_no_cpu, waiting, native, runnable, blocked, by_sibling;
	unsigned wait_asleep, wait_no_cpu, long_waited, waits, takes;
};

static struct scale_evidence evidence_of(const struct time *t)
{
	return (struct scale_evidence){
		.known = true,
		.life_ns = (t->held + t->asleep + t->held_no_cpu + t->waiting + t->native +
				   t->runnable + t->blocked) *
			   MS,
		.held_ns = t->held * MS,
		.held_asleep_ns = t->asleep * MS,
		.held_no_cpu_ns = t->held_no_cpu * MS,
		.waiting_ns = t->waiting * MS,
		.native_ns = t->native * MS,
		.runnable_ns = t->runnable * MS,
		.blocked_ns = t->blocked * MS,
		.blocked_by_sibling_ns = t->by_sibling * MS,
		.wait_asleep_ns = t->wait_asleep * MS,
		.wait_holder_no_cpu_ns = t->wait_no_cpu * MS,
		.long_waited_ns = t->long_waited * MS,
		.waits = t->waits,
		.takes = t->takes,
	};
}

static const struct {
	struct time one, many;
	enum gil_class class;
	const char *label;
} evidence_cases[] = {
	{{.held = 400, .takes = 1}, {.held = 400, .waiting = 400, .waits = 40, .takes = 80},
		CLASS_GIL_BOUND, "GIL-bound: scales with processes but not threads"},
	/* the same with neighbours: runnable, preempted, waiting for a preempted holder */
	{{.held = 400, .held_no_cpu = 1500},
		{.held = 400,
			.held_no_cpu = 1500,
			.waiting = 1900,
			.wait_no_cpu = 1500,
			.runnable = 300,
			.waits = 40,
			.takes = 80},
		CLASS_GIL_BOUND, "GIL-bound: scales with processes but not threads"},
	{{.held = 400, .takes = 4},
		{.held = 400, .waiting = 390, .long_waited = 390, .waits = 4, .takes = 4},
		CLASS_LONG_C_CALL, "GIL-bound: scales with processes but not threads"},
	{{.asleep = 400, .held = 1},
		{.asleep = 400, .held = 1, .waiting = 400, .wait_asleep = 399, .waits = 4},
		CLASS_BLOCKING_CALL, "GIL-bound: scales with processes but not threads"},
	{{.held = 4, .native = 396, .takes = 400},
		{.held = 4, .native = 396, .waiting = 2, .takes = 400, .waits = 20}, CLASS_RELEASES,
		"releases the GIL: threads scale (limited by free cores)"},
	{{.held = 4, .native = 396, .runnable = 800},
		{.held = 4, .native = 396, .runnable = 2000, .takes = 400}, CLASS_RELEASES,
		"releases the GIL: threads scale (limited by free cores)"},
	{{.held = 100, .native = 300, .takes = 40000},
		{.held = 120, .native = 310, .waiting = 600, .takes = 40000, .waits = 30000},
		CLASS_DROPPED_TOO_OFTEN,
		"drops the GIL too often: handing it over costs more than the work between"},
	{{.held = 1, .blocked = 399}, {.held = 1, .blocked = 399}, CLASS_IO_BOUND,
		"I/O-bound: threads and asyncio scale (waiting, not computing)"},
	{{.held = 1, .blocked = 399}, {.held = 1, .blocked = 799, .by_sibling = 400},
		CLASS_LOCK_CONTENTION,
		"I/O-bound but threads did not overlap the waits (shared lock or serial "
		"resource?)"},
	{{.native = 399, .held = 1}, {.native = 399, .held = 1, .blocked = 399, .by_sibling = 390},
		CLASS_LOCK_CONTENTION,
		"CPU-bound, does not scale: threads keep cores busy without speedup (memory "
		"bandwidth, lock contention or false sharing)"},
	/* a mutex whose owner is preempted: not contended, the machine is busy */
	{{.held = 1, .native = 416, .runnable = 1442},
		{.held = 1, .native = 422, .runnable = 3742, .blocked = 142, .by_sibling = 142},
		CLASS_RELEASES, "releases the GIL: threads scale (limited by free cores)"},
	/* a contended one, on a busy machine */
	{{.held = 1, .native = 400, .runnable = 1600},
		{.held = 1, .native = 400, .runnable = 1600, .blocked = 2000, .by_sibling = 2000},
		CLASS_LOCK_CONTENTION,
		"CPU-bound, does not scale: threads keep cores busy without speedup (memory "
		"bandwidth, lock contention or false sharing)"},
	/* its own pool: sleeps that a sibling ends, alone as well */
	{{.held = 1, .blocked = 399, .by_sibling = 390},
		{.held = 1, .blocked = 399, .by_sibling = 390}, CLASS_IO_BOUND,
		"I/O-bound: threads and asyncio scale (waiting, not computing)"},
	{{.held = 200, .blocked = 200},
		{.held = 200, .blocked = 200, .waiting = 100, .waits = 20, .takes = 20},
		CLASS_MIXED,
		"mixed I/O + CPU: threads overlap the waits, the CPU part still serialises "
		"on the GIL"},
};

static void evidence_decides_whatever_the_clock_says(void **state)
{
	for (size_t i = 0; i < sizeof(evidence_cases) / sizeof(evidence_cases[0]); i++) {
		struct bench b;
		struct scaling_verdict v;

		/* the numbers of an idle sleeper: evidence must not look at them */
		set_bench(&b, 2, (double[]){400, 4, 390, 4, 210, 4});
		b.phases[SCALE_SERIAL].evidence = evidence_of(&evidence_cases[i].one);
		b.phases[SCALE_THREADS].evidence = evidence_of(&evidence_cases[i].many);
		scaling_classify(&b.result, &v);
		assert_string_equal(
			class_name(v.verdict.class), class_name(evidence_cases[i].class));
		assert_string_equal(v.label, evidence_cases[i].label);
		assert_true(v.by_evidence && v.verdict.reason[0] && v.verdict.n_advice);
	}
}

static void confidence_needs_time_and_distance(void **state)
{
	struct bench b;
	struct scaling_verdict v;

	set_bench(&b, 2, (double[]){400, 4, 390, 4, 210, 4});
	b.phases[SCALE_SERIAL].evidence = evidence_of(&(struct time){.held = 400});
	b.phases[SCALE_THREADS].evidence = evidence_of(&(struct time){.held = 400, .waiting = 400});
	scaling_classify(&b.result, &v);
	assert_int_equal(v.verdict.confidence, CONFIDENCE_HIGH);
	b.phases[SCALE_SERIAL].evidence = evidence_of(&(struct time){.held = 100});
	scaling_classify(&b.result, &v);
	assert_int_equal(v.verdict.confidence, CONFIDENCE_MEDIUM);
	b.phases[SCALE_SERIAL].evidence = evidence_of(&(struct time){.held = 10});
	scaling_classify(&b.result, &v);
	assert_int_equal(v.verdict.confidence, CONFIDENCE_LOW);
	assert_true(scaling_gil_share(&b.result) == 1);
}

/* Phases of threads with N workers, and the wall time of N tasks of 100 ms. */
static void set_curve(struct bench *b, const double speedups[3])
{
	static const unsigned workers[] = {1, 2, 4};

	*b = (struct bench){.result = {.phases = b->phases}};
	set_run(b, SCALE_SERIAL, 4, 400, 400);
	for (size_t i = 0; i < 3; i++)
		set_run(b, SCALE_THREADS, workers[i], 100 * workers[i] / speedups[i], 1);
}

static bool near(double a, double b)
{
	return a - b < 0.002 && b - a < 0.002;
}

static void fits_find_the_laws_they_were_made_from(void **state)
{
	struct bench b;
	struct scaling_fit fit;

	set_curve(&b, (double[]){1, 2, 4});
	assert_true(scaling_fit(&b.result, SCALE_THREADS, &fit));
	assert_true(near(fit.amdahl_serial_fraction, 0) && near(fit.usl_contention, 0));
	assert_int_equal(fit.best_workers, 4);

	set_curve(&b, (double[]){1, 1, 1});
	assert_true(scaling_fit(&b.result, SCALE_THREADS, &fit));
	assert_true(near(fit.amdahl_serial_fraction, 1) && near(fit.usl_contention, 1));
	assert_int_equal(fit.best_workers, 1);

	/* Amdahl with a quarter serial: 1 / (1/4 + 3/4 / N) */
	set_curve(&b, (double[]){1, 1.6, 4 / 1.75});
	assert_true(scaling_fit(&b.result, SCALE_THREADS, &fit));
	assert_true(near(fit.amdahl_serial_fraction, 0.25) && near(fit.usl_coherence, 0));

	/* USL with 0.1 and 0.1: 2 workers give 2 / 1.3, 4 give 4 / 2.5 */
	set_curve(&b, (double[]){1, 2 / 1.3, 4 / 2.5});
	assert_true(scaling_fit(&b.result, SCALE_THREADS, &fit));
	assert_true(near(fit.usl_contention, 0.1) && near(fit.usl_coherence, 0.1));
	assert_int_equal(fit.best_workers, 2);

	b.result.n_phases = 2; /* serial, and threads with 1 */
	assert_false(scaling_fit(&b.result, SCALE_THREADS, &fit));
	assert_false(scaling_fit(&b.result, SCALE_PROCESSES, &fit));
}

static void windows_are_laid_over_spans(void **state)
{
	struct bench b;
	struct scale_task tasks[2] = {{7, 8, 100, 200, 0}, {7, 9, 150, 250, 0}};
	struct fold_thread inside = {.tid = 8}, other = {.tid = 9}, foreign = {.tid = 10};
	_cleanup_(cleanup_scaling_evidence) struct scaling_evidence *e = NULL;
	struct fold_result fold = {.quality = {.runnable_known = true}};
	const struct scale_evidence *got;
	struct sink *sink;

	set_bench(&b, 2, (double[]){1, 1, 1, 1, -1, -1});
	b.runs[1].tasks = tasks;
	b.runs[1].n_tasks = 2;
	assert_int_equal(scaling_evidence_new(&b.result, &e), 0);
	sink = scaling_evidence_sink(e);
	/* half of it is inside, and so is half of what is known of it */
	sink->span(sink->user, &(struct span){&inside, SPAN_HAS_GIL_OFF_CPU, 50, 150, NULL, 40, 60},
		NULL);
	sink->span(
		sink->user, &(struct span){&inside, SPAN_BLOCKED, 150, 170, NULL, 20, 0, 20}, NULL);
	sink->span(sink->user, &(struct span){&inside, SPAN_HAS_GIL, 170, 500}, NULL);
	sink->span(sink->user, &(struct span){&other, SPAN_WAITING, 0, 160}, NULL);
	sink->span(sink->user, &(struct span){&foreign, SPAN_NATIVE, 0, 500}, NULL);
	sink->wait(sink->user,
		&(struct fold_wait){
			.thread = &other, .start_ns = 140, .end_ns = 160, .holder_blocked_ns = 20},
		NULL);
	sink->hold(sink->user,
		&(struct fold_hold){.thread = &inside,
			.start_ns = 170,
			.end_ns = 500,
			.others_waited_ns = 330,
			.deaf = true},
		NULL);
	sink->handoff(sink->user, &(struct fold_handoff){.to = &inside, .acquire_ns = 170}, NULL);
	sink->handoff(sink->user, &(struct fold_handoff){.to = &inside, .acquire_ns = 200}, NULL);
	sink->done(sink->user, &fold, NULL);
	scaling_evidence_take(e, &b.result);
	got = &b.phases[1].evidence;
	assert_true(got->known && !b.phases[0].evidence.known);
	assert_int_equal(got->life_ns, 110);
	assert_int_equal(got->held_asleep_ns, 20);
	assert_int_equal(got->held_no_cpu_ns, 30);
	assert_int_equal(got->blocked_by_sibling_ns, 20);
	assert_int_equal(got->held_ns, 30);
	assert_int_equal(got->waiting_ns, 10);
	assert_int_equal(got->wait_asleep_ns, 10);
	assert_int_equal(got->long_waited_ns, 30);
	assert_int_equal(got->max_hold_ns, 30);
	assert_int_equal(got->native_ns, 0);
	assert_int_equal(got->takes, 1);
	assert_int_equal(got->handoffs, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_evidence_the_rules_of_the_reference_answer),
		cmocka_unit_test(without_a_gil_nothing_is_bound_by_it),
		cmocka_unit_test(one_worker_tells_nothing),
		cmocka_unit_test(evidence_decides_whatever_the_clock_says),
		cmocka_unit_test(confidence_needs_time_and_distance),
		cmocka_unit_test(fits_find_the_laws_they_were_made_from),
		cmocka_unit_test(windows_are_laid_over_spans)};

	return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: one session. In: a command or a pid, and the interpreters it may use. Out: perf.data.
 *
 * Invariant: whatever happens, session_done removes the probes; when we are killed the janitor
 * does. The janitor is forked first, the workload second, and only then is anything opened that
 * neither may inherit.
 */
#include "record/session.h"

#include "perfdata/writer.h"
#include "record/explain.h"
#include "record/facts.h"
#include "record/sections.h"
#include "record/synth.h"
#include "record/tracing.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#define IDLE_MS 100 /* a round at least this often, so that a crash costs little */

#define EAGER_MS 5
#define EAGER_NS 20000000000ull /* then it is no slow start any more */
#define GAP_NS 1000000000ull	/* between searches of /proc while losses go on */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Buffers hold 35 ms of the densest stream measured: a recorder that waits its turn loses events,
 * and niceness counts little against other sessions' groups (sched_autogroup). The work is the
 * same, it is only done in time.
 */
static void hurry(struct session *s)
{
	const struct sched_param first = {.sched_priority = 1};

	s->hurried = sched_getscheduler(0) == SCHED_OTHER &&
		     sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first) == 0;
}

/* @ret NULL: the probes are removed when it returns. */
static void session_done(struct session *s, struct record_removal **ret)
{
	if (s->hurried)
		sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
	launch_end(&s->launch);
	perfdata_writer_free(s->writer);
	output_done(&s->output);
	rounds_done(&s->rounds);
	free(s->late_path);
	filter_done(&s->filter);
	if (ret)
		*ret = removal_start(&s->made);
	else
		removal_run(&s->made);
	control_done(&s->control);
}

static pid_t target_of(const struct session *s)
{
	return s->options->argv ? s->launch.pid : s->options->pid;
}

/* What the filter needs: ids, and which interpreters have their probes. */
static int know_events(struct session *s)
{
	const struct locate_target *target = s->options->target;
	int r = filter_add(&s->filter, s->made.events);

	for (size_t i = 0; r >= 0 && i < target->n_binaries; i++)
		r = filter_know(&s->filter, major(target->binaries[i]->dev),
			minor(target->binaries[i]->dev), target->binaries[i]->ino);
	return r;
}

/* Probes defined, events open but disabled, the workload held. */
static int prepare(struct session *s, struct err *err)
{
	const struct record_options *o = s->options;
	struct facts facts;
	int r = tracing_ready(err);

	if (r < 0)
		return r;
	probes_delete_stale();
	r = control_init(&s->control, err);
	if (r >= 0)
		r = probes_name(&s->made.probes, err);
	if (r >= 0)
		r = janitor_start(&s->made.janitor, s->made.probes.group, err);
	if (r >= 0 && o->argv)
		r = launch_fork(&s->launch, o, &s->control.old_mask, &s->made.janitor, err);
	if (r >= 0)
		r = probes_define(&s->made.probes, o->target->binaries, o->target->n_binaries, err);
	if (r >= 0 && o->mark)
		r = probes_define_mark(&s->made.probes, o->mark, err);
	s->made.n_events = 1;
	if (r >= 0)
		r = events_open(s->made.events, &s->made.probes, o->buffer_bytes, err);
	if (r >= 0)
		r = control_watch(&s->control, target_of(s), o->argv, s->made.events[0].fds,
			s->made.events[0].n_fds, err);
	if (r >= 0 && know_events(s) < 0)
		r = err_nomem(err);
	facts_read(&facts);
	s->filter.translate = !facts.init_pid_namespace;
	return r;
}

/* The formats of all events so far. */
static int formats(const struct session *s, struct out **ret, struct err *err)
{
	_cleanup_free_ struct tracing_event *tracepoints = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->made.n_events; i++)
		n += s->made.events[i].n;
	tracepoints = calloc(n, sizeof(*tracepoints));
	if (!tracepoints)
		return err_nomem(err);
	n = 0;
	for (size_t i = 0; i < s->made.n_events; i++)
		for (size_t k = 0; k < s->made.events[i].n; k++) {
			const struct source *source = &s->made.events[i].items[k];

			if (source->group[0])
				tracepoints[n++] =
					(struct tracing_event){source->group, source->name};
		}
	return tracing_data(tracepoints, n, ret, err);
}

int session_describe(struct session *s, const struct events *events, struct err *err)
{
	_cleanup_(cleanup_out) struct out *out = NULL;
	const char *bytes;
	size_t size;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < events->n; i++) {
		const struct source *source = &events->items[i];
		char name[160];

		snprintf(name, sizeof(name), "%s%s%s", source->group, source->group[0] ? ":" : "",
			source->name);
		r = perfdata_writer_add_attr(
			s->writer, events_attr(source), name, source->ids, events->n_cpus, err);
	}
	if (r >= 0)
		r = formats(s, &out, err);
	if (r < 0)
		return r;
	bytes = out_memory_bytes(out, &size);
	return events == s->made.events ? perfdata_writer_begin(s->writer, bytes, size, err)
					: perfdata_writer_tracing_data(s->writer, bytes, size, err);
}

static int open_output(struct session *s, struct err *err)
{
	int fd = output_open(&s->output, s->options->output, err);
	int r;

	if (fd < 0)
		return fd;
	r = perfdata_writer_new(fd, s->options->output, &s->writer, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	s->rounds =
		(struct rounds){s->made.events, s->made.n_events, &s->filter, s->writer, {0}, {0}};
	return session_describe(s, s->made.events, err);
}

static struct synth synth_for(struct session *s, uint64_t time_ns)
{
	return (struct synth){
		&s->filter.tree, s->writer, s->made.events[0].items[0].ids[0], time_ns};
}

/* From here on events are recorded, and the workload may run. */
static int start(struct session *s, struct err *err)
{
	const struct record_options *o = s->options;
	struct synth synth;
	int r;

	if (o->started)
		o->started(o->user, o);
	hurry(s);
	s->start_ns = now_ns(CLOCK_MONOTONIC);
	synth = synth_for(s, s->start_ns);
	events_enable(s->made.events);
	r = o->argv ? synth_child(&synth, s->launch.pid, err) : synth_tree(&synth, o->pid, err);
	if (r >= 0 && o->argv)
		launch_go(&s->launch);
	return r;
}

/*
 * How long control_wait may sleep. While no GIL was seen the program may be about to start an
 * interpreter that has no probes yet, and each millisecond is one that is not recorded.
 */
static int timeout_ms(const struct session *s, uint64_t now_ns, uint64_t end_ns)
{
	int timeout = !s->filter.gil_seen && now_ns - s->start_ns < EAGER_NS ? EAGER_MS : IDLE_MS;

	if (end_ns && (end_ns - now_ns) / 1000000 < (uint64_t)timeout)
		timeout = (int)((end_ns - now_ns) / 1000000) + 1;
	return timeout;
}

static int probe_strangers(struct session *s, struct err *err)
{
	pid_t pid;
	int r = 0;

	while (r >= 0 && (pid = filter_next_stranger(&s->filter)))
		r = session_probe_late(s, pid, err);
	return r;
}

/* A lost FORK would hide a thread, or a process with all its children. */
static int close_gap(struct session *s, uint64_t now_ns, struct err *err)
{
	struct synth synth = synth_for(s, now_ns);

	if (!s->filter.gap || now_ns - s->gap_ns < GAP_NS)
		return 0;
	s->filter.gap = false;
	s->gap_ns = now_ns;
	return synth_missing(&synth, err);
}

static int run(struct session *s, struct record_result *ret, struct err *err)
{
	uint64_t end_ns = s->options->duration_ns ? s->start_ns + s->options->duration_ns : 0;
	int r = 0;

	while (r >= 0 && !s->control.stop) {
		uint64_t now = now_ns(CLOCK_MONOTONIC);

		if (end_ns && now >= end_ns)
			break;
		control_wait(&s->control, timeout_ms(s, now, end_ns));
		if (s->options->argv) {
			r = launch_check(&s->launch, s->options->argv[0], err);
			ret->exec_failed = r < 0;
		}
		if (r >= 0)
			r = rounds_turn(&s->rounds, err);
		if (r >= 0)
			r = close_gap(s, now, err);
		if (r >= 0)
			r = probe_strangers(s, err);
	}
	for (size_t i = 0; i < s->made.n_events; i++)
		events_disable(&s->made.events[i]);
	s->end_ns = now_ns(CLOCK_MONOTONIC);
	return r < 0 ? r : rounds_finish(&s->rounds, err);
}

static int finish(struct session *s, struct err *err)
{
	const struct record_options *o = s->options;
	int r = sections_write(s->writer, o->argv, o->pid, o->target, err);

	if (r < 0)
		return r;
	if (s->filter.samples)
		perfdata_writer_sample_time(s->writer, s->filter.first_ns, s->filter.last_ns);
	return perfdata_writer_finish(s->writer, err);
}

static uint64_t cpu_time_ns(void)
{
	return now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void collect(struct session *s, struct record_result *ret)
{
	int status;

	ret->interrupted = s->control.requests > 0;
	ret->events = s->filter.samples;
	ret->lost = s->filter.lost;
	ret->late_path = steal_ptr(s->late_path);
	ret->bytes = perfdata_writer_bytes(s->writer);
	ret->duration_ns = s->end_ns - s->start_ns;
	if (!s->options->argv)
		return;
	ret->launched = true;
	ret->run_as_user = s->launch.as_user;
	ret->uid = s->launch.uid;
	if (!s->control.target_ended) {
		ret->timed_out = true;
		launch_end(&s->launch);
		return;
	}
	status = launch_wait(&s->launch);
	ret->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int record_run(const struct record_options *options, struct record_result *ret, struct err *err)
{
	struct session s = {
		.options = options,
		.control = CONTROL_NONE,
		.made = {.janitor = JANITOR_NONE},
		.launch = LAUNCH_NONE,
	};
	uint64_t cpu_ns = cpu_time_ns();
	int r;

	*ret = (struct record_result){0};
	if (!options->target->n_binaries)
		return err_set(err, -ENODEV, "no interpreter to probe");
	r = prepare(&s, err);
	if (r >= 0)
		r = open_output(&s, err);
	if (r >= 0)
		r = start(&s, err);
	if (r >= 0)
		r = run(&s, ret, err);
	if (r >= 0)
		r = finish(&s, err);
	if (r >= 0)
		collect(&s, ret);
	else
		output_undo(&s.output);
	session_done(&s, r >= 0 ? &ret->removal : NULL);
	ret->cpu_ns = cpu_time_ns() - cpu_ns;
	return r < 0 ? r : 0;
}

void record_settle(struct record_result *result)
{
	removal_wait(result->removal);
	free(result->late_path);
	result->removal = NULL;
	result->late_path = NULL;
}

int record_clean_stale(void)
{
	struct err ignored = {0};

	return tracing_ready(&ignored) < 0 ? 0 : probes_delete_stale();
}

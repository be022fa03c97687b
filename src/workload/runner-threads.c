/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runner: the modes inside one process: serial, threads, sub-interpreters with their own GIL.
 *
 * A gang is N threads that are ready before the clock starts, run the task once per go, and leave
 * one after the other. The main thread never holds the GIL while they run.
 */
#include "workload/runner.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Source: Include/cpython/pylifecycle.h of CPython 3.12; the same in 3.13 and 3.14. */
struct interpreter_config {
	int use_main_obmalloc, allow_fork, allow_exec, allow_threads, allow_daemon_threads;
	int check_multi_interp_extensions, gil;
};
struct interpreter_status {
	int type;
	const char *func, *err_msg;
	int exitcode;
};
typedef struct interpreter_status (*new_interpreter)(
	PyThreadState **, const struct interpreter_config *);
#define OWN_GIL 2

struct lane {
	struct gang *gang;
	pthread_t thread;
	unsigned index;
	bool leave; /* under the gang's lock */
	bool failed;
	struct scale_task timing;
	char error[RUNNER_ERROR];
};

struct gang {
	struct runner *runner;
	struct task *task;	    /* threads: the main interpreter's */
	new_interpreter new_interp; /* sub-interpreters */
	pthread_mutex_t lock;
	pthread_cond_t all_ready, changed; /* told to the main thread; to the lanes */
	unsigned ready, wanted;		   /* lanes that wait for a go */
	unsigned go;			   /* runs started so far */
	struct lane *lanes;
	unsigned n, started;
};

/* Waits for the next go; false: leave. Called without the GIL. */
static bool lane_wait(struct lane *lane, unsigned *runs)
{
	struct gang *gang = lane->gang;
	bool leave;

	pthread_mutex_lock(&gang->lock);
	if (++gang->ready >= gang->wanted)
		pthread_cond_signal(&gang->all_ready);
	while (!lane->leave && gang->go == *runs)
		pthread_cond_wait(&gang->changed, &gang->lock);
	*runs = gang->go;
	leave = lane->leave;
	pthread_mutex_unlock(&gang->lock);
	return !leave;
}

static void lane_serve(struct lane *lane, struct task *task)
{
	unsigned runs = 0;

	for (;;) {
		PyThreadState *state = PyEval_SaveThread();
		bool go = lane_wait(lane, &runs);
		uint64_t start_ns = runner_now();

		PyEval_RestoreThread(state);
		if (!go)
			return;
		if (!lane->failed && task_run(task, start_ns, &lane->timing, lane->error) < 0)
			lane->failed = true;
	}
}

static void lane_interpreter(struct lane *lane)
{
	/* what Python itself calls an isolated interpreter */
	const struct interpreter_config config = {
		.allow_threads = 1, .check_multi_interp_extensions = 1, .gil = OWN_GIL};
	PyThreadState *outer = PyThreadState_Get(), *inner = NULL;
	struct interpreter_status status = lane->gang->new_interp(&inner, &config);
	struct task task = {0};

	if (status.type || !inner) {
		lane->failed = true;
		snprintf(lane->error, sizeof(lane->error), "cannot make a sub-interpreter: %s",
			status.err_msg ? status.err_msg : "unknown reason");
		PyThreadState_Swap(outer);
		lane_serve(lane, NULL);
		return;
	}
	if (task_init(&task, lane->gang->runner, lane->error) < 0 ||
		task_load(&task, lane->error) < 0)
		lane->failed = true;
	lane_serve(lane, &task);
	task_done(&task);
	Py_EndInterpreter(inner);
	PyThreadState_Swap(outer);
}

static void *lane_main(void *user)
{
	struct lane *lane = user;
	PyGILState_STATE state;
	char name[16];

	snprintf(name, sizeof(name), "worker-%u", lane->index + 1);
	pthread_setname_np(pthread_self(), name);
	state = PyGILState_Ensure();
	if (lane->gang->new_interp)
		lane_interpreter(lane);
	else
		lane_serve(lane, lane->gang->task);
	PyGILState_Release(state);
	return NULL;
}

/* The gang's functions below are called without the GIL. */

/* One lane after the other: not every CPython can start interpreters side by side. */
static int gang_start(struct gang *gang)
{
	for (unsigned i = 0; i < gang->n; i++) {
		struct lane *lane = &gang->lanes[i];
		int r;

		lane->gang = gang;
		lane->index = i;
		pthread_mutex_lock(&gang->lock);
		gang->wanted = i + 1;
		r = pthread_create(&lane->thread, NULL, lane_main, lane);
		gang->started += r == 0;
		while (r == 0 && gang->ready < gang->wanted)
			pthread_cond_wait(&gang->all_ready, &gang->lock);
		pthread_mutex_unlock(&gang->lock);
		if (r)
			return r;
	}
	return 0;
}

static void gang_run(struct gang *gang, struct scale_run *run)
{
	uint64_t cpu_ns;

	pthread_mutex_lock(&gang->lock);
	gang->ready = 0;
	gang->go++;
	cpu_ns = runner_process_cpu();
	gilprobe_mark(gang->runner->phase);
	run->start_ns = runner_now();
	pthread_cond_broadcast(&gang->changed);
	while (gang->ready < gang->wanted)
		pthread_cond_wait(&gang->all_ready, &gang->lock);
	gilprobe_mark(0);
	pthread_mutex_unlock(&gang->lock);
	run->cpu_ns = runner_process_cpu() - cpu_ns;
	run->end_ns = run->start_ns;
	for (unsigned i = 0; i < gang->n; i++) {
		run->tasks[i] = gang->lanes[i].timing;
		if (run->end_ns < run->tasks[i].end_ns)
			run->end_ns = run->tasks[i].end_ns;
	}
}

static void gang_stop(struct gang *gang)
{
	for (unsigned i = 0; i < gang->started; i++) {
		pthread_mutex_lock(&gang->lock);
		gang->lanes[i].leave = true;
		pthread_cond_broadcast(&gang->changed);
		pthread_mutex_unlock(&gang->lock);
		pthread_join(gang->lanes[i].thread, NULL);
	}
}

static const char *gang_error(const struct gang *gang)
{
	for (unsigned i = 0; i < gang->started; i++)
		if (gang->lanes[i].failed)
			return gang->lanes[i].error;
	return NULL;
}

/* All runs of one phase; -1 with words in @error. */
static int gang_phase(struct gang *gang, char error[RUNNER_ERROR])
{
	struct scale_run run = {.n_tasks = gang->n};
	const char *words = NULL;
	int r;

	gang->lanes = calloc(gang->n, sizeof(*gang->lanes));
	run.tasks = calloc(gang->n, sizeof(*run.tasks));
	if (!gang->lanes || !run.tasks) {
		free(gang->lanes);
		free(run.tasks);
		snprintf(error, RUNNER_ERROR, "out of memory");
		return -1;
	}
	pthread_mutex_init(&gang->lock, NULL);
	pthread_cond_init(&gang->all_ready, NULL);
	pthread_cond_init(&gang->changed, NULL);
	r = gang_start(gang);
	words = gang_error(gang);
	for (unsigned i = 0; r == 0 && !words && i < gang->runner->plan.repeat; i++) {
		gang_run(gang, &run);
		words = gang_error(gang);
		if (!words)
			runner_say_run(gang->runner, &run);
	}
	if (r)
		snprintf(error, RUNNER_ERROR, "cannot start thread %u of %u: %s", gang->started + 1,
			gang->n, strerror(r));
	else if (words && !gang->new_interp)
		snprintf(error, RUNNER_ERROR, "workload raised during the threads run: %.440s",
			words);
	else if (words)
		snprintf(error, RUNNER_ERROR, "%s", words);
	gang_stop(gang);
	pthread_cond_destroy(&gang->changed);
	pthread_cond_destroy(&gang->all_ready);
	pthread_mutex_destroy(&gang->lock);
	free(gang->lanes);
	free(run.tasks);
	return r || words ? -1 : 0;
}

int mode_threads(struct runner *runner, struct task *task, unsigned workers)
{
	struct gang gang = {.runner = runner, .task = task, .n = workers};
	char error[RUNNER_ERROR] = "";
	PyThreadState *state = PyEval_SaveThread();
	int r = gang_phase(&gang, error);

	PyEval_RestoreThread(state);
	if (r < 0)
		runner_say(runner, "fail\t%s", error);
	return r;
}

int mode_interpreters(struct runner *runner, unsigned workers)
{
	struct gang gang = {.runner = runner, .n = workers};
	char error[RUNNER_ERROR] = "";
	PyThreadState *state;

	/* a data pointer from dlsym becomes a function pointer: POSIX guarantees it */
	*(void **)&gang.new_interp = dlsym(RTLD_DEFAULT, "Py_NewInterpreterFromConfig");
	if (!gang.new_interp) {
		runner_say(runner,
			"unavailable\tsub-interpreters with their own GIL need Python 3.12 or newer");
		return 0;
	}
	state = PyEval_SaveThread();
	if (gang_phase(&gang, error) < 0)
		runner_say(runner, "unavailable\t%s", error);
	PyEval_RestoreThread(state);
	return 0;
}

int mode_serial(struct runner *runner, struct task *task, unsigned workers)
{
	struct scale_run run = {.n_tasks = workers};
	char error[RUNNER_ERROR] = "";
	int r = 0;

	run.tasks = calloc(workers, sizeof(*run.tasks));
	if (!run.tasks) {
		runner_say(runner, "fail\tout of memory");
		return -1;
	}
	for (unsigned i = 0; r == 0 && i < runner->plan.repeat; i++) {
		/* the release and the take begin a hold that a recording can see */
		PyThreadState *state = PyEval_SaveThread();
		uint64_t cpu_ns = runner_process_cpu();

		PyEval_RestoreThread(state);
		gilprobe_mark(runner->phase);
		run.start_ns = runner_now();
		for (unsigned k = 0; r == 0 && k < workers; k++)
			r = task_run(task, 0, &run.tasks[k], error);
		gilprobe_mark(0);
		run.end_ns = run.tasks[workers - 1].end_ns;
		run.cpu_ns = runner_process_cpu() - cpu_ns;
		if (r == 0)
			runner_say_run(runner, &run);
	}
	if (r < 0)
		runner_say(runner, "fail\tworkload raised during the serial run: %s", error);
	free(run.tasks);
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runner: entry, facts about the interpreter, and the phases of the plan.
 *
 * boot.py asks the interpreter to load us as an extension module. Our init function makes no
 * module: it hands runner_main over inside an ImportError. So ctypes need not exist, no object's
 * layout is touched (a PyModuleDef is one), and a free-threaded interpreter sees no module that
 * would turn its GIL on.
 */
#include "workload/runner.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AVAILABILITY_ROUNDS 7
#define AVAILABILITY_NS 20000000u

/* The median share of a CPU that a busy thread gets. */
static double cpu_availability(void)
{
	double shares[AVAILABILITY_ROUNDS];

	for (int i = 0; i < AVAILABILITY_ROUNDS; i++) {
		uint64_t wall_ns = runner_now(), cpu_ns = runner_thread_cpu(), used_ns;
		int k = i;

		do
			used_ns = runner_thread_cpu() - cpu_ns;
		while (used_ns < AVAILABILITY_NS);
		shares[i] = (double)used_ns / (double)(runner_now() - wall_ns);
		for (; k > 0 && shares[k - 1] > shares[k]; k--) {
			double swap = shares[k];

			shares[k] = shares[k - 1];
			shares[k - 1] = swap;
		}
	}
	return shares[AVAILABILITY_ROUNDS / 2] < 1 ? shares[AVAILABILITY_ROUNDS / 2] : 1;
}

static void say_gil_enabled(struct runner *runner, struct task *task, const char *key)
{
	PyObject *answer = task_prelude(task, "gil_enabled");

	PyErr_Clear();
	runner_say(runner, "fact\t%s\t%d", key, answer ? PyObject_IsTrue(answer) : 1);
	Py_DecRef(answer);
}

static int say_facts(struct runner *runner, struct task *task)
{
	PyObject *facts = task_prelude(task, "facts");
	cpu_set_t cpus;
	char error[RUNNER_ERROR];

	if (!facts) {
		task_describe(task->prelude, error);
		runner_say(runner, "fail\tcannot ask the interpreter about itself: %s", error);
		return -1;
	}
	for (Py_ssize_t i = 0; i < PyList_Size(facts); i++) {
		PyObject *pair = PyList_GetItem(facts, i);
		PyObject *key = PyUnicode_AsUTF8String(PyTuple_GetItem(pair, 0));

		runner_say(runner, "fact\t%s\t%s", key ? PyBytes_AsString(key) : "",
			PyBytes_AsString(PyTuple_GetItem(pair, 1)));
		Py_DecRef(key);
	}
	Py_DecRef(facts);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		runner_say(runner, "fact\tusable_cpus\t%d", CPU_COUNT(&cpus));
	say_gil_enabled(runner, task, "gil_enabled");
	return 0;
}

static void run_modes(struct runner *runner, struct task *task)
{
	const struct plan *plan = &runner->plan;
	unsigned most = plan->workers[plan->n_workers - 1];
	int r = 0;

	for (enum scale_mode mode = 0; r == 0 && mode < SCALE_MODES; mode++) {
		if (mode == SCALE_INTERPRETERS && !plan->interpreters)
			continue;
		for (size_t i = 0; r == 0 && i < (mode == SCALE_SERIAL ? 1 : plan->n_workers);
			i++) {
			unsigned n = mode == SCALE_SERIAL ? most : plan->workers[i];

			runner->phase++;
			runner_say(runner, "phase\t%d\t%u", mode, n);
			if (mode == SCALE_SERIAL)
				r = mode_serial(runner, task, n);
			else if (mode == SCALE_THREADS)
				r = mode_threads(runner, task, n);
			else if (mode == SCALE_PROCESSES)
				r = mode_processes(runner, n);
			else
				r = mode_interpreters(runner, n);
		}
	}
	if (r == 0) {
		say_gil_enabled(runner, task, "gil_enabled_at_end");
		runner_say(runner, "done");
	}
}

static void run_plan(struct runner *runner, bool is_worker)
{
	char error[RUNNER_ERROR];
	struct task task;

	if (is_worker) {
		worker_main(runner);
		return;
	}
	if (task_init(&task, runner, error) < 0) {
		runner_say(runner, "fail\t%s", error);
		return;
	}
	if (say_facts(runner, &task) == 0) {
		if (task_load(&task, error) < 0)
			runner_say(runner, "fail\tcannot load target %s: %s",
				runner->plan.target ? runner->plan.target : runner->plan.builtin,
				error);
		else {
			runner_say(runner, "fact\tcpu_availability\t%.4f", cpu_availability());
			run_modes(runner, &task);
		}
	}
	task_done(&task);
}

static int int_arg(PyObject *args, Py_ssize_t i)
{
	PyObject *value = i < PyTuple_Size(args) ? PyTuple_GetItem(args, i) : NULL;

	return value ? (int)PyLong_AsLong(value) : -1;
}

/* main(runner_fd, plan_fd, out_fd[, 1]); 1: as a worker process */
static PyObject *runner_main(PyObject *self, PyObject *args)
{
	struct runner runner = {.pid = getpid(),
		.runner_fd = int_arg(args, 0),
		.plan_fd = int_arg(args, 1),
		.out_fd = int_arg(args, 2)};
	bool is_worker = int_arg(args, 3) == 1;
	void (*init_threads)(void);
	void *memory = NULL;

	PyErr_Clear();
	/* what the target starts shall not inherit them */
	fcntl(runner.runner_fd, F_SETFD, FD_CLOEXEC);
	fcntl(runner.plan_fd, F_SETFD, FD_CLOEXEC);
	fcntl(runner.out_fd, F_SETFD, FD_CLOEXEC);
	for (int i = 0; i < 3; i++)
		runner.standard[i] = fcntl(i, F_DUPFD_CLOEXEC, RUNNER_LOW_FD);
	/* 3.6 has no GIL before the first thread; gone from later versions */
	*(void **)&init_threads = dlsym(RTLD_DEFAULT, "PyEval_InitThreads");
	if (init_threads)
		init_threads();
	if (plan_read(runner.plan_fd, &runner.plan, &memory) < 0 || worker_argv(&runner) < 0)
		runner_say(&runner, "fail\tthe runner cannot read its plan");
	else
		run_plan(&runner, is_worker);
	plan_free(memory);
	Py_IncRef(Py_None);
	return Py_None;
}

static PyMethodDef main_def = {"gilprobe_runner", runner_main, METH_VARARGS, NULL};

PyObject *PyInit_gilprobe_runner(void);

__attribute__((visibility("default"))) PyObject *PyInit_gilprobe_runner(void)
{
	PyObject *function = PyCFunction_NewEx(&main_def, NULL, NULL);

	if (function)
		PyErr_SetObject(PyExc_ImportError, function);
	Py_DecRef(function);
	return NULL;
}

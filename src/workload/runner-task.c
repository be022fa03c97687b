/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runner: the task inside one interpreter: prelude, target, one timed call, words for exceptions.
 */
#include "workload/runner.h"

#include "prelude.h" /* made by embed.py */

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void copy_line(char error[RUNNER_ERROR], const char *text)
{
	size_t n = 0;

	for (; text[n] && n < RUNNER_ERROR - 1; n++)
		error[n] = (unsigned char)text[n] < ' ' ? ' ' : text[n];
	error[n] = 0;
}

void task_describe(PyObject *prelude, char error[RUNNER_ERROR])
{
	PyObject *type = NULL, *value = NULL, *trace = NULL, *text = NULL;
	PyObject *describe = prelude ? PyDict_GetItemString(prelude, "describe") : NULL;
	bool no_memory = PyErr_ExceptionMatches(PyExc_MemoryError) != 0;

	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	if (describe)
		text = PyObject_CallFunctionObjArgs(
			describe, type, value ? value : Py_None, trace ? trace : Py_None, NULL);
	if (text && PyBytes_AsString(text))
		copy_line(error, PyBytes_AsString(text));
	else
		copy_line(
			error, no_memory ? "MemoryError" : "an exception that cannot be described");
	PyErr_Clear();
	Py_DecRef(text);
	Py_DecRef(type);
	Py_DecRef(value);
	Py_DecRef(trace);
}

PyObject *task_prelude(struct task *task, const char *function)
{
	PyObject *f = PyDict_GetItemString(task->prelude, function);

	if (!f) {
		PyErr_SetString(PyExc_NameError, function);
		return NULL;
	}
	return PyObject_CallObject(f, NULL);
}

static PyObject *run_prelude(void)
{
	PyObject *globals = PyDict_New();
	PyObject *builtins = PyImport_ImportModule("builtins");
	PyObject *name = PyUnicode_FromString("gilprobe_prelude");
	PyObject *code =
		Py_CompileString((const char *)workload_prelude, "<gilprobe>", Py_file_input);
	PyObject *none = NULL;

	if (globals && builtins && name && code &&
		PyDict_SetItemString(globals, "__builtins__", builtins) == 0 &&
		PyDict_SetItemString(globals, "__name__", name) == 0)
		none = PyEval_EvalCode(code, globals, globals);
	Py_DecRef(code);
	Py_DecRef(name);
	Py_DecRef(builtins);
	if (!none) {
		Py_DecRef(globals);
		return NULL;
	}
	Py_DecRef(none);
	return globals;
}

static PyObject *text_or_none(const char *text)
{
	if (text)
		return PyUnicode_DecodeFSDefault(text);
	Py_IncRef(Py_None);
	return Py_None;
}

/* (callable, args), or NULL with an exception */
static PyObject *load(struct task *task)
{
	const struct plan *plan = &task->runner->plan;
	PyObject *function = PyDict_GetItemString(task->prelude, "load");
	PyObject *target = text_or_none(plan->target), *builtin = text_or_none(plan->builtin);
	PyObject *texts = PyList_New(0), *scale = PyFloat_FromDouble(plan->scale);
	PyObject *pair = NULL;

	for (size_t i = 0; texts && i < plan->n_args; i++) {
		PyObject *text = PyUnicode_DecodeFSDefault(plan->args[i]);

		if (!text || PyList_Append(texts, text) < 0) {
			Py_DecRef(texts);
			texts = NULL;
		}
		Py_DecRef(text);
	}
	if (function && target && builtin && texts && scale)
		pair = PyObject_CallFunctionObjArgs(function, target, builtin, texts, scale, NULL);
	Py_DecRef(target);
	Py_DecRef(builtin);
	Py_DecRef(texts);
	Py_DecRef(scale);
	return pair;
}

int task_init(struct task *task, const struct runner *runner, char error[RUNNER_ERROR])
{
	*task = (struct task){.runner = runner, .prelude = run_prelude()};
	if (task->prelude)
		return 0;
	task_describe(NULL, error);
	return -1;
}

int task_load(struct task *task, char error[RUNNER_ERROR])
{
	PyObject *pair = load(task);

	if (!pair) {
		task_describe(task->prelude, error);
		return -1;
	}
	task->callable = PyTuple_GetItem(pair, 0);
	task->args = PyTuple_GetItem(pair, 1);
	Py_IncRef(task->callable);
	Py_IncRef(task->args);
	Py_DecRef(pair);
	return 0;
}

void task_done(struct task *task)
{
	Py_DecRef(task->callable);
	Py_DecRef(task->args);
	Py_DecRef(task->prelude);
	*task = (struct task){0};
}

/* The target forked and this is the child: only the parent may go on as the runner. */
static void leave_fork(struct task *task, bool failed)
{
	PyObject *none;

	if (failed)
		PyErr_Print();
	none = task_prelude(task, "flush");
	Py_DecRef(none);
	_exit(failed);
}

int task_run(struct task *task, uint64_t start_ns, struct scale_task *ret, char error[RUNNER_ERROR])
{
	uint64_t cpu_ns = runner_thread_cpu();
	PyObject *result;

	ret->pid = task->runner->pid;
	ret->tid = (int32_t)syscall(SYS_gettid);
	ret->start_ns = start_ns ? start_ns : runner_now();
	result = PyObject_CallObject(task->callable, task->args);
	ret->end_ns = runner_now();
	ret->cpu_ns = runner_thread_cpu() - cpu_ns;
	if (getpid() != task->runner->pid)
		leave_fork(task, !result);
	if (!result) {
		task_describe(task->prelude, error);
		return -1;
	}
	Py_DecRef(result);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classify: the words. In: a class. Out: its name and its advice. Invariant: names are those of
 * the JSON schema; a table that a test compares with it.
 */
#include "classify/words.h"

static const struct words {
	const char *name;
	const char *advice[CLASSIFY_ADVICE];
} words[CLASSES] = {
	[CLASS_INCONCLUSIVE] = {"inconclusive",
		{"record with gilprobe record, for some seconds, while the program does the work in "
		 "question"}},
	[CLASS_GIL_BOUND] = {"gil-bound",
		{"run the work in processes (multiprocessing, ProcessPoolExecutor): each has its own "
		 "GIL",
			"on CPython 3.12 and later: sub-interpreters with a GIL of their own",
			"try a free-threaded build (3.13t and later)",
			"move the hot loop into native code that releases the GIL"}},
	[CLASS_CONVOY] = {"gil-bound/convoy",
		{"move the thread that holds the GIL to a process: short operations wait a switch "
		 "interval for it",
			"a shorter sys.setswitchinterval(), such as 0.0005, shortens each wait",
			"batch the short operations, so that the GIL is asked for less often"}},
	[CLASS_LONG_C_CALL] = {"gil-bound/long-c-call",
		{"find the C function behind the longest holds: a regular expression, a big "
		 "conversion, a garbage collection",
			"release the GIL in it, give it smaller pieces, or run it in a process",
			"for garbage collections: gc.freeze(), higher thresholds, fewer containers"}},
	[CLASS_BLOCKING_CALL] = {"gil-bound/blocking-call-keeps-gil",
		{"find the call that sleeps while it holds the GIL (ctypes.PyDLL, an extension "
		 "module)",
			"release the GIL around it (Py_BEGIN_ALLOW_THREADS, ctypes.CDLL, cython nogil)",
			"until then run it in a process"}},
	[CLASS_SWITCH_INTERVAL] = {"gil-bound/switch-interval",
		{"look for sys.setswitchinterval() in the program and its libraries",
			"the default of 0.005 suits most programs",
			"the work itself is GIL-bound: processes, sub-interpreters or a free-threaded "
			"build"}},
	[CLASS_TINY_TASKS] = {"gil-bound/tasks-too-small",
		{"give each task more work (chunks): handing one over costs more than doing it",
			"run tasks this small in a plain loop"}},
	[CLASS_THREAD_STARTS] = {"gil-bound/thread-start-overhead",
		{"keep threads and feed them (ThreadPoolExecutor) instead of starting one per task"}},
	[CLASS_DROPPED_TOO_OFTEN] = {"gil-dropped-too-often",
		{"batch: more work per call, so that a release is worth its hand-over",
			"in an extension: release the GIL for large inputs only",
			"threads will not speed this up; processes will"}},
	[CLASS_RELEASES] = {"releases-the-gil",
		{"threads scale here, up to the cores that the GIL share allows",
			"cap the library's own thread pools (OMP_NUM_THREADS and the like)"}},
	[CLASS_IO_BOUND] = {"io-bound",
		{"more threads or asyncio: the time is spent asleep, not in the GIL"}},
	[CLASS_MIXED] = {"mixed",
		{"split the stages: threads or asyncio for the waiting, processes for the computing"}},
	[CLASS_LOCK_CONTENTION] = {"lock-contention-not-gil",
		{"find the lock or queue that the threads share and what is done while it is held",
			"processes will not help if they share the same resource"}},
	[CLASS_CPU_STARVED] = {"cpu-starved",
		{"the machine is short of CPU: look at neighbours, niceness, affinity and container "
		 "quota",
			"a shorter switch interval or fewer threads will not help"}},
	[CLASS_HELD_UNCONTENDED] = {"gil-held-uncontended",
		{"fine for one thread; more threads will not help, processes will"}},
	[CLASS_SUBINTERPRETERS] = {"scales-with-subinterpreters", {NULL}},
};

const char *class_name(enum gil_class kind)
{
	return words[kind].name;
}

const char *confidence_name(enum confidence confidence)
{
	static const char *const names[] = {"low", "medium", "high"};

	return names[confidence];
}

bool class_is_gil_bound(enum gil_class kind)
{
	switch (kind) {
	case CLASS_GIL_BOUND:
	case CLASS_CONVOY:
	case CLASS_LONG_C_CALL:
	case CLASS_BLOCKING_CALL:
	case CLASS_SWITCH_INTERVAL:
	case CLASS_TINY_TASKS:
	case CLASS_THREAD_STARTS:
		return true;
	default:
		return false;
	}
}

void words_advise(struct verdict *verdict)
{
	verdict->n_advice = 0;
	for (size_t i = 0; i < CLASSIFY_ADVICE && words[verdict->class].advice[i]; i++)
		verdict->advice[verdict->n_advice++] = words[verdict->class].advice[i];
}

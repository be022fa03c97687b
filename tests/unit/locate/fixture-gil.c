/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library with the shape of CPython's GIL, to be built in the forms that interpreters come in.
 * FIXTURE_STATIC: separate variables and no Py_Version, as in 3.6. FIXTURE_WRAPPED: nothing
 * inlined, as in a debug build. FIXTURE_MAIN: an executable. FIXTURE_LOADED: one more signal, by a
 * register that holds the GOT slot's content.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#ifdef FIXTURE_STATIC
static pthread_mutex_t switch_mutex, gil_mutex;
static pthread_cond_t switch_cond, gil_cond;
static int gil_locked;

#define COND gil_cond
#define MUTEX gil_mutex
#define SWITCH_COND switch_cond
#define SWITCH_MUTEX switch_mutex
#define LOCKED gil_locked
const char *const fixture_texts[] = {"cpython-36", "3.6.15", "PyCOND_SIGNAL(gil_cond) failed"};
#else
struct gil {
	unsigned long interval;
	void *last_holder;
	int locked;
	unsigned long switch_number;
	pthread_cond_t cond;
	pthread_mutex_t mutex;
	pthread_cond_t switch_cond;
	pthread_mutex_t switch_mutex;
};

extern struct gil fixture_gils[2];
struct gil fixture_gils[2];
static struct gil *volatile current = fixture_gils;

#define COND gil->cond
#define MUTEX gil->mutex
#define SWITCH_COND gil->switch_cond
#define SWITCH_MUTEX gil->switch_mutex
#define LOCKED gil->locked
extern const unsigned long Py_Version;
const unsigned long Py_Version = 0x030c01f0;
const char *const fixture_texts[] = {"PyCOND_SIGNAL(gil->cond) failed"};
#endif

#ifdef FIXTURE_WRAPPED
#define HELPER static __attribute__((noinline))
#else
#define HELPER static inline __attribute__((always_inline))
#endif

HELPER int timed_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, long us)
{
	struct timespec deadline = {us / 1000000, us % 1000000 * 1000};

	return pthread_cond_timedwait(cond, mutex, &deadline);
}

static __attribute__((noinline)) void take_gil(void *tstate)
{
#ifndef FIXTURE_STATIC
	struct gil *gil = current;
#endif
	pthread_mutex_lock(&MUTEX);
	while (__atomic_load_n(&LOCKED, __ATOMIC_RELAXED))
		timed_wait(&COND, &MUTEX, 5000);
	pthread_mutex_lock(&SWITCH_MUTEX);
	__atomic_store_n(&LOCKED, 1, __ATOMIC_RELAXED);
	pthread_cond_signal(&SWITCH_COND);
	pthread_mutex_unlock(&SWITCH_MUTEX);
	pthread_mutex_unlock(&MUTEX);
}

static __attribute__((noinline)) void drop_gil(void *tstate)
{
#ifndef FIXTURE_STATIC
	struct gil *gil = current;
#endif
	pthread_mutex_lock(&MUTEX);
	__atomic_store_n(&LOCKED, 0, __ATOMIC_RELAXED);
	pthread_cond_signal(&COND);
	pthread_mutex_unlock(&MUTEX);
	if (!tstate)
		return;
	pthread_mutex_lock(&SWITCH_MUTEX);
	pthread_cond_wait(&SWITCH_COND, &SWITCH_MUTEX);
	pthread_mutex_unlock(&SWITCH_MUTEX);
}

void PyEval_RestoreThread(void *tstate);
void PyEval_SaveThread(void *tstate);
int fixture_queue_get(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until);
void fixture_queue_put(pthread_cond_t *cond);
uint64_t fixture_constant(uint64_t other);

void PyEval_RestoreThread(void *tstate)
{
	take_gil(tstate);
}

void PyEval_SaveThread(void *tstate)
{
	drop_gil(tstate);
}

/* Somebody else's condition variable: a timed wait that is not the GIL's. */
int fixture_queue_get(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	return pthread_cond_timedwait(cond, mutex, until) + 1;
}

void fixture_queue_put(pthread_cond_t *cond)
{
	pthread_mutex_t *mutex = (pthread_mutex_t *)(cond + 1);

	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

/* A constant inside an instruction, which the test makes look like a call. */
uint64_t fixture_constant(uint64_t other)
{
	return other ^ UINT64_C(0x1122334455667788);
}

#ifdef FIXTURE_LOADED
/* as compilers do for -fno-plt code that calls the same function more than once */
__asm__(".text\n"
	".globl fixture_loaded\n"
	".type fixture_loaded, @function\n"
	"fixture_loaded:\n"
	".cfi_startproc\n"
	"push %r13\n"
	".cfi_def_cfa_offset 16\n"
	"mov pthread_cond_signal@GOTPCREL(%rip), %r13\n"
	"test %rdi, %rdi\n"
	"je 1f\n"
	"call *%r13\n"
	"1: pop %r13\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size fixture_loaded, .-fixture_loaded\n");
#endif

#ifdef FIXTURE_MAIN
int main(void)
{
	PyEval_RestoreThread(0);
	PyEval_SaveThread(0);
	return 0;
}
#endif

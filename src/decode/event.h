/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct event: what order sorts and fold consumes. Small, no pointers into records.
 *
 * The four GIL events come from two kinds of recordings (the probes' names and fields tell which):
 *
 *   event    own recording (argument = GIL)            take_gil/drop_gil recipe of `perf probe`
 *   want     pthread_cond_timedwait(&cond)             take_gil entry
 *   acquire  pthread_cond_signal(&switch_cond)         take_gil return
 *   release  pthread_cond_signal(&cond)                drop_gil entry
 *   yield    pthread_cond_wait(&switch_cond)           (drop_gil's return shows when it ended)
 *
 * Source: Python/ceval_gil.c of CPython 3.7 to 3.13.
 */
#ifndef GILPROBE_DECODE_EVENT_H
#define GILPROBE_DECODE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
	EVENT_WANT,    /* waiting begins; repeated once per switch interval while it lasts */
	EVENT_ACQUIRE, /* holding begins */
	EVENT_RELEASE, /* holding ends */
	EVENT_YIELD,   /* a forced switch: after its release the thread sleeps for another's take */
	EVENT_DROP_RETURN, /* drop_gil returned: a release's forced wait, if any, is over */
	EVENT_SWITCH_IN,
	EVENT_SWITCH_OUT, /* out: state letter and preempted */
	EVENT_WAKEUP,	  /* tid is the one woken; by: who woke it */
	EVENT_FORK,	  /* a new thread or process: fork */
	EVENT_EXIT,
	EVENT_EXEC, /* comm: the new name */
	EVENT_COMM,
	EVENT_MMAP,   /* an executable mapping: mmap (for interpreters) */
	EVENT_LOST,   /* lost: events were lost on this CPU up to here */
	EVENT_MARK,   /* a phase of `gilprobe scale` begins: mark */
	EVENT_SAMPLE, /* an instruction-pointer sample: ip */
	EVENT_KINDS
};

/*
 * Of our own recordings, between decode and order only: a signal of, or a wait for, some condition
 * variable. order knows each process's GILs: it makes release and yield of the candidates that
 * concern one, and drops the others.
 */
enum event_candidate { EVENT_SIGNAL = EVENT_KINDS, EVENT_COND_WAIT };

struct event {
	uint64_t time_ns; /* 0: made up by the recorder for what was there before; order gives it
			     the time of the next event */
	int32_t pid; /* process; 0 when the record cannot tell (a scheduler event of a foreign task)
		      */
	int32_t tid; /* the thread concerned; -1 when the record cannot tell */
	int16_t cpu; /* -1: unknown */
	uint8_t kind;	/* enum event_kind or event_candidate */
	uint8_t stream; /* which input it came from */
	union {
		uint64_t gil; /* GIL events: address of gil->cond, or 0: the process's only one */
		struct {
			char state; /* 'R' runnable, 'S', 'D', … as sched_switch prints; 0 unknown
				     */
			bool preempted; /* still runnable when it lost the CPU */
		} out;
		int32_t by; /* wakeup: tid of the waker; 0: an interrupt or the idle task */
		struct {
			int32_t pid, tid; /* the new task; event.pid/tid are the parent's */
		} fork;
		const char *comm; /* exec, comm: interned, lives as long as the decoder */
		const struct event_mmap *mmap; /* lives as long as the decoder */
		uint64_t lost;		       /* how many */
		uint64_t mark;		       /* phase number */
		uint64_t ip;
	};
};

struct event_mmap {
	const char *path; /* interned */
	uint64_t start, size, page_offset;
};

/* "want", "acquire", …: the words of `gilprobe events`. "?" for a kind that is none. */
const char *event_kind_name(unsigned kind);

#endif

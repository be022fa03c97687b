/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every threshold of the rules, with its why. Private to classify.
 *
 * Each is a share of active time (evidence.h) or a length that CPython or the kernel sets; none
 * depends on how long the run took or on how fast the machine is.
 */
#ifndef GILPROBE_CLASSIFY_THRESHOLDS_H
#define GILPROBE_CLASSIFY_THRESHOLDS_H

/* CPython's default (sys.getswitchinterval). */
#define INTERVAL_NS 5e6

/* In less than four intervals a habit cannot be told from an accident. */
#define MIN_LIFE_NS (4 * INTERVAL_NS)

/* A futex wake-up plus a context switch: shorter work is not worth handing over. */
#define HANDOVER_NS 50e3

/* Controls without contention wait for up to 15 % (bursts at their start and end). */
#define WAIT_MUCH 0.20

/* Others' waiting per time held. Below this the holder does no harm. */
#define HARM_MUCH 0.20

/* A GIL held for this share of the time has nothing left to give. */
#define BUSY 0.80

/* More than the rest together. */
#define MOST 0.50

/* A smaller part is glue, not one half of a mixture. */
#define PART 0.15

/* Above this the waiting drowns any mixture: the GIL is wanted several times over. */
#define WAIT_DROWNS 0.75

/* A thread that does next to nothing but sleep. */
#define ASLEEP 0.70

/* Two hogs per CPU leave a third of it. A holder that gets less than a fifth is starved. */
#define STARVED 0.80

/* Loops over slow system calls stay below; a loop over os.stat makes 100 times as many. */
#define MANY_TAKES_PER_S 1000.0

/* With less of its work released it is merely chatty (imports make thousands of stat calls); that
 * counts when others take the GIL meanwhile, and not at all below the second. */
#define DROPPED_NATIVE 0.25
#define CHATTY_NATIVE 0.10

/* Of holds up to this length a hand-over makes more than a quarter. */
#define SHORT_HOLD_NS (4 * HANDOVER_NS)

/* A convoy: each wait is a large part of the interval, and several times the hold it is for. */
#define CONVOY_WAIT_NS (INTERVAL_NS / 2)
#define CONVOY_WAIT_MAX_NS (4 * INTERVAL_NS)
#define CONVOY_RATIO 4.0

/* Timers fire late on a busy machine, but not by three intervals; they never fire early. */
#define INTERVAL_LONG_NS (4 * INTERVAL_NS)
#define INTERVAL_SHORT_NS (INTERVAL_NS / 2.5)

/* Joins and events wake a thread now and then; a lock does it all the time. */
#define LOCK_WAKEUPS 20.0

/* Threads that exclude each other do the work of one (loose on both sides). */
#define LOCK_WORK_MIN 0.5
#define LOCK_WORK_MAX 1.5

/* A pool's worker is woken at least this often. */
#define TINY_WAKEUPS_PER_S 500.0

/* Fewer short threads are a start-up, not a habit. */
#define MANY_SHORT_THREADS 100

/* Fewer waits, takes or sleeps than these: low or medium confidence. */
#define FEW_SAMPLES 4.0
#define SOME_SAMPLES 20.0

/* Active time for medium and for high confidence: 10 and 40 switch intervals. */
#define MEDIUM_ACTIVE_NS (10 * INTERVAL_NS)
#define HIGH_ACTIVE_NS (40 * INTERVAL_NS)

/* Lost events: no verdict, unless … no more than the second is unknown. */
#define LOST_MANY 0.05
#define UNKNOWN_MUCH 0.20

/* How far beyond its threshold the evidence must be. */
#define MEDIUM_MARGIN 1.1
#define HIGH_MARGIN 1.3

#endif

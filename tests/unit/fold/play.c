/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays events written as text and writes down what fold makes of them: see play.h.
 */
#include "play.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t pid_of(char letter)
{
	return ((letter - 'A') / 6 + 1) * 100;
}

static int32_t tid_of(char letter)
{
	return pid_of(letter) + (letter - 'A') % 6;
}

static char letter_of(int32_t tid)
{
	return (char)('A' + (tid / 100 - 1) * 6 + tid % 100);
}

static void __attribute__((format(printf, 3, 4)))
append(char *text, size_t size, const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list args;

	if (n) {
		assert_true(n + 2 < size);
		strcpy(text + n, ", ");
		n += 2;
	}
	va_start(args, fmt);
	assert_true((size_t)vsnprintf(text + n, size - n, fmt, args) < size - n);
	va_end(args);
}

static unsigned us(uint64_t ns)
{
	assert_int_equal(ns % 1000, 0);
	return (unsigned)(ns / 1000);
}

static int on_span(void *user, const struct span *span, struct err *err)
{
	struct play *p = user;
	char *text = p->spans[letter_of(span->thread->tid) - 'A'];

	append(text, sizeof(p->spans[0]), "%s %u-%u", span_state_name(span->state),
		us(span->start_ns), us(span->end_ns));
	if (span->gil && span->gil->address)
		append(text, sizeof(p->spans[0]), "gil %u", (unsigned)span->gil->address);
	return 0;
}

static int on_hold(void *user, const struct fold_hold *h, struct err *err)
{
	struct play *p = user;

	append(p->holds, sizeof(p->holds), "%c %u-%u%s%s", letter_of(h->thread->tid),
		us(h->start_ns), us(h->end_ns), h->forced ? " forced" : "", h->open ? " open" : "");
	return 0;
}

static int on_wait(void *user, const struct fold_wait *w, struct err *err)
{
	struct play *p = user;

	append(p->waits, sizeof(p->waits), "%c %u-%u%s%s", letter_of(w->thread->tid),
		us(w->start_ns), us(w->end_ns), w->yield ? " yield" : "",
		w->acquired ? "" : " gave up");
	if (w->requests)
		append(p->waits, sizeof(p->waits), "%u requests", w->requests);
	return 0;
}

static int on_handoff(void *user, const struct fold_handoff *h, struct err *err)
{
	struct play *p = user;

	append(p->handoffs, sizeof(p->handoffs), "%c-%c %u-%u%s%s", letter_of(h->from->tid),
		letter_of(h->to->tid), us(h->release_ns), us(h->acquire_ns),
		h->forced ? " forced" : "", h->waited ? "" : " later");
	return 0;
}

static int on_cpu(void *user, const struct fold_cpu *c, struct err *err)
{
	struct play *p = user;

	append(p->cpus, sizeof(p->cpus), "%c %s %u-%u", letter_of(c->thread->tid), c->name,
		us(c->start_ns), us(c->end_ns));
	return 0;
}

static int on_waiters(
	void *user, const struct fold_gil *gil, uint64_t time_ns, uint32_t waiters, struct err *err)
{
	struct play *p = user;

	append(p->waiters, sizeof(p->waiters), "%u:%u", us(time_ns), waiters);
	return 0;
}

static int on_mark(void *user, uint64_t time_ns, uint64_t phase, struct err *err)
{
	struct play *p = user;

	append(p->handoffs, sizeof(p->handoffs), "mark %u at %u", (unsigned)phase, us(time_ns));
	return 0;
}

static void set_facts(struct decode_facts *facts, enum recording recording)
{
	*facts = (struct decode_facts){.has_want = true,
		.has_acquire = true,
		.has_release = true,
		.has_task = true,
		.own = recording <= OWN_BARE,
		.has_yield = recording <= OWN_BARE,
		.has_drop_return = recording > OWN_BARE && recording != PERF_NO_DROP_RETURN,
		.has_switch_record = recording == OWN_SWITCH};
	facts->has_sched_switch = facts->has_wakeup =
		recording == OWN_WIDE || recording == PERF_WIDE || recording == PERF_TASK ||
		recording == PERF_NO_DROP_RETURN;
	facts->sched_cpu_wide = facts->has_sched_switch && recording != PERF_TASK;
}

static void start(struct play *p, enum recording recording, struct fold_options options)
{
	memset(p, 0, sizeof(*p));
	p->sink = (struct sink){.user = p,
		.span = on_span,
		.hold = on_hold,
		.wait = on_wait,
		.handoff = on_handoff,
		.cpu = on_cpu,
		.waiters = on_waiters,
		.mark = on_mark};
	p->sinks[0] = &p->sink;
	options.sinks = p->sinks;
	options.n_sinks = 1;
	assert_int_equal(fold_new(&options, &p->fold, &p->err), 0);
	set_facts(&p->facts, recording);
	fold_facts(p->fold, &p->facts);
}

void play_start_window(
	struct play *p, enum recording recording, uint64_t from_us, uint64_t to_us, int32_t pid)
{
	start(p, recording,
		(struct fold_options){.only_pid = pid,
			.from_ns = from_us * 1000,
			.to_ns = to_us == UINT64_MAX ? to_us : to_us * 1000});
}

void play_start_watch(
	struct play *p, enum recording recording, bool (*watch)(void *user, int32_t tid))
{
	start(p, recording, (struct fold_options){.to_ns = UINT64_MAX, .watch = watch});
}

void play_start(struct play *p, enum recording recording)
{
	play_start_window(p, recording, 0, UINT64_MAX, 0);
}

static void set_event(struct event *event, const char *kind, const char *arg)
{
	static const struct {
		const char *word;
		enum event_kind kind;
	} kinds[] = {{"want", EVENT_WANT}, {"acquire", EVENT_ACQUIRE}, {"release", EVENT_RELEASE},
		{"yield", EVENT_YIELD}, {"return", EVENT_DROP_RETURN}, {"in", EVENT_SWITCH_IN},
		{"out", EVENT_SWITCH_OUT}, {"wake", EVENT_WAKEUP}, {"fork", EVENT_FORK},
		{"exit", EVENT_EXIT}, {"exec", EVENT_EXEC}, {"comm", EVENT_COMM},
		{"lost", EVENT_LOST}, {"mark", EVENT_MARK}};
	size_t i = 0;

	while (i < sizeof(kinds) / sizeof(*kinds) && strcmp(kind, kinds[i].word))
		i++;
	assert_true(i < sizeof(kinds) / sizeof(*kinds));
	event->kind = (uint8_t)kinds[i].kind;
	switch (kinds[i].kind) {
	case EVENT_SWITCH_OUT:
		event->out.state = arg[0] == '-' ? 0 : arg[0];
		event->out.preempted = arg[0] && arg[1] == '+';
		break;
	case EVENT_WAKEUP:
		event->by = arg[0] ? tid_of(arg[0]) : 0;
		break;
	case EVENT_FORK:
		event->fork.pid = pid_of(arg[0]);
		event->fork.tid = tid_of(arg[0]);
		break;
	case EVENT_EXEC:
	case EVENT_COMM:
		event->comm = arg;
		break;
	case EVENT_LOST:
		event->lost = 7;
		break;
	default:
		event->gil = strtoull(arg, NULL, 10);
	}
}

void play(struct play *p, const char *events)
{
	while (*events) {
		char kind[16] = "", thread[16] = "", arg[32] = "";
		struct event event = {.cpu = -1};
		char *rest;

		event.time_ns = strtoull(events, &rest, 10) * 1000;
		if (*rest == '@')
			event.cpu = (int16_t)strtoul(rest + 1, &rest, 10);
		assert_true(
			sscanf(rest, " %15[a-z] %15[A-Za-z0-9] %31[^; ]", kind, thread, arg) >= 1);
		if (thread[0]) {
			event.pid = pid_of(thread[0]);
			event.tid = tid_of(thread[0]);
		}
		set_event(&event, kind, strcmp(kind, "mark") ? arg : thread);
		if (event.kind >= EVENT_SWITCH_IN && event.kind <= EVENT_WAKEUP)
			event.pid = 0;
		assert_int_equal(fold_feed(p->fold, &event, &p->err), 0);
		events += strcspn(events, ";");
		events += *events == ';';
	}
}

/* What must hold whatever came in. */
static void check(const struct play *p)
{
	for (size_t i = 0; i < p->result->n_threads; i++) {
		const struct fold_thread *t = p->result->threads[i];
		uint64_t sum = 0;

		for (int s = 0; s < SPAN_STATES; s++)
			sum += t->state_ns[s];
		assert_int_equal(sum, t->last_ns - t->first_ns);
		assert_int_equal(t->wait_holder_on_cpu_ns + t->wait_holder_blocked_ns +
					 t->wait_holder_runnable_ns + t->wait_gil_free_ns,
			t->state_ns[SPAN_WAITING]);
		assert_int_equal(t->hold_blocked_ns + t->hold_runnable_ns,
			t->state_ns[SPAN_HAS_GIL_OFF_CPU]);
		assert_int_equal(t->index, i);
	}
}

void play_finish(struct play *p)
{
	assert_int_equal(fold_finish(p->fold, 0, 0, &p->result, &p->err), 0);
	check(p);
}

void play_done(struct play *p)
{
	fold_free(p->fold);
}

const struct fold_thread *play_thread(const struct play *p, char letter)
{
	for (size_t i = p->result->n_threads; i-- > 0;)
		if (p->result->threads[i]->tid == tid_of(letter))
			return p->result->threads[i];
	fail_msg("no thread %c in the result", letter);
	return NULL;
}

const struct fold_gil *play_gil(const struct play *p, size_t index)
{
	assert_true(index < p->result->n_gils);
	return p->result->gils[index];
}

const char *play_spans(const struct play *p, char letter)
{
	return p->spans[letter - 'A'];
}

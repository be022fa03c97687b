/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decoded events of every recording in corpus/ against events.txt, which update-events made
 * from what `perf script` sees; and the recordings that perf refuses against what is known of them.
 */
#include "decode/decode.h"
#include "order/order.h"

#include "base/vec.h"

#include "test.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_FINISHED_ROUND 68

struct tally {
	uint64_t count[EVENT_KINDS], sum[EVENT_KINDS]; /* of what samples became */
};

struct recording {
	struct tally tally;
	struct decode_facts facts;
	struct order_stats stats;
	struct event *items; /* in file order */
	size_t n, cap;
};

static uint64_t fnv(const char *text)
{
	uint64_t value = 0xcbf29ce484222325;

	for (; *text; text++)
		value = (value ^ (uint8_t)*text) * 0x100000001b3;
	return value;
}

/* What update-events prints for one event. */
static void describe(const struct event *event, char *ret, size_t room)
{
	char detail[24] = "";

	if (event->kind == EVENT_SWITCH_OUT)
		snprintf(detail, sizeof(detail), "%c", event->out.state);
	else if (event->kind <= EVENT_DROP_RETURN && event->gil)
		snprintf(detail, sizeof(detail), "%" PRIx64, event->gil);
	snprintf(ret, room, "%" PRIu64 " %d %d %s %s", event->time_ns, event->tid, event->cpu,
		event_kind_name(event->kind), detail);
}

static void count(struct tally *tally, struct event event)
{
	char line[128];

	/* our recorder keeps no others than these: order dropped none, see check_rest */
	if (event.kind == EVENT_SIGNAL)
		event.kind = EVENT_RELEASE;
	else if (event.kind == EVENT_COND_WAIT)
		event.kind = EVENT_YIELD;
	assert_true(event.kind < EVENT_KINDS);
	describe(&event, line, sizeof(line));
	tally->count[event.kind]++;
	tally->sum[event.kind] += fnv(line);
}

static int check_order(void *user, const struct event *event, struct err *err)
{
	uint64_t *newest_ns = user;

	assert_true(event->time_ns >= *newest_ns);
	*newest_ns = event->time_ns;
	return 0;
}

static void feed(struct recording *recording, struct decode *decode, struct order *order,
	const struct perfdata_record *record)
{
	struct event events[DECODE_MAX_EVENTS];
	int n;

	if (record->type == RECORD_FINISHED_ROUND) {
		assert_int_equal(order_round(order, 0, NULL), 0);
		return;
	}
	n = decode_record(decode, record, events, NULL);
	assert_in_range(n, 0, DECODE_MAX_EVENTS);
	for (int i = 0; i < n; i++) {
		assert_int_equal(order_feed(order, &events[i], NULL), 0);
		assert_int_equal(vec_grow(recording), 0);
		recording->items[recording->n++] = events[i];
		if (record->type == PERF_RECORD_SAMPLE)
			count(&recording->tally, events[i]);
	}
}

/* Reads all of corpus/@name. Its events keep no texts: those die with the decoder. */
static struct recording read_recording(const char *name)
{
	_cleanup_(cleanup_perfdata) struct perfdata *pd = NULL;
	_cleanup_(cleanup_decode) struct decode *decode = NULL;
	_cleanup_(cleanup_order) struct order *order = NULL;
	struct recording recording = {0};
	struct perfdata_record record;
	struct err err = {0};
	uint64_t newest_ns = 0;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", getenv("GOLDEN_DATA"), name);
	if (perfdata_open(path, &pd, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	assert_int_equal(decode_new(pd, 0, &decode, NULL), 0);
	assert_int_equal(order_new(check_order, &newest_ns, 1, &order, NULL), 0);
	while (perfdata_next(pd, &record, NULL) > 0)
		feed(&recording, decode, order, &record);
	assert_int_equal(order_flush(order, NULL), 0);
	recording.facts = *decode_facts(decode);
	recording.stats = *order_stats(order);
	return recording;
}

static int kind_of(const char *word)
{
	for (int kind = 0; kind < EVENT_KINDS; kind++)
		if (strcmp(word, event_kind_name((unsigned)kind)) == 0)
			return kind;
	fail_msg("%s is no kind", word);
	return -1;
}

static void check_line(const struct recording *recording, const char *name, const char *what,
	uint64_t count, uint64_t sum, bool seen[EVENT_KINDS])
{
	int kind;

	if (strcmp(what, "samples") == 0) {
		assert_int_equal(recording->facts.samples, count);
		return;
	}
	kind = kind_of(what);
	seen[kind] = true;
	if (recording->tally.count[kind] != count || recording->tally.sum[kind] != sum)
		fail_msg("%s: %" PRIu64 " %s, perf sees %" PRIu64 "; sums %" PRIx64 " and %" PRIx64,
			name, recording->tally.count[kind], what, count, sum,
			recording->tally.sum[kind]);
}

/* No kind of perf's samples has events that perf does not see. */
static void check_rest(
	const struct recording *recording, const char *name, const bool seen[EVENT_KINDS])
{
	static const uint8_t kinds[] = {EVENT_WANT, EVENT_ACQUIRE, EVENT_RELEASE, EVENT_DROP_RETURN,
		EVENT_WAKEUP, EVENT_SAMPLE, EVENT_MARK, EVENT_YIELD};

	assert_int_equal(recording->stats.foreign, 0);
	assert_int_equal(recording->stats.late, 0);
	assert_int_equal(recording->stats.duplicated, 0);
	for (size_t i = 0; i < sizeof(kinds); i++)
		if (!seen[kinds[i]] && recording->tally.count[kinds[i]])
			fail_msg("%s: %s events that perf does not see", name,
				event_kind_name(kinds[i]));
}

static void recordings_decode_as_perf_script_lists_them(void **state)
{
	_cleanup_fclose_ FILE *table = fopen(getenv("GOLDEN_EVENTS"), "re");
	struct recording recording = {0};
	bool seen[EVENT_KINDS] = {0};
	char line[256], name[64], what[32], last[64] = "";
	uint64_t count, sum;
	size_t files = 0;

	assert_non_null(table);
	while (fgets(line, sizeof(line), table)) {
		sum = 0;
		if (sscanf(line, "%63s %31s %" SCNu64 " %" SCNx64, name, what, &count, &sum) < 3 ||
			name[0] == '#')
			continue;
		if (strcmp(name, last) != 0) {
			check_rest(&recording, last, seen);
			free(recording.items);
			memset(seen, 0, sizeof(seen));
			recording = read_recording(name);
			strcpy(last, name);
			files++;
		}
		check_line(&recording, name, what, count, sum, seen);
	}
	check_rest(&recording, last, seen);
	free(recording.items);
	assert_true(files >= 20);
}

static void lost_events_count_once(void **state)
{
	struct recording recording = read_recording("lost.data");

	assert_int_equal(recording.facts.lost, 3685);
	assert_int_equal(recording.stats.duplicated, 0);
	free(recording.items);
}

/* cut.data is the beginning of default.data, whose formats lie behind the cut. */
static void a_cut_recording_decodes_like_the_whole(void **state)
{
	struct recording whole = read_recording("default.data"), cut = read_recording("cut.data");

	assert_false(whole.facts.formats_guessed);
	assert_true(cut.facts.formats_guessed);
	assert_int_equal(cut.facts.undecoded, 0);
	assert_int_equal(cut.facts.gil_events, 679);
	assert_true(cut.n < whole.n);
	for (size_t i = 0; i < cut.n; i++) {
		char a[128], b[128];

		describe(&whole.items[i], a, sizeof(a));
		describe(&cut.items[i], b, sizeof(b));
		assert_string_equal(a, b);
	}
	free(whole.items);
	free(cut.items);
}

/* Each thread's calls must alternate as take_gil and drop_gil do, and holds never overlap. */
static void a_killed_recording_makes_sense(void **state)
{
	static const uint8_t next[EVENT_KINDS] = {[EVENT_WANT] = EVENT_ACQUIRE,
		[EVENT_ACQUIRE] = EVENT_RELEASE,
		[EVENT_RELEASE] = EVENT_DROP_RETURN,
		[EVENT_DROP_RETURN] = EVENT_WANT};
	struct recording killed = read_recording("killed.data");
	int expected[65536] = {0};

	assert_true(killed.facts.formats_guessed);
	assert_int_equal(killed.facts.samples, 2950);
	assert_int_equal(killed.facts.undecoded, 0);
	assert_int_equal(killed.tally.count[EVENT_WANT], 637);
	assert_int_equal(killed.tally.count[EVENT_ACQUIRE], 636);
	assert_int_equal(killed.tally.count[EVENT_RELEASE], 635);
	assert_int_equal(killed.tally.count[EVENT_DROP_RETURN], 635);
	assert_int_equal(killed.tally.count[EVENT_SWITCH_OUT], 249);
	assert_int_equal(killed.tally.count[EVENT_WAKEUP], 158);
	for (size_t i = 0; i < killed.n; i++) {
		const struct event *event = &killed.items[i];

		if (event->kind > EVENT_DROP_RETURN || event->tid >= 65536)
			continue;
		if (expected[event->tid])
			assert_int_equal(event->kind, expected[event->tid] - 1);
		expected[event->tid] = next[event->kind] + 1;
	}
	free(killed.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recordings_decode_as_perf_script_lists_them),
		cmocka_unit_test(lost_events_count_once),
		cmocka_unit_test(a_cut_recording_decodes_like_the_whole),
		cmocka_unit_test(a_killed_recording_makes_sense),
	};
	return RUN_TESTS(tests);
}

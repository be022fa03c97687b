/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: merging a report of VizTracer. In: its JSON. Out: its events, copied as they stand: both
 * clocks are CLOCK_MONOTONIC, and our rows are on ids of their own. Invariant: a file that is no
 * report is refused before the recording is read.
 */
#include "emit/chrome.h"

#include "base/json.h"
#include "emit/json-scan.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>

DEFINE_CLEANUP(cJSON, cjson, cJSON_Delete)

/* The number behind @key (`"ts":`) in an event's text: such a text cannot stand in a string. */
static bool find_number(const char *event, const char *key, double *ret)
{
	const char *at = strstr(event, key);
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	*ret = strtod(at, &end);
	return end != at;
}

static void note_time(struct emit_chrome *emit, const char *event)
{
	double ts, dur = 0;
	uint64_t start_ns, end_ns;

	if (!find_number(event, "\"ts\":", &ts) || !(ts >= 0 && ts < 1e15))
		return;
	if (!find_number(event, "\"dur\":", &dur) || !(dur >= 0 && dur < 1e15))
		dur = 0;
	start_ns = (uint64_t)(ts * 1e3);
	end_ns = (uint64_t)((ts + dur) * 1e3);
	if (start_ns < emit->merged_start_ns)
		emit->merged_start_ns = start_ns;
	if (end_ns > emit->merged_end_ns)
		emit->merged_end_ns = end_ns;
}

static bool get_id(const cJSON *event, const char *key, uint32_t *ret)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);

	if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble < 4294967296.0))
		return false;
	*ret = (uint32_t)item->valuedouble;
	return true;
}

/* Remembers the name that a metadata event gives to a thread or process. */
static int note_name(struct emit_chrome *emit, const char *text)
{
	_cleanup_(cleanup_cjson) cJSON *event = cJSON_Parse(text);
	const cJSON *what, *name;
	const char *kept;
	uint32_t pid, tid;
	bool process;

	what = cJSON_GetObjectItemCaseSensitive(event, "name");
	name = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(event, "args"), "name");
	if (!cJSON_IsString(what) || !cJSON_IsString(name) || !get_id(event, "pid", &pid))
		return 0;
	process = !strcmp(what->valuestring, "process_name");
	if (!process && (strcmp(what->valuestring, "thread_name") || !get_id(event, "tid", &tid)))
		return 0;
	kept = strtab_intern(&emit->strings, name->valuestring);
	if (!kept)
		return -ENOMEM;
	return map_put_ptr(&emit->names, (uint64_t)pid << 32 | (process ? 0 : tid), (void *)kept);
}

static int copy_event(struct emit_chrome *emit, const struct text *event)
{
	int r = 0;

	if (strstr(event->items, "\"ph\":\"M\""))
		r = note_name(emit, event->items);
	else
		note_time(emit, event->items);
	if (emit->events++)
		out_write(emit->out, ",\n", 2);
	json_raw(emit->out, event->items, event->n);
	return r;
}

static int copy_events(struct emit_chrome *emit, struct json_scan *scan, struct text *text,
	const char *path, struct err *err)
{
	int r = json_scan_expect(scan, '[', err);

	for (bool first = true; r >= 0; first = false) {
		r = json_scan_more(scan, ']', first, err);
		if (r <= 0)
			return r;
		if (json_scan_peek(scan) != '{')
			return err_set(err, -EBADMSG, "'%s': an event is no object", path);
		r = json_scan_value(scan, text, err);
		if (r >= 0 && copy_event(emit, text) < 0)
			return err_nomem(err);
	}
	return r;
}

static int keep_file_info(struct emit_chrome *emit, const struct text *text, struct err *err)
{
	if (emit->file_info) /* of another report: the viewer knows one */
		return 0;
	emit->file_info = out_memory();
	if (!emit->file_info)
		return err_nomem(err);
	json_raw(emit->file_info, text->items, text->n);
	return out_error(emit->file_info) < 0 ? err_nomem(err) : 0;
}

static bool overflowed(const char *metadata)
{
	_cleanup_(cleanup_cjson) cJSON *object = cJSON_Parse(metadata);

	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "overflow"));
}

/* Takes the value of one member of the report. */
static int merge_member(struct emit_chrome *emit, struct json_scan *scan, const char *name,
	const char *path, unsigned *seen, struct err *err)
{
	_cleanup_(text_done) struct text text = {0};
	int r;

	if (!strcmp(name, "traceEvents")) {
		*seen |= 1;
		return copy_events(emit, scan, &text, path, err);
	}
	if (!strcmp(name, "viztracer_metadata")) {
		*seen |= 2;
		r = json_scan_value(scan, &text, err);
		if (r >= 0)
			emit->overflow |= overflowed(text.items);
		return r;
	}
	if (strcmp(name, "file_info"))
		return json_scan_value(scan, NULL, err);
	r = json_scan_value(scan, &text, err);
	return r < 0 ? r : keep_file_info(emit, &text, err);
}

static int no_report(const char *path, const char *why, struct err *err)
{
	err_hint(err, "viztracer -o result.json app.py   makes one; it is JSON, not HTML");
	return err_set(err, -EBADMSG, "'%s' is no report of VizTracer: %s", path, why);
}

int emit_chrome_merge_viztracer(struct emit_chrome *emit, const char *path, struct err *err)
{
	_cleanup_(cleanup_json_scan) struct json_scan *scan = NULL;
	_cleanup_(text_done) struct text name = {0};
	unsigned seen = 0;
	int r;

	if (!emit->options.clock_monotonic) {
		err_hint(err, "record with: gilprobe record, or perf record -k CLOCK_MONOTONIC");
		return err_set(err, -EOPNOTSUPP,
			"the recording cannot be aligned with '%s': its clock is not "
			"CLOCK_MONOTONIC",
			path);
	}
	r = json_scan_open(path, &scan, err);
	if (r < 0)
		return r;
	if (json_scan_peek(scan) != '{' && (r = json_scan_error(scan, err)) < 0)
		return r;
	if (json_scan_peek(scan) != '{')
		return no_report(path, "it does not begin with '{'", err);
	r = json_scan_expect(scan, '{', err);
	for (bool first = true; r >= 0; first = false) {
		r = json_scan_more(scan, '}', first, err);
		if (r <= 0)
			break;
		r = json_scan_key(scan, &name, err);
		if (r >= 0)
			r = merge_member(emit, scan, name.items, path, &seen, err);
	}
	if (r < 0)
		return r;
	if (json_scan_peek(scan) >= 0)
		return no_report(path, "something follows its end", err);
	r = json_scan_error(scan, err);
	if (r < 0)
		return r;
	if (seen != 3)
		return no_report(
			path, seen & 1 ? "it has no viztracer_metadata" : "it has no events", err);
	emit->merged = true;
	return 0;
}

bool emit_chrome_merge_fits(const struct emit_chrome *emit)
{
	return !emit->merged ||
	       (emit->merged_start_ns <= emit->end_ns && emit->start_ns <= emit->merged_end_ns);
}

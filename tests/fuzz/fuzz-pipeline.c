/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a perf.data through the whole pipeline, into every sink and report: what is
 * accepted must give JSON that parses, what is refused must have said why.
 */
#include "fuzz.h"

#include "emit/emit.h"
#include "pipeline/pipeline.h"
#include "report/report.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static void check_json(struct out *out)
{
	size_t n;
	const char *text = out_memory_bytes(out, &n);
	cJSON *tree = cJSON_ParseWithLength(text, n);

	if (!tree)
		abort();
	cJSON_Delete(tree);
}

/* @size decides on options: all of them are met, and an input always means the same. */
static int run(struct perfdata *pd, size_t size, struct out *trace, struct err *err)
{
	struct emit_options look = {.idle = size & 1, .waits_only = size & 2, .version = "0"};
	struct report_recording recording = {0};
	struct report_options table = {.columns = 100, .all_threads = size & 4};
	_cleanup_(cleanup_out) struct out *text = out_memory();
	_cleanup_(cleanup_out) struct out *json = out_memory();
	_cleanup_(cleanup_emit_chrome) struct emit_chrome *emit = NULL;
	_cleanup_(cleanup_pipeline) struct pipeline *pipeline = NULL;
	struct sink *sinks[1];
	struct pipeline_options how = {.sinks = sinks,
		.n_sinks = 1,
		.from_ns = size & 8 ? 1000000 : 0,
		.to_ns = size & 16 ? 50000000 : UINT64_MAX};
	const struct fold_result *result;
	int r;

	if (!text || !json || emit_chrome_new(trace, &look, &emit, err) < 0 ||
		pipeline_new(&how, &pipeline, err) < 0)
		abort();
	sinks[0] = emit_chrome_sink(emit);
	r = pipeline_add(pipeline, pd, "fuzz", err);
	if (r >= 0)
		r = pipeline_run(pipeline, &result, err);
	if (r < 0)
		return r;
	if (report_table(text, result, &recording, &table, err) < 0 ||
		report_summary(text, result, &recording, &table, err) < 0 ||
		report_json(json, result, &recording, err) < 0)
		abort();
	check_json(trace);
	check_json(json);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cleanup_out) struct out *trace = out_memory();
	struct perfdata *pd;
	struct err err = {0};
	int r;

	if (!trace)
		abort();
	r = perfdata_open_memory(data, size, &pd, &err);
	if (r >= 0)
		r = run(pd, size, trace, &err);
	if (r < 0 && !err.text[0])
		abort();
	return 0;
}

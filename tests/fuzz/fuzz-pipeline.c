/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a perf.data through the whole pipeline, into every sink and report.
 */
#include "fuzz.h"

#include "emit/emit.h"
#include "pipeline/pipeline.h"
#include "report/report.h"

static void run(struct perfdata *pd, struct out *trace, struct out *text)
{
	struct emit_options look = {.idle = true, .version = "0"};
	struct report_recording recording = {0};
	struct report_options table = {.columns = 100};
	_cleanup_(cleanup_emit_chrome) struct emit_chrome *emit = NULL;
	_cleanup_(cleanup_pipeline) struct pipeline *pipeline = NULL;
	struct sink *sinks[1];
	struct pipeline_options how = {.sinks = sinks, .n_sinks = 1, .to_ns = UINT64_MAX};
	const struct fold_result *result;
	struct err err = {0};

	if (emit_chrome_new(trace, &look, &emit, &err) < 0 ||
		pipeline_new(&how, &pipeline, &err) < 0) {
		perfdata_free(pd);
		return;
	}
	sinks[0] = emit_chrome_sink(emit);
	if (pipeline_add(pipeline, pd, "fuzz", &err) < 0 ||
		pipeline_run(pipeline, &result, &err) < 0)
		return;
	report_table(text, result, &recording, &table, &err);
	report_summary(text, result, &recording, &table, &err);
	report_json(text, result, &recording, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cleanup_out) struct out *trace = out_memory();
	_cleanup_(cleanup_out) struct out *text = out_memory();
	struct perfdata *pd;
	struct err err = {0};

	if (trace && text && perfdata_open_memory(data, size, &pd, &err) >= 0)
		run(pd, trace, text);
	return 0;
}

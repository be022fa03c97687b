/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a report of VizTracer that is merged: what is accepted must leave a trace that
 * parses, and what is refused must have said why.
 */
#include "fuzz.h"

#include "emit/emit.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fold_result nothing;
	struct emit_options options = {.idle = true, .clock_monotonic = true};
	_cleanup_(cleanup_emit_chrome) struct emit_chrome *emit = NULL;
	_cleanup_(cleanup_out) struct out *out = out_memory();
	_cleanup_close_ int fd = memfd_create("viztracer", MFD_CLOEXEC);
	struct err err = {0};
	const char *text;
	char path[64];
	cJSON *tree;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || !out ||
		emit_chrome_new(out, &options, &emit, &err) < 0)
		abort();
	if (emit_chrome_merge_viztracer(emit, path, &err) < 0) {
		if (!err.text[0])
			abort();
		return 0;
	}
	if (emit_chrome_sink(emit)->done(emit, &nothing, &err) < 0)
		abort();
	text = out_memory_bytes(out, &n);
	/* half a surrogate pair is JSON by RFC 8259, and is kept, but cJSON takes none */
	if (memmem(text, n, "\\ud", 3) || memmem(text, n, "\\uD", 3))
		return 0;
	tree = cJSON_ParseWithLength(text, n);
	if (!tree)
		abort();
	cJSON_Delete(tree);
	return 0;
}

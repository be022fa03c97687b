/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a string of the JSON writer: what comes out must parse, whatever went in.
 */
#include "fuzz.h"

#include "base/json.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cleanup_out) struct out *out = out_memory();
	char *text = malloc(size + 1);
	struct json json = json_to(out);
	const char *bytes;
	cJSON *tree;
	size_t n;

	if (!out || !text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	json_object_begin(&json);
	json_key(&json, text);
	json_str(&json, text);
	json_key(&json, "n");
	json_ns_as_us(&json, size);
	json_object_end(&json);
	bytes = out_memory_bytes(out, &n);
	tree = cJSON_ParseWithLength(bytes, n);
	if (!tree || cJSON_GetArraySize(tree) != 2)
		abort();
	cJSON_Delete(tree);
	free(text);
	return 0;
}

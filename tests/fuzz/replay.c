/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target over files and folders of files, each copied to a block of its exact size so
 * that a sanitizer sees a read past the end. usage: replay-TARGET PATH...
 */
#include "fuzz.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int replay(const char *path, size_t size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes = malloc(size);
	size_t n;

	if (!f || (size && !bytes)) {
		perror(path);
		return 1;
	}
	n = fread(bytes, 1, size, f);
	fclose(f);
	LLVMFuzzerTestOneInput(bytes, n);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned files = 0;
	int failed = 0;
	FTSENT *entry;
	FTS *tree;

	if (argc < 2)
		return 2;
	tree = fts_open(argv + 1, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (tree && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_F)
			continue;
		failed |= replay(entry->fts_accpath, (size_t)entry->fts_statp->st_size);
		files++;
	}
	fts_close(tree);
	printf("%u inputs replayed\n", files);
	return failed || !files;
}

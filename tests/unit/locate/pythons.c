/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test help: asks every interpreter at hand for its version and the file that it maps.
 */
#include "pythons.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char question[] =
	"import sys, os\n"
	"files = [l.split(None, 5)[5].strip() for l in open('/proc/self/maps') if '/' in l]\n"
	"lib = [f for f in files if 'libpython%d.%d' % sys.version_info[:2] in f]\n"
	"print(lib[0] if lib else os.path.realpath('/proc/self/exe'))\n"
	"print('%d.%d.%d' % sys.version_info[:3])\n"
	"print(int('t' in getattr(sys, 'abiflags', '')))\n";

static bool read_line(FILE *f, char *ret, size_t size)
{
	if (!fgets(ret, (int)size, f))
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

static bool ask(const char *command, struct python *ret)
{
	char shell[2048], flag[8];
	FILE *f;
	bool ok;

	snprintf(ret->command, sizeof(ret->command), "%s", command);
	setenv("PYTHONS_QUESTION", question, 1);
	snprintf(shell, sizeof(shell), "'%s' -c \"$PYTHONS_QUESTION\" 2>/dev/null", command);
	f = popen(shell, "r");
	if (!f)
		return false;
	ok = read_line(f, ret->binary, sizeof(ret->binary)) &&
	     read_line(f, ret->version, sizeof(ret->version)) && read_line(f, flag, sizeof(flag));
	pclose(f);
	ret->free_threaded = ok && flag[0] == '1';
	return ok;
}

bool pythons_executable(const struct python *python, char *ret, size_t size)
{
	char shell[2048];
	bool ok;
	FILE *f;

	snprintf(shell, sizeof(shell),
		"'%s' -c 'import os; print(os.path.realpath(\"/proc/self/exe\"))' 2>/dev/null",
		python->command);
	f = popen(shell, "r");
	if (!f)
		return false;
	ok = read_line(f, ret, size);
	pclose(f);
	return ok;
}

static void add(struct python *list, size_t *n, const char *command)
{
	struct python *one = &list[*n];

	if (*n == PYTHONS_MAX || access(command, X_OK) || !ask(command, one))
		return;
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(list[i].binary, one->binary))
			return;
	++*n;
}

size_t pythons_find(struct python ret[PYTHONS_MAX])
{
	const char *lists[] = {getenv("PATH"), getenv("GILPROBE_PYTHONS")};
	size_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		char *copy = strdup(lists[i] ? lists[i] : ""), *rest = copy, *item;

		while ((item = strsep(&rest, ":"))) {
			char path[1024];

			snprintf(path, sizeof(path), i ? "%s" : "%s/python3", item);
			if (*item)
				add(ret, &n, path);
		}
		free(copy);
	}
	return n;
}

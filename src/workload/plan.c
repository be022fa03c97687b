/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: struct plan to and from its memfd.
 *
 * In: options of the command line. Out: what the runner reads. The format is private to one build:
 * the runner is a part of the binary that writes it.
 */
#include "workload/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(FILE *f, const char *key, const char *value)
{
	if (!value)
		return;
	fprintf(f, "%s=%s", key, value);
	fputc(0, f);
}

static void put_unsigned(FILE *f, const char *key, unsigned value)
{
	fprintf(f, "%s=%u", key, value);
	fputc(0, f);
}

int plan_write(const struct plan *plan)
{
	int fd = memfd_create("gilprobe-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");
	int r = 0;

	if (!f) {
		r = -errno;
		if (copy >= 0)
			close(copy);
		if (fd >= 0)
			close(fd);
		return r;
	}
	put(f, "target", plan->target);
	put(f, "builtin", plan->builtin);
	for (size_t i = 0; i < plan->n_args; i++)
		put(f, "arg", plan->args[i]);
	fprintf(f, "scale=%a", plan->scale);
	fputc(0, f);
	for (size_t i = 0; i < plan->n_workers; i++)
		put_unsigned(f, "workers", plan->workers[i]);
	put_unsigned(f, "repeat", plan->repeat);
	put_unsigned(f, "interpreters", plan->interpreters);
	if (ferror(f))
		r = -EIO;
	if (fclose(f) < 0)
		r = -errno;
	if (r == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

/* One string of the plan; @args has room for every one. */
static int take(struct plan *plan, const char **args, const char *item)
{
	const char *value = strchr(item, '=');
	size_t n = value ? (size_t)(value - item) : 0;

	if (!value)
		return -EBADMSG;
	value++;
	if (n == 6 && memcmp(item, "target", n) == 0)
		plan->target = value;
	else if (n == 7 && memcmp(item, "builtin", n) == 0)
		plan->builtin = value;
	else if (n == 3 && memcmp(item, "arg", n) == 0)
		args[plan->n_args++] = value;
	else if (n == 5 && memcmp(item, "scale", n) == 0)
		plan->scale = strtod(value, NULL);
	else if (n == 7 && memcmp(item, "workers", n) == 0 && plan->n_workers < PLAN_COUNTS)
		plan->workers[plan->n_workers++] = (unsigned)strtoul(value, NULL, 10);
	else if (n == 6 && memcmp(item, "repeat", n) == 0)
		plan->repeat = (unsigned)strtoul(value, NULL, 10);
	else if (n == 12 && memcmp(item, "interpreters", n) == 0)
		plan->interpreters = value[0] == '1';
	else
		return -EBADMSG;
	return 0;
}

static int read_all(int fd, char *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = pread(fd, bytes + at, size - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		at += (size_t)n;
	}
	return 0;
}

int plan_read(int fd, struct plan *ret, void **ret_memory)
{
	struct plan plan = {0};
	const char **args = NULL;
	char *memory = NULL, *bytes = NULL;
	size_t size = 0, items = 0;
	struct stat st;
	int r = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	size = (size_t)st.st_size;
	if (size == 0)
		return -EBADMSG;
	bytes = malloc(size);
	r = bytes ? read_all(fd, bytes, size) : -ENOMEM;
	if (r == 0 && bytes[size - 1] != 0)
		r = -EBADMSG;
	for (size_t i = 0; r == 0 && i < size; i++)
		items += bytes[i] == 0;
	/* one block: the pointers to the arguments, then the bytes */
	memory = r == 0 ? malloc(items * sizeof(*args) + size) : NULL;
	if (r == 0 && !memory)
		r = -ENOMEM;
	if (r == 0) {
		args = (const char **)memory;
		memcpy(memory + items * sizeof(*args), bytes, size);
		plan.args = args;
	}
	for (const char *item = memory ? memory + items * sizeof(*args) : NULL;
		r == 0 && item < memory + items * sizeof(*args) + size; item += strlen(item) + 1)
		r = take(&plan, args, item);
	free(bytes);
	if (r == 0 && (plan.n_workers == 0 || plan.repeat == 0))
		r = -EBADMSG;
	if (r < 0) {
		free(memory);
		return r;
	}
	*ret = plan;
	*ret_memory = memory;
	return 0;
}

void plan_free(void *memory)
{
	free(memory);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runner: clocks, the lines that it says, and the function that marks phases in a recording.
 */
#include "workload/runner.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t runner_now(void)
{
	return now(CLOCK_MONOTONIC);
}

uint64_t runner_process_cpu(void)
{
	return now(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t runner_thread_cpu(void)
{
	return now(CLOCK_THREAD_CPUTIME_ID);
}

static void write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			_exit(RUNNER_LOST_FD);
		bytes += n;
		size -= (size_t)n;
	}
}

void runner_say(const struct runner *runner, const char *fmt, ...)
{
	char line[4 * RUNNER_ERROR];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	n = strlen(line);
	line[n++] = '\n';
	write_all(runner->out_fd, line, n);
}

void runner_say_run(const struct runner *runner, const struct scale_run *run)
{
	char *line = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&line, &size);

	if (!f)
		_exit(RUNNER_LOST_FD);
	fprintf(f, "run\t%llu\t%llu\t%llu", (unsigned long long)run->start_ns,
		(unsigned long long)run->end_ns, (unsigned long long)run->cpu_ns);
	for (size_t i = 0; i < run->n_tasks; i++) {
		const struct scale_task *t = &run->tasks[i];

		fprintf(f, "\t%d\t%d\t%llu\t%llu\t%llu", t->pid, t->tid,
			(unsigned long long)t->start_ns, (unsigned long long)t->end_ns,
			(unsigned long long)t->cpu_ns);
	}
	fputc('\n', f);
	if (fclose(f) == 0)
		write_all(runner->out_fd, line, size);
	free(line);
}

__attribute__((noinline, visibility("default"))) void gilprobe_mark(uint64_t phase)
{
	__asm__ volatile("" : : "r"(phase) : "memory");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a command and writes what it took: CPU microseconds and peak memory in KiB. The kernel
 * counts the memory that a process had before exec to the command; that of an interpreter would
 * drown it.
 *
 * usage: cost FILE COMMAND [ARG]...
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long microseconds(struct timeval t)
{
	return t.tv_sec * 1000000ll + t.tv_usec;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	FILE *file;
	pid_t pid;
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: cost FILE COMMAND [ARG]...\n");
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0) {
		perror("cost");
		return 2;
	}
	file = fopen(argv[1], "w");
	if (!file ||
		fprintf(file, "%lld %ld\n",
			microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
			usage.ru_maxrss) < 0 ||
		fclose(file)) {
		perror(argv[1]);
		return 2;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runner: worker processes, from both sides.
 *
 * Each is a fresh interpreter that loads the runner as we were loaded. Over a socket of its own it
 * says lines (ready, ran …, fail …) and runs the task once for every byte that it reads; the
 * end of the socket ends it.
 */
#include "workload/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKER_LINE 1024
#define OUR_FDS 3     /* runner, plan, lines: the last words of our command line */
#define LEAVE_MS 2000 /* for a worker's own clean-up at exit */

extern char **environ;

struct worker {
	pid_t pid;
	int fd; /* our end of its socket */
	char line[WORKER_LINE];
	size_t filled;
	struct scale_task timing;
	uint64_t cpu_ns; /* of the whole process */
};

struct crew {
	struct runner *runner;
	struct worker *workers;
	unsigned n, started;
	char error[RUNNER_ERROR];
};

/* The bytes of a file of /proc, NUL-terminated; NULL: cannot be read. */
static char *read_proc(const char *path, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *bytes = NULL;
	size_t size = 0, cap = 0;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		if (cap - size < 4096) {
			char *more = realloc(bytes, cap + 65536);

			if (!more) {
				n = -1;
				break;
			}
			bytes = more;
			cap += 65536;
		}
		n = read(fd, bytes + size, cap - size - 1);
		size += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		free(bytes);
		return NULL;
	}
	bytes[size] = 0;
	*ret_size = size;
	return bytes;
}

int worker_argv(struct runner *runner)
{
	size_t size = 0, words = 0, at = 0;
	char *bytes = read_proc("/proc/self/cmdline", &size);

	for (size_t i = 0; i < size; i++)
		words += bytes[i] == 0;
	runner->argv = words > OUR_FDS ? calloc(words + 2, sizeof(char *)) : NULL;
	if (!runner->argv) {
		free(bytes);
		return -1;
	}
	for (; runner->n_argv < words - OUR_FDS; at += strlen(bytes + at) + 1)
		runner->argv[runner->n_argv++] = bytes + at;
	return 0;
}

/* Both ends lie above what a target may close or lose: standard streams above all. */
static int make_socket(int ret[2])
{
	int low[2], r = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) < 0)
		return errno;
	ret[0] = fcntl(low[0], F_DUPFD_CLOEXEC, RUNNER_LOW_FD);
	ret[1] = ret[0] < 0 ? -1 : fcntl(low[1], F_DUPFD_CLOEXEC, RUNNER_LOW_FD);
	if (ret[1] < 0) {
		r = errno;
		if (ret[0] >= 0)
			close(ret[0]);
	}
	close(low[0]);
	close(low[1]);
	return r;
}

static int spawn(struct runner *runner, int socket, pid_t *ret)
{
	const int onto_itself[OUR_FDS] = {runner->runner_fd, runner->plan_fd, socket};
	char words[OUR_FDS][16], **fd_args = runner->argv + runner->n_argv;
	char role[] = "1";
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return r;
	for (int i = 0; i < OUR_FDS; i++) {
		/* takes close-on-exec away */
		posix_spawn_file_actions_adddup2(&actions, onto_itself[i], onto_itself[i]);
		snprintf(words[i], sizeof(words[i]), "%d", onto_itself[i]);
		fd_args[i] = words[i];
	}
	for (int i = 0; i < 3; i++)
		if (runner->standard[i] >= 0)
			posix_spawn_file_actions_adddup2(&actions, runner->standard[i], i);
	fd_args[OUR_FDS] = role;
	fd_args[OUR_FDS + 1] = NULL;
	r = posix_spawn(ret, runner->argv[0], &actions, NULL, runner->argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	fd_args[0] = NULL;
	return r;
}

static int spawn_worker(struct crew *crew, struct worker *worker)
{
	int sockets[2] = {-1, -1}, r = make_socket(sockets);

	if (r)
		return r;
	r = spawn(crew->runner, sockets[1], &worker->pid);
	close(sockets[1]);
	if (r)
		close(sockets[0]);
	else
		worker->fd = sockets[0];
	return r;
}

static void say_death(struct crew *crew, unsigned i)
{
	int status = 0;
	pid_t pid = waitpid(crew->workers[i].pid, &status, 0);

	crew->workers[i].pid = 0;
	if (pid > 0 && WIFSIGNALED(status))
		snprintf(crew->error, sizeof(crew->error),
			"worker process %u of %u was ended by signal %d (%s)", i + 1, crew->n,
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(crew->error, sizeof(crew->error),
			"worker process %u of %u exited with status %d", i + 1, crew->n,
			pid > 0 ? WEXITSTATUS(status) : -1);
}

/* One line of a worker. 1: it is ready or has run; -1: it failed. */
static int take_line(struct crew *crew, struct worker *worker, const char *line)
{
	unsigned long long start, end, cpu, all_cpu;

	if (strcmp(line, "ready") == 0)
		return 1;
	if (strncmp(line, "fail\t", 5) == 0) {
		snprintf(crew->error, sizeof(crew->error), "%s", line + 5);
		return -1;
	}
	if (sscanf(line, "ran\t%d\t%llu\t%llu\t%llu\t%llu", &worker->timing.tid, &start, &end, &cpu,
		    &all_cpu) != 5) {
		snprintf(crew->error, sizeof(crew->error), "a worker process said '%.80s'", line);
		return -1;
	}
	worker->timing.pid = worker->pid;
	worker->timing.start_ns = start;
	worker->timing.end_ns = end;
	worker->timing.cpu_ns = cpu;
	worker->cpu_ns = all_cpu;
	return 1;
}

/* Reads what is there. 1: a whole line came; 0: not yet; -1 with words. */
static int read_worker(struct crew *crew, unsigned i)
{
	struct worker *worker = &crew->workers[i];
	ssize_t n = read(worker->fd, worker->line + worker->filled,
		sizeof(worker->line) - worker->filled - 1);
	char *end;
	int r;

	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0) {
		say_death(crew, i);
		return -1;
	}
	worker->filled += (size_t)n;
	worker->line[worker->filled] = 0;
	end = memchr(worker->line, '\n', worker->filled);
	if (!end)
		return worker->filled < sizeof(worker->line) - 1 ? 0 : take_line(crew, worker, "");
	*end = 0;
	r = take_line(crew, worker, worker->line);
	worker->filled = 0; /* a worker says one line per go */
	return r;
}

/* A line from every worker. 0, or -1 with words. */
static int read_all(struct crew *crew)
{
	struct pollfd polls[PLAN_WORKERS_MAX];
	unsigned left = crew->started;

	for (unsigned i = 0; i < crew->started; i++)
		polls[i] = (struct pollfd){.fd = crew->workers[i].fd, .events = POLLIN};
	while (left) {
		int n = poll(polls, crew->started, -1);

		if (n < 0 && errno != EINTR) {
			snprintf(crew->error, sizeof(crew->error), "poll: %s", strerror(errno));
			return -1;
		}
		for (unsigned i = 0; n > 0 && i < crew->started; i++) {
			int r = polls[i].fd >= 0 && polls[i].revents ? read_worker(crew, i) : 0;

			if (r < 0)
				return -1;
			if (r > 0) {
				polls[i].fd = -1;
				left--;
			}
		}
	}
	return 0;
}

static int start_crew(struct crew *crew)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < crew->n; i++) {
		r = spawn_worker(crew, &crew->workers[i]);
		crew->started += r == 0;
	}
	if (r) {
		snprintf(crew->error, sizeof(crew->error),
			"cannot start worker process %u of %u: %s", crew->started + 1, crew->n,
			strerror(r));
		return -1;
	}
	return read_all(crew);
}

static int run_crew(struct crew *crew, struct scale_run *run)
{
	int r;

	gilprobe_mark(crew->runner->phase);
	run->start_ns = runner_now();
	for (unsigned i = 0; i < crew->n; i++)
		/* one that is gone shows itself when it is read */
		(void)!send(crew->workers[i].fd, "", 1, MSG_NOSIGNAL);
	r = read_all(crew);
	gilprobe_mark(0);
	run->end_ns = run->start_ns;
	run->cpu_ns = 0;
	for (unsigned i = 0; i < crew->n; i++) {
		run->tasks[i] = crew->workers[i].timing;
		run->cpu_ns += crew->workers[i].cpu_ns;
		if (run->end_ns < run->tasks[i].end_ns)
			run->end_ns = run->tasks[i].end_ns;
	}
	return r;
}

/* Those that do not leave by themselves in time are killed. */
static void stop_crew(struct crew *crew)
{
	uint64_t until = runner_now() + LEAVE_MS * 1000000ull;

	for (unsigned i = 0; i < crew->started; i++)
		shutdown(crew->workers[i].fd, SHUT_WR);
	for (unsigned i = 0; i < crew->started; i++) {
		struct worker *worker = &crew->workers[i];
		struct pollfd end = {.fd = worker->fd, .events = POLLIN};
		char rest[256];

		while (worker->pid) {
			uint64_t now = runner_now();

			if (now >= until || *crew->error)
				break;
			if (poll(&end, 1, (int)((until - now) / 1000000) + 1) > 0 &&
				read(worker->fd, rest, sizeof(rest)) <= 0)
				break;
		}
		if (worker->pid) {
			/* its end of the pipe is closed, or it is late: it dies now or has */
			if (waitpid(worker->pid, NULL, WNOHANG) == 0) {
				kill(worker->pid, SIGKILL);
				waitpid(worker->pid, NULL, 0);
			}
		}
		close(worker->fd);
	}
	free(crew->workers);
}

int mode_processes(struct runner *runner, unsigned workers)
{
	struct crew crew = {.runner = runner, .n = workers};
	struct scale_run run = {.n_tasks = workers};
	PyThreadState *state = PyEval_SaveThread();
	int r = -1;

	crew.workers = calloc(workers, sizeof(*crew.workers));
	run.tasks = calloc(workers, sizeof(*run.tasks));
	if (crew.workers && run.tasks)
		r = start_crew(&crew);
	else
		snprintf(crew.error, sizeof(crew.error), "out of memory");
	for (unsigned i = 0; r == 0 && i < runner->plan.repeat; i++) {
		r = run_crew(&crew, &run);
		if (r == 0)
			runner_say_run(runner, &run);
	}
	if (r < 0)
		runner_say(runner, "unavailable\t%s", crew.error);
	stop_crew(&crew);
	free(run.tasks);
	PyEval_RestoreThread(state);
	return 0;
}

int worker_main(struct runner *runner)
{
	struct task task;
	char error[RUNNER_ERROR];
	PyObject *none;

	pthread_setname_np(pthread_self(), "worker");
	if (task_init(&task, runner, error) < 0 || task_load(&task, error) < 0) {
		runner_say(runner, "fail\t%s", error);
		return -1;
	}
	runner_say(runner, "ready");
	for (;;) {
		struct scale_task timing;
		PyThreadState *state = PyEval_SaveThread();
		char byte;
		ssize_t n;
		uint64_t start_ns, cpu_ns;
		int r;

		do
			n = read(runner->out_fd, &byte, 1);
		while (n < 0 && errno == EINTR);
		start_ns = runner_now();
		cpu_ns = runner_process_cpu();
		PyEval_RestoreThread(state);
		if (n != 1)
			break;
		r = task_run(&task, start_ns, &timing, error);
		cpu_ns = runner_process_cpu() - cpu_ns;
		if (r < 0) {
			runner_say(runner, "fail\t%s", error);
			return -1;
		}
		runner_say(runner, "ran\t%d\t%llu\t%llu\t%llu\t%llu", timing.tid,
			(unsigned long long)timing.start_ns, (unsigned long long)timing.end_ns,
			(unsigned long long)timing.cpu_ns, (unsigned long long)cpu_ns);
	}
	none = task_prelude(&task, "flush");
	Py_DecRef(none);
	return 0;
}

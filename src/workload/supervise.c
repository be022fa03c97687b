/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload: the supervisor. In: a prepared workload, in a process of its own. Out: the log.
 *
 * It is the subreaper of everything that the target starts: an orphan becomes our child, so
 * "kill all children until there are none" ends even daemons with sessions of their own.
 */
#include "base/owner.h"
#include "workload/internal.h"
#include "workload/workload.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#define GRACE_NS 3000000000ull /* after "done", for the interpreter's own end */
#define KILL_NS 5000000000ull  /* for the dead to be reaped */
#define LOG_LIMIT (64u << 20)

struct watch {
	struct workload *workload;
	pid_t pid; /* the interpreter; 0: gone */
	int status;
	int signal_fd;
	uint64_t until_ns;
	bool done;     /* said */
	char word[64]; /* start of the current line */
	size_t word_n;
	size_t logged;
	int interrupted; /* signal number */
	bool timed_out;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void log_bytes(struct watch *watch, const char *bytes, size_t size)
{
	while (size && watch->logged <= LOG_LIMIT) {
		ssize_t n = write(watch->workload->log_fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		bytes += n;
		size -= (size_t)n;
		watch->logged += (size_t)n;
	}
}

static void log_line(struct watch *watch, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void log_line(struct watch *watch, const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n > 0)
		log_bytes(watch, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

/* Follows the runner: which phase, and whether it is done. */
static void end_of_line(struct watch *watch)
{
	const struct workload_options *options = &watch->workload->options;
	unsigned mode, workers;

	watch->word[watch->word_n] = 0;
	watch->word_n = 0;
	if (strcmp(watch->word, "done") == 0 && !watch->done) {
		watch->done = true;
		watch->until_ns = now_ns() + GRACE_NS;
	} else if (options->progress &&
		   sscanf(watch->word, "phase\t%u\t%u", &mode, &workers) == 2 &&
		   mode < SCALE_MODES) {
		options->progress(options->user, (enum scale_mode)mode, workers);
	}
}

static void take_bytes(struct watch *watch, const char *bytes, size_t size)
{
	log_bytes(watch, bytes, size);
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			end_of_line(watch);
		else if (watch->word_n < sizeof(watch->word) - 1)
			watch->word[watch->word_n++] = bytes[i];
	}
}

/* Whatever the pipe holds. False at its end. */
static bool drain(struct watch *watch)
{
	char bytes[65536];

	for (;;) {
		ssize_t n = read(watch->workload->lines[0], bytes, sizeof(bytes));

		if (n > 0)
			take_bytes(watch, bytes, (size_t)n);
		else if (n == 0 || (errno != EINTR && errno != EAGAIN))
			return false;
		else if (errno == EAGAIN)
			return true;
	}
}

static void reap(struct watch *watch)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == watch->pid) {
			watch->pid = 0;
			watch->status = status;
		}
}

static void take_signal(struct watch *watch)
{
	struct signalfd_siginfo info;

	while (read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(watch);
		else
			watch->interrupted = (int)info.ssi_signo;
	}
}

/* Kills our children, which are the ones whose parent has gone too. How many there were. */
static unsigned kill_children(void)
{
	_cleanup_closedir_ DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned n = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300], line[512];
		const char *name_end;
		_cleanup_fclose_ FILE *f = NULL;
		int parent = 0;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		f = fopen(path, "re");
		if (!f || !fgets(line, sizeof(line), f))
			continue;
		name_end = strrchr(line, ')');
		if (name_end && sscanf(name_end, ") %*c %d", &parent) == 1 && parent == getpid()) {
			kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
			n++;
		}
	}
	return n;
}

static void kill_all(struct watch *watch)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t until_ns = now_ns() + KILL_NS;

	/* all at once first: fewer orphans, and none that reacts to the death of another */
	if (watch->pid)
		kill(-watch->pid, SIGKILL);
	do {
		pid_t pid;

		reap(watch);
		pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0 && errno == ECHILD)
			return;
		kill_children();
		nanosleep(&pause, NULL);
	} while (now_ns() < until_ns);
}

static void run_interpreter(struct workload *w, const sigset_t *mask)
{
	const int inherited[3] = {w->runner_fd, w->plan_fd, w->lines[1]};

	prctl(PR_SET_CHILD_SUBREAPER, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the target kill the supervisor */
	setsid();
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* what the target prints is no result of ours */
	for (size_t i = 0; i < 3; i++)
		fcntl(inherited[i], F_SETFD, 0);
	execv(w->argv[0], w->argv);
	dprintf(w->lines[1], "fail\tcannot run '%s': %s\n", w->argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void watch_interpreter(struct watch *watch)
{
	struct pollfd polls[2] = {{.fd = watch->workload->lines[0], .events = POLLIN},
		{.fd = watch->signal_fd, .events = POLLIN}};

	while (watch->pid && !watch->interrupted) {
		uint64_t now = now_ns();

		if (now >= watch->until_ns) {
			watch->timed_out = !watch->done;
			break;
		}
		if (poll(polls, 2, (int)((watch->until_ns - now) / 1000000 % 1000000) + 1) < 0)
			continue;
		if (polls[0].revents && !drain(watch))
			polls[0].fd = -1;
		if (polls[1].revents)
			take_signal(watch);
	}
	drain(watch);
}

static void say_end(struct watch *watch)
{
	if (watch->word_n)
		log_line(watch, "\n");
	if (watch->interrupted)
		log_line(watch, "end\tinterrupted\t%d\n", watch->interrupted);
	else if (watch->timed_out)
		log_line(watch, "end\ttimeout\t%llu\n",
			(unsigned long long)watch->workload->options.timeout_ns);
	else if (WIFSIGNALED(watch->status))
		log_line(watch, "end\tsignal\t%d\n", WTERMSIG(watch->status));
	else
		log_line(watch, "end\texit\t%d\n", WEXITSTATUS(watch->status));
}

void workload_signals(sigset_t *ret)
{
	static const int ends[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	struct sigaction action;

	sigemptyset(ret);
	sigaddset(ret, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(ret, ends[i]);
}

int workload_supervise(void *user)
{
	struct workload *w = user;
	struct watch watch = {.workload = w, .until_ns = now_ns() + w->options.timeout_ns};
	pid_t parent = getppid();
	struct owner owner;
	sigset_t ours, before;
	int r = owner_behind_sudo(&owner) ? owner_become(&owner) : 0;

	if (r < 0) {
		log_line(&watch, "fail\tcannot become uid %u: %s\n", (unsigned)owner.uid,
			strerror(-r));
		return 125;
	}
	/* becoming another user takes the second one away */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	workload_signals(&ours);
	sigprocmask(SIG_BLOCK, &ours, &before);
	watch.signal_fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	watch.pid = watch.signal_fd < 0 || getppid() != parent ? -1 : fork();
	if (watch.pid == 0)
		run_interpreter(w, &before);
	if (watch.pid < 0) {
		log_line(&watch, "fail\tcannot start a process: %s\n", strerror(errno));
		return 125;
	}
	close(w->lines[1]);
	w->lines[1] = -1;
	fcntl(w->lines[0], F_SETFL, O_NONBLOCK);
	watch_interpreter(&watch);
	say_end(&watch);
	kill_all(&watch);
	return 0;
}

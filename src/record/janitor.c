/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: the janitor. In: the end of a pipe that the recorder holds. Out: no probes left.
 *
 * Invariant: it sits in a session of its own, so that no Ctrl-C and no hang-up reaches it, and
 * holds nothing of the recorder's: no terminal, no output, no directory.
 */
#include "record/janitor.h"

#include "record/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A killed recorder's events close within seconds; another tool may hold one for longer. */
#define TRIES 600
#define BETWEEN_NS 100000000L

static void let_go_of_files(int keep)
{
	int null = open("/dev/null", O_RDWR);

	if (keep < 3)
		keep = fcntl(keep, F_DUPFD, 3);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	dup2(keep, 3);
	close_range(4, ~0u, 0);
	if (chdir("/") < 0)
		return; /* then a directory cannot be unmounted for as long as we live */
}

static void delete_patiently(const char *group)
{
	const struct timespec pause = {0, BETWEEN_NS};

	for (unsigned i = 0; i < TRIES && probes_delete_group(group) == -EBUSY; i++)
		nanosleep(&pause, NULL);
}

static void be_janitor(const char *group, int fd)
{
	sigset_t none;
	char byte;

	setsid();
	prctl(PR_SET_NAME, "gilprobe-clean");
	sigemptyset(&none);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	let_go_of_files(fd);
	while (read(3, &byte, 1) < 0 && errno == EINTR)
		;
	delete_patiently(group);
	_exit(0);
}

int janitor_start(struct janitor *janitor, const char *group, struct err *err)
{
	int pipefd[2];
	pid_t pid;

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return err_errno(err, -errno, "cannot make a pipe");
	pid = fork();
	if (pid < 0) {
		int r = err_errno(err, -errno, "cannot start the process that removes probes");

		close(pipefd[0]);
		close(pipefd[1]);
		return r;
	}
	if (pid == 0) {
		close(pipefd[1]);
		be_janitor(group, pipefd[0]);
	}
	close(pipefd[0]);
	*janitor = (struct janitor){pid, pipefd[1]};
	return 0;
}

void janitor_forget(struct janitor *janitor)
{
	if (janitor->fd >= 0)
		close(janitor->fd);
	*janitor = JANITOR_NONE;
}

void janitor_stop(struct janitor *janitor)
{
	pid_t pid = janitor->pid;

	janitor_forget(janitor);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

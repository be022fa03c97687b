/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: the interpreters that a process maps, and the processes that map an interpreter.
 *
 * In: /proc. Out: targets, pids. The path in maps is the process's own: it may be of another mount
 * namespace or deleted, so a file is what its device and inode say, never what it is called.
 */
#include "locate/hunt.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "locate/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* One executable file mapping of /proc/PID/maps. */
struct mapping {
	char range[40]; /* "START-END", the name in map_files */
	dev_t dev;
	ino_t ino;
	const char *path; /* as the process sees it, perhaps with " (deleted)" */
};

/* Fills @ret from one line; false when it maps no file or no code. */
static bool parse_line(char *line, struct mapping *ret)
{
	unsigned int major, minor;
	unsigned long long ino;
	char flags[8];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%39s %7s %*s %x:%x %llu %n", ret->range, flags, &major, &minor, &ino,
		    &at) < 5 ||
		!at || line[at] != '/' || flags[2] != 'x')
		return false;
	ret->dev = makedev(major, minor);
	ret->ino = (ino_t)ino;
	ret->path = line + at;
	return true;
}

/* Opens what is mapped: by its name in the process's root when that is still it, else by link. */
static int open_mapping(pid_t pid, const struct mapping *map, char **ret_name)
{
	_cleanup_free_ char *name = NULL;
	struct stat st, here;
	int fd;

	if (asprintf(&name, "/proc/%d/root%s", pid, map->path) < 0)
		return -ENOMEM;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* the device that maps shows is not always the one that stat shows (overlayfs, btrfs) */
	if (fd >= 0 && !fstat(fd, &st) && st.st_ino == map->ino) {
		if (!stat(map->path, &here) && here.st_dev == st.st_dev && here.st_ino == st.st_ino)
			memmove(name, map->path, strlen(map->path) + 1);
		*ret_name = steal_ptr(name);
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(name);
	if (asprintf(&name, "/proc/%d/map_files/%s", pid, map->range) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		*ret_name = steal_ptr(name);
	return fd >= 0 ? fd : -errno;
}

/* Without the privilege for map_files a deleted executable is still open as exe. */
static int open_exe(pid_t pid, const struct mapping *map, char **ret_name)
{
	_cleanup_free_ char *name = NULL;
	struct stat st;
	int fd;

	if (asprintf(&name, "/proc/%d/exe", pid) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_ino != map->ino) {
		close(fd);
		return -ENOENT;
	}
	*ret_name = steal_ptr(name);
	return fd;
}

static int add_mapping(struct hunt *hunt, pid_t pid, const struct mapping *map)
{
	_cleanup_free_ char *name = NULL;
	bool python;
	int fd = open_mapping(pid, map, &name);

	if (fd < 0 && fd != -ENOMEM)
		fd = open_exe(pid, map, &name);
	if (fd < 0)
		return fd == -ENOMEM ? fd : 0;
	return hunt_open_file(hunt, fd, name, &python);
}

static FILE *open_maps(const char *pid)
{
	char path[300];

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	return fopen(path, "re");
}

static int read_maps(struct hunt *hunt, pid_t pid, struct err *err)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	struct mapping map;
	char text[16];
	size_t cap = 0;
	int r = 0;

	snprintf(text, sizeof(text), "%d", pid);
	f = open_maps(text);
	if (!f && errno == ENOENT)
		return err_set(err, -ESRCH, "there is no process %d", pid);
	if (!f)
		r = -errno;
	while (!r && getline(&line, &cap, f) >= 0)
		if (parse_line(line, &map))
			r = add_mapping(hunt, pid, &map);
	if (!r && ferror(f))
		r = -EACCES;
	if (r == -ENOMEM)
		return err_nomem(err);
	if (r < 0) {
		err_errno(err, r, "unable to read the mappings of process %d", pid);
		err_hint(err, "another user's process needs root");
	}
	return r;
}

int locate_process(pid_t pid, struct locate_target **ret, struct err *err)
{
	_cleanup_(hunt_done) struct hunt hunt;
	char link[64], exe[4096];
	ssize_t n;
	int r;

	if (hunt_init(&hunt) < 0)
		return err_nomem(err);
	r = read_maps(&hunt, pid, err);
	if (r < 0)
		return r;
	if (hunt.unsupported && !hunt.target->n_binaries)
		return err_set(err, hunt.unsupported, "%s", hunt.reason.text);
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	hunt.target->program = strdup(exe);
	if (!hunt.target->program)
		return err_nomem(err);
	hunt.target->how = hunt.target->n_binaries ? LOCATE_DIRECT : LOCATE_GUESS;
	if (!hunt.target->n_binaries)
		err_hint(err, "process %d (%s) maps no CPython interpreter", pid,
			*exe ? exe : "a kernel thread or a zombie");
	*ret = steal_ptr(hunt.target);
	return 0;
}

static bool is_mapping_of(const char *pid, struct mapping *map, const struct locate_binary *binary)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (map->ino == binary->ino && map->dev == binary->dev)
		return true;
	if (strcmp(path_base(map->path), path_base(binary->path)) != 0 ||
		asprintf(&path, "/proc/%s/root%s", pid, map->path) < 0)
		return false;
	return !stat(path, &st) && st.st_ino == binary->ino && st.st_dev == binary->dev;
}

static bool maps_binary(const char *pid, const struct locate_binary *binary)
{
	_cleanup_fclose_ FILE *f = open_maps(pid);
	_cleanup_free_ char *line = NULL;
	struct mapping map;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) >= 0)
		if (parse_line(line, &map) && is_mapping_of(pid, &map, binary))
			return true;
	return false;
}

size_t locate_users(const struct locate_binary *binary, pid_t *ret_pids, size_t max)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	struct dirent *entry;
	uint32_t pid;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		if (parse_u32(entry->d_name, INT32_MAX, &pid) < 0 || (pid_t)pid == getpid() ||
			!maps_binary(entry->d_name, binary))
			continue;
		if (n < max)
			ret_pids[n] = (pid_t)pid;
		n++;
	}
	return n;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: following a program to the interpreter that it becomes or may start.
 *
 * In: an executable's path and arguments. Out: files handed to hunt_file, most likely first.
 * Invariant: nothing is run; every script is read once; depth and number of look-ups are bounded.
 */
#include "locate/hunt.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "locate/path.h"
#include "locate/script.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* as many scripts in a row as the kernel follows */
#define MAX_DEPTH 5
#define MAX_SCRIPT_BYTES 65536
#define MAX_SCRIPT_WORDS 4000
#define MAX_LOOKUPS 1000

static int follow(struct hunt *hunt, const char *path, const struct words *args, unsigned int depth,
	bool *ret_python);

/* The name part of `VAR=value`, `--option=value`: the value may be what runs. */
static const char *value_of(const char *word)
{
	const char *p = word;

	while (isalnum((unsigned char)*p) || *p == '_' || *p == '-')
		p++;
	return *p == '=' ? p + 1 : word;
}

static bool is_command_name(const char *word)
{
	size_t n = 0;

	for (; word[n]; n++)
		if (!isalnum((unsigned char)word[n]) && !strchr("._+-", word[n]))
			return false;
	return n && n <= 64 && word[0] != '-' && word[0] != '.';
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* A word of a command line or script: when it names a program, that may be what runs Python. */
static int try_word(struct hunt *hunt, const char *word, unsigned int depth)
{
	_cleanup_free_ char *path = NULL;
	struct words none = {0};
	bool python = false;
	int r;

	word = value_of(word);
	if (ends_with(word, ".py"))
		hunt->likely = true;
	if (!strchr(word, '/') && !is_command_name(word))
		return 0;
	if (hunt->lookups++ >= MAX_LOOKUPS)
		return 0;
	r = path_search(word, &path);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = follow(hunt, path, &none, depth + 1, &python);
	hunt->likely = hunt->likely || python;
	return r;
}

static int try_text(struct hunt *hunt, const char *text, size_t size, unsigned int depth)
{
	struct words words = {0};
	int r = words_split(&words, text, size, MAX_SCRIPT_WORDS);

	for (size_t i = 0; !r && i < words.n; i++)
		r = try_word(hunt, words.items[i], depth);
	words_done(&words);
	return r;
}

/* Arguments of a program that is no interpreter; one with blanks may be the text of `sh -c`. */
static int try_args(struct hunt *hunt, const struct words *args, unsigned int depth)
{
	int r = 0;

	for (size_t i = 0; !r && i < args->n; i++) {
		const char *arg = args->items[i];

		r = try_word(hunt, arg, depth);
		if (!r && strpbrk(arg, " \t\n;|&("))
			r = try_text(hunt, arg, strlen(arg), depth);
	}
	return r;
}

/* What env runs is as sure as if it had been named itself. */
static int follow_env(
	struct hunt *hunt, const struct words *args, unsigned int depth, bool *ret_python)
{
	_cleanup_free_ char *path = NULL;
	struct words command = {0};
	int r = script_env_command(args, &command);

	if (!r && command.n) {
		r = path_search(command.items[0], &path);
		if (!r) {
			struct words rest = {command.items + 1, command.n - 1, 0};

			r = follow(hunt, path, &rest, depth + 1, ret_python);
		}
	}
	words_done(&command);
	return r == -ENOMEM ? r : 0;
}

static int follow_binary(struct hunt *hunt, const char *path, const struct words *args,
	unsigned int depth, bool *ret_python)
{
	int r = hunt_file(hunt, path, ret_python);

	if (r < 0)
		return r;
	if (*ret_python) {
		if (!hunt->target->interpreter)
			hunt->target->interpreter = strdup(path);
		return hunt->target->interpreter ? 0 : -ENOMEM;
	}
	if (!strcmp(path_base(path), "env"))
		return follow_env(hunt, args, depth, ret_python);
	return try_args(hunt, args, depth);
}

/* What a shell script may start: a shim's targets, the same name further down PATH, its words. */
static int follow_shell(struct hunt *hunt, const char *path, const char *text, size_t size,
	const struct words *args, unsigned int depth)
{
	_cleanup_free_ char *behind = NULL;
	struct words targets = {0};
	bool python = false;
	int r = script_shim_targets(text, path_base(path), args, &targets);

	for (size_t i = 0; !r && i < targets.n; i++) {
		r = follow(hunt, targets.items[i], args, depth + 1, &python);
		hunt->likely = hunt->likely || python;
	}
	words_done(&targets);
	if (!r && path_search_behind(path_base(path), path, &behind) == 0) {
		r = follow(hunt, behind, args, depth + 1, &python);
		hunt->likely = hunt->likely || python;
	}
	return r ? r : try_text(hunt, text, size, depth);
}

static int follow_script(struct hunt *hunt, const char *path, const char *text, size_t size,
	const struct words *args, unsigned int depth, bool *ret_python)
{
	struct words line = {0}, rest = {0};
	int r = script_interpreter(text, size, &line);

	/* without a `#!` line execvp gives the file to sh */
	if (!r && line.n) {
		if (line.n > 1)
			r = words_add(&rest, line.items[1], strlen(line.items[1]));
		if (!r)
			r = words_add(&rest, path, strlen(path));
		for (size_t i = 0; !r && i < args->n; i++)
			r = words_add(&rest, args->items[i], strlen(args->items[i]));
		if (!r)
			r = follow(hunt, line.items[0], &rest, depth + 1, ret_python);
	}
	if (!r && !*ret_python)
		r = follow_shell(hunt, path, text, size, args, depth);
	words_done(&line);
	words_done(&rest);
	return r;
}

static bool is_elf(const char *path)
{
	_cleanup_free_ char *head = NULL;
	size_t size;

	return !path_read(path, 4, &head, &size) && size == 4 && !memcmp(head, "\177ELF", 4);
}

static int follow(struct hunt *hunt, const char *path, const struct words *args, unsigned int depth,
	bool *ret_python)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t size, index;
	int r;

	*ret_python = false;
	if (depth > 2 * MAX_DEPTH || stat(path, &st) < 0)
		return 0;
	if (is_elf(path))
		return follow_binary(hunt, path, args, depth, ret_python);
	if (hunt_seen_file(hunt, &st, ret_python))
		return 0;
	r = hunt_see_file(hunt, &st, &index);
	if (!r)
		r = path_read(path, MAX_SCRIPT_BYTES, &text, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = follow_script(hunt, path, text, size, args, depth, ret_python);
	hunt->items[index].python = *ret_python;
	return r;
}

int hunt_program(struct hunt *hunt, const char *path, const struct words *args, bool *ret_python)
{
	return follow(hunt, path, args, 0, ret_python);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: `#!` lines and the arguments of env.
 *
 * In: the head of a script, or env's arguments. Out: the words of the command that would run.
 */
#include "locate/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* the kernel looks at this much of the file */
#define HEAD_SIZE 256
/* `env -S` may give another `-S`; more than this is a loop or a joke */
#define MAX_SPLITS 8

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

int script_interpreter(const char *text, size_t size, struct words *ret)
{
	size_t end, at = 2, word;
	int r;

	if (size < 3 || text[0] != '#' || text[1] != '!')
		return 0;
	if (size > HEAD_SIZE)
		size = HEAD_SIZE;
	for (end = at; end < size && text[end] && text[end] != '\n'; end++)
		;
	while (end > at && blank(text[end - 1]))
		end--;
	while (at < end && blank(text[at]))
		at++;
	for (word = at; at < end && !blank(text[at]); at++)
		;
	if (at == word)
		return 0;
	r = words_add(ret, text + word, at - word);
	while (at < end && blank(text[at]))
		at++;
	return r || at == end ? r : words_add(ret, text + at, end - at);
}

/* What one option of env asks for. */
struct option {
	size_t skip;	   /* arguments after it that belong to it */
	const char *split; /* text of -S, or NULL */
};

static struct option long_option(const char *arg, const char *next)
{
	static const char *const with_value[] = {"--unset", "--chdir", "--argv0"};
	static const char split[] = "--split-string";
	struct option option = {0};

	for (size_t i = 0; i < sizeof(with_value) / sizeof(with_value[0]); i++)
		if (!strcmp(arg, with_value[i]))
			option.skip = 1;
	if (!strcmp(arg, split)) {
		option.skip = 1;
		option.split = next;
	} else if (!strncmp(arg, split, strlen(split)) && arg[strlen(split)] == '=') {
		option.split = arg + strlen(split) + 1;
	}
	return option;
}

static struct option short_options(const char *arg, const char *next)
{
	for (const char *p = arg + 1; *p; p++) {
		bool alone = !p[1];

		if (*p == 'S')
			return (struct option){alone, alone ? next : p + 1};
		if (*p == 'u' || *p == 'C' || *p == 'a')
			return (struct option){alone, NULL};
	}
	return (struct option){0};
}

/* Makes @list the words of @split followed by the old words from @from on. */
static int splice(struct words *list, const char *split, size_t from)
{
	struct words grown = {0};
	int r = words_split_env(&grown, split);

	for (size_t i = from; !r && i < list->n; i++)
		r = words_add(&grown, list->items[i], strlen(list->items[i]));
	words_done(list);
	*list = grown;
	return r;
}

/* Moves the command, which begins at @from, to @ret. */
static int copy_from(const struct words *list, size_t from, struct words *ret)
{
	int r = 0;

	for (size_t i = from; !r && i < list->n; i++)
		r = words_add(ret, list->items[i], strlen(list->items[i]));
	return r;
}

int script_env_command(const struct words *args, struct words *ret)
{
	struct words list = {0};
	unsigned int splits = 0;
	int r = copy_from(args, 0, &list);
	size_t at = 0;

	while (!r && at < list.n) {
		const char *arg = list.items[at];
		const char *next = at + 1 < list.n ? list.items[at + 1] : NULL;
		struct option option = {0};

		if (arg[0] != '-' && !strchr(arg, '='))
			break;
		at++;
		if (!strcmp(arg, "--"))
			break;
		if (arg[0] == '-')
			option = arg[1] == '-' ? long_option(arg, next) : short_options(arg, next);
		at += option.skip;
		if (!option.split)
			continue;
		if (++splits > MAX_SPLITS) {
			at = list.n;
			break;
		}
		r = splice(&list, option.split, at);
		at = 0;
	}
	while (!r && at < list.n && strchr(list.items[at], '='))
		at++;
	if (!r)
		r = copy_from(&list, at, ret);
	words_done(&list);
	return r;
}

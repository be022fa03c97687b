/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: option parsing. In: the tables and argv. Out: a filled argument struct, or one line that
 * says what is wrong. Invariant: getopt_long reads the words; the tables alone decide which there
 * are, so help, man page and completions cannot differ from what is accepted.
 */
#include "cli/option.h"

#include "base/parse.h"
#include "base/term.h"
#include "cli/message.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 40
#define LONG_BASE 256 /* getopt values of options, above every letter */

const struct option_def common_options[COMMON_OPTIONS] = {
	{"help", 0, OPTION_FLAG, offsetof(struct common_args, help_long), NULL,
		"everything about this command", VALUE_NONE, NULL},
	{"h", 'h', OPTION_FLAG, offsetof(struct common_args, help_short), NULL,
		"a short help with examples", VALUE_NONE, NULL},
	{"quiet", 'q', OPTION_FLAG, offsetof(struct common_args, quiet), NULL, "say errors only",
		VALUE_NONE, NULL},
	{"verbose", 'v', OPTION_FLAG, offsetof(struct common_args, verbose), NULL, "say more",
		VALUE_NONE, NULL},
	{"color", 0, OPTION_COLOR, offsetof(struct common_args, color), "WHEN",
		"auto, always or never; auto honours NO_COLOR and TERM=dumb", VALUE_WORDS,
		"auto always never"},
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < n_commands; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* Edits from @a to @b (Levenshtein), or @limit when there are more. */
static size_t distance(const char *a, const char *b, size_t limit)
{
	size_t row[64], n = strlen(b), previous;

	if (n + 1 > sizeof(row) / sizeof(row[0]))
		return limit;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		previous = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = previous + (a[i - 1] != b[j - 1]);

			previous = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n] < limit ? row[n] : limit;
}

const char *nearest_name(const char *wrong, const char *const *names, size_t n)
{
	size_t best = strlen(wrong) / 3 + 2;
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(wrong, names[i], best);

		if (d < best) {
			best = d;
			found = names[i];
		}
	}
	return found;
}

/* All options of a command: its own, then the common ones. */
static size_t collect(const struct command *command, const struct option_def *all[MAX_OPTIONS])
{
	size_t n = 0;

	for (size_t i = 0; i < command->n_options && n < MAX_OPTIONS; i++)
		all[n++] = &command->options[i];
	for (size_t i = 0; i < COMMON_OPTIONS && n < MAX_OPTIONS; i++)
		all[n++] = &common_options[i];
	return n;
}

static const char *expected(enum option_type type)
{
	switch (type) {
	case OPTION_U32:
		return "a whole number";
	case OPTION_PID:
		return "a process id";
	case OPTION_DOUBLE:
		return "a number above zero";
	case OPTION_DURATION:
		return "a duration such as 5s, 250ms or 2m";
	case OPTION_SIZE:
		return "a size such as 512K or 2M";
	case OPTION_COLOR:
		return "auto, always or never";
	default:
		return "a value";
	}
}

static int parse_color(const char *text, unsigned *ret)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(text, words[i]) != 0)
			continue;
		*ret = i == 0 ? TERM_COLOR_AUTO : i == 1 ? TERM_COLOR_ALWAYS : TERM_COLOR_NEVER;
		return 0;
	}
	return -EINVAL;
}

static int store(const struct option_def *def, const char *text, void *at)
{
	uint32_t number;
	double real;
	int r;

	switch (def->type) {
	case OPTION_FLAG:
	case OPTION_NO:
		*(bool *)at = def->type == OPTION_FLAG;
		return 0;
	case OPTION_STRING:
		*(const char **)at = text;
		return 0;
	case OPTION_LIST: {
		struct option_list *list = at;

		list->items[list->n++] = text;
		return 0;
	}
	case OPTION_U32:
		return parse_u32(text, UINT32_MAX, at);
	case OPTION_PID:
		r = parse_u32(text, INT32_MAX, &number);
		if (r < 0 || number == 0)
			return -EINVAL;
		*(uint32_t *)at = number;
		return 0;
	case OPTION_DOUBLE:
		r = parse_double(text, &real);
		if (r < 0 || real <= 0)
			return -EINVAL;
		*(double *)at = real;
		return 0;
	case OPTION_DURATION:
		return parse_duration(text, at);
	case OPTION_SIZE:
		return parse_size(text, at);
	case OPTION_COLOR:
		return parse_color(text, at);
	}
	return -EINVAL;
}

static int say_unknown(const struct command *command, const struct option_def *const *all, size_t n,
	const char *word, int letter)
{
	const char *names[MAX_OPTIONS], *near, *name = word + 2;
	char clean[64];
	size_t len;

	if (letter && letter < LONG_BASE)
		return say_usage(command->name, "unknown option '-%c'", letter);
	for (size_t i = 0; i < n; i++)
		names[i] = all[i]->name;
	len = strcspn(name, "=");
	if (len >= sizeof(clean))
		return say_usage(command->name, "unknown option '%s'", word);
	memcpy(clean, name, len);
	clean[len] = '\0';
	near = nearest_name(clean, names, n);
	if (near)
		return say_usage(
			command->name, "unknown option '--%s'; nearest is '--%s'", clean, near);
	return say_usage(command->name, "unknown option '--%s'", clean);
}

/* The getopt tables of @all. */
static void getopt_tables(const struct command *command, const struct option_def *const *all,
	size_t n, struct option *longs, char *shorts)
{
	size_t s = 0;

	if (command->target)
		shorts[s++] = '+';
	shorts[s++] = ':';
	for (size_t i = 0; i < n; i++) {
		longs[i] = (struct option){all[i]->name,
			all[i]->metavar ? required_argument : no_argument, NULL,
			LONG_BASE + (int)i};
		if (!all[i]->letter)
			continue;
		shorts[s++] = all[i]->letter;
		if (all[i]->metavar)
			shorts[s++] = ':';
	}
	longs[n] = (struct option){0};
	shorts[s] = '\0';
}

static int allocate_lists(const struct option_def *const *all, size_t n, int argc, char *args)
{
	for (size_t i = 0; i < n; i++) {
		struct option_list *list = (struct option_list *)(void *)(args + all[i]->at);

		if (all[i]->type != OPTION_LIST)
			continue;
		list->items = calloc((size_t)argc, sizeof(*list->items));
		if (!list->items)
			return -ENOMEM;
	}
	return 0;
}

static const struct option_def *chosen(const struct option_def *const *all, size_t n, int value)
{
	if (value >= LONG_BASE)
		return all[value - LONG_BASE];
	for (size_t i = 0; i < n; i++)
		if (all[i]->letter == value)
			return all[i];
	return NULL;
}

void options_done(const struct command *command, void *args)
{
	for (size_t i = 0; i < command->n_options; i++) {
		const struct option_def *def = &command->options[i];

		if (def->type == OPTION_LIST)
			free(((struct option_list *)(void *)((char *)args + def->at))->items);
	}
}

int options_parse(const struct command *command, int argc, char **argv, void *args)
{
	const struct option_def *all[MAX_OPTIONS], *def;
	struct option longs[MAX_OPTIONS + 1];
	char shorts[MAX_OPTIONS * 2 + 3];
	struct common_args *common = args;
	size_t n = collect(command, all);
	int value;

	getopt_tables(command, all, n, longs, shorts);
	if (allocate_lists(all, n, argc, args) < 0)
		return say_usage(command->name, "out of memory");
	opterr = 0;
	optind = 1;
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (value == ':')
			return say_usage(
				command->name, "option '%s' needs a value", argv[optind - 1]);
		if (value == '?' && optopt >= LONG_BASE)
			return say_usage(command->name, "option '--%s' takes no value",
				all[optopt - LONG_BASE]->name);
		if (value == '?')
			return say_unknown(command, all, n, argv[optind - 1], optopt);
		def = chosen(all, n, value);
		if (store(def, optarg, (char *)args + def->at) < 0)
			return say_usage(command->name, "'--%s %s': expected %s", def->name, optarg,
				expected(def->type));
	}
	common->rest = argv + optind;
	common->n_rest = (size_t)(argc - optind);
	return 0;
}

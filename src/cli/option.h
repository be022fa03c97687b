/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of commands and options: parsing, -h, --help, the man page and the shell completions
 * all come from them.
 */
#ifndef GILPROBE_CLI_OPTION_H
#define GILPROBE_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>

enum option_type {
	OPTION_FLAG,	 /* bool */
	OPTION_NO,	 /* bool, set to false: --no-idle */
	OPTION_STRING,	 /* const char *: the argument itself */
	OPTION_LIST,	 /* struct option_list: may be given several times */
	OPTION_U32,	 /* uint32_t */
	OPTION_PID,	 /* uint32_t, at least 1 */
	OPTION_DOUBLE,	 /* double, above zero */
	OPTION_DURATION, /* uint64_t nanoseconds */
	OPTION_SIZE,	 /* uint64_t bytes */
	OPTION_COLOR,	 /* enum term_color */
};

/* What stands behind a --option, for the completions. */
enum option_value { VALUE_NONE, VALUE_FILE, VALUE_PID, VALUE_WORDS };

struct option_list {
	const char **items; /* room for argc */
	size_t n;
};

struct option_def {
	const char *name; /* without the dashes */
	char letter;	  /* or 0 */
	enum option_type type;
	size_t at;	     /* offsetof in the command's argument struct */
	const char *metavar; /* NULL for flags */
	const char *help;    /* one line, no full stop */
	enum option_value value;
	const char *words; /* for VALUE_WORDS, separated by blanks */
};

/* Options that every command has. First member of each command's argument struct. */
struct common_args {
	bool help_short, help_long, quiet, verbose;
	unsigned color; /* enum term_color */
	char **rest;	/* arguments that are no options */
	size_t n_rest;
};

struct command {
	const char *name;
	const char *synopsis;	    /* behind "gilprobe NAME" */
	const char *summary;	    /* one line */
	const char *examples[3][2]; /* command, what it does */
	const char *about;	    /* for --help and the man page: paragraphs, '\n\n' between */
	const struct option_def *options;
	size_t n_options;
	size_t args_size;
	bool target; /* parsing stops at the first non-option: what follows is a command line */
	enum option_value rest_value;
	int (*run)(void *args); /* returns the exit status */
	void (*defaults)(void *args);
};

extern const struct command *const commands[];
extern const size_t n_commands;

#define COMMON_OPTIONS 5
extern const struct option_def common_options[COMMON_OPTIONS];

const struct command *command_find(const char *name);

/*
 * Fills @args (zeroed and defaulted before) from argv[1…]. 0, or 2 after saying what is wrong.
 * Lists in @args are allocated: options_done, whatever the outcome.
 */
int options_parse(const struct command *command, int argc, char **argv, void *args);
void options_done(const struct command *command, void *args);

void help_overview(void);
void help_short(const struct command *command);
void help_long(const struct command *command);

/* --generate: man, complete-bash, complete-zsh, complete-fish. 0, or 2 for an unknown form. */
int generate(const char *form);

/* The name nearest to @wrong among @n @names, or NULL when none is near. */
const char *nearest_name(const char *wrong, const char *const *names, size_t n);

#endif

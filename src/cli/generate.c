/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: the man page and the shell completions. In: the tables. Out: text on standard output.
 */
#include "cli/option.h"

#include "cli/message.h"

#include <stdio.h>
#include <string.h>

/* Text for roff: backslashes, dashes and leading dots are its own. */
static void roff(const char *text)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\\')
			fputs("\\e", stdout);
		else if (*p == '-')
			fputs("\\-", stdout);
		else if ((*p == '.' || *p == '\'') && (p == text || p[-1] == '\n'))
			printf("\\&%c", *p);
		else
			putchar(*p);
	}
}

static void man_option(const struct option_def *def)
{
	fputs(".TP\n", stdout);
	if (!strcmp(def->name, "h")) {
		puts("\\fB\\-h\\fR");
	} else {
		if (def->letter)
			printf("\\fB\\-%c\\fR, ", def->letter);
		fputs("\\fB\\-\\-", stdout);
		roff(def->name);
		fputs("\\fR", stdout);
		if (def->metavar)
			printf(" \\fI%s\\fR", def->metavar);
		putchar('\n');
	}
	roff(def->help);
	putchar('\n');
}

static void man_command(const struct command *command)
{
	printf(".SS \"gilprobe %s ", command->name);
	roff(command->synopsis);
	puts("\"");
	roff(command->summary);
	puts("\n.PP\nExamples:");
	for (size_t i = 0; i < 3 && command->examples[i][0]; i++) {
		fputs(".TP\n\\fB", stdout);
		roff(command->examples[i][0]);
		fputs("\\fR\n", stdout);
		roff(command->examples[i][1]);
		putchar('\n');
	}
	for (size_t i = 0; i < command->n_options; i++)
		man_option(&command->options[i]);
	if (command->about) {
		puts(".PP\n.nf");
		roff(command->about);
		puts("\n.fi");
	}
}

static int generate_man(void)
{
	puts(".TH GILPROBE 1 \"\" \"gilprobe " GILPROBE_VERSION "\"");
	puts(".SH NAME\ngilprobe \\- what the Global Interpreter Lock does to a Python program");
	puts(".SH SYNOPSIS\n\\fBgilprobe\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARG\\fR]...");
	puts(".SH COMMANDS");
	for (size_t i = 0; i < n_commands; i++)
		man_command(commands[i]);
	puts(".SH OPTIONS OF EVERY COMMAND");
	for (size_t i = 0; i < COMMON_OPTIONS; i++)
		man_option(&common_options[i]);
	puts(".SH EXIT STATUS\nrecord: the target's own status, 128+n when a signal ended it, 125 when "
	     "gilprobe itself failed, 126 when the target is not executable, 127 when it is not "
	     "found.\n.PP\nOther commands: 0 done, 1 a gate was hit, 2 usage error, bad input, target "
	     "error or timeout, 130 Ctrl\\-C.");
	return 0;
}

/* "--name" and "-x" of every option of @command, separated by blanks. */
static void option_words(const struct command *command)
{
	for (size_t i = 0; i < command->n_options + COMMON_OPTIONS; i++) {
		const struct option_def *def = i < command->n_options
						       ? &command->options[i]
						       : &common_options[i - command->n_options];

		if (strcmp(def->name, "h") != 0)
			printf("--%s ", def->name);
		if (def->letter)
			printf("-%c ", def->letter);
	}
}

static int generate_bash(void)
{
	puts("_gilprobe() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}");
	puts("\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	fputs("\t\tmapfile -t COMPREPLY < <(compgen -W \"help --version --generate", stdout);
	for (size_t i = 0; i < n_commands; i++)
		printf(" %s", commands[i]->name);
	puts("\" -- \"$cur\")\n\t\treturn\n\tfi\n\tcase $prev in");
	puts("\t--color) mapfile -t COMPREPLY < <(compgen -W \"auto always never\" -- \"$cur\"); "
	     "return ;;\n\tesac");
	puts("\tcase ${COMP_WORDS[1]} in");
	for (size_t i = 0; i < n_commands; i++) {
		printf("\t%s)\n\t\tcase $cur in\n\t\t-*) mapfile -t COMPREPLY < <(compgen -W \"",
			commands[i]->name);
		option_words(commands[i]);
		puts("\" -- \"$cur\") ;;");
		puts("\t\t*) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n\t\tesac\n\t\t;;");
	}
	puts("\tesac\n}\ncomplete -o filenames -F _gilprobe gilprobe");
	return 0;
}

/* Text inside '…' of a shell; inside zsh's […] brackets are taken out too. */
static void shell_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (*text == '[' || *text == ']' || *text == ':')
			putchar(' ');
		else
			putchar(*text);
	}
}

static void zsh_option(const struct option_def *def)
{
	if (!strcmp(def->name, "h"))
		printf("'-h[");
	else
		printf("'--%s%s[", def->name, def->metavar ? "=" : "");
	shell_text(def->help);
	printf("]%s%s%s' ", def->metavar ? ":" : "", def->metavar ? def->metavar : "",
		def->value == VALUE_FILE ? ":_files"
		: def->metavar		 ? ":"
					 : "");
}

static int generate_zsh(void)
{
	puts("#compdef gilprobe\nif (( CURRENT == 2 )); then\n\tlocal -a names=(");
	for (size_t i = 0; i < n_commands; i++) {
		printf("\t\t'%s:", commands[i]->name);
		shell_text(commands[i]->summary);
		puts("'");
	}
	puts("\t)\n\t_describe command names\n\treturn\nfi\nlocal which=$words[2]\nshift words\n"
	     "(( CURRENT-- ))\ncase $which in");
	for (size_t i = 0; i < n_commands; i++) {
		printf("%s) _arguments ", commands[i]->name);
		for (size_t k = 0; k < commands[i]->n_options; k++)
			zsh_option(&commands[i]->options[k]);
		for (size_t k = 0; k < COMMON_OPTIONS; k++)
			zsh_option(&common_options[k]);
		puts("'*:file:_files' ;;");
	}
	puts("esac");
	return 0;
}

static void fish_option(const char *command, const struct option_def *def)
{
	printf("complete -c gilprobe -n '__fish_seen_subcommand_from %s' ", command);
	if (!strcmp(def->name, "h"))
		printf("-s h");
	else
		printf("-l %s", def->name);
	if (def->letter && strcmp(def->name, "h") != 0)
		printf(" -s %c", def->letter);
	printf("%s%s -d '", def->metavar ? " -r" : "", def->value == VALUE_FILE ? " -F" : "");
	shell_text(def->help);
	puts("'");
}

static int generate_fish(void)
{
	for (size_t i = 0; i < n_commands; i++) {
		printf("complete -c gilprobe -n __fish_use_subcommand -a %s -d '",
			commands[i]->name);
		shell_text(commands[i]->summary);
		puts("'");
		for (size_t k = 0; k < commands[i]->n_options; k++)
			fish_option(commands[i]->name, &commands[i]->options[k]);
		for (size_t k = 0; k < COMMON_OPTIONS; k++)
			fish_option(commands[i]->name, &common_options[k]);
	}
	return 0;
}

int generate(const char *form)
{
	static const struct {
		const char *form;
		int (*make)(void);
	} forms[] = {{"man", generate_man}, {"complete-bash", generate_bash},
		{"complete-zsh", generate_zsh}, {"complete-fish", generate_fish}};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (!strcmp(forms[i].form, form))
			return forms[i].make();
	return say_usage(NULL,
		"'--generate %s': expected man, complete-bash, complete-zsh or complete-fish",
		form);
}

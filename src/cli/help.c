/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: help texts. In: the tables. Out: -h (at most 25 lines, examples first) and --help on
 * standard output.
 */
#include "cli/option.h"

#include <stdio.h>
#include <string.h>

#define OPTION_COLUMN 24

void help_overview(void)
{
	puts("gilprobe: what the Global Interpreter Lock does to a Python program\n");
	puts("  gilprobe record -- python3 app.py            record, print a summary");
	puts("  gilprobe report                              the table and the verdict");
	puts("  gilprobe convert perf.data -o trace.json.gz  a timeline for ui.perfetto.dev\n");
	puts("commands:");
	for (size_t i = 0; i < n_commands; i++)
		printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n'gilprobe COMMAND -h' for a short help, '--help' for everything");
}

static void print_option(const struct option_def *def)
{
	char left[80];
	int n;

	if (!strcmp(def->name, "h"))
		n = snprintf(left, sizeof(left), "-h");
	else
		n = snprintf(left, sizeof(left), "%c%c%c --%s%s%s", def->letter ? '-' : ' ',
			def->letter ? def->letter : ' ', def->letter ? ',' : ' ', def->name,
			def->metavar ? " " : "", def->metavar ? def->metavar : "");
	if (n > OPTION_COLUMN - 2)
		printf("  %s\n  %*s%s\n", left, OPTION_COLUMN, "", def->help);
	else
		printf("  %-*s%s\n", OPTION_COLUMN, left, def->help);
}

void help_short(const struct command *command)
{
	printf("gilprobe %s: %s\n\n", command->name, command->summary);
	for (size_t i = 0; i < 3 && command->examples[i][0]; i++)
		printf("  %-58s %s\n", command->examples[i][0], command->examples[i][1]);
	printf("\nusage: gilprobe %s %s\n", command->name, command->synopsis);
	for (size_t i = 0; i < command->n_options; i++)
		print_option(&command->options[i]);
	puts("  --help                  everything about this command");
}

void help_long(const struct command *command)
{
	help_short(command);
	puts("\noptions of every command:");
	for (size_t i = 0; i < COMMON_OPTIONS; i++)
		print_option(&common_options[i]);
	if (command->about)
		printf("\n%s\n", command->about);
}

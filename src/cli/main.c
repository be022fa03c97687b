/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: the entry. In: argv. Out: one command run, its exit status. Invariant: what is wrong with
 * the words is said in one line before anything is opened.
 */
#include "cli/option.h"

#include "cli/message.h"
#include "workload/workload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_record, command_convert, command_report, command_events,
	command_scale, command_check;

const struct command *const commands[] = {&command_record, &command_report, &command_convert,
	&command_scale, &command_events, &command_check};
const size_t n_commands = sizeof(commands) / sizeof(commands[0]);

static int unknown_command(const char *name)
{
	const char *names[sizeof(commands) / sizeof(commands[0])], *near;

	if (name[0] == '-')
		return say_usage(NULL, "unknown option '%s'", name);
	for (size_t i = 0; i < n_commands; i++)
		names[i] = commands[i]->name;
	near = nearest_name(name, names, n_commands);
	if (near)
		return say_usage(NULL, "unknown command '%s'; nearest is '%s'", name, near);
	return say_usage(NULL, "unknown command '%s'", name);
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct common_args *args = calloc(1, command->args_size);
	int status;

	if (!args)
		return say_usage(command->name, "out of memory");
	if (command->defaults)
		command->defaults(args);
	status = options_parse(command, argc, argv, args);
	if (!status && (args->help_short || args->help_long)) {
		(args->help_long ? help_long : help_short)(command);
	} else if (!status) {
		say_level(args->quiet, args->verbose);
		status = command->run(args);
	}
	options_done(command, args);
	free(args);
	return status;
}

static int help(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		help_overview();
		return 0;
	}
	command = command_find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	help_long(command);
	return 0;
}

int main(int argc, char **argv)
{
	const struct command *command;

	signal(SIGPIPE, SIG_DFL); /* a reader that goes away ends us quietly, whoever ignored it */
	if (argc < 2) {
		help_overview();
		return 2;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("gilprobe " GILPROBE_VERSION);
		return 0;
	}
	if (!strcmp(argv[1], WORKLOAD_LIBPYTHON))
		return workload_libpython_main(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--generate"))
		return generate(argc > 2 ? argv[2] : "");
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		return help(argc - 1, argv + 1);
	command = command_find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return run_command(command, argc - 1, argv + 1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: gilprobe check. In: the machine and an interpreter. Out: what works, what does not, and
 * the command that fixes it; exit status 1 when something that recording needs is missing.
 */
#include "cli/option.h"

#include "base/json.h"
#include "base/out.h"
#include "base/term.h"
#include "cli/message.h"
#include "cli/reading.h"
#include "locate/locate.h"
#include "record/privileges.h"

#include <errno.h>
#include <unistd.h>

#define MAX_USERS 8

struct check_args {
	struct common_args common;
	bool json;
	const char *output, *python;
	uint32_t pid;
};

static const struct option_def options[] = {
	{"json", 0, OPTION_FLAG, offsetof(struct check_args, json), NULL,
		"one JSON object, schema gilprobe.check/1", VALUE_NONE, NULL},
	{"output", 'o', OPTION_STRING, offsetof(struct check_args, output), "FILE",
		"write there instead of standard output", VALUE_FILE, NULL},
	{"pid", 'p', OPTION_PID, offsetof(struct check_args, pid), "PID",
		"look at the interpreter of this process", VALUE_PID, NULL},
	{"python", 0, OPTION_STRING, offsetof(struct check_args, python), "PATH",
		"look at this interpreter too", VALUE_FILE, NULL},
};

static const char *const state_words[] = {"ok", "warning", "missing"};

struct check {
	struct privilege privileges[PRIVILEGES_MAX];
	size_t n_privileges;
	struct locate_target *target; /* NULL: locate failed, with words in err */
	struct err err;
	bool missing;
};

static size_t count_slow(const struct locate_binary *binary)
{
	size_t n = 0;

	for (size_t i = 0; i < binary->n_sites; i++)
		n += binary->sites[i].slow;
	return n;
}

static size_t count_sites(const struct locate_binary *binary, enum locate_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < binary->n_sites; i++)
		n += binary->sites[i].kind == kind;
	return n;
}

static void run_checks(struct check *check, const struct check_args *args)
{
	static char standard[] = "python3";
	char *command[] = {standard, NULL};
	char *const *argv = args->common.n_rest ? args->common.rest : command;
	int r;

	check->n_privileges = privileges_check(check->privileges);
	for (size_t i = 0; i < check->n_privileges; i++)
		check->missing |= check->privileges[i].state == PRIVILEGE_MISSING;
	r = args->pid ? locate_process((pid_t)args->pid, &check->target, &check->err)
		      : locate_command(argv, args->python, &check->target, &check->err);
	if (r >= 0 && !check->target->n_binaries) {
		locate_target_free(check->target);
		check->target = NULL;
		err_set(&check->err, -ENODEV, "no CPython found for '%s'",
			args->pid ? "this process" : argv[0]);
	}
	check->missing |= !check->target;
}

static void print_line(struct out *out, bool color, enum privilege_state state, const char *name,
	const char *fact, const char *fix)
{
	static const char *const colors[] = {"\033[32m", "\033[33m", "\033[31m"};

	out_printf(out, "%s%-8s%s%-22s %s\n", color ? colors[state] : "", state_words[state],
		color ? "\033[0m" : "", name, fact);
	if (*fix)
		out_printf(out, "%-8s%-22s fix: %s\n", "", "", fix);
}

static void print_binary(struct out *out, bool color, const struct locate_binary *binary)
{
	pid_t users[MAX_USERS];
	size_t n = locate_users(binary, users, MAX_USERS);
	char fact[512];

	snprintf(fact, sizeof(fact), "CPython %s%s, %s", binary->version[0] ? binary->version : "?",
		binary->free_threaded ? " (free-threaded)" : "", binary->path);
	print_line(out, color, PRIVILEGE_OK, "interpreter", fact, "");
	snprintf(fact, sizeof(fact),
		"%zu acquire, %zu signal, %zu timedwait, %zu wait calls (build id %s)",
		count_sites(binary, LOCATE_ACQUIRE), count_sites(binary, LOCATE_SIGNAL),
		count_sites(binary, LOCATE_TIMEDWAIT), count_sites(binary, LOCATE_WAIT),
		binary->build_id[0] ? binary->build_id : "none");
	print_line(out, color, PRIVILEGE_OK, "probe sites", fact, "");
	if (count_slow(binary))
		print_line(out, color, PRIVILEGE_WARN, "probe cost",
			"built with -fno-plt: the kernel single-steps its probes, so a GIL event "
			"costs about 18 us instead of 2",
			"");
	if (!n)
		return;
	snprintf(fact, sizeof(fact),
		"%zu process%s this file (pid %d%s): while recording, each GIL "
		"event of theirs costs about 2 us too",
		n, n == 1 ? " maps" : "es map", (int)users[0], n > 1 ? ", ..." : "");
	print_line(out, color, PRIVILEGE_WARN, "other processes", fact, "");
}

static void print_check(struct out *out, bool color, const struct check *check)
{
	for (size_t i = 0; i < check->n_privileges; i++)
		print_line(out, color, check->privileges[i].state, check->privileges[i].name,
			check->privileges[i].fact, check->privileges[i].fix);
	if (!check->target) {
		print_line(out, color, PRIVILEGE_MISSING, "interpreter", check->err.text,
			check->err.hint);
		return;
	}
	if (check->target->how == LOCATE_GUESS)
		print_line(out, color, PRIVILEGE_WARN, "program",
			"no Python program: below are the interpreters that it might start", "");
	for (size_t i = 0; i < check->target->n_binaries; i++)
		print_binary(out, color, check->target->binaries[i]);
}

static void json_binary(struct json *json, const struct locate_binary *binary)
{
	static const char *const kinds[] = {"acquire", "signal", "timedwait", "wait"};

	json_object_begin(json);
	json_put_str(json, "path", binary->path);
	json_put_str(json, "version", binary->version[0] ? binary->version : NULL);
	json_put_str(json, "build_id", binary->build_id[0] ? binary->build_id : NULL);
	json_put_bool(json, "free_threaded", binary->free_threaded);
	json_put_u64(json, "other_processes", locate_users(binary, NULL, 0));
	json_key(json, "sites");
	json_array_begin(json);
	for (size_t i = 0; i < binary->n_sites; i++) {
		json_object_begin(json);
		json_put_str(json, "kind", kinds[binary->sites[i].kind]);
		json_put_u64(json, "offset", binary->sites[i].offset);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static void json_check(struct out *out, const struct check *check)
{
	struct json json = json_to(out);

	json_object_begin(&json);
	json_put_str(&json, "schema", "gilprobe.check/1");
	json_put_bool(&json, "ok", !check->missing);
	json_key(&json, "checks");
	json_array_begin(&json);
	for (size_t i = 0; i < check->n_privileges; i++) {
		json_object_begin(&json);
		json_put_str(&json, "name", check->privileges[i].name);
		json_put_str(&json, "state", state_words[check->privileges[i].state]);
		json_put_str(&json, "fact", check->privileges[i].fact);
		json_put_str(&json, "fix",
			check->privileges[i].fix[0] ? check->privileges[i].fix : NULL);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_key(&json, "interpreters");
	json_array_begin(&json);
	for (size_t i = 0; check->target && i < check->target->n_binaries; i++)
		json_binary(&json, check->target->binaries[i]);
	json_array_end(&json);
	json_put_str(&json, "error", check->target ? NULL : check->err.text);
	json_object_end(&json);
	out_str(out, "\n");
}

static int run(void *arguments)
{
	struct check_args *args = arguments;
	struct check check = {0};
	_cleanup_(cleanup_out) struct out *out = NULL;
	struct err err = {0};
	int r;

	if (args->json && !args->output && isatty(STDOUT_FILENO))
		return say_usage(
			"check", "--json to a terminal: add '-o FILE', or '-o -' to see it");
	r = out_create(args->output ? args->output : "-", &out, &err);
	if (r < 0)
		return exit_for(r, &err, 2);
	run_checks(&check, args);
	if (args->json)
		json_check(out, &check);
	else
		print_check(out, !args->output && term_use_color(args->common.color, STDOUT_FILENO),
			&check);
	locate_target_free(check.target);
	r = out_commit(out, &err);
	if (r < 0)
		return exit_for(r, &err, 2);
	return check.missing ? 1 : 0;
}

const struct command command_check = {
	.name = "check",
	.synopsis = "[OPTION]... [-p PID | [--] COMMAND [ARG...]]",
	.summary = "what works on this machine, what does not, and the fix",
	.examples = {{"gilprobe check", "this machine and PATH's python3"},
		{"gilprobe check -- ./app.py", "the interpreter that app.py would run"},
		{"gilprobe check -p 4711", "the interpreter of a running process"}},
	.about =
		"Nothing is recorded and nothing stays changed. Exit status 1 when something that\n"
		"recording needs is missing.",
	.options = options,
	.n_options = sizeof(options) / sizeof(options[0]),
	.args_size = sizeof(struct check_args),
	.target = true,
	.rest_value = VALUE_FILE,
	.run = run,
};

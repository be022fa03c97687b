/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: what a script's first line, env's arguments and a version manager's shim lead to.
 */
#ifndef GILPROBE_LOCATE_SCRIPT_H
#define GILPROBE_LOCATE_SCRIPT_H

#include "locate/words.h"

/*
 * The words of a `#!` line as the kernel splits them: interpreter and at most one argument.
 * None when the text has no such line. 0 or -ENOMEM.
 */
int script_interpreter(const char *text, size_t size, struct words *ret);

/*
 * The command and its arguments behind env's own options and assignments; @args without env's
 * name. None when env would only print. 0 or -ENOMEM.
 */
int script_env_command(const struct words *args, struct words *ret);

/*
 * The files that a pyenv-like shim could exec: @text is the script, @program its name, @args the
 * command's arguments. The versions come from PYENV_VERSION, from .python-version above the
 * script that is to run and above the working directory, and from the global version file, as
 * pyenv reads them. 0 or -ENOMEM.
 */
int script_shim_targets(
	const char *text, const char *program, const struct words *args, struct words *ret);

#endif

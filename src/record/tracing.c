/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record: tracefs. In: names of events. Out: ids and offsets from their id and format files.
 * Invariant: only files of tracefs are read, and only through libtracefs' idea of where it is.
 */
#include "record/tracing.h"

#include "base/parse.h"
#include "record/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

int tracing_ready(struct err *err)
{
	const char *dir = NULL;
	char *events;
	int r = 0;

	if (tracefs_tracing_dir_is_mounted(geteuid() == 0, &dir) < 0 || !dir) {
		err_set(err, -ENODEV, "tracefs is not mounted");
		err_hint(err, "sudo mount -t tracefs nodev /sys/kernel/tracing");
		return -ENODEV;
	}
	events = tracefs_get_tracing_file("events");
	if (!events)
		return err_nomem(err);
	if (access(events, R_OK | X_OK) < 0) {
		r = err_errno(err, -errno, "cannot look into '%s'", dir);
		explain_tracefs(r, err);
	}
	tracefs_put_tracing_file(events);
	return r;
}

bool tracing_has_group(const char *group)
{
	char name[96];

	snprintf(name, sizeof(name), "events/%s", group);
	return tracefs_dir_exists(NULL, name);
}

int tracing_event_id(const char *group, const char *event, uint64_t *ret, struct err *err)
{
	char *text = tracefs_event_file_read(NULL, group, event, "id", NULL);
	int r;

	if (!text)
		return err_errno(err, errno ? -errno : -ENOENT, "cannot read the id of '%s:%s'",
			group, event);
	text[strcspn(text, "\n")] = '\0';
	r = parse_u64(text, ret);
	free(text);
	return r < 0 ? err_set(err, r, "the id of '%s:%s' is no number", group, event) : 0;
}

char *tracing_format(const char *group, const char *event, size_t *ret_size, struct err *err)
{
	int size = 0;
	char *text = tracefs_event_file_read(NULL, group, event, "format", &size);

	if (!text)
		err_errno(err, errno ? -errno : -ENOENT, "cannot read the format of '%s:%s'", group,
			event);
	else if (ret_size)
		*ret_size = (size_t)size;
	return text;
}

/* A line is "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;". */
static bool parse_field(const char *line, const char *field, unsigned size, unsigned *ret)
{
	const char *end = strchr(line, ';');
	size_t len = strlen(field);
	unsigned offset, has;

	if (!end || (size_t)(end - line) <= len || strncmp(end - len, field, len) ||
		end[-(ptrdiff_t)len - 1] != ' ')
		return false;
	if (sscanf(end, "; offset:%u; size:%u;", &offset, &has) != 2 || has != size)
		return false;
	*ret = offset;
	return true;
}

int tracing_field_offset(const char *group, const char *event, const char *field, unsigned size,
	unsigned *ret, struct err *err)
{
	char *text = tracing_format(group, event, NULL, err);

	if (!text)
		return -ENOENT;
	for (const char *line = text; line; line = strchr(line + 1, '\n')) {
		if (!parse_field(line + (*line == '\n'), field, size, ret))
			continue;
		free(text);
		return 0;
	}
	free(text);
	return err_set(err, -EOPNOTSUPP, "'%s:%s' has no field '%s' of %u bytes", group, event,
		field, size);
}

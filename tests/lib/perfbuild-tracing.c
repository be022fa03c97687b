/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfbuild: the TRACING_DATA blob. In: the events. Out: what tracing_data_get of perf writes,
 * with format files as Linux 6.18 has them. Source of the order: tools/perf/util/trace-event-info.c
 */
#include "perfbuild-internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n\n"
				   "\tpadding     : type == 29\n"
				   "\ttime_extend : type == 30\n"
				   "\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";

static const char common[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

static const char *const fields[] = {
	[FORM_ENTRY] = "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n\n"
		       "print fmt: \"(%lx)\", REC->__probe_ip\n",
	[FORM_ENTRY_GIL] = "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			   "\tfield:u64 gil;\toffset:16;\tsize:8;\tsigned:0;\n\n"
			   "print fmt: \"(%lx) gil=0x%Lx\", REC->__probe_ip, REC->gil\n",
	[FORM_RETURN] = "\tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;\n"
			"\tfield:unsigned long __probe_ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n\n"
			"print fmt: \"(%lx <- %lx)\", REC->__probe_func, REC->__probe_ret_ip\n",
	[FORM_SWITCH] = "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
			"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
			"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
			"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
			"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
			"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> "
			"next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, "
			"REC->prev_prio, (REC->prev_state & 0xff) ? "
			"__print_flags(REC->prev_state & 0xff, \"|\", { 0x00000001, \"S\" }, "
			"{ 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, "
			"{ 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, "
			"{ 0x00000080, \"I\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\", "
			"REC->next_comm, REC->next_pid, REC->next_prio\n",
	[FORM_WAKEUP] =
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
		"REC->prio, REC->target_cpu\n",
};

static void put_sized(struct bytes *to, const char *text)
{
	bytes_put(to, strlen(text), 8);
	bytes_add(to, text, strlen(text));
}

static bool has_format(const struct build_event *e)
{
	return e->form != FORM_TASK && e->form != FORM_CLOCK;
}

static size_t system_len(const struct build_event *e)
{
	return strcspn(e->name, ":");
}

static bool same_system(const struct build_event *a, const struct build_event *b)
{
	size_t n = system_len(a);

	return n == system_len(b) && !strncmp(a->name, b->name, n);
}

/* The first event of a system writes all of it; false for the others. */
static bool put_system(const struct perfbuild *b, size_t first, struct bytes *to)
{
	const struct build_event *e = &b->events[first];
	size_t count_at, n = 0;

	if (!has_format(e))
		return false;
	for (size_t i = 0; i < first; i++)
		if (has_format(&b->events[i]) && same_system(&b->events[i], e))
			return false;
	bytes_add(to, e->name, system_len(e));
	bytes_put(to, 0, 1);
	count_at = to->n;
	bytes_zero(to, 4);
	for (size_t i = first; i < b->n_events; i++) {
		const struct build_event *other = &b->events[i];
		char text[4096];

		if (!has_format(other) || !same_system(other, e))
			continue;
		snprintf(text, sizeof(text), "name: %s\nID: %u\nformat:\n%s%s",
			other->name + system_len(other) + 1, other->tracepoint_id, common,
			fields[other->form]);
		put_sized(to, text);
		n++;
	}
	bytes_set(to, count_at, n, 4);
	return true;
}

void perfbuild_tracing(struct perfbuild *b, struct bytes *to)
{
	size_t systems_at, n = 0;

	bytes_add(to, "\x17\x08\x44tracing", 10);
	bytes_str(to, "0.6");
	bytes_put(to, to->big_endian, 1);
	bytes_put(to, 8, 1); /* size of long */
	bytes_put(to, 4096, 4);
	bytes_str(to, "header_page");
	put_sized(to, header_page);
	bytes_str(to, "header_event");
	put_sized(to, header_event);
	bytes_put(to, 0, 4); /* formats of ftrace itself */
	systems_at = to->n;
	bytes_zero(to, 4);
	for (size_t i = 0; i < b->n_events; i++)
		n += put_system(b, i, to);
	bytes_set(to, systems_at, n, 4);
	bytes_put(to, 0, 4); /* kallsyms */
	bytes_put(to, 0, 4); /* printk formats */
	bytes_put(to, 0, 8); /* saved command lines */
}

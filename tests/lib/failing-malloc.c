/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded: the allocation FAILING_MALLOC_AT fails (1 is the first), and with FAILING_MALLOC_ON
 * all after it, too. At exit the number of allocations goes to the file FAILING_MALLOC_COUNT.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* glibc's own names of what is replaced here */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static unsigned long at, count;
static bool counting, on;

static bool fails(void)
{
	if (!counting)
		return false;
	count++;
	if (!at || count < at || (count > at && !on))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *p = aligned_alloc(alignment, size);

	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

__attribute__((constructor)) static void start(void)
{
	const char *text = getenv("FAILING_MALLOC_AT");

	at = text ? strtoul(text, NULL, 10) : 0;
	on = getenv("FAILING_MALLOC_ON") != NULL;
	counting = true;
}

__attribute__((destructor)) static void stop(void)
{
	const char *path = getenv("FAILING_MALLOC_COUNT");
	unsigned long total = count;
	FILE *f;

	counting = false;
	f = path ? fopen(path, "w") : NULL;
	if (!f)
		return;
	fprintf(f, "%lu\n", total);
	fclose(f);
}

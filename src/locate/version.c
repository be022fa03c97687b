/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: the CPython version inside an image.
 *
 * In: an image. Out: numbers and text. 3.11 and newer export Py_Version. Older ones hold the cache
 * tag ("cpython-38") and the version text ("3.8.18"), which the linker may have merged into the
 * end of a longer string.
 */
#include "locate/version.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* PY_VERSION_HEX: 0xMMmmppls, l the release level (0xa, 0xb, 0xc, 0xf), s its serial. */
static void set_from_hex(struct locate_binary *binary, uint32_t hex)
{
	const char *level = "";
	unsigned int serial = hex & 0xf;

	binary->major = hex >> 24;
	binary->minor = hex >> 16 & 0xff;
	binary->micro = hex >> 8 & 0xff;
	switch (hex >> 4 & 0xf) {
	case 0xa:
		level = "a";
		break;
	case 0xb:
		level = "b";
		break;
	case 0xc:
		level = "rc";
		break;
	default:
		break;
	}
	snprintf(binary->version, sizeof(binary->version), "%u.%u.%u", binary->major, binary->minor,
		binary->micro);
	if (*level)
		snprintf(binary->version + strlen(binary->version),
			sizeof(binary->version) - strlen(binary->version), "%s%u", level, serial);
}

/* The next place of @text in the file after *@load and *@at, which walk the segments. */
static const char *next_text(
	struct image *image, size_t *load, size_t *at, const char *text, size_t *ret_left)
{
	for (; *load < image->n_loads; ++*load, *at = 0) {
		const uint8_t *bytes = image_load_bytes(image, &image->loads[*load]);
		size_t size = image->loads[*load].size;
		const uint8_t *hit =
			bytes ? memmem(bytes + *at, size - *at, text, strlen(text)) : NULL;

		if (!hit)
			continue;
		*at = (size_t)(hit - bytes) + 1;
		*ret_left = size - (size_t)(hit - bytes);
		return (const char *)hit;
	}
	return NULL;
}

/* "cpython-38", "cpython-310": digits after the tag, the first of them the major version. */
static bool find_tag(struct image *image, uint32_t *ret_major, uint32_t *ret_minor)
{
	static const char tag[] = "cpython-";
	size_t load = 0, at = 0, left;
	const char *p;

	while ((p = next_text(image, &load, &at, tag, &left))) {
		const char *digits = p + strlen(tag);
		uint32_t minor = 0;
		size_t n = 0;

		left -= strlen(tag);
		while (n < left && n < 4 && isdigit((unsigned char)digits[n]))
			n++;
		if (n < 2 || n > 3 || n == left || digits[n] || (digits[0] != '3'))
			continue;
		for (size_t i = 1; i < n; i++)
			minor = minor * 10 + (uint32_t)(digits[i] - '0');
		*ret_major = (uint32_t)(digits[0] - '0');
		*ret_minor = minor;
		return true;
	}
	return false;
}

/* How much of @p, from behind the second dot, reads as "18", "0rc1" or "4+" and then ends. */
static bool is_micro(const char *p, size_t left, size_t *ret_len)
{
	size_t n = 0;

	while (n < left && n < 8 && (isalnum((unsigned char)p[n]) || p[n] == '+'))
		n++;
	*ret_len = n;
	return n && n < left && !p[n] && isdigit((unsigned char)p[0]);
}

/* Looks for the text "3.8.18"; a string of its own is better than the end of a longer one. */
static void find_text(struct image *image, struct locate_binary *binary)
{
	size_t load = 0, at = 0, left, len;
	char start[32];
	const char *p;
	bool own = false;

	snprintf(start, sizeof(start), "%u.%u.", binary->major, binary->minor);
	while (!own && (p = next_text(image, &load, &at, start, &left))) {
		size_t prefix = strlen(start);
		char before = at > 1 ? p[-1] : '\0';

		if (isdigit((unsigned char)before) || before == '.' ||
			!is_micro(p + prefix, left - prefix, &len))
			continue;
		own = before == '\0';
		if (!own && binary->version[0])
			continue;
		snprintf(binary->version, sizeof(binary->version), "%.*s", (int)(prefix + len), p);
		binary->micro = (uint32_t)strtoul(p + prefix, NULL, 10);
	}
}

/* In the text of sys.version. A search through everything, so only where it can be. */
static void find_free_threading(struct image *image, struct locate_binary *binary)
{
	if (!binary->major || binary->minor >= 13)
		binary->free_threaded = image_contains(image, "free-threading build (");
}

void version_find(struct image *image, struct locate_binary *binary)
{
	uint64_t vaddr;
	uint32_t hex;

	if (image_symbol(image, "Py_Version", &vaddr)) {
		const uint8_t *p = image_at(image, vaddr, sizeof(hex));

		if (p) {
			memcpy(&hex, p, sizeof(hex));
			set_from_hex(binary, hex);
			find_free_threading(image, binary);
			return;
		}
	}
	if (find_tag(image, &binary->major, &binary->minor))
		find_text(image, binary);
	find_free_threading(image, binary);
}

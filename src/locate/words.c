/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locate: lists of words, and the words of shell text.
 *
 * In: text of a script or of `sh -c`. Out: its words, unexpanded. Invariant: reads only the bytes
 * given; a quote that never ends is closed by the end of the text.
 */
#include "locate/words.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void words_done(struct words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->items[i]);
	free(words->items);
	*words = (struct words){0};
}

int words_add(struct words *words, const char *text, size_t len)
{
	char *copy;

	if (vec_grow(words) < 0)
		return -ENOMEM;
	copy = strndup(text, len);
	if (!copy)
		return -ENOMEM;
	words->items[words->n++] = copy;
	return 0;
}

bool words_has(const struct words *words, const char *text)
{
	for (size_t i = 0; i < words->n; i++)
		if (!strcmp(words->items[i], text))
			return true;
	return false;
}

/* A word being built, and whether it has begun (it may be an empty quoted one). */
struct word {
	char *text;
	size_t len;
	bool begun;
};

static void push(struct word *word, char c)
{
	word->text[word->len++] = c;
	word->begun = true;
}

static int finish(struct words *words, struct word *word)
{
	int r = 0;

	if (word->begun)
		r = words_add(words, word->text, word->len);
	word->len = 0;
	word->begun = false;
	return r;
}

/* Copies from after the opening quote at @at; returns the place of the closing one, or the end. */
static size_t quoted(struct word *word, const char *text, size_t at, size_t size)
{
	char quote = text[at];

	word->begun = true;
	for (at++; at < size && text[at] != quote; at++) {
		if (text[at] == '\\' && quote == '"' && at + 1 < size)
			at++;
		push(word, text[at]);
	}
	return at;
}

int words_split(struct words *words, const char *text, size_t size, size_t max)
{
	/* no word is longer than the text */
	struct word word = {.text = malloc(size + 1)};
	int r = word.text ? 0 : -ENOMEM;

	for (size_t at = 0; !r && at < size && words->n < max; at++) {
		char c = text[at];

		if (c == '\\' && at + 1 < size) {
			if (text[++at] != '\n')
				push(&word, text[at]);
		} else if (c == '\'' || c == '"') {
			at = quoted(&word, text, at, size);
		} else if (c == '#' && !word.begun) {
			while (at + 1 < size && text[at + 1] != '\n')
				at++;
		} else if (!c || strchr(" \t\r\n;|&()<>`", c)) {
			r = finish(words, &word);
		} else {
			push(&word, c);
		}
	}
	if (!r && words->n < max)
		r = finish(words, &word);
	free(word.text);
	return r;
}

int words_split_env(struct words *words, const char *text)
{
	size_t size = strlen(text);
	struct word word = {.text = malloc(size + 1)};
	int r = word.text ? 0 : -ENOMEM;

	for (size_t at = 0; !r && at < size; at++) {
		char c = text[at];

		if (c == '\\' && text[at + 1] == '_') {
			at++;
			r = finish(words, &word);
		} else if (c == '\\' && at + 1 < size) {
			push(&word, text[++at]);
		} else if (c == '\'' || c == '"') {
			at = quoted(&word, text, at, size);
		} else if (strchr(" \t\r\n\v\f", c)) {
			r = finish(words, &word);
		} else {
			push(&word, c);
		}
	}
	if (!r)
		r = finish(words, &word);
	free(word.text);
	return r;
}

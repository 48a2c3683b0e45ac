/* SPDX-License-Identifier: MIT */
#include "builder/recipe/image_words.h"

#include <string.h>

#define ENV_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* These words go into a Dockerfile: they must not end a line early or become two words. */
static bool is_plain(const char *text)
{
	return *text && !strpbrk(text, " \t\r\n\"'\\$`");
}

static int image_words_refuse(const struct cluster *cluster, const char *key, const char *word,
			      const char *why, struct error *err)
{
	return error_set(err, ERROR_USAGE, "%s: image.%s: '%.60s' %s", cluster->path, key, word,
			 why);
}

static bool is_package(const char *word)
{
	return *word && *word != '-' &&
	       !word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789.+-:=~*")];
}

static bool is_rpm(const char *word)
{
	return *word && *word != '-' &&
	       !word[strspn(
		       word,
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_:~^*")];
}

static bool image_words_is_assignment(const char *pair)
{
	size_t name = strspn(pair, ENV_NAME);

	return name && pair[name] == '=' && !strpbrk(pair, "\r\n");
}

int image_words_check(const struct cluster *cluster, struct error *err)
{
	const struct cluster_image *image = &cluster->image;

	if (!is_plain(image->base))
		return image_words_refuse(cluster, "base", image->base, "is no image name", err);
	for (const char *const *word = image->apt; *word; word++)
		if (!is_package(*word))
			return image_words_refuse(cluster, "apt", *word,
						  "is no package; write NAME or NAME=VERSION", err);
	for (const char *const *word = image->yum; *word; word++)
		if (!is_rpm(*word))
			return image_words_refuse(cluster, "yum", *word,
						  "is no package; write NAME or NAME-VERSION", err);
	for (const char *const *word = image->pip; *word; word++)
		if (!**word || **word == '-' || strpbrk(*word, "\r\n"))
			return image_words_refuse(cluster, "pip", *word,
						  "is no package; write NAME or NAME==VERSION",
						  err);
	for (const char *const *pair = image->env; *pair; pair++)
		if (!image_words_is_assignment(*pair))
			return image_words_refuse(cluster, "env", *pair,
						  "is no NAME: VALUE on one line", err);
	for (size_t i = 0; i < image->file_count; i++)
		if (!is_plain(image->files[i].to))
			return image_words_refuse(cluster, "files", image->files[i].to,
						  "takes no blanks and no quotes", err);
	return 0;
}

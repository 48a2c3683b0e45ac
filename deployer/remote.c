/* SPDX-License-Identifier: MIT */
#include "deployer/remote.h"

#include "core/file.h"

#define SCRIPT_CEILING_BYTES (32 * KIB) /* the whole command goes in one SSH packet */

int remote_script(const char *name, const char *const *arguments, struct words *words,
		  struct error *err)
{
	const char *path;
	char *text;

	if (share_path(words->arena, arena_printf(words->arena, "deployer/remote/%s.sh", name),
		       &path, err) < 0 ||
	    file_read(path, SCRIPT_CEILING_BYTES, words->arena, &text, NULL, err) < 0)
		return -1;
	words_add_all(words, WORDS("sh", "-c", text, name));
	words_add_all(words, arguments);
	return 0;
}

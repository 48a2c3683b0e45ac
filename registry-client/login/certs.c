/* SPDX-License-Identifier: MIT */
#include "registry-client/login/certs.h"

#include "core/file.h"
#include "registry-client/limits.h"

#include <string.h>

static int read_authorities(struct certs *certs, struct arena *arena, struct error *err)
{
	_cleanup_(str_release) struct str all = STR_INIT;
	const char **names;

	if (folder_list(certs->folder, ".crt", arena, &names, err) < 0)
		return -1;
	for (; *names; names++) {
		char *text;

		if (file_read(arena_printf(arena, "%s/%s", certs->folder, *names),
			      CERTIFICATE_BYTES_MAX, arena, &text, NULL, err) < 0)
			return -1;
		str_add(&all, text);
		str_add(&all, "\n");
	}
	if (all.length)
		certs->ca_pem = arena_strdup(arena, all.text);
	return 0;
}

static int find_client(struct certs *certs, struct arena *arena, struct error *err)
{
	const char **names;

	if (folder_list(certs->folder, ".cert", arena, &names, err) < 0)
		return -1;
	if (!*names)
		return 0;
	certs->cert_path = arena_printf(arena, "%s/%s", certs->folder, *names);
	certs->key_path =
		arena_printf(arena, "%.*s.key", (int)(strlen(certs->cert_path) - strlen(".cert")),
			     certs->cert_path);
	if (file_exists(certs->key_path))
		return 0;
	return error_set(
		err, ERROR_USAGE,
		"%s has no key beside it: %s is missing. Put it there, or take the certificate away",
		certs->cert_path, certs->key_path);
}

int certs_find(const char *address, struct arena *arena, struct certs *certs, struct error *err)
{
	static const char *const places[] = {"~/.config/containers/certs.d",
					     "/etc/containers/certs.d", "~/.config/docker/certs.d",
					     "/etc/docker/certs.d"};

	*certs = (struct certs){0};
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const char *folder =
			arena_printf(arena, "%s/%s", path_expand(arena, NULL, places[i]), address);

		if (!file_exists(folder))
			continue;
		certs->folder = folder;
		if (read_authorities(certs, arena, err) < 0)
			return -1;
		return find_client(certs, arena, err);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/runtime_user.h"

#include "core/str.h"

#include <stdlib.h>
#include <string.h>

#define PASSWD_BYTES_MAX (4 * MIB)

/* The field of that number in a line of passwd or group; *length of it. */
static const char *runtime_user_field(const char *line, int number, size_t *length)
{
	while (number-- > 0) {
		line += strcspn(line, ":\n");
		if (*line == ':')
			line++;
	}
	*length = strcspn(line, ":\n");
	return line;
}

static bool is_field(const char *line, int number, const char *text)
{
	size_t length;
	const char *at = runtime_user_field(line, number, &length);

	return length == strlen(text) && strncmp(at, text, length) == 0;
}

/* The line whose field `number` is `text`, or NULL. */
static const char *find_line(const char *file, int number, const char *text)
{
	for (const char *line = file; line && *line; line += *line == '\n') {
		if (is_field(line, number, text))
			return line;
		line += strcspn(line, "\n");
	}
	return NULL;
}

static bool is_number(const char *text)
{
	return *text && strlen(text) < 10 && !text[strspn(text, "0123456789")];
}

static uint32_t number_field(const char *line, int number)
{
	size_t length;

	return (uint32_t)strtoul(runtime_user_field(line, number, &length), NULL, 10);
}

/* By name or number. `file` has the number in its third field, as passwd and group do. */
static int look_up(const char *file, const char *name, const char *what, uint32_t *number,
		   const char **line, struct error *err)
{
	*line = find_line(file, 0, name);
	if (*line) {
		*number = number_field(*line, 2);
		return 0;
	}
	if (!is_number(name))
		return error_set(err, ERROR_USAGE, "the image has no %s '%.40s'", what, name);
	*number = (uint32_t)strtoul(name, NULL, 10);
	*line = find_line(file, 2, name);
	return 0;
}

/* The groups that list the user as a member. */
static void add_groups(const char *file, const char *name, struct run_user *user)
{
	for (const char *line = file; line && *line; line += *line == '\n') {
		size_t length;
		const char *member = runtime_user_field(line, 3, &length), *end = member + length;

		while (member < end) {
			size_t part = strcspn(member, ",:\n");

			if (part == strlen(name) && strncmp(member, name, part) == 0 &&
			    user->group_count < ARRAY_LEN(user->groups))
				user->groups[user->group_count++] = number_field(line, 2);
			member += part + 1;
		}
		line += strcspn(line, "\n");
	}
}

int runtime_user(const struct view *view, const char *name, struct arena *arena,
		 struct run_user *user, struct error *err)
{
	const char *passwd, *group, *line, *home, *colon = strchr(name, ':');
	const char *login = colon ? arena_strndup(arena, name, (size_t)(colon - name)) : name;
	size_t length;

	*user = (struct run_user){.home = "/"};
	if (view_read(view, "etc/passwd", PASSWD_BYTES_MAX, arena, &passwd, err) < 0 ||
	    view_read(view, "etc/group", PASSWD_BYTES_MAX, arena, &group, err) < 0 ||
	    look_up(passwd, *login ? login : "0", "user", &user->uid, &line, err) < 0)
		return -1;
	if (line) {
		user->gid = number_field(line, 3);
		home = runtime_user_field(line, 5, &length);
		user->home = arena_strndup(arena, home, length);
		login = runtime_user_field(line, 0, &length);
		login = arena_strndup(arena, login, length);
		add_groups(group, login, user);
	} else if (user->uid == 0) {
		user->home = "/root";
	}
	if (!colon)
		return 0;
	return look_up(group, colon + 1, "group", &user->gid, &line, err);
}

int runtime_owner(const struct view *view, const char *name, uid_t *uid, gid_t *gid,
		  struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct run_user user;

	if (runtime_user(view, name, &arena, &user, err) < 0)
		return -1;
	*uid = user.uid;
	/* "--chown=7" is 7:7: Dockerfile reference, "COPY --chown" */
	*gid = strchr(name, ':') || !is_number(name) ? user.gid : user.uid;
	return 0;
}

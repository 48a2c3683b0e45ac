/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/ssh_config.h"

#include "core/file.h"
#include "core/str.h"

#include <ctype.h>
#include <fnmatch.h>
#include <glob.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_CEILING_BYTES MIB
#define INCLUDE_DEPTH_MAX 16 /* readconf.c of OpenSSH */

/* Options that change nothing of what ringup does with a host, or that ringup sets itself. */
static const char HARMLESS[] =
	" addkeystoagent batchmode canonicaldomains canonicalizefallbacklocal canonicalizemaxdots"
	" canonicalizepermittedcnames channeltimeout checkhostip clearallforwardings compression"
	" connectionattempts connecttimeout controlmaster controlpath controlpersist dynamicforward"
	" enableescapecommandline escapechar exitonforwardfailure fingerprinthash"
	" forkafterauthentication forwardagent forwardx11 forwardx11timeout forwardx11trusted"
	" gatewayports gssapiauthentication gssapidelegatecredentials hashknownhosts ignoreunknown ipqos"
	" kbdinteractiveauthentication kbdinteractivedevices localcommand localforward loglevel"
	" logverbose nohostauthenticationforlocalhost numberofpasswordprompts"
	" obscurekeystroketiming passwordauthentication permitlocalcommand permitremoteopen"
	" preferredauthentications pubkeyauthentication rekeylimit remotecommand remoteforward"
	" requesttty sendenv serveralivecountmax serveraliveinterval sessiontype setenv stdinnull"
	" streamlocalbindmask streamlocalbindunlink syslogfacility tcpkeepalive"
	" tunnel tunneldevice updatehostkeys usekeychain verifyhostkeydns visualhostkey"
	" xauthlocation challengeresponseauthentication protocol useroaming ";

struct config_reader {
	struct ssh_config *config;
	struct arena *arena;
	const char *host, *usual_user;
	const char *path; /* of the file that is read, and its line */
	int line;
	bool active; /* the lines count: their Host or Match is this host */
	bool never;  /* in a file that is included where lines do not count */
	int depth;
	struct error *err;
};

static int config_error(struct config_reader *r, const char *what, const char *word)
{
	return error_set(r->err, ERROR_USAGE, "%s:%d: %s%s%s%s", r->path, r->line, what,
			 word ? " '" : "", word ? word : "", word ? "'" : "");
}

static void config_beyond(struct config_reader *r, const char *what)
{
	if (!*r->config->beyond)
		r->config->beyond = arena_printf(r->arena, "%s in %s:%d", what, r->path, r->line);
}

/*
 * The next word of a line; *at moves behind it. Quotes of both kinds hold blanks, and '\' takes the
 * next quote, blank or '\' as it is. NULL at the end of the line or at a comment.
 */
static int config_word(struct config_reader *r, const char **at, const char **word)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	const char *p = *at + strspn(*at, " \t\r\f");
	char quote = '\0';

	*word = NULL;
	if (!*p || *p == '#') {
		*at = p + strlen(p);
		return 0;
	}
	for (; *p && (quote || !strchr(" \t\r\f", *p)); p++) {
		if (*p == '\\' && p[1] && (strchr("'\"\\", p[1]) || (!quote && p[1] == ' ')))
			str_add_char(&text, *++p);
		else if (!quote && (*p == '"' || *p == '\''))
			quote = *p;
		else if (quote && *p == quote)
			quote = '\0';
		else
			str_add_char(&text, *p);
	}
	if (quote)
		return config_error(r, "a quote has no end", NULL);
	*at = p;
	*word = arena_strdup(r->arena, text.text);
	return 0;
}

static bool config_matches(const char *pattern, const char *text)
{
	_cleanup_(str_release) struct str escaped = STR_INIT;

	for (; *pattern; pattern++) { /* only '*' and '?' mean something */
		if (strchr("[]\\", *pattern))
			str_add_char(&escaped, '\\');
		str_add_char(&escaped, *pattern);
	}
	return fnmatch(escaped.text, text, 0) == 0;
}

/* A list with ',' between: one negated pattern that matches makes it false. */
static bool config_matches_list(const char *list, const char *text, struct arena *arena)
{
	char *rest = arena_strdup(arena, list), *pattern;
	bool found = false;

	while ((pattern = strsep(&rest, ","))) {
		if (*pattern == '!' && config_matches(pattern + 1, text))
			return false;
		found = found || (*pattern != '!' && config_matches(pattern, text));
	}
	return found;
}

static const char *config_user(const struct config_reader *r)
{
	return *r->config->user ? r->config->user : r->usual_user;
}

/* HostName may hold the name itself. */
static const char *config_hostname(const struct ssh_config *c, const char *host,
				   struct arena *arena)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (const char *at = *c->hostname ? c->hostname : host; *at; at++) {
		if (at[0] == '%' && (at[1] == 'h' || at[1] == '%'))
			str_add(&text, *++at == 'h' ? host : "%");
		else
			str_add_char(&text, *at);
	}
	return arena_strdup(arena, text.text);
}

static int config_host_line(struct config_reader *r, const char *rest)
{
	const char *word;
	bool found = false, refused = false;

	for (;;) {
		if (config_word(r, &rest, &word) < 0)
			return -1;
		if (!word)
			break;
		if (*word == '!')
			refused = refused || config_matches(word + 1, r->host);
		else
			found = found || config_matches(word, r->host);
	}
	r->active = found && !refused && !r->never;
	return 0;
}

/* One criterion with its argument: 1, 0, or -1 where only ssh itself can say. */
static int config_criterion(const struct config_reader *r, const char *name, const char *value)
{
	struct passwd *me = getpwuid(getuid());

	if (strcmp(name, "host") == 0)
		return config_matches_list(value, config_hostname(r->config, r->host, r->arena),
					   r->arena);
	if (strcmp(name, "originalhost") == 0)
		return config_matches_list(value, r->host, r->arena);
	if (strcmp(name, "user") == 0)
		return config_matches_list(value, config_user(r), r->arena);
	if (strcmp(name, "localuser") == 0)
		return me ? config_matches_list(value, me->pw_name, r->arena) : -1;
	return -1;
}

static char *config_lower(struct arena *arena, const char *word, size_t length)
{
	char *text = arena_strndup(arena, word, length);

	for (char *p = text; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return text;
}

static int config_match_line(struct config_reader *r, const char *rest)
{
	bool result = !r->never, any = false;
	const char *word, *value;

	for (;; any = true) {
		bool negated, has_value;
		const char *name, *inside;
		int answer;

		if (config_word(r, &rest, &word) < 0)
			return -1;
		if (!word)
			break;
		negated = *word == '!';
		inside = strchr(word, '='); /* "Match user=root" */
		name = config_lower(r->arena, word + negated,
				    inside ? (size_t)(inside - word - negated)
					   : strlen(word + negated));
		has_value = strcmp(name, "all") != 0 && strcmp(name, "canonical") != 0 &&
			    strcmp(name, "final") != 0;
		value = inside ? inside + 1 : NULL;
		if (!inside && has_value) /* "Match user = root" */
			rest += strspn(rest, " \t=");
		if (has_value && !value && config_word(r, &rest, &value) < 0)
			return -1;
		if (has_value && (!value || !*value))
			return config_error(r, "Match needs a value for", name);
		answer = !has_value ? (strcmp(name, "all") == 0	    ? 1
				       : strcmp(name, "final") == 0 ? -1
								    : 0)
				    : config_criterion(r, name, value);
		if (answer < 0 && result) {
			config_beyond(r, arena_printf(r->arena, "Match %s", name));
			r->config->is_unsure = true;
		}
		result = result && answer >= 0 && answer != negated;
	}
	if (!any)
		return config_error(r, "Match needs a criterion", NULL);
	r->active = result;
	return 0;
}

static int config_read_file(struct config_reader *r, const char *path);

/* Included files count where the line does, and their own Host lines end with them. */
static int config_include(struct config_reader *r, const char *pattern)
{
	const char *folder = path_folder(r->arena, r->path);
	bool active = r->active, never = r->never;
	glob_t found = {0};
	int rc = 0;

	if (!starts_with(r->path, "/etc/ssh/"))
		folder = arena_printf(r->arena, "%s/.ssh", path_home(r->arena));
	if (r->depth == INCLUDE_DEPTH_MAX)
		return config_error(r, "too many files include each other", NULL);
	if (glob(path_expand(r->arena, folder, pattern), 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && rc == 0; i++) {
			r->never = never || !active;
			r->active = active;
			rc = config_read_file(r, arena_strdup(r->arena, found.gl_pathv[i]));
		}
	globfree(&found);
	r->active = active;
	r->never = never;
	return rc;
}

static int config_set_port(struct config_reader *r, const char *value)
{
	char *end;
	long port = strtol(value, &end, 10);

	if (end == value || *end || port < 1 || port > 65535)
		return config_error(r, "no port:", value);
	if (!r->config->port)
		r->config->port = (int)port;
	return 0;
}

static void config_add_once(struct words *words, const char *value)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->list[i], value) == 0)
			return;
	words_add(words, value);
}

/* All words of the line, unless an earlier line had some. */
static int config_set_list(struct config_reader *r, struct words *words, const char *value,
			   const char *rest)
{
	bool is_first = !words->count;

	for (; value; value = NULL) {
		const char *next;

		if (is_first)
			words_add(words, value);
		while (config_word(r, &rest, &next) == 0 && next)
			if (is_first)
				words_add(words, next);
	}
	return r->err->kind ? -1 : 0;
}

/* The first value stays. */
static void config_set_text(const char **place, const char *value)
{
	if (!**place)
		*place = value;
}

static void config_set_other(struct config_reader *r, const char *name, const char *value)
{
	_cleanup_(str_release) struct str word = STR_INIT;

	str_addf(&word, " %s ", name);
	if (strcmp(name, "remotecommand") == 0)
		r->config->has_remote_command = true;
	if (strcmp(value, "none") == 0 || strstr(HARMLESS, word.text))
		return;
	if (r->config->jump_given &&
	    (strcmp(name, "proxyjump") == 0 || strcmp(name, "proxycommand") == 0))
		return;
	if (strcmp(name, "canonicalizehostname") == 0 && strcmp(value, "no") == 0)
		return;
	if (strcmp(name, "addressfamily") == 0 && strcmp(value, "any") == 0)
		return;
	r->config->is_unsure |= strcmp(name, "canonicalizehostname") == 0;
	config_beyond(r, arena_printf(r->arena, "%.60s", name));
}

/* The first of the two options counts, and "none" is a value. */
static void config_set_proxy(struct config_reader *r, const char *name, const char *value)
{
	struct ssh_config *c = r->config;

	if (c->jump_given || *c->proxy_jump || *c->proxy_command)
		return;
	if (strcmp(name, "proxyjump") == 0)
		c->proxy_jump = value;
	else
		c->proxy_command = value;
}

static int config_set(struct config_reader *r, const char *name, const char *value,
		      const char *rest)
{
	struct ssh_config *c = r->config;
	const struct {
		const char *name, **place;
	} texts[] = {{"hostname", &c->hostname},
		     {"user", &c->user},
		     {"hostkeyalias", &c->host_key_alias},
		     {"identityagent", &c->identity_agent},
		     {"identitiesonly", &c->identities_only},
		     {"stricthostkeychecking", &c->strict_keys}};
	const struct {
		const char *name;
		struct words *place;
	} lists[] = {{"userknownhostsfile", &c->user_known_hosts},
		     {"globalknownhostsfile", &c->global_known_hosts}};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (strcmp(name, texts[i].name) == 0) {
			config_set_text(texts[i].place, value);
			return 0;
		}
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (strcmp(name, lists[i].name) == 0)
			return config_set_list(r, lists[i].place, value, rest);
	if (strcmp(name, "port") == 0)
		return config_set_port(r, value);
	if (strcmp(name, "identityfile") == 0)
		config_add_once(&c->identity_files, value);
	else
		config_set_other(r, name, value);
	if (strcmp(name, "proxyjump") == 0)
		config_set_proxy(r, name, value);
	return 0;
}

static int config_line(struct config_reader *r, const char *line)
{
	size_t length = strcspn(line, " \t\r\f=");
	const char *name, *value, *whole;

	if (!length || *line == '#')
		return length || !*line ? 0 : config_error(r, "no option stands before", "=");
	name = config_lower(r->arena, line, length);
	line += length;
	line += strspn(line, " \t\r\f");
	if (*line == '=')
		line++;
	if (strcmp(name, "host") == 0)
		return config_host_line(r, line);
	if (strcmp(name, "match") == 0)
		return config_match_line(r, line);
	whole = arena_strdup(r->arena, line + strspn(line, " \t"));
	if (config_word(r, &line, &value) < 0)
		return -1;
	if (!value || !*value)
		return config_error(r, "there is no value for", name);
	r->config->names_ciphers |= strcmp(name, "ciphers") == 0;
	if (r->active && strcmp(name, "proxycommand") == 0) /* a shell takes it apart */
		config_set_proxy(r, name, whole);
	for (; value && strcmp(name, "include") == 0;)
		if (config_include(r, value) < 0 || config_word(r, &line, &value) < 0)
			return -1;
	return r->active && value ? config_set(r, name, value, line) : 0;
}

static int config_read_file(struct config_reader *r, const char *path)
{
	const char *outer = r->path;
	int outer_line = r->line, rc = 0;
	char *text, *line;

	if (access(path, F_OK) < 0)
		return 0;
	if (file_read(path, CONFIG_CEILING_BYTES, r->arena, &text, NULL, r->err) < 0)
		return error_of_input(r->err);
	r->path = path;
	r->line = 0;
	r->depth++;
	while (rc == 0 && (line = strsep(&text, "\n"))) {
		r->line++;
		rc = config_line(r, line + strspn(line, " \t\r\f"));
	}
	r->depth--;
	r->path = outer;
	r->line = outer_line;
	return rc;
}

void ssh_config_init(struct ssh_config *config, struct arena *arena)
{
	*config = (struct ssh_config){.hostname = "",
				      .user = "",
				      .host_key_alias = "",
				      .identity_agent = "",
				      .identities_only = "",
				      .strict_keys = "",
				      .beyond = "",
				      .proxy_jump = "",
				      .proxy_command = "",
				      .identity_files = WORDS_INIT(arena),
				      .user_known_hosts = WORDS_INIT(arena),
				      .global_known_hosts = WORDS_INIT(arena)};
}

int ssh_config_read(struct ssh_config *config, const char *path, const char *host,
		    const char *usual_user, struct error *err)
{
	struct config_reader reader = {.config = config,
				       .arena = config->identity_files.arena,
				       .host = host,
				       .usual_user = usual_user,
				       .path = path,
				       .active = true,
				       .err = err};

	return config_read_file(&reader, path);
}

/* The meaning of a path's %X, or NULL for one that is not decided here. */
static const char *config_token(const struct ssh_config *c, const char *host,
				const char *usual_user, char token)
{
	struct arena *arena = c->identity_files.arena;
	struct passwd *me = getpwuid(getuid());

	switch (token) {
	case '%':
		return "%";
	case 'd':
		return path_home(arena);
	case 'h':
		return c->hostname;
	case 'n':
		return host;
	case 'p':
		return arena_printf(arena, "%d", c->port ? c->port : 22);
	case 'r':
		return *c->user ? c->user : usual_user;
	case 'u':
		return me ? me->pw_name : NULL;
	case 'i':
		return arena_printf(arena, "%u", (unsigned int)getuid());
	default:
		return NULL;
	}
}

static void config_finish_paths(struct ssh_config *c, struct words *paths, const char *host,
				const char *usual_user)
{
	for (size_t i = 0; i < paths->count; i++) {
		_cleanup_(str_release) struct str text = STR_INIT;
		const char *path = paths->list[i];

		for (const char *at = path; *at; at++) {
			const char *part =
				*at == '%' ? config_token(c, host, usual_user, at[1]) : NULL;

			if (part)
				at++;
			else if ((*at == '%' || starts_with(at, "${")) && !*c->beyond)
				c->beyond = arena_printf(paths->arena, "the path '%s'", path);
			if (part)
				str_add(&text, part);
			else
				str_add_char(&text, *at);
		}
		paths->list[i] =
			path_expand(paths->arena, NULL, arena_strdup(paths->arena, text.text));
	}
}

/* A way to the host, with the values of its tokens in their places. */
static const char *config_finish_proxy(const struct ssh_config *c, const char *proxy,
				       const char *host, const char *usual_user)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	if (strcmp(proxy, "none") == 0)
		return "";
	for (const char *at = proxy; *at; at++) {
		const char *part = *at == '%' ? config_token(c, host, usual_user, at[1]) : NULL;

		if (part)
			str_add(&text, part);
		else
			str_add_char(&text, *at);
		at += part != NULL;
	}
	return arena_strdup(c->identity_files.arena, text.text);
}

void ssh_config_finish(struct ssh_config *config, const char *host, const char *usual_user)
{
	config->hostname = config_hostname(config, host, config->identity_files.arena);
	config->proxy_jump = config_finish_proxy(config, config->proxy_jump, host, usual_user);
	config->proxy_command =
		config_finish_proxy(config, config->proxy_command, host, usual_user);
	config_finish_paths(config, &config->identity_files, host, usual_user);
	config_finish_paths(config, &config->user_known_hosts, host, usual_user);
	config_finish_paths(config, &config->global_known_hosts, host, usual_user);
}

/* SPDX-License-Identifier: MIT */
#include "deployer/bringup/host_stack.h"

#include "core/foreign.h"
#include "core/log.h"
#include "core/quote.h"
#include "core/str.h"
#include "deployer/bringup/operate.h"
#include "deployer/remote.h"

#include <string.h>

#define ANSWER_TIMEOUT_S 30
#define ANSWER_LINES_MAX 64

/* What versions.sh calls a library whose name in a plan is another one. A '*' stands for what follows. */
static const struct {
	const char *said, *name, *prefix; /* `prefix` stands before the version */
} other_names[] = {
	{"mpi", "openmpi", "Open MPI "},      {"tensorflow-cpu", "tensorflow", ""},
	{"tensorflow-gpu", "tensorflow", ""}, {"nvidia-nccl-*", "nccl", ""},
	{"nvidia-cudnn-*", "cudnn", ""},
};

/* The frameworks that a warning misses when a host does not have them. */
static const char *const frameworks[] = {"tensorflow", "torch", "jax", "mxnet", "horovod"};

static bool host_stack_is_called(const char *pattern, const char *name, size_t length)
{
	size_t fixed = strcspn(pattern, "*");

	return pattern[fixed] ? length > fixed && strncmp(pattern, name, fixed) == 0
			      : length == fixed && strncmp(pattern, name, fixed) == 0;
}

/* The plan's choice of the library that the line is about, and the line's version of it. */
static const struct choice *host_stack_find_choice(const struct plan *plan, const char *line,
						   const char **version)
{
	size_t length = strcspn(line, "=");

	*version = line + length + (line[length] == '=');
	for (size_t i = 0; i < ARRAY_LEN(other_names); i++) {
		size_t prefix = strlen(other_names[i].prefix);

		if (!host_stack_is_called(other_names[i].said, line, length))
			continue;
		if (strncmp(*version, other_names[i].prefix, prefix) != 0)
			return NULL; /* MPICH, where the plan has Open MPI */
		*version += prefix;
		return plan_choice(plan, other_names[i].name);
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct choice *choice = &plan->choices[i];

		if (!host_stack_is_called(choice->name, line, length))
			continue;
		/* a framework with an NCCL of its own does not load the system's */
		return strcmp(choice->name, "nccl") == 0 && *choice->wheel ? NULL : choice;
	}
	return NULL;
}

static bool host_stack_is_same_version(const struct choice *choice, const char *version)
{
	size_t has = strcspn(version, "+-"), wants = strcspn(choice->version, "+-");

	if (strcmp(choice->name, "python") == 0 && has < wants)
		return strncmp(version, choice->version, has) == 0 && choice->version[has] == '.';
	return has == wants && strncmp(version, choice->version, has) == 0;
}

const char *host_stack_differs(const struct plan *plan, const char *line, struct arena *arena)
{
	const char *version;
	const struct choice *choice = host_stack_find_choice(plan, line, &version);

	if (!choice || !*version || host_stack_is_same_version(choice, version))
		return NULL;
	return arena_printf(arena, "%s %s, where ringup.lock has %s", choice->name, version,
			    choice->version);
}

/* Adds the words of a `case` for the same lines as host_stack_is_same_version: what is right, with a build behind it or not. */
static void host_stack_add_right(const struct choice *choice, const char *said, const char *prefix,
				 struct str *out)
{
	size_t wants = strcspn(choice->version, "+-");
	bool is_python = strcmp(choice->name, "python") == 0;

	for (size_t length = 1; length <= wants; length++) {
		_cleanup_(str_release) struct str version = STR_INIT, word = STR_INIT;

		if (length < wants && (!is_python || choice->version[length] != '.'))
			continue;
		str_addf(&version, "%s%.*s", prefix, (int)length, choice->version);
		quote_word(&word, version.text);
		str_addf(out, "\t%s=%s | %s=%s[+-]*) ;;\n", said, word.text, said, word.text);
	}
}

static void host_stack_add_quoted(struct str *out, const char *first, const char *second)
{
	_cleanup_(str_release) struct str word = STR_INIT;

	str_addf(&word, "%s%s", first, second);
	quote_word(out, word.text);
}

static void host_stack_add_case(const struct choice *choice, const char *said, const char *prefix,
				struct str *out)
{
	_cleanup_(str_release) struct str name = STR_INIT, begin = STR_INIT;
	size_t fixed = strcspn(said, "*");

	str_add_bytes(&begin, said, fixed);
	quote_word(&name, begin.text);
	str_add(&name, said[fixed] ? "?*" : "");
	host_stack_add_right(choice, name.text, prefix, out);
	str_addf(out, "\t%s=", name.text);
	if (*prefix)
		quote_word(out, prefix);
	str_add(out, "?*) what=");
	host_stack_add_quoted(out, choice->name, " ");
	str_addf(out, "\"${line#*=%s}\"", prefix);
	host_stack_add_quoted(out, ", where ringup.lock has ", choice->version);
	str_add(out, " ;;\n");
}

void host_stack_add_cases(const struct plan *plan, struct str *out)
{
	/* versions.sh says nothing of them, or by another name */
	static const char *const unsaid[] = {"cuda", "driver",	"gcc", "glibc",
					     "gpu",  "openmpi", "os"};

	for (size_t i = 0; i < ARRAY_LEN(other_names); i++) {
		const struct choice *choice = plan_choice(plan, other_names[i].name);

		if (choice)
			host_stack_add_case(choice, other_names[i].said, other_names[i].prefix,
					    out);
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct choice *choice = &plan->choices[i];
		bool is_said = strcmp(choice->name, "nccl") != 0 || !*choice->wheel;

		for (size_t k = 0; k < ARRAY_LEN(unsaid); k++)
			is_said = is_said && strcmp(choice->name, unsaid[k]) != 0;
		if (is_said)
			host_stack_add_case(choice, choice->name, "", out);
	}
}

struct stack_check {
	const struct plan *plan;
	const char **findings; /* one per member; "" none */
};

static void host_stack_add_finding(struct str *out, const char *text)
{
	str_addf(out, "%s%s", out->length ? "; " : "", text);
}

static void host_stack_add_missing(const struct stack_check *check, const struct words *lines,
				   struct str *out)
{
	for (size_t i = 0; i < ARRAY_LEN(frameworks); i++) {
		const struct choice *choice = plan_choice(check->plan, frameworks[i]);
		const char *version;
		bool found = !choice;

		for (size_t k = 0; !found && k < lines->count; k++)
			found = host_stack_find_choice(check->plan, lines->list[k], &version) ==
				choice;
		if (found)
			continue;
		str_addf(out, "%sno %s, where ringup.lock has %s", out->length ? "; " : "",
			 choice->name, choice->version);
	}
}

/* The lines NAME=VERSION of one host; none: it does not say. Fails if it cannot be reached. */
static int host_stack_ask(struct member *m, bool with_mpi, struct words *lines, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&m->arena);
	struct ssh_command command = {.timeout_s = ANSWER_TIMEOUT_S};
	struct error ignored = {0};
	char *rest;

	if (remote_script("versions",
			  WORDS("stack", with_mpi ? "mpi" : "", *m->facts.gpus ? "1" : ""), &words,
			  err) < 0)
		return -1;
	command.words = member_bare_words(m, words.list);
	if (member_connect(m, err) < 0)
		return -1;
	if (ssh_run(m->ssh, &command, &result, &ignored) < 0 || result.status != 0)
		return 0;
	rest = result.out.text;
	for (char *line = strsep(&rest, "\n"); line && lines->count < ANSWER_LINES_MAX;
	     line = strsep(&rest, "\n"))
		if (strchr(line, '='))
			words_add(lines, arena_strdup(&m->arena, foreign_clean_line(line)));
	return 0;
}

static int host_stack_check_one(struct member *m, void *arg, struct error *err)
{
	struct stack_check *check = arg;
	_cleanup_(str_release) struct str text = STR_INIT;
	struct words lines = WORDS_INIT(&m->arena);

	if (host_stack_ask(m, plan_choice(check->plan, "openmpi") != NULL, &lines, err) < 0)
		return -1;
	if (lines.count == 0) {
		check->findings[m->index] = "it does not say which libraries it has";
		return 0;
	}
	host_stack_add_missing(check, &lines, &text);
	for (size_t i = 0; i < lines.count; i++) {
		const char *differs = host_stack_differs(check->plan, lines.list[i], &m->arena);

		if (differs)
			host_stack_add_finding(&text, differs);
	}
	check->findings[m->index] = arena_strdup(&m->arena, text.text);
	return 0;
}

struct stack_finding {
	const struct stack_check *check;
	const char *text;
};

static bool host_stack_has_finding(const struct member *m, const void *arg)
{
	const struct stack_finding *finding = arg;

	return strcmp(finding->check->findings[m->index], finding->text) == 0;
}

/* Whether no earlier member has the finding of this one. */
static bool host_stack_is_new(const struct stack_check *check, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(check->findings[i], check->findings[index]) == 0)
			return false;
	return *check->findings[index] != '\0';
}

void fleet_check_stack(struct fleet *fleet, const struct plan *plan)
{
	struct stack_check check = {.plan = plan};

	check.findings = ARENA_ARRAY(fleet->arena, fleet->count, const char *);
	for (size_t i = 0; i < fleet->count; i++)
		check.findings[i] = "";
	fleet_each(fleet, host_stack_check_one, &check);
	for (size_t i = 0; i < fleet->count; i++) {
		const struct stack_finding finding = {&check, check.findings[i]};
		_cleanup_(str_release) struct str hosts = STR_INIT;

		if (!host_stack_is_new(&check, i))
			continue;
		fleet_add_names(fleet, host_stack_has_finding, &finding, &hosts);
		log_warn(
			"%s: %s; 'ringup recipe --format script' prints what installs the stack on a host",
			hosts.text, check.findings[i]);
	}
}

/* ---- what hosts have, as requests ---- */

/* "mpi=Open MPI 4.1.6" as "openmpi==4.1.6", without what names a build; NULL: nothing to ask for. */
static const char *host_stack_request(const char *line, struct arena *arena)
{
	static const struct {
		const char *said, *name;
	} others[] = {{"python=", "python"}, {"mpi=Open MPI ", "openmpi"}, {"nccl=", "nccl"}};
	size_t length = strcspn(line, "=");
	const char *version = line + length + 1;

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (starts_with(line, others[i].said))
			return arena_printf(arena, "%s==%s", others[i].name,
					    line + strlen(others[i].said));
	for (size_t i = 0; i < ARRAY_LEN(frameworks); i++)
		if (host_stack_is_called(frameworks[i], line, length))
			return arena_printf(arena, "%s==%.*s", frameworks[i],
					    (int)strcspn(version, "+-"), version);
	return NULL;
}

/* The requests of each member, in its own arena. */
static int host_stack_request_one(struct member *m, void *arg, struct error *err)
{
	struct words *requests = (struct words *)arg + m->index, lines = WORDS_INIT(&m->arena);

	*requests = (struct words)WORDS_INIT(&m->arena);
	if (host_stack_ask(m, true, &lines, err) < 0)
		return -1;
	for (size_t i = 0; i < lines.count; i++) {
		const char *request = host_stack_request(lines.list[i], &m->arena);

		if (request)
			words_add(requests, request);
	}
	return 0;
}

static bool host_stack_all_have(const struct fleet *fleet, const struct words *requests,
				const char *request)
{
	for (size_t i = 0; i < fleet->count; i++) {
		bool found = fleet->members[i].failed;

		for (size_t k = 0; k < requests[i].count && !found; k++)
			found = strcmp(requests[i].list[k], request) == 0;
		if (!found)
			return false;
	}
	return true;
}

void fleet_read_stack(struct fleet *fleet, struct words *out)
{
	struct words *requests = ARENA_ARRAY(fleet->arena, fleet->count, struct words);
	const struct words *first = NULL;
	bool has_framework = false;

	fleet_each(fleet, host_stack_request_one, requests);
	for (size_t i = 0; i < fleet->count && !first; i++)
		first = fleet->members[i].failed ? NULL : &requests[i];
	for (size_t k = 0; first && k < first->count; k++) {
		const char *request = first->list[k];

		if (!host_stack_all_have(fleet, requests, request) ||
		    (has_framework && starts_with(request, "nccl=="))) /* it has one of its own */
			continue;
		words_add(out, request);
		for (size_t i = 0; i < ARRAY_LEN(frameworks); i++)
			has_framework |= starts_with(request, frameworks[i]);
	}
}

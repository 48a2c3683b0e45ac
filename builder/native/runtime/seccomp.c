/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/seccomp.h"

#include "core/file.h"
#include "core/proc.h"
#include "core/str.h"
#include "core/table.h"
#include "core/words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define VERSION_TIMEOUT_S 20

/* The names of OCI for the machine that this program was made for. */
#if defined(__x86_64__)
#define SECCOMP_ARCH "amd64"
#define SECCOMP_ARCHITECTURES "SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"
#elif defined(__aarch64__)
#define SECCOMP_ARCH "arm64"
#define SECCOMP_ARCHITECTURES "SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"
#else
#define SECCOMP_ARCH ""
#define SECCOMP_ARCHITECTURES NULL
#endif

/* runc prints "libseccomp: 2.5.4", crun "+SECCOMP" among what it was built with. */
static bool runtime_filters(const char *runtime)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = WORDS(runtime, "--version"), .timeout_s = VERSION_TIMEOUT_S};
	struct error ignored = {0};

	if (proc_run(&proc, &result, &ignored) < 0)
		return false;
	return strstr(result.out.text, "libseccomp") || strstr(result.out.text, "+SECCOMP");
}

bool seccomp_available(const char *runtime, struct arena *arena, const char **why)
{
	*why = NULL;
	if (!*SECCOMP_ARCH)
		*why = "there is no list of system calls for this processor";
	else if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0)
		*why = "the kernel was built without seccomp";
	else if (!runtime_filters(runtime))
		*why = arena_printf(arena, "this %s was built without libseccomp", runtime);
	return !*why;
}

static bool seccomp_applies(const struct table *table, size_t row, const char *const *capabilities)
{
	const char *arch = table_cell(table, row, "arch");
	const char *capability = table_cell(table, row, "capability");
	bool absent = *capability == '!';

	if (*arch && !list_has(arch, SECCOMP_ARCH, strlen(SECCOMP_ARCH)))
		return false;
	if (!*capability)
		return true;
	for (; *capabilities; capabilities++)
		if (strcmp(*capabilities, capability + absent) == 0)
			return !absent;
	return absent;
}

static void add_argument(const struct table *table, size_t row, cJSON *rule)
{
	const char *test = table_cell(table, row, "test");
	double value = strtod(table_cell(table, row, "value"), NULL);
	cJSON *argument = cJSON_CreateObject();
	char operator[32] = "SCMP_CMP_";

	strncat(operator, test, sizeof(operator) - strlen(operator) - 1);
	cJSON_AddNumberToObject(argument, "index",
				strtod(table_cell(table, row, "argument"), NULL));
	cJSON_AddNumberToObject(argument, "value", value);
	cJSON_AddStringToObject(argument, "op", operator);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(rule, "args"), argument);
}

static cJSON *seccomp_rule(const struct table *table, size_t row)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	char *rest = arena_strdup(&arena, table_cell(table, row, "syscalls")), *name;
	const char *answer = table_cell(table, row, "answer");
	bool allows = strcmp(answer, "allow") == 0;
	cJSON *rule = cJSON_CreateObject(), *names = cJSON_AddArrayToObject(rule, "names");

	while ((name = strsep(&rest, ";")))
		cJSON_AddItemToArray(names, cJSON_CreateString(name));
	cJSON_AddStringToObject(rule, "action", allows ? "SCMP_ACT_ALLOW" : "SCMP_ACT_ERRNO");
	if (!allows)
		cJSON_AddNumberToObject(rule, "errnoRet", strtod(answer, NULL));
	if (*table_cell(table, row, "test"))
		add_argument(table, row, rule);
	return rule;
}

int seccomp_profile(const char *const *capabilities, cJSON **profile, struct error *err)
{
	static const char *const architectures[] = {SECCOMP_ARCHITECTURES, NULL};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct table table;
	const char *path;
	cJSON *list;

	*profile = NULL;
	if (share_path(&arena, "recipes/seccomp.csv", &path, err) < 0 ||
	    table_load(path, &arena, &table, err) < 0)
		return -1;
	*profile = cJSON_CreateObject();
	cJSON_AddStringToObject(*profile, "defaultAction", "SCMP_ACT_ERRNO");
	list = cJSON_AddArrayToObject(*profile, "architectures");
	for (size_t i = 0; architectures[i]; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(architectures[i]));
	list = cJSON_AddArrayToObject(*profile, "syscalls");
	for (size_t i = 0; i < table.row_count; i++)
		if (seccomp_applies(&table, i, capabilities))
			cJSON_AddItemToArray(list, seccomp_rule(&table, i));
	return 0;
}

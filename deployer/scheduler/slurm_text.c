/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/slurm_text.h"
#include "deployer/scheduler/scheduler.h"

#include "core/str.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_MAX 1000000

/* Where the value of "KEY=" begins; NULL where there is none. */
static const char *text_value(const char *record, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = record; (at = strstr(at, key)); at += length) {
		const char *value = at + length + 1;

		if (at[length] != '=' || (at != record && at[-1] != ' ' && at[-1] != '\n'))
			continue;
		return starts_with(value, "(null)") ? NULL : value;
	}
	return NULL;
}

const char *slurm_field(const char *record, const char *key, struct arena *arena)
{
	const char *value = text_value(record, key);

	return value ? arena_strndup(arena, value, strcspn(value, " \n")) : "";
}

/* Whether "Key=" stands there. */
static bool text_is_key(const char *at)
{
	const char *end = at;

	while (isalpha((unsigned char)*end))
		end++;
	return isupper((unsigned char)*at) && *end == '=';
}

const char *slurm_sentence(const char *record, const char *key, struct arena *arena)
{
	const char *value = text_value(record, key), *end = value;

	if (!value)
		return "";
	while (*end && *end != '\n' && !(*end == ' ' && text_is_key(end + 1)))
		end++;
	return arena_strndup(arena, value, (size_t)(end - value));
}

/* Reads a number of at most seven digits; NULL when there is none. */
static const char *text_number_at(const char *text, int *number)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 7)
		return NULL;
	*number = (int)strtol(text, NULL, 10);
	return text + digits;
}

const char *slurm_labelled(const char *line, int *task)
{
	const char *end = text_number_at(line + strspn(line, " "), task);

	if (!end || *end != ':' || *task >= SCHEDULER_RANKS_MAX)
		return NULL;
	return end + (end[1] == ' ' ? 2 : 1);
}

/* The words of srun for the end of a task: an exit code, or strsignal(3)'s. */
static int text_status(const char *words)
{
	static const char exited[] = "Exited with exit code ";
	int status;

	if (starts_with(words, exited) && text_number_at(words + strlen(exited), &status))
		return status & 0xff ? status & 0xff : 1;
	if (starts_with(words, "Out Of Memory"))
		return 128 + SIGKILL;
	for (int number = 1; number < 32; number++) {
		const char *name = strsignal(number);

		if (name && starts_with(words, name))
			return 128 + number;
	}
	return 0;
}

bool slurm_task_failed(const char *line, struct arena *arena, const char **host, int *task,
		       int *status)
{
	static const char begin[] = "srun: error: ";
	const char *at = line + strlen(begin), *rest;
	size_t length;

	if (!starts_with(line, begin))
		return false;
	length = strcspn(at, ": ");
	rest = at + length;
	if (starts_with(rest, ": task "))
		rest += strlen(": task ");
	else if (starts_with(rest, ": tasks "))
		rest += strlen(": tasks ");
	else
		return false;
	if (!text_number_at(rest, task) || *task >= SCHEDULER_RANKS_MAX ||
	    !(rest = strstr(rest, ": ")) || !(*status = text_status(rest + 2)))
		return false;
	*host = arena_strndup(arena, at, length);
	return true;
}

int slurm_gpus(const char *list)
{
	int sum = 0, number, all = -1;

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		size_t length = strcspn(at, ",(");
		const char *last = at + length;

		if (starts_with(at, "gres/"))
			at += strlen("gres/");
		if (!starts_with(at, "gpu:") && !starts_with(at, "gpu="))
			continue;
		while (last > at && last[-1] >= '0' && last[-1] <= '9')
			last--;
		if (starts_with(at, "gpu=") && text_number_at(last, &number))
			all = number;
		if (text_number_at(last, &number) && number <= GPUS_MAX && sum <= GPUS_MAX)
			sum += number;
	}
	return all >= 0 && all <= GPUS_MAX ? all : sum;
}

/* SPDX-License-Identifier: MIT */
#include "deployer/job/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_DIGITS_MAX 9

void job_say(struct str *out, const char *keyword, const char *field)
{
	str_add(out, keyword);
	if (field)
		str_add_char(out, ' ');
	for (; field && *field; field++) {
		if (*field == '\\' || *field == '\n')
			str_add_char(out, '\\');
		str_add_char(out, *field == '\n' ? 'n' : *field);
	}
	str_add_char(out, '\n');
}

/* The field's length then: "\0" is a NUL byte. */
static size_t talk_unescape(char *field)
{
	char *to = field, *start = field;

	for (; *field; field++) {
		if (*field == '\\' && field[1]) {
			field++;
			*to++ = *field == 'n' ? '\n' : *field == '0' ? '\0' : *field;
		} else {
			*to++ = *field;
		}
	}
	*to = '\0';
	return (size_t)(to - start);
}

/* The next word, cut off from *rest; "" when there is none. */
static char *talk_word(char **rest)
{
	char *word = *rest, *space = strchr(word, ' ');

	if (space)
		*space = '\0';
	*rest = space ? space + 1 : word + strlen(word);
	return word;
}

/* A number from 0 on, or -1. */
static int talk_number(char **rest)
{
	const char *word = talk_word(rest);
	size_t digits = strspn(word, "0123456789");

	return digits && digits <= NUMBER_DIGITS_MAX && !word[digits] ? (int)strtol(word, NULL, 10)
								      : -1;
}

int job_label_rank(const char *label)
{
	int number = 0, digits = 0;

	/* each line of output comes here several times */
	for (; label[digits] >= '0' && label[digits] <= '9'; digits++) {
		if (digits == NUMBER_DIGITS_MAX)
			return -1;
		number = 10 * number + label[digits] - '0';
	}
	return digits && !label[digits] ? number : -1;
}

static bool is_label(const char *label)
{
	return strlen(label) < JOB_LABEL_BYTES &&
	       (job_label_rank(label) >= 0 || strcmp(label, JOB_LABEL_VERSIONS) == 0 ||
		(*label == 't' && job_label_rank(label + 1) >= 0));
}

static enum job_event_kind read_output(const char *keyword, char *rest, struct job_event *event)
{
	event->label = talk_word(&rest);
	event->text = rest;
	event->is_error = *keyword == 'e' || *keyword == 'E';
	event->is_whole = *keyword == 'o' || *keyword == 'e';
	event->length = talk_unescape(event->text);
	return is_label(event->label) ? JOB_EVENT_OUTPUT : JOB_EVENT_NONE;
}

static enum job_event_kind read_join(char *rest, struct job_event *event)
{
	event->rank = talk_number(&rest);
	event->world = talk_number(&rest);
	return event->rank >= 0 ? JOB_EVENT_JOIN : JOB_EVENT_NONE;
}

static enum job_event_kind read_exit(char *rest, struct job_event *event)
{
	event->label = talk_word(&rest);
	event->number = talk_number(&rest);
	return is_label(event->label) && event->number >= 0 && event->number < 256 ? JOB_EVENT_EXIT
										   : JOB_EVENT_NONE;
}

static enum job_event_kind read_text(enum job_event_kind kind, char *rest, struct job_event *event)
{
	if (kind != JOB_EVENT_TROUBLE)
		event->label = talk_word(&rest);
	if (kind == JOB_EVENT_STACK && strcmp(event->label, "-") != 0 && !is_label(event->label))
		return JOB_EVENT_NONE;
	event->text = rest;
	talk_unescape(event->text);
	return kind;
}

static enum job_event_kind talk_read_number(enum job_event_kind kind, char *rest,
					    struct job_event *event)
{
	event->number = talk_number(&rest);
	return event->number >= 0 ? kind : JOB_EVENT_NONE;
}

static enum job_event_kind read_spawn(char *rest, struct job_event *event)
{
	event->number = talk_number(&rest);
	event->label = talk_word(&rest);
	event->text = rest;
	talk_unescape(event->text);
	return event->number >= 0 && *event->label && *event->text ? JOB_EVENT_SPAWN
								   : JOB_EVENT_NONE;
}

void job_event_read(char *line, struct job_event *event)
{
	char *rest = line;
	const char *keyword = talk_word(&rest);

	*event = (struct job_event){.label = "", .text = rest, .rank = -1, .number = -1};
	if (*keyword && !keyword[1] && strchr("oOeE", *keyword))
		event->kind = read_output(keyword, rest, event);
	else if (strcmp(keyword, "beat") == 0)
		event->kind = JOB_EVENT_BEAT;
	else if (strcmp(keyword, "join") == 0)
		event->kind = read_join(rest, event);
	else if (strcmp(keyword, "exit") == 0)
		event->kind = read_exit(rest, event);
	else if (strcmp(keyword, "fact") == 0)
		event->kind = read_text(JOB_EVENT_FACT, rest, event);
	else if (strcmp(keyword, "stack") == 0)
		event->kind = read_text(JOB_EVENT_STACK, rest, event);
	else if (strcmp(keyword, "stacked") == 0)
		event->kind = JOB_EVENT_STACKED;
	else if (strcmp(keyword, "spawn") == 0)
		event->kind = read_spawn(rest, event);
	else if (strcmp(keyword, "trouble") == 0)
		event->kind = read_text(JOB_EVENT_TROUBLE, rest, event);
	else if (strcmp(keyword, "hello") == 0)
		event->kind = talk_read_number(JOB_EVENT_HELLO, rest, event);
	else if (strcmp(keyword, "left") == 0)
		event->kind = talk_read_number(JOB_EVENT_LEFT, rest, event);
	else if (strcmp(keyword, "took") == 0)
		event->kind = talk_read_number(JOB_EVENT_TOOK, rest, event);
	else if (strcmp(keyword, "cpu") == 0)
		event->kind = talk_read_number(JOB_EVENT_CPU, rest, event);
	else if (strcmp(keyword, "closed") == 0)
		event->kind = JOB_EVENT_CLOSED;
	else if (strcmp(keyword, "ready") == 0)
		event->kind = JOB_EVENT_READY;
	else if (strcmp(keyword, "done") == 0)
		event->kind = JOB_EVENT_DONE;
}

int job_fact_number(const char *text, int otherwise)
{
	int number = job_label_rank(text);

	return number < 0 ? otherwise : number;
}

/* SPDX-License-Identifier: MIT */
#include "upstream/rpm.h"

#include "core/str.h"
#include "upstream/limits.h"

#include <expat.h>
#include <stdio.h>
#include <string.h>

/* One document while it is read. Elements are told by their local names. */
struct rpm_reader {
	XML_Parser parser;
	struct package_list *list; /* of primary.xml; or NULL */
	int depth;
	size_t packages;
	bool is_primary; /* inside <data type="primary"> of repomd.xml */
	char href[NAME_BYTES_MAX * 2];
	char name[NAME_BYTES_MAX], arch[16], version[VERSION_BYTES_MAX];
	char *text; /* where characters go: name or arch; or NULL */
	size_t room, used;
};

static const char *rpm_local(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon ? colon + 1 : name;
}

static const char *rpm_attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return "";
}

static void rpm_take_text(struct rpm_reader *r, char *to, size_t room)
{
	r->text = to;
	r->room = room;
	r->used = 0;
	*to = '\0';
}

static void rpm_start_in_package(struct rpm_reader *r, const char *name, const char **attributes)
{
	if (strcmp(name, "name") == 0)
		rpm_take_text(r, r->name, sizeof(r->name));
	else if (strcmp(name, "arch") == 0)
		rpm_take_text(r, r->arch, sizeof(r->arch));
	else if (strcmp(name, "version") == 0 &&
		 snprintf(r->version, sizeof(r->version), "%s-%s", rpm_attribute(attributes, "ver"),
			  rpm_attribute(attributes, "rel")) >= (int)sizeof(r->version))
		r->version[0] = '\0';
}

/* metadata > package > name: depths 1, 2 and 3. */
static void XMLCALL rpm_start(void *arg, const char *qualified, const char **attributes)
{
	struct rpm_reader *r = arg;
	const char *name = rpm_local(qualified);

	if (++r->depth > XML_DEPTH_MAX)
		XML_StopParser(r->parser, XML_FALSE);
	if (!r->list && r->depth == 2)
		r->is_primary = strcmp(name, "data") == 0 &&
				strcmp(rpm_attribute(attributes, "type"), "primary") == 0;
	if (!r->list && r->depth == 3 && r->is_primary && strcmp(name, "location") == 0)
		snprintf(r->href, sizeof(r->href), "%s", rpm_attribute(attributes, "href"));
	if (r->list && r->depth == 2 && strcmp(name, "package") == 0) {
		r->name[0] = r->arch[0] = r->version[0] = '\0';
		if (++r->packages > PACKAGES_MAX)
			XML_StopParser(r->parser, XML_FALSE);
	}
	if (r->list && r->depth == 3)
		rpm_start_in_package(r, name, attributes);
}

static void XMLCALL rpm_end(void *arg, const char *qualified)
{
	struct rpm_reader *r = arg;

	r->text = NULL;
	if (r->list && r->depth == 2 && strcmp(rpm_local(qualified), "package") == 0 &&
	    (strcmp(r->arch, "x86_64") == 0 || strcmp(r->arch, "noarch") == 0))
		package_add(r->list, r->name, r->version);
	r->depth--;
}

static void XMLCALL rpm_characters(void *arg, const char *text, int length)
{
	struct rpm_reader *r = arg;

	if (!r->text || length < 0 || r->used + (size_t)length >= r->room)
		return;
	memcpy(r->text + r->used, text, (size_t)length);
	r->used += (size_t)length;
	r->text[r->used] = '\0';
}

/* Entities of a document's own could grow without end: none of these documents has any. */
static void XMLCALL rpm_doctype(void *arg, const char *name, const char *system, const char *public,
				int has_internal)
{
	struct rpm_reader *r = arg;

	(void)name;
	(void)system;
	(void)public;
	(void)has_internal;
	XML_StopParser(r->parser, XML_FALSE);
}

static int rpm_parse(struct rpm_reader *r, const char *text, size_t length, const char *what,
		     struct error *err)
{
	enum XML_Status status;

	r->parser = XML_ParserCreate("UTF-8");
	if (!r->parser)
		oom();
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, rpm_start, rpm_end);
	XML_SetCharacterDataHandler(r->parser, rpm_characters);
	XML_SetStartDoctypeDeclHandler(r->parser, rpm_doctype);
	status = length > PACKAGES_TEXT_BYTES_MAX
			 ? XML_STATUS_ERROR
			 : XML_Parse(r->parser, text, (int)length, XML_TRUE);
	if (status != XML_STATUS_OK)
		error_set(err, ERROR_FAILED,
			  "%.300s: line %lu: %s; is it the index of an rpm repository?", what,
			  (unsigned long)XML_GetCurrentLineNumber(r->parser),
			  XML_ErrorString(XML_GetErrorCode(r->parser)));
	XML_ParserFree(r->parser);
	return status == XML_STATUS_OK ? 0 : -1;
}

/* A path below the repository, of plain characters. */
static bool rpm_href_is_fine(const char *href)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";

	return starts_with(href, "repodata/") && strspn(href, letters) == strlen(href) &&
	       !strstr(href, "..") && ends_with(href, ".gz");
}

int rpm_read_repomd(const char *text, size_t length, const char *what, struct arena *arena,
		    const char **href, struct error *err)
{
	struct rpm_reader r = {.list = NULL};

	if (rpm_parse(&r, text, length, what, err) < 0)
		return -1;
	if (!rpm_href_is_fine(r.href))
		return error_set(err, ERROR_FAILED,
				 "%.300s names no primary list in gzip; a newer ringup may read it",
				 what);
	*href = arena_strdup(arena, r.href);
	return 0;
}

int rpm_read_primary(const char *text, size_t length, const char *what, struct package_list *list,
		     struct error *err)
{
	struct rpm_reader r = {.list = list};

	if (rpm_parse(&r, text, length, what, err) < 0)
		return -1;
	if (!r.packages)
		return error_set(err, ERROR_FAILED,
				 "%.300s lists no package; is it the index of an rpm repository?",
				 what);
	return 0;
}

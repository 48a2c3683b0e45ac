/* SPDX-License-Identifier: MIT */
#include "registry-client/list.h"

#include "core/json.h"
#include "registry-client/limits.h"
#include "registry-client/http/link.h"
#include "registry-client/manifest_http.h"
#include "registry-client/http/session.h"

#include <stdio.h>
#include <string.h>

struct list_request {
	struct transfer transfer; /* first: a step casts */
	const char *first;	  /* path of the first page */
	const char *member;	  /* "tags" or "repositories" */
	char scope[SCOPE_BYTES];
	struct words *words;
	struct paging paging;
};

static enum transfer_next send_page(struct list_request *request, const char *url)
{
	struct exchange *x = &request->transfer.x;

	exchange_request(x, "GET", "%s", url);
	x->scope = request->scope;
	x->accept = "application/json";
	x->answer_bytes_max = LIST_PAGE_BYTES_MAX;
	return TRANSFER_SEND;
}

/* "tags": null is an empty list, as Distribution writes it. */
static int keep_page(struct list_request *request, struct error *err)
{
	const struct exchange *x = &request->transfer.x;
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *list, *item;

	if (json_parse(x->answer.text, x->answer.length, "the registry's list", &json, err) < 0)
		return error_wrap(err, "%s", x->url.text);
	list = json_member(json, request->member);
	if (!list || (!cJSON_IsArray(list) && !cJSON_IsNull(list)))
		return error_set(err, ERROR_FAILED, "%s answered without \"%s\"; is it a registry?",
				 x->url.text, request->member);
	cJSON_ArrayForEach (item, list) {
		if (!cJSON_IsString(item))
			continue;
		if (request->words->count >= LIST_ENTRIES_MAX)
			return error_set(err, ERROR_FAILED, "%s lists more than %d names",
					 x->url.text, LIST_ENTRIES_MAX);
		words_add(request->words, item->valuestring);
	}
	return 0;
}

static enum transfer_next list_step(struct transfer *transfer, struct error *err)
{
	struct list_request *request = (struct list_request *)transfer;
	const struct exchange *x = &transfer->x;
	_cleanup_(str_release) struct str next = STR_INIT;
	int more;

	if (!x->method)
		return send_page(request, request->first);
	if (x->result != CURLE_OK || x->status != 200)
		return transfer_failed(transfer, err);
	more = keep_page(request, err) < 0 ? -1 : paging_next(&request->paging, x, &next, err);
	if (more < 0)
		return TRANSFER_FAILED;
	return more ? send_page(request, next.text) : TRANSFER_DONE;
}

static int list_run(struct registry *registry, struct list_request *request, const char *path,
		    struct error *err)
{
	_cleanup_(str_release) struct str first = STR_INIT;
	struct transfer *list[] = {&request->transfer};
	int rc;

	if (registry_contact(registry, err) < 0)
		return -1;
	str_addf(&first, "%s/v2/%s", registry->base, path);
	request->first = first.text;
	transfer_init(&request->transfer, registry, list_step);
	rc = transfer_run(registry, list, 1, HEADS_IN_FLIGHT_MAX, err);
	transfer_release(&request->transfer);
	paging_release(&request->paging);
	return rc;
}

int registry_list_tags(struct registry *registry, const struct reference *ref, struct words *tags,
		       struct error *err)
{
	struct list_request request = {.member = "tags", .words = tags};
	_cleanup_(str_release) struct str path = STR_INIT;

	str_addf(&path, "%s/tags/list", ref->repository);
	scope_write(request.scope, ref, "pull");
	return list_run(registry, &request, path.text, err);
}

int registry_list_repositories(struct registry *registry, struct words *names, struct error *err)
{
	struct list_request request = {.member = "repositories", .words = names};

	snprintf(request.scope, sizeof(request.scope), "registry:catalog:*");
	return list_run(registry, &request, "_catalog?n=1000", err);
}

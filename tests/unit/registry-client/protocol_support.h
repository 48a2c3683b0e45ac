/* SPDX-License-Identifier: MIT */
/*
 * protocol_support.h - a table of cases: what is done, how the registry misbehaves, how it must end
 * and what must have been asked. The image has a layer of 3 MiB, a small one and a config.
 */
#ifndef TESTS_UNIT_REGISTRY_CLIENT_PROTOCOL_SUPPORT_H
#define TESTS_UNIT_REGISTRY_CLIENT_PROTOCOL_SUPPORT_H

#include "oci/layout.h"
#include "registry-client/copy.h"
#include "registry-client/list.h"
#include "registry-client/pull.h"
#include "registry-client/referrers.h"
#include "registry-client/remove.h"
#include "tests/unit/registry-client/fake_registry.h"
#include "tests/unit/support.h"

#include <signal.h>

/* Rows say what is special about them, and nothing else. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define LARGE_BYTES (3 * 1024 * 1024)
#define RULES_MAX 4
#define SEEN_MAX 5

enum protocol_op {
	OP_PULL,
	OP_PULL_SPLIT,	 /* the large layer in four ranges */
	OP_PULL_PARTIAL, /* a run before left its first MiB */
	OP_PUSH,
	OP_PUSH_NOTED, /* a run before noted an upload session with the first MiB */
	OP_PUSH_THERE, /* all blobs are in the registry */
	OP_COPY,       /* lab/train:1 to lab/other:1 */
	OP_HEAD,
	OP_HEAD_MISSING, /* lab/train:none: found must be false */
	OP_GET,
	OP_TAGS,      /* must be 1 2 3 4 5 */
	OP_CATALOG,   /* must be a b */
	OP_REFERRERS, /* `entries` of them */
	OP_PUSH_REFERRER,
	OP_REMOVE, /* lab/train:1, whose manifest has other tags */
	OP_REMOVE_DIGEST,
	OP_LOGIN, /* registry_contact */
};

struct protocol_case {
	const char *name;
	enum protocol_op op;
	int flags;
	struct fake_rule rules[RULES_MAX]; /* path @LARGE@, @SMALL@, @CONFIG@, @IMAGE@: digests */
	const char *fails;		   /* part of the error; NULL: it goes well */
	struct {
		const char *begin, *words; /* of a request; words NULL: any */
		int count;		   /* exactly so many; -1: one or more */
	} seen[SEEN_MAX];
	bool login;	      /* as ops */
	const char *identity; /* refresh token */
	bool is_elsewhere;    /* a blob went to another host */
	size_t entries;	      /* OP_REFERRERS */
};

static struct {
	char folder[40], layout[64], pulled[64];
	char *large_bytes;
	struct descriptor large, small, config, image, artifact;
	const char *image_text, *artifact_text;
	struct arena arena;
} stage;

static inline int protocol_setup(void **state)
{
	struct manifest manifest = {.media_type = MEDIA_OCI_MANIFEST, .layer_count = 2};
	struct descriptor layers[2];
	struct error err = {0};
	uint32_t seed = 5;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	snprintf(stage.folder, sizeof(stage.folder), "/tmp/ringup-protocol-XXXXXX");
	assert_non_null(mkdtemp(stage.folder));
	snprintf(stage.layout, sizeof(stage.layout), "%s/layout", stage.folder);
	snprintf(stage.pulled, sizeof(stage.pulled), "%s/pulled", stage.folder);
	stage.large_bytes = xmalloc(LARGE_BYTES);
	for (size_t i = 0; i < LARGE_BYTES; i++)
		stage.large_bytes[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
	assert_fine(layout_init(stage.layout, &err));
	assert_fine(layout_put(stage.layout, stage.large_bytes, LARGE_BYTES, MEDIA_OCI_LAYER_GZIP,
			       &stage.large, &err));
	assert_fine(layout_put(stage.layout, "small", 5, MEDIA_OCI_LAYER_GZIP, &stage.small, &err));
	assert_fine(layout_put(stage.layout, "{\"os\":\"linux\",\"architecture\":\"amd64\"}", 37,
			       MEDIA_OCI_CONFIG, &stage.config, &err));
	layers[0] = stage.large;
	layers[1] = stage.small;
	manifest.config = stage.config;
	manifest.layers = layers;
	stage.image_text = manifest_write(&manifest, &stage.arena);
	assert_fine(layout_put(stage.layout, stage.image_text, strlen(stage.image_text),
			       MEDIA_OCI_MANIFEST, &stage.image, &err));
	stage.artifact_text = arena_printf(
		&stage.arena,
		"{\"schemaVersion\":2,\"mediaType\":\"%s\",\"artifactType\":\"application/x\",\"config\":{\"mediaType\":\"application/x\",\"digest\":\"%s\",\"size\":5},\"layers\":[],\"subject\":{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%d}}",
		MEDIA_OCI_MANIFEST, stage.small.digest, MEDIA_OCI_MANIFEST, stage.image.digest,
		(int)stage.image.size_bytes);
	assert_fine(layout_put(stage.layout, stage.artifact_text, strlen(stage.artifact_text),
			       MEDIA_OCI_MANIFEST, &stage.artifact, &err));
	return 0;
}

static inline int protocol_teardown(void **state)
{
	struct error err = {0};

	(void)state;
	free(stage.large_bytes);
	arena_release(&stage.arena);
	return folder_remove(stage.folder, &err);
}

static inline void fill_blobs(struct fake *fake)
{
	fake_put_blob(fake, stage.large_bytes, LARGE_BYTES);
	fake_put_blob(fake, "small", 5);
	fake_put_blob(fake, "{\"os\":\"linux\",\"architecture\":\"amd64\"}", 37);
}

static inline void fill_registry(struct fake *fake, enum protocol_op op)
{
	char tag[2] = "1";

	if (op == OP_PUSH_NOTED)
		fake_put(fake, "upload u9", "", stage.large_bytes, MIB);
	if (op == OP_PUSH || op == OP_PUSH_NOTED || op == OP_LOGIN || op == OP_PUSH_REFERRER)
		return;
	fill_blobs(fake);
	for (; op != OP_PUSH_THERE && *tag <= '5'; (*tag)++)
		fake_put_manifest(fake, "lab/train", tag, MEDIA_OCI_MANIFEST, stage.image_text,
				  strlen(stage.image_text));
}

/* What an interrupted pull left. */
static inline void leave_partial(void)
{
	struct error err = {0};
	char path[256];

	assert_fine(layout_init(stage.pulled, &err));
	snprintf(path, sizeof(path), "%s/blobs/.partial-%.64s", stage.pulled,
		 stage.large.digest + 7);
	assert_fine(file_write(path, stage.large_bytes, MIB, 0600, &err));
}

/* What a push that was killed left. */
static inline void leave_note(const struct fake *fake)
{
	struct error err = {0};
	char path[128], text[512];

	snprintf(path, sizeof(path), "%s/uploads.json", stage.layout);
	snprintf(text, sizeof(text),
		 "{\"%s/lab/train@%.71s\": \"http://%s/v2/lab/train/blobs/uploads/u9\"}",
		 fake->address, stage.large.digest, fake->address);
	assert_fine(file_write(path, text, strlen(text), 0600, &err));
}

static inline int do_op(const struct protocol_case *c, struct registry *registry, struct fake *fake,
			struct error *err)
{
	struct reference ref = {.registry = fake->address, .repository = "lab/train", .tag = "1"};
	struct reference other = {.registry = fake->address, .repository = "lab/other", .tag = "1"};
	struct words words = WORDS_INIT(&stage.arena);
	struct descriptor manifest;
	struct push_report pushed;
	struct pull_report pulled;
	struct removed removed;
	struct index index;
	const char *bytes;
	bool found = true;
	int rc;

	switch (c->op) {
	case OP_PULL_PARTIAL:
		leave_partial();
		/* fallthrough */
	case OP_PULL:
	case OP_PULL_SPLIT:
		return registry_pull(registry, &ref, stage.pulled, NULL, &pulled, &manifest, err);
	case OP_PUSH_NOTED:
		leave_note(fake);
		/* fallthrough */
	case OP_PUSH:
	case OP_PUSH_THERE:
		return registry_push(registry, stage.layout, &stage.image, &ref, &pushed, err);
	case OP_COPY:
		return registry_copy(registry, &ref, registry, &other, NULL, &pushed, err);
	case OP_HEAD_MISSING:
		ref.tag = "none";
		rc = registry_head_manifest(registry, &ref, &manifest, &found, err);
		assert_false(rc == 0 && found);
		return rc;
	case OP_HEAD:
		rc = registry_head_manifest(registry, &ref, &manifest, &found, err);
		if (rc == 0)
			assert_string_equal(manifest.digest, stage.image.digest);
		return rc;
	case OP_GET:
		rc = registry_get_manifest(registry, &ref, &stage.arena, &manifest, &bytes, err);
		if (rc == 0)
			assert_string_equal(bytes, stage.image_text);
		if (rc == 0)
			assert_string_equal(manifest.media_type, MEDIA_OCI_MANIFEST);
		return rc;
	case OP_TAGS:
		rc = registry_list_tags(registry, &ref, &words, err);
		if (rc == 0)
			assert_int_equal(words.count, c->entries ? c->entries - 1 : 5);
		return rc;
	case OP_CATALOG:
		rc = registry_list_repositories(registry, &words, err);
		if (rc == 0)
			assert_int_equal(words.count, 2);
		return rc;
	case OP_REFERRERS:
		ref.digest = stage.image.digest;
		rc = registry_list_referrers(registry, &ref, NULL, &stage.arena, &index, err);
		if (rc == 0)
			assert_int_equal(index.count, c->entries);
		return rc;
	case OP_PUSH_REFERRER:
		ref.digest = stage.image.digest;
		return registry_push_referrer(registry, &ref, stage.layout, &stage.artifact, err);
	case OP_REMOVE_DIGEST:
		ref.digest = stage.image.digest;
		/* fallthrough */
	case OP_REMOVE:
		return registry_remove(registry, &ref, false, &stage.arena, &removed, err);
	case OP_LOGIN:
	default:
		return registry_contact(registry, err);
	}
}

static inline void check_layout(bool ok)
{
	const struct descriptor *all[] = {&stage.large, &stage.small, &stage.config, &stage.image};
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		char path[LAYOUT_PATH_BYTES], digest[DIGEST_TEXT_BYTES];

		assert_fine(layout_blob_path(stage.pulled, all[i]->digest, path, &err));
		/* what looks finished is right, and a manifest stands for all of it */
		if (!file_exists(path)) {
			assert_false(ok);
			continue;
		}
		assert_fine(digest_of_file(path, digest, &err));
		assert_string_equal(digest, all[i]->digest);
		if (all[i] == &stage.image)
			assert_true(ok);
	}
}

static inline void check_pushed(struct fake *fake, const char *repository, bool ok)
{
	const struct descriptor *all[] = {&stage.large, &stage.small, &stage.config};
	char name[128];

	snprintf(name, sizeof(name), "%s 1", repository);
	if (ok)
		assert_non_null(fake_find(fake, name));
	/* never a tag on an image that is not whole */
	for (size_t i = 0; i < ARRAY_LEN(all) && fake_find(fake, name); i++) {
		char blob[160];

		snprintf(blob, sizeof(blob), "blob %s", all[i]->digest);
		assert_non_null(fake_find(fake, blob));
	}
}

static inline void check_requests(const struct protocol_case *c, const struct fake *fake)
{
	for (size_t i = 0; i < SEEN_MAX && c->seen[i].begin; i++) {
		size_t count = fake_count(fake, c->seen[i].begin, c->seen[i].words);

		if (c->seen[i].count < 0 ? count > 0 : count == (size_t)c->seen[i].count)
			continue;
		for (size_t k = 0; k < fake->request_count; k++)
			print_message("%.*s\n", (int)strcspn(fake->requests[k], "\r"),
				      fake->requests[k]);
		fail_msg("%s: %zu requests '%s ... %s', not %d", c->name, count, c->seen[i].begin,
			 c->seen[i].words ? c->seen[i].words : "", c->seen[i].count);
	}
}

static inline const char *rule_path(const char *path)
{
	return strcmp(path, "@LARGE@") == 0    ? stage.large.digest + 7
	       : strcmp(path, "@SMALL@") == 0  ? stage.small.digest + 7
	       : strcmp(path, "@CONFIG@") == 0 ? stage.config.digest + 7
	       : strcmp(path, "@IMAGE@") == 0  ? stage.image.digest + 7
					       : path;
}

static inline void protocol_run(void **state)
{
	const struct protocol_case *c = *state;
	struct fake_rule rules[RULES_MAX];
	struct registry_config config = {.plain_http = true, .timeout_s = 2, .pause_usec = 2000};
	struct registry *registry;
	struct error err = {0};
	struct fake fake;
	size_t count = 0;
	int rc;

	for (; count < RULES_MAX && c->rules[count].path; count++) {
		rules[count] = c->rules[count];
		rules[count].path = rule_path(rules[count].path);
	}
	assert_fine(folder_remove(stage.pulled, &err));
	fake_start(&fake, c->flags, rules, count);
	fill_registry(&fake, c->op);
	config.address = fake.address;
	config.user = c->login ? "ops" : NULL;
	config.password.hidden = c->login ? "s3cret" : NULL;
	config.identity.hidden = c->identity;
	config.split_bytes = c->op == OP_PULL_SPLIT ? MIB : 0;
	assert_fine(registry_open(&config, &registry, &err));
	rc = do_op(c, registry, &fake, &err);
	registry_close(registry);
	fake_stop(&fake);
	if (rc < 0 && !c->fails)
		fail_msg("%s: %s", c->name, err.text);
	if (rc == 0 && c->fails)
		fail_msg("%s: it went well", c->name);
	if (rc < 0 && !strstr(err.text, c->fails))
		fail_msg("%s: not '%s': %s", c->name, c->fails, err.text);
	assert_null(strstr(err.text, "s3cret"));
	assert_null(strstr(err.text, "_state"));
	if (c->identity)
		assert_null(strstr(err.text, c->identity));
	check_requests(c, &fake);
	if (c->op <= OP_PULL_PARTIAL)
		check_layout(rc == 0);
	if (c->is_elsewhere)
		fill_blobs(&fake);
	if (c->op == OP_PUSH || c->op == OP_PUSH_NOTED || c->op == OP_PUSH_THERE ||
	    c->op == OP_COPY)
		check_pushed(&fake, c->op == OP_COPY ? "lab/other" : "lab/train", rc == 0);
	fake_free(&fake);
}

/* Runs every row of a table as a test of its own. */
static inline int protocol_main(const char *group, const struct protocol_case *cases, size_t count)
{
	struct CMUnitTest *tests = calloc(count, sizeof(*tests));
	int failed;

	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){.name = cases[i].name,
					       .test_func = protocol_run,
					       .initial_state = (void *)(uintptr_t)&cases[i]};
	failed = _cmocka_run_group_tests(group, tests, count, protocol_setup, protocol_teardown);
	free(tests);
	return failed;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_index.h"

#include "cli/app/stage_build.h"
#include "oci/index.h"
#include "oci/layout.h"

#include <string.h>

/* As its probe says, or else as the cluster file says; "" when nobody says. */
static const char *stage_index_arch(const struct stages *s, const struct host *host)
{
	for (size_t i = 0; i < s->fleet.count; i++) {
		const struct member *m = &s->fleet.members[i];

		if (strcmp(m->host->name, host->name) == 0 && m->facts.host && *m->facts.arch)
			return m->facts.arch;
	}
	return host->arch;
}

const char *stage_index_hosts(const struct stages *s, const char *arch)
{
	struct words names = WORDS_INIT(s->arena);

	for (size_t i = 0; i < s->cluster.host_count; i++) {
		const struct host *host = &s->cluster.hosts[i];
		const char *known = arch_by_name(stage_index_arch(s, host));

		if (known && strcmp(known, arch) == 0)
			words_add(&names, host->name);
	}
	return words_join(&names, ", ");
}

/* Built here, or found in the store, where it stays. */
static int stage_index_image(struct stages *s, struct pushed *pushed, struct error *err)
{
	const struct build_request kept = {.engine = "auto"}; /* whoever built it */
	const char *hosts = stage_index_hosts(s, pushed->spec->arch);
	bool fits;

	if (build_fits(pushed->spec, NULL, s->arena, &fits, err) < 0)
		return -1;
	if (stage_build(s, pushed->spec, fits ? NULL : &kept, &pushed->image, err) < 0)
		return !fits && *hosts ? error_advise(err, "such hosts are %s", hosts) : -1;
	if (!pushed->image.kept && image_take_home(&pushed->image, err) < 0)
		return -1;
	pushed->image.kept = true;
	return image_export(&pushed->image, NULL, s->arena, &pushed->layout, &pushed->manifest,
			    err);
}

/* Both images in one layout, and the index of them. */
static int stage_index_make(struct stages *s, struct pushed both[2], struct descriptor *index,
			    struct error *err)
{
	struct index_entry entries[2] = {0};

	both[0] = (struct pushed){.spec = s->spec, .plan = &s->plan};
	both[1] = (struct pushed){.spec = s->other_spec, .plan = s->plan.other};
	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		if (stage_index_image(s, &both[i], err) < 0)
			return -1;
		entries[i] =
			(struct index_entry){.descriptor = both[i].manifest,
					     .os = "linux",
					     .architecture = arch_of_image(both[i].spec->arch)};
	}
	return index_put(both[0].layout, entries, ARRAY_LEN(entries), index, err);
}

int stage_index_push(struct stages *s, struct registry *registry, struct error *err)
{
	struct pushed both[2];
	struct descriptor index;

	if (stage_index_make(s, both, &index, err) < 0 ||
	    stage_push_send(s, registry, both[0].layout, &index, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(both); i++)
		if (stage_push_documents(s, registry, &both[i], err) < 0)
			return -1;
	s->reference.digest = arena_strdup(s->arena, index.digest);
	return 0;
}

int stage_index_write(struct stages *s, const char *folder, const char *name,
		      struct descriptor *index, struct error *err)
{
	struct pushed both[2];

	if (stage_index_make(s, both, index, err) < 0 ||
	    layout_copy(both[0].layout, folder, index, err) < 0)
		return -1;
	return layout_tag(folder, index, name, err);
}

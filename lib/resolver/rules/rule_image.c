/* SPDX-License-Identifier: MIT */
#include "resolver/rules/rule_image.h"

#include "core/str.h"
#include "resolver/brought.h"

#include <stdio.h>
#include <string.h>

/* --- the gate ------------------------------------------------------------------------------ */

/* Whether the gate admits a class of GPU by its brand. An unknown class counts as Tesla. */
static bool brand_is_let_in(const char *brands, const char *class)
{
	static const struct {
		const char *class, *brands[3];
	} known[] = {
		{"geforce", {"geforce", "geforcertx", NULL}},
		{"titan", {"titan", "titanrtx", NULL}},
		{"quadro", {"quadro", "quadrortx", NULL}},
		{"rtx", {"nvidiartx", "quadrortx", NULL}},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(known[i].class, class) != 0)
			continue;
		for (const char *const *brand = known[i].brands; *brand; brand++)
			if (list_has(brands, *brand, strlen(*brand)))
				return true;
		return false;
	}
	return list_has(brands, "tesla", strlen("tesla"));
}

static int newest_of(const struct table *require, const char *cuda, const char *series)
{
	int newest = -1;

	for (size_t row = 0; require && row < require->row_count; row++) {
		const char *version = table_cell(require, row, "version");

		if ((series ? version_in_series(version, series)
			    : version_in_series(cuda, version)) &&
		    (newest < 0 || strcmp(table_cell(require, row, "from"),
					  table_cell(require, (size_t)newest, "from")) >= 0))
			newest = (int)row;
	}
	return newest;
}

/* The newest row of require.csv for this CUDA, else for its series; -1 when there is none. */
static int newest_gate(const struct table *require, const char *cuda)
{
	const char *dot = strchr(cuda, '.');
	char series[32];
	int row = newest_of(require, cuda, NULL);

	if (row >= 0 || !dot)
		return row;
	snprintf(series, sizeof(series), "%.*s", (int)(dot - cuda + 1 + (int)strcspn(dot + 1, ".")),
		 cuda);
	return newest_of(require, cuda, series);
}

/*
 * The class of the GPUs that are beside the driver: "" when none is known, the strictest one when there are
 * several.
 */
static const char *gpu_class(const struct search *s, const struct unit *driver)
{
	const char *class = "";

	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];

		if (s->active >> i & 1 && unit->is_pin && unit->component == COMPONENT_GPU &&
		    unit_meets(driver, unit) && (!*class || strcmp(class, "datacenter") == 0))
			class = unit->class;
	}
	return class;
}

static const struct unit *refused_driver(const struct search *s, const struct value *cuda,
					 int *gate)
{
	const struct table *require = catalog_table(s->model->catalog, "require");

	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];
		const uint8_t *admits = unit->admits[COMPONENT_CUDA];

		if (!(s->active >> i & 1) || !unit->driver || !admits ||
		    (admits[cuda->index] != ADMIT_MINOR && admits[cuda->index] != ADMIT_COMPAT))
			continue;
		*gate = newest_gate(require, cuda->version);
		if (*gate >= 0 && !(list_has(table_cell(require, (size_t)*gate, "branches"),
					     unit->driver, strcspn(unit->driver, ".")) &&
				    brand_is_let_in(table_cell(require, (size_t)*gate, "brands"),
						    gpu_class(s, unit))))
			return unit;
	}
	return NULL;
}

bool gate_refuses_any(const struct search *s, const struct value *cuda)
{
	int gate;

	return refused_driver(s, cuda, &gate) != NULL;
}

const char *gate_sentence(const struct search *s, const struct value *cuda, const char **source)
{
	const struct table *require = catalog_table(s->model->catalog, "require");
	const struct unit *unit;
	int gate = -1;

	unit = refused_driver(s, cuda, &gate);
	if (!unit)
		return NULL;
	*source = table_cell(require, (size_t)gate, "source");
	return arena_printf(
		s->model->arena,
		"NVIDIA's image of CUDA %s would refuse driver %s (NVIDIA_REQUIRE_CUDA since %s: its own CUDA >= %s, or branch %s), although %s compatibility runs it; the container gets NVIDIA_DISABLE_REQUIRE=true, which skips that check",
		cuda->version, unit->driver, table_cell(require, (size_t)gate, "from"),
		table_cell(require, (size_t)gate, "cuda_least"),
		*table_cell(require, (size_t)gate, "branches")
			? table_cell(require, (size_t)gate, "branches")
			: "none",
		unit->admits[COMPONENT_CUDA][cuda->index] == ADMIT_MINOR ? "minor-version"
									 : "forward");
}

/* --- the base image ------------------------------------------------------------------------ */

struct tag_search {
	const struct table *images;
	const char *cuda, *os;
	const char *cudnn; /* the cuDNN chosen, or NULL */
	bool has_package;  /* it is a package, which replaces the image's own */
};

/*
 * Lower is better. The best tag can be pulled, has the right cuDNN, and is of exactly this release.
 */
static int tag_score(const struct tag_search *search, size_t row)
{
	const char *status = table_cell(search->images, row, "status");
	const char *cudnn = table_cell(search->images, row, "cudnn");
	struct requirement req;
	struct error ignored = {0};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	int score = strcmp(status, "listed") == 0 ? 0 : strcmp(status, "eol") == 0 ? 1 : 4;

	if (*cudnn && search->cudnn &&
	    requirement_parse(arena_printf(&arena, "cudnn%s", cudnn), &arena, &req, &ignored) == 0)
		return requirement_admits(&req, search->cudnn) ? score * 2 + !search->has_package
							       : -1;
	return *cudnn ? -1 : score * 2 + search->has_package;
}

/* The best devel tag of this CUDA and OS; -1 when none ever existed. */
static int best_tag(const struct tag_search *search)
{
	int best = -1, lowest = 0;

	for (size_t row = 0; search->images && row < search->images->row_count; row++) {
		int score;

		if (strcmp(table_cell(search->images, row, "os"), search->os) != 0 ||
		    strcmp(table_cell(search->images, row, "flavor"), "devel") != 0 ||
		    !version_in_series(search->cuda, table_cell(search->images, row, "cuda")))
			continue;
		score = tag_score(search, row);
		if (score < 0 || (best >= 0 && score >= lowest))
			continue;
		best = (int)row;
		lowest = score;
	}
	return best;
}

/* Whether NVIDIA's image without the compiler can be pulled: "12.4.1-runtime-OS" beside "12.4.1-devel-OS". */
static bool has_runtime(const struct tag_search *search, size_t devel)
{
	const struct table *images = search->images;

	for (size_t row = 0; row < images->row_count; row++) {
		const char *status = table_cell(images, row, "status");

		if (strcmp(table_cell(images, row, "flavor"), "runtime") == 0 &&
		    strcmp(table_cell(images, row, "os"), search->os) == 0 &&
		    strcmp(table_cell(images, row, "cuda"), table_cell(images, devel, "cuda")) ==
			    0 &&
		    strcmp(table_cell(images, row, "cudnn"), table_cell(images, devel, "cudnn")) ==
			    0 &&
		    (strcmp(status, "listed") == 0 || strcmp(status, "eol") == 0))
			return true;
	}
	return false;
}

/* The OS's own image with NVIDIA's packages has no compiler either; there are no such packages before CUDA 9. */
static bool is_packaged(const struct value *cuda, const struct value *os)
{
	return os->admits[COMPONENT_CUDA] && value_admits(os, cuda) &&
	       version_compare(cuda->version, "9") >= 0;
}

const char *toolkit_package(const char *version, char sign, struct arena *arena)
{
	const char *minor = strchr(version, '.');
	int major = (int)strcspn(version, "."), length = minor ? (int)strcspn(minor + 1, ".") : 0;

	return arena_printf(arena, "cuda-toolkit-%.*s-%.*s%c%s-1", major, version, length,
			    minor ? minor + 1 : "", sign, version);
}

static void take_os_image(const struct search *s, const char *why, struct base_image *base)
{
	const struct value *os = s->now.chosen[COMPONENT_OS];
	const char *mirror = value_cell(os, "mirror");

	base->name = value_cell(os, "image");
	base->packages = toolkit_package(
		s->now.chosen[COMPONENT_CUDA]->version,
		catalog_exact_sign(s->model->catalog, value_cell(os, "package_manager")),
		s->model->arena);
	base->note =
		arena_printf(s->model->arena,
			     "%s: start from %s, add NVIDIA's repository %s (key %s) and %s%s%s",
			     why, *base->name ? base->name : os->version,
			     value_cell(os, "repository"), value_cell(os, "key"), base->packages,
			     *mirror ? "; the OS's own packages come from " : "", mirror);
}

void base_image_find(const struct search *s, struct base_image *base)
{
	const struct value *cuda = s->now.chosen[COMPONENT_CUDA];
	const struct value *os = s->now.chosen[COMPONENT_OS];
	const char *ignored;
	const struct value *cudnn =
		brought_by(s, COMPONENT_CUDNN, &ignored) ? NULL : s->now.chosen[COMPONENT_CUDNN];
	struct tag_search search = {
		.images = catalog_table(s->model->catalog, "image"),
		.cuda = cuda->version,
		.os = os->version,
		.cudnn = cudnn ? cudnn->version : NULL,
		.has_package = cudnn && *value_cell(cudnn, "run_packages"),
	};
	int row = best_tag(&search);
	const char *tag = row < 0 ? "" : table_cell(search.images, (size_t)row, "version");

	*base = (struct base_image){
		.status = "none", .wanted = "", .packages = "", .source = os->source};
	if (row < 0) {
		take_os_image(s,
			      arena_printf(s->model->arena,
					   "NVIDIA makes no image of CUDA %s on %s", cuda->version,
					   os->version),
			      base);
		return;
	}
	base->status = table_cell(search.images, (size_t)row, "status");
	base->source = table_cell(search.images, (size_t)row, "source");
	tag = arena_printf(s->model->arena, "docker.io/nvidia/cuda:%s", tag);
	if (strcmp(base->status, "listed") == 0 || strcmp(base->status, "eol") == 0) {
		if (is_packaged(cuda, os) && !has_runtime(&search, (size_t)row)) {
			base->status = "none";
			take_os_image(s,
				      arena_printf(s->model->arena,
						   "NVIDIA has %s with the compiler only", tag),
				      base);
			return;
		}
		base->name = tag;
		base->note =
			strcmp(base->status, "eol") == 0
				? "past its end of life and still listed; NVIDIA deletes such tags six months later: keep a copy in your registry"
				: "NVIDIA's own image of this CUDA and OS; the devel flavour builds, and the runtime flavour is deployed where there is one";
		return;
	}
	base->wanted = tag;
	take_os_image(s,
		      arena_printf(s->model->arena,
				   strcmp(base->status, "gone") == 0
					   ? "the tag %s is gone"
					   : "of the tag %s only a Dockerfile is known",
				   tag),
		      base);
}

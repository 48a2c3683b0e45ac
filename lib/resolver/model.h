/* SPDX-License-Identifier: MIT */
/*
 * model.h - the catalog prepared for the search: one value per row, with its requirement cells
 * parsed, and the values of each component in the order in which they are tried.
 *
 * It is built once per catalog and preference, and is read-only afterwards. Everything lives in the
 * arena.
 */
#ifndef RESOLVER_MODEL_H
#define RESOLVER_MODEL_H

#include "resolver/catalog.h"
#include "resolver/conditions.h"
#include "plan/component.h"
#include "plan/plan.h"
#include "plan/version.h"

/* The tier of a row that names an archive without its checksum. It is taken only on request. */
#define TIER_UNCHECKED 9

/*
 * What a requirement cell admits, bit per value of the component that it is about. The bits are made when somebody
 * first asks for them: a search comes to few of a catalog's cells.
 */
struct admitted {
	const struct needs *needs;
	const struct value *values; /* of the component, in their final order */
	size_t count;
	struct arena *arena;
	uint64_t *bits; /* NULL: nobody has asked yet */
};

/* One row of a component's table. */
struct value {
	enum component component;
	const struct table *table;
	size_t row, index; /* index: in the domain */
	const char *version, *os, *source, *kind;
	const char *built; /* cuDNN, NCCL: the CUDA of the build */
	/* arrays of COMPONENT_COUNT, which rows without such cells share */
	const struct needs **needs;   /* NULL: no demand */
	const struct needs **prefers; /* NULL: no preference */
	/* what `needs` and `prefers` admit, for admitted_bits; NULL where they are NULL */
	struct admitted **admits, **likes;
	/* of a framework's wheel: the versions of libraries that come with it; NULL: none does */
	const char **brings;
	/*
	 * bit per component: the wheel asks for a range, so pip keeps a version that is there already. What it
	 * brings is that of its set in recipes/wheels.
	 */
	uint32_t brings_range;
	/* bit per conflict: it does not concern the component, or its condition holds */
	uint64_t *passes;
	uint64_t *images; /* OS: bit per CUDA value that has an image for it */
	/* OS: the key of its repository, when key.csv has nothing to know it by; else NULL */
	const char *unknown_key;
	int tier; /* tried first when lower */
	/* the kind of packages that its OS installs, by package_manager.csv; of an OS, the kind
	 * that its package manager installs; "": any OS */
	const char *packages;
};

struct domain {
	size_t count;
	struct value *values; /* in the order of preference */
};

/* A row of conflicts.csv whose conditions are all on components. */
struct conflict_rule {
	const char *id, *text; /* the column `when` */
	const char *symptom, *fix, *source;
	bool refuses;	       /* false: only warned about, or overruled */
	bool is_overruled;     /* by a person (allow.h) */
	bool is_met;	       /* the caller sees to it (resolve_input.met): nobody is told */
	bool is_risk;	       /* values that it concerns are tried after all others */
	bool is_worked_around; /* the recipe applies the fix by itself */
	uint32_t components,
		without; /* without: it does not count when a request names one of them */
	struct conditions conditions;
	/* of a pair that refuses: bit per value that it concerns */
	uint64_t *passing[COMPONENT_COUNT];
};

/* Rules that a person has overruled; allow.h has what the bits mean. */
struct allow {
	uint32_t rules, needs[COMPONENT_COUNT];
};

struct model {
	const struct catalog *catalog;
	struct arena *arena;
	bool oldest, cpu;
	bool compiles;	      /* requests name what is compiled against frameworks */
	bool has_driver_rule; /* a known conflict that refuses concerns drivers */
	struct domain domains[COMPONENT_COUNT];
	uint32_t asks[COMPONENT_COUNT]; /* bit per component that a cell of its rows is about */
	size_t conflict_count, conflict_words;
	struct conflict_rule *conflicts;
	/* bit per conflict between it and one other component */
	uint64_t *pair_rules[COMPONENT_COUNT];
	struct allow allow;
	uint64_t *cuda_in_wheels; /* bit per CUDA value: some framework's wheel brings its series */
	const struct model *strict; /* the same with all its rules; NULL: nothing was overruled */
	void *cells;		    /* while it is built */
};

struct model_options {
	bool oldest; /* --prefer oldest */
	bool cpu;    /* a stack without GPUs: the order of OSes and Open MPIs differs */
};

/* ERROR_USAGE names the file and line of a cell that does not parse. */
int model_build(const struct catalog *catalog, const struct model_options *options,
		struct arena *arena, struct model *model, struct error *err);

/* Makes again what follows from which conflicts refuse; after a change of conflict_rule.refuses. */
void model_mark_rules(struct model *model);

/* Marks the warnings with these ids as met; NULL: none. */
void model_mark_met(struct model *model, const char *const *met);

/* The row that the choice was made from, or the first of its version, for that OS unless NULL. NULL: there is none. */
const struct value *model_find_choice(const struct domain *domain, const struct choice *choice,
				      const struct choice *os);

static inline bool bit_is_set(const uint64_t *words, size_t bit)
{
	return words[bit / 64] >> (bit % 64) & 1;
}

/* Makes the bits, in the model's arena; for admitted_bits alone. */
uint64_t *admitted_mark(struct admitted *admitted);

/* The bits, one per value of the component in the model's order; they live as long as the model. NULL without a demand. */
static inline const uint64_t *admitted_bits(struct admitted *admitted)
{
	if (!admitted)
		return NULL;
	return admitted->bits ? admitted->bits : admitted_mark(admitted);
}

/* Whether the demand of `value` on the component of `other` admits it. True without a demand. */
static inline bool value_admits(const struct value *value, const struct value *other)
{
	const uint64_t *bits = admitted_bits(value->admits[other->component]);

	return !bits || bit_is_set(bits, other->index);
}

/* All values of a component, the oldest version first; the array lives in the arena. */
struct value **model_by_version(const struct domain *domain, struct arena *arena);

/* Sets the bits of all versions in the series; `sorted` are the `count` values of model_by_version. */
void model_mark_series(struct value *const *sorted, size_t count, const char *series,
		       uint64_t *bits);

/* A cell of the value's row, "" when the table has no such column. */
const char *value_cell(const struct value *value, const char *column);

/* "CUDA 11.8.0", "cuDNN 8.1.1.33 (built for CUDA 11.2)", "Python 3.8". */
const char *value_title(const struct value *value, struct arena *arena);

#endif

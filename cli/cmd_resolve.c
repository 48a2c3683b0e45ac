/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_facts.h"
#include "cli/app/stage_pin.h"
#include "cli/app/stage_plan.h"
#include "cli/app/stage_simulated.h"

#include "builder/recipe/recipe.h"
#include "core/foreign.h"
#include "core/log.h"
#include "core/str.h"
#include "core/term.h"
#include "core/words.h"
#include "plan/component.h"
#include "plan/lock.h"
#include "resolver/unsatisfied.h"

#include <string.h>

struct options {
	bool explain, no_lock, update, all, pin, no_facts;
	const char *facts, *prefer, *arch;
	struct words allow;
};

static const struct opt options[] = {
	{0, "explain", NULL, "one sentence per choice, with its source", OPT_FLAG,
	 offsetof(struct options, explain)},
	{0, "facts", "FILE", "facts of the hosts from a file (see 'probe -o')", OPT_TEXT,
	 offsetof(struct options, facts)},
	{0, "prefer", "WHICH", "newest (default) or oldest", OPT_TEXT,
	 offsetof(struct options, prefer)},
	ARCH_OPTION(struct options, arch),
	ALLOW_OPTION(struct options, allow),
	FACTS_OPTION(struct options, no_facts),
	{0, "all", NULL, "every stack that differs in more than libraries", OPT_FLAG,
	 offsetof(struct options, all)},
	{0, "update", NULL, "move the locked versions; the arguments are names of components then",
	 OPT_FLAG, offsetof(struct options, update)},
	{0, "pin", NULL, "ask the archives for exact versions, registries for digests", OPT_FLAG,
	 offsetof(struct options, pin)},
	{0, "no-lock", NULL, "do not write ringup.lock", OPT_FLAG,
	 offsetof(struct options, no_lock)},
	OPT_END,
};

static void print_row(struct term_table *table, bool explain, const struct choice *c)
{
	const char *wheel =
		*c->index ? arena_printf(table->arena, "%s from %s", c->pip, c->index) : c->pip;
	const char *packages = *c->run_packages ? c->run_packages
			       : *wheel		? wheel
			       : *c->download	? c->download
			       : *c->wheel
				       ? arena_printf(table->arena, "in the wheel of %s", c->wheel)
				       : "-";

	term_table_row(table, explain ? WORDS(c->name, c->version, c->reason, c->source)
				      : WORDS(c->name, c->version, packages));
}

/* The images that the recipes of a plan and of its `other` start from; "" where there is no recipe. */
struct bases {
	const char *of[2];
};

static const char *base_note(const struct stages *s, const char *base)
{
	const struct plan_base *planned = &s->plan.base;

	if (strcmp(s->cluster.image.base, "auto") != 0)
		return "image.base of the cluster file";
	if (starts_with(base, "ringup-base:"))
		return "made here from the OS's packages";
	if (!planned->name || !*planned->name)
		return "the OS's own";
	if (*planned->packages)
		return planned->packages;
	return strcmp(planned->name, base) == 0 ? "-"
						: "the devel image of the same CUDA builds it";
}

static void print_image(struct term_table *table, const struct stages *s, const char *base,
			bool explain)
{
	const struct plan_base *planned = &s->plan.base;
	bool is_planned = planned->name && *planned->name;

	if (!explain)
		term_table_row(table, WORDS("image", base, base_note(s, base)));
	else
		term_table_row(table,
			       WORDS("image", base, is_planned ? planned->note : base_note(s, base),
				     is_planned ? planned->source : "-"));
}

/* A stack that the catalog knows and that no recipe makes is shown, with the reason. */
static void find_bases(struct stages *s, struct bases *bases)
{
	struct error err = {0};

	*bases = (struct bases){{"", ""}};
	if (strcmp(s->cluster.container.engine, "none") == 0)
		return;
	for (const struct plan *plan = &s->plan; plan; plan = plan->other, err = (struct error){0})
		if (recipe_check(&s->cluster, plan, &s->catalog, s->arena,
				 &bases->of[plan != &s->plan], &err) < 0)
			log_warn("this stack has no image: %s", err.text);
}

/* What `resolve` says beyond the lock: "image", from which the deployed image starts. */
static void add_bases(cJSON *json, const struct bases *bases)
{
	cJSON *other = cJSON_GetObjectItemCaseSensitive(json, "other");

	json_add_text(json, "image", bases->of[0]);
	if (other)
		json_add_text(other, "image", bases->of[1]);
}

static void print_plan(const struct stages *s, const struct bases *bases, bool explain)
{
	const struct plan *plan = &s->plan;
	const char *arch = plan->other ? arena_printf(s->arena, "%s, %s", plan_arch(plan),
						      plan_arch(plan->other))
				       : plan_arch(plan);
	struct term_table table;

	term_table_init(&table, s->arena,
			explain ? WORDS("COMPONENT", "VERSION", "REASON", "SOURCE")
				: WORDS("COMPONENT", "VERSION", "PACKAGES"));
	if (plan->arch || plan->other)
		term_table_row(&table, explain ? WORDS("arch", arch, "the processor", "-")
					       : WORDS("arch", arch, "-"));
	for (size_t i = 0; i < plan->count; i++)
		print_row(&table, explain, &plan->choices[i]);
	if (*bases->of[0])
		print_image(&table, s, bases->of[0], explain);
	term_table_print(&table, stdout);
	if (!plan->count)
		log_info("`stack: []` asks for nothing, so nothing is resolved");
	for (size_t i = 0; i < plan->count && explain; i++)
		if (*plan->choices[i].refused)
			say("%s %s\n", plan->choices[i].name, plan->choices[i].refused);
	for (size_t i = 0; i < plan->env_count; i++)
		say("container env: %s\n", plan->env[i]);
	stage_print_notes(s);
	if (plan->other)
		log_info(
			"packages and image are those for %s; --arch %s shows the other stack of the same versions",
			plan_arch(plan), plan_arch(plan->other));
}

/* --- the lock that is there ------------------------------------------------------------------ */

struct locked {
	struct lock lock;
	bool found;
	const char *const *requests; /* of this run */
};

/* The names about which today's requests and the lock's differ: these may move. */
static const char *const *changed_names(struct stages *s, const struct locked *locked)
{
	const struct plan *old = &locked->lock.plan;
	struct words names = WORDS_INIT(s->arena);
	struct error ignored = {0};
	struct requirement req;

	for (const char *const *text = locked->requests; *text; text++) {
		bool known = false;

		for (size_t i = 0; i < old->request_count; i++)
			known |= strcmp(old->requests[i], *text) == 0;
		if (!known && requirement_parse(*text, s->arena, &req, &ignored) == 0)
			words_add(&names, req.name);
	}
	return words_list(&names);
}

static bool is_same_question(struct stages *s, const struct locked *locked)
{
	size_t count = 0;

	while (locked->requests[count])
		count++;
	return count == locked->lock.plan.request_count && !*changed_names(s, locked);
}

static int resolve_check_names(const char *const *names, struct error *err)
{
	for (; *names; names++)
		if (component_by_name(*names) == COMPONENT_NONE)
			return error_set(err, ERROR_USAGE,
					 "--update takes names of components, and '%s' is none",
					 *names);
	return 0;
}

/* What stays: everything without --update; with it all but the named components, or nothing. */
static int keep_locked(struct stages *s, const struct options *o, const char *const *arguments,
		       struct locked *locked, struct error *err)
{
	struct error ignored = {0};

	if (lock_read(stage_lock_path(s), s->arena, &locked->lock, &locked->found, &ignored) < 0 ||
	    !locked->found)
		return 0; /* a damaged lock is written again */
	s->kept_arch = plan_arch(&locked->lock.plan);
	if (o->update && !*arguments)
		return 0;
	/* arguments are a new question, unless they are the same as the lock's */
	if (!context_has_cluster(s->ctx) && !o->update && !is_same_question(s, locked)) {
		s->kept_arch = NULL;
		return 0;
	}
	if (o->update && resolve_check_names(arguments, err) < 0)
		return -1;
	if (o->prefer && !o->update)
		log_warn(
			"--prefer %s is for versions that move, and ringup.lock keeps them; with --update they move",
			o->prefer);
	s->keep = &locked->lock.plan;
	s->move = o->update ? arguments : changed_names(s, locked);
	return 0;
}

static void print_changes(const struct locked *locked, const struct plan *now, bool asked)
{
	struct lock_change changes[LOCK_CHANGES_MAX];
	size_t count = lock_diff(&locked->lock.plan, now, changes);

	for (size_t i = 0; i < count; i++)
		log_info("%s: %s -> %s", changes[i].name,
			 changes[i].from ? changes[i].from : "(not there)",
			 changes[i].to ? changes[i].to : "(not there any more)");
	if (!count && asked)
		log_info("ringup.lock: nothing moves");
}

/* The plan of the lock for that processor; NULL: it has none. */
static const struct plan *locked_plan(const struct plan *old, const char *arch)
{
	for (; old; old = old->other)
		if (strcmp(plan_arch(old), arch) == 0)
			return old;
	return NULL;
}

/* What is pinned stays as long as the OS is the same. False when it does not. */
static bool take_pins(struct plan *plan, const struct plan *old)
{
	const struct choice *os = plan_choice(plan, "os"); /* none with `stack: []` */

	if (!os || strcmp(plan_choice(old, "os")->version, os->version) != 0)
		return false;
	plan->pinned = old->pinned;
	return true;
}

/* Takes the pins of the lock's plans, each for the plan of its processor. False when some have to go. */
static bool keep_pins(struct stages *s, const struct plan *old)
{
	struct plan *other = ARENA_NEW(s->arena, struct plan);
	bool kept = true;

	if (s->plan.other) {
		*other = *s->plan.other;
		s->plan.other = other;
	}
	for (; old; old = old->other) {
		bool is_first = strcmp(plan_arch(old), plan_arch(&s->plan)) == 0;

		if (old->pinned.at && plan_choice(old, "os"))
			kept &= (is_first || s->plan.other) &&
				take_pins(is_first ? &s->plan : other, old);
	}
	return kept;
}

/* A lock that moves as a whole is pinned again if it was pinned before. */
static int resolve_pin(struct stages *s, const struct options *o, const char *const *arguments,
		       const struct locked *locked, struct error *err)
{
	const struct plan *old = &locked->lock.plan;
	bool was_pinned =
		locked->found && (old->pinned.at || (old->other && old->other->pinned.at));
	bool asks = o->pin || (was_pinned && o->update && !*arguments);

	if (was_pinned && !keep_pins(s, old) && !asks)
		log_warn(
			"another OS or processor: nothing is pinned any more; 'ringup resolve --pin' asks its archives");
	return asks ? stage_pin(s, err) : 0;
}

static size_t print_moves(const struct pin_list *now, const struct pin_list *before)
{
	size_t count = 0;

	for (size_t i = 0; i < now->count; i++) {
		const struct pin *pin = &now->list[i];
		const char *old = pin_find(before, pin->name);

		count += *pin->value != '\0';
		if (old && strcmp(old, pin->value) != 0)
			log_info("%s: %s -> %s", pin->name, *old ? old : "(none)",
				 *pin->value ? pin->value : "(none)");
	}
	return count;
}

static void print_pins(const struct pinned *now, const struct pinned *before, const char *of)
{
	size_t packages, images;

	if (!now->at)
		return;
	packages = print_moves(&now->packages, &before->packages);
	images = print_moves(&now->images, &before->images);
	say("pinned%s: %zu packages, %zu images (%s)\n", of, packages, images, now->at);
}

static void print_all_pins(struct stages *s, const struct plan *old)
{
	static const struct pinned nothing;

	for (const struct plan *plan = &s->plan; plan; plan = plan->other) {
		const struct plan *before = locked_plan(old, plan_arch(plan));

		print_pins(&plan->pinned, before ? &before->pinned : &nothing,
			   s->plan.other ? arena_printf(s->arena, " for %s", plan_arch(plan)) : "");
	}
}

/*
 * --- every stack --------------------------------------------------------------------------------
 */

#define ALL_MAX 10000

static bool resolve_print_stack(const struct plan *plan, void *arg)
{
	static const char *const names[] = {
		"tensorflow",  "torch",		"jax",	     "mxnet",	   "horovod",
		"torchvision", "torchaudio",	"deepspeed", "flash-attn", "transformer-engine",
		"xformers",    "megatron-core", "triton",    "nvshmem",	   "cuda",
		"os",	       "python"};
	const char *gap = "";

	(void)arg;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct choice *choice = plan_choice(plan, names[i]);

		if (!choice)
			continue;
		say("%s%s %s", gap, choice->name, choice->version);
		gap = ", ";
	}
	for (size_t i = 0; i < plan->overruled_count; i++)
		say("%s%s%s", i ? ", " : " (breaks ", plan->overruled[i].id,
		    i + 1 < plan->overruled_count ? "" : ")");
	say("\n");
	return true;
}

static bool add_stack(const struct plan *plan, void *json)
{
	stacks_add_plan(json, plan);
	return true;
}

static int resolve_print_failure(struct stages *s, struct error *err)
{
	if (s->ctx->json && err->kind == ERROR_UNSATISFIED) {
		_cleanup_(json_free) cJSON *json = unsatisfied_to_json(&s->why);

		json_print(stdout, json);
	}
	return -1;
}

static int prefer(struct stages *s, const char *which, struct error *err)
{
	if (which && strcmp(which, "newest") != 0 && strcmp(which, "oldest") != 0)
		return error_set(err, ERROR_USAGE, "--prefer takes newest or oldest, not '%s'",
				 which);
	s->oldest = which && strcmp(which, "oldest") == 0;
	return 0;
}

static int resolve_print_all(struct stages *s, const char *const *requests, struct error *err)
{
	_cleanup_(json_free) cJSON *json = s->ctx->json ? stacks_to_json() : NULL;

	if (stage_resolve_all(s, requests, ALL_MAX, json ? add_stack : resolve_print_stack, json,
			      err) < 0)
		return resolve_print_failure(s, err);
	if (json)
		json_print(stdout, json);
	return 0;
}

/* Reads what the answer depends on: the cluster file, the facts and the lock. */
static int resolve_prepare(struct stages *s, const struct options *o, const char *const *arguments,
			   struct locked *locked, struct error *err)
{
	static const char *const nothing[] = {NULL};
	bool from_file = !*arguments || o->update;

	/* Without REQ words the cluster file says what is wanted; with them it is not needed. */
	if ((from_file ? stage_cluster : stage_cluster_or_defaults)(s, s->ctx, err) < 0)
		return -1;
	s->allow = o->allow;
	s->no_facts = o->no_facts;
	s->arch = o->arch;
	if (prefer(s, o->prefer, err) < 0 || (o->facts && stage_facts(s, o->facts, err) < 0))
		return -1;
	locked->requests = !from_file ? arguments : s->cluster.stack ? s->cluster.stack : nothing;
	return o->no_lock || (!from_file && context_has_cluster(s->ctx))
		       ? 0
		       : keep_locked(s, o, arguments, locked, err);
}

static int resolve_run(struct context *ctx, void *values, const char *const *arguments,
		       struct error *err)
{
	const struct options *o = values;
	struct stages s = {.ctx = ctx, .arena = ctx->arena};
	struct locked locked = {0};
	struct bases bases;
	bool asked = *arguments && !o->update;

	if (resolve_prepare(&s, o, arguments, &locked, err) < 0)
		return -1;
	if (o->all && o->pin)
		return error_set(err, ERROR_USAGE, "--pin is for one stack, --all shows many");
	if (o->all)
		return resolve_print_all(&s, asked ? arguments : NULL, err);
	if (stage_resolve(&s, asked ? arguments : NULL, err) < 0)
		return resolve_print_failure(&s, err);
	if (resolve_pin(&s, o, arguments, &locked, err) < 0)
		return -1;
	find_bases(&s, &bases);
	if (ctx->json) {
		_cleanup_(json_free) cJSON *json = plan_to_json(&s.plan);

		add_bases(json, &bases);
		stage_add_simulated(&s, json);
		json_print(stdout, json);
	} else {
		print_plan(&s, &bases, o->explain);
		print_all_pins(&s, &locked.lock.plan);
	}
	/* the lock belongs to the cluster file's own stack, not to a question of the command line */
	if (o->no_lock || (asked && context_has_cluster(ctx)))
		return 0;
	if (locked.found)
		print_changes(&locked, &s.plan, o->update);
	return stage_lock(&s, err);
}

const struct command command_resolve = {
	.name = "resolve",
	.arguments = "[REQ...]",
	.summary = "one consistent stack, with reasons; writes ringup.lock",
	.help = "REQ is a name, or a name with conditions: openmpi, openmpi==4.1.4, 'python>=3,<4',\n"
		"os==debian12, gpu==V100, driver==470.57.02. Without REQ the cluster file's `stack` is resolved\n"
		"and ringup.lock is written; its versions stay as long as they fit. With REQ no lock is written\n"
		"when there is a cluster file.\n"
		"Frameworks are tensorflow, torch, jax and mxnet. Made for torch, and resolved with it, are\n"
		"torchvision, torchaudio, deepspeed, flash-attn, transformer-engine, xformers, megatron-core,\n"
		"triton and nvshmem. ucx is built with CUDA for Open MPI, aws-ofi-nccl for NCCL on EFA.\n"
		"  ringup resolve --update        moves every version, and says which\n"
		"  ringup resolve --update nccl   moves that one\n"
		"With --pin the OS's package manager is asked, in an image of the OS, for the version of each\n"
		"package that the recipe names, and registries for the digests of its base images. The lock\n"
		"keeps them, and every recipe and build uses them from then on. --update asks for them again.\n"
		"Of a stack for two processors --pin asks for that of this machine, and keeps the other's.\n"
		"A stack that is known to work and that no recipe makes yet is shown with a warning that says why.\n"
		"The exit status is 3 when no stack satisfies the request. The message names the rules that refuse\n"
		"it; with --allow ID, which may be given more than once, they may be broken.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = resolve_run,
};

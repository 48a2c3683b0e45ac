/* SPDX-License-Identifier: MIT */
/* The history: what is noted and what is not, how many are kept, and what a rollback goes back to. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/records/history.h"

#define YAML "name: lab\nhosts: [a, b]\ncontainer: {engine: docker}\n"

static const struct plan *plan_of(struct scratch *s, const char *version)
{
	struct plan *plan = ARENA_NEW(&s->arena, struct plan);

	plan->accelerator = "cpu";
	plan->revision = "";
	plan->base = (struct plan_base){"", "", "", "", "", ""};
	plan->choices[plan->count++] =
		(struct choice){"openmpi", version, "", "", "", "", "", "", "", "", "", "", ""};
	return plan;
}

static void note_up(struct scratch *s, struct fleet *fleet, const char *version, const char *image)
{
	const struct history_note note = {
		.command = "up", .plan = plan_of(s, version), .recipe = "r", .image = image};

	history_add(fleet, &note);
}

/* The numbers with their images: "1:i1 2:i2". */
static const char *listed(struct scratch *s, const struct fleet *fleet)
{
	_cleanup_(json_free) cJSON *documents = NULL;
	_cleanup_(str_release) struct str line = STR_INIT;
	struct error err = {0};
	const cJSON *item;

	assert_fine(history_read(fleet->cluster, &documents, &err));
	cJSON_ArrayForEach (item, documents) {
		const char *image = json_text(item, "image", &s->arena);

		str_addf(&line, "%s%d:%s:%s", line.length ? " " : "", json_int(item, "number", 0),
			 image ? image : "-", json_text(item, "outcome", &s->arena));
	}
	return arena_strdup(&s->arena, line.text);
}

/* The number that is found, or 0. */
static int found(const struct fleet *fleet, int number, struct error *why)
{
	struct error err = {0};
	_cleanup_(json_free) cJSON *documents = NULL;
	const cJSON *document;

	*why = (struct error){0};
	assert_fine(history_read(fleet->cluster, &documents, &err));
	return history_find(documents, number, &document, why) < 0
		       ? 0
		       : json_int(document, "number", 0);
}

static void test_noted(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, YAML);
	const struct history_note restart = {.command = "restart"};

	assert_string_equal(listed(s, fleet), "");
	history_add(fleet, &restart); /* nothing was done */
	assert_string_equal(listed(s, fleet), "");
	note_up(s, fleet, "4.1.4", "i1"); /* the first state of the cluster */
	note_up(s, fleet, "4.1.4", "i1"); /* nothing changed */
	assert_string_equal(listed(s, fleet), "1:i1:done");
	fleet->members[0].changed = true;
	history_add(fleet, &restart);
	fleet->members[1].failed = true;
	error_set(&fleet->members[1].err, ERROR_FAILED, "b: why");
	note_up(s, fleet, "4.1.4", "i2");
	fleet->members[0].failed = true;
	note_up(s, fleet, "4.1.4", "i3");
	assert_string_equal(listed(s, fleet), "1:i1:done 2:-:done 3:i2:partial 4:i3:failed");
}

static void test_bounded(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, YAML);

	fleet->members[0].changed = true;
	for (int i = 0; i < HISTORY_MAX + 5; i++)
		note_up(s, fleet, "4.1.4", "i");
	assert_true(starts_with(listed(s, fleet), "6:i:done 7:i:done "));
	assert_int_equal(found(fleet, HISTORY_MAX + 5, &(struct error){0}), HISTORY_MAX + 5);
}

static void test_find(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, YAML);
	const struct history_note down = {.command = "down"};
	struct error err;

	fleet->members[0].changed = true;
	assert_int_equal(found(fleet, 0, &err), 0);
	assert_int_equal(err.kind, ERROR_USAGE);
	note_up(s, fleet, "4.1.4", "i1");
	assert_int_equal(found(fleet, 0, &err), 0);
	note_up(s, fleet, "4.1.4", "i2");
	assert_int_equal(found(fleet, 0, &err), 1);
	note_up(s, fleet, "4.1.4", "i2"); /* another setting of the containers */
	history_add(fleet, &down);
	assert_int_equal(found(fleet, 0, &err), 1);
	assert_int_equal(found(fleet, 2, &err), 2);
	assert_int_equal(found(fleet, 4, &err), 0); /* down sets no image */
	assert_int_equal(found(fleet, 9, &err), 0);
	/* one that failed is not gone back to; it is what is left behind */
	fleet->members[0].failed = fleet->members[1].failed = true;
	note_up(s, fleet, "4.1.4", "i3");
	assert_int_equal(found(fleet, 0, &err), 3);
	fleet->members[0].failed = fleet->members[1].failed = false;
	/* the same image name with another stack differs, too */
	note_up(s, fleet, "4.1.5", "i2");
	assert_int_equal(found(fleet, 0, &err), 3);
	/* there and back */
	note_up(s, fleet, "4.1.4", "i2");
	assert_int_equal(found(fleet, 0, &err), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_noted),
		FLEET_TEST(test_bounded),
		FLEET_TEST(test_find),
	};

	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}

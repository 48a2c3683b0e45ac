/* SPDX-License-Identifier: MIT */
/* Whose a cluster is: the id, what goes to a host, what comes from it, and who is refused. */
#include "tests/unit/deployer/fleet_support.h"

#include "core/private.h"
#include "deployer/bringup/claim.h"
#include "deployer/container/container.h"
#include "deployer/bringup/operate.h"
#include "deployer/probe.h"

#include <sys/stat.h>

#define YAML "name: lab\nhosts: [a]\ncontainer: {engine: docker}\n"
#define OTHER_ID "00112233445566778899aabbccddeeff"

static void test_id(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, YAML);
	struct owner owner, again;
	struct error err = {0};
	struct stat st;

	assert_fine(private_folder(in(s, ".ringup"), &err));
	assert_fine(owner_load(fleet->cluster, false, &s->arena, &owner, &err));
	assert_string_equal(owner.id, "");
	assert_false(owner_is(&owner, &owner)); /* who has no id owns nothing */
	assert_fine(owner_load(fleet->cluster, true, &s->arena, &owner, &err));
	assert_int_equal(strlen(owner.id), OWNER_ID_LENGTH);
	assert_string_equal(owner.folder, s->folder);
	assert_int_equal(stat(in(s, ".ringup/cluster-id"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_fine(owner_load(fleet->cluster, true, &s->arena, &again, &err));
	assert_true(owner_is(&owner, &again));
	assert_int_equal(unlink(in(s, ".ringup/cluster-id")), 0);
	assert_fine(owner_load(fleet->cluster, true, &s->arena, &again, &err));
	assert_false(owner_is(&owner, &again));
	again = owner_of_registries(&owner, &s->arena);
	assert_int_equal(strlen(again.id), OWNER_ID_LENGTH);
	assert_false(owner_is(&owner, &again));
	put(s, ".ringup/cluster-id", "not hex");
	assert_fails(owner_load(fleet->cluster, true, &s->arena, &again, &err), ERROR_FAILED,
		     "cluster-id is damaged");
}

static void test_text_and_back(void **state)
{
	struct scratch *s = *state;
	const struct owner owner = {OTHER_ID, "al=ice", "desk", "/home/a b/\"x\"",
				    "2026-11-22T21:00:00Z"};
	struct owner back;

	owner_parse(owner_text(&owner, &s->arena), "", &s->arena, &back);
	assert_true(owner_is(&owner, &back));
	assert_string_equal(back.user, "al=ice");
	assert_string_equal(back.folder, "/home/a b/\"x\"");
	assert_string_equal(back.time, owner.time);
	/* other lines, other prefixes, no value, a second value, no end */
	owner_parse(
		"mesh=1\nid=1\nowner_\nowner_id=" OTHER_ID
		"\nowner_id=2\nowner_user=\nownerr_user=x\nowner_machine=m\x1b[2J\xc2\x9bz\nowner_time",
		"owner_", &s->arena, &back);
	assert_string_equal(back.id, OTHER_ID);
	assert_string_equal(back.user, "");
	assert_string_equal(back.machine, "m?[2J?z");
	assert_string_equal(back.time, "");
	owner_parse("", "owner_", &s->arena, &back);
	assert_string_equal(back.id, "");
}

/* The labels are on the container; only the id is a reason to make it anew. */
static void test_labels(void **state)
{
	struct scratch *s = *state;
	static const struct bringup bringup = {
		.image = "r/i@sha256:0", .accelerator = "cpu", .registry = "r"};
	struct fleet *fleet = make_fleet(s, YAML);
	struct container first, moved, other;

	fleet->owner = (struct owner){OTHER_ID, "alice", "desk", "/p", "T"};
	container_describe(&fleet->members[0], &bringup, &first);
	assert_has(line_of(s, container_run_words(&fleet->members[0], &first)),
		   "--label org.ringup.cluster-id=" OTHER_ID
		   " --label org.ringup.user=alice --label org.ringup.machine=desk "
		   "--label org.ringup.folder=/p --label org.ringup.time=T");
	fleet->owner = (struct owner){OTHER_ID, "bob", "lap", "/q", "U"};
	container_describe(&fleet->members[0], &bringup, &moved);
	assert_string_equal(first.config_hash, moved.config_hash);
	fleet->owner.id = "ffeeddccbbaa99887766554433221100";
	container_describe(&fleet->members[0], &bringup, &other);
	assert_string_not_equal(first.config_hash, other.config_hash);
}

#define OURS "ffeeddccbbaa99887766554433221100"
#define CONTAINER "container_id=c1\ncontainer_running=true\n"

static const struct {
	const char *said; /* by the host */
	const char *refusal;
} claims[] = {
	{"state_folder=/f\n", NULL},
	{CONTAINER "container_owner_id=" OURS "\n", NULL},
	{"mesh=sha256:1\nowner_id=" OURS "\n", NULL},
	{CONTAINER "container_owner_id=" OURS "\nmesh=sha256:1\nowner_id=" OURS "\n", NULL},
	/* the folder came from a backup without the file */
	{CONTAINER "container_owner_id=" OURS "\nmesh=sha256:1\n", NULL},
	{CONTAINER "container_owner_id=" OTHER_ID "\ncontainer_owner_user=alice\n"
		   "container_owner_machine=desk\ncontainer_owner_time=T\n"
		   "container_owner_folder=/p\n",
	 "a: the container ringup-lab there belongs to somebody else: alice@desk started it at T from /p; "},
	{"owner_id=" OTHER_ID "\nowner_user=bob\n",
	 "a: the cluster 'lab' there belongs to somebody else: bob@an unknown machine started it"},
	{CONTAINER "container_owner_id=" OURS "\nowner_id=" OTHER_ID "\n",
	 "the cluster 'lab' there"},
	{CONTAINER "container_owner_id=" OTHER_ID "\nowner_id=" OURS "\n",
	 "the container ringup-lab there"},
	/* of an earlier ringup, or not of ringup at all */
	{CONTAINER "container_owner_id=\n", "the container ringup-lab there names no owner"},
	{CONTAINER "container_owner_id=\nowner_id=" OURS "\n", "names no owner"},
	{"mesh=sha256:1\n", "the cluster 'lab' there names no owner"},
	{CONTAINER "container_owner_id=<no value>\n", "names no owner"},
};

static void test_claims(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, YAML);
	struct member *m = &fleet->members[0];
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
		fleet->owner.id = OURS;
		fleet->takes_over = false;
		probe_read_state(m, claims[i].said);
		if (!claims[i].refusal) {
			assert_fine(member_check_owner(m, &err));
		} else {
			assert_fails(member_check_owner(m, &err), ERROR_FAILED, claims[i].refusal);
			assert_has(err.text, "ringup up --take-over");
			assert_has(err.text, "a new clone");
		}
		fleet->takes_over = true;
		err = (struct error){0};
		assert_fine(member_check_owner(m, &err));
		/* who never started anything owns nothing */
		fleet->owner.id = "";
		fleet->takes_over = false;
		if (i)
			assert_int_equal(member_check_owner(m, &err), -1);
	}
}

/* What is removed is what was looked at, not what has its name by now. */
static void test_removes_by_id(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, YAML);

	fleet->members[0].state.container_id = "0123abcd";
	assert_string_equal(line_of(s, container_remove_words(&fleet->members[0])),
			    "docker rm --force --volumes 0123abcd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_id),	 FLEET_TEST(test_text_and_back), FLEET_TEST(test_labels),
		FLEET_TEST(test_claims), FLEET_TEST(test_removes_by_id),
	};

	return cmocka_run_group_tests_name("owner", tests, NULL, NULL);
}

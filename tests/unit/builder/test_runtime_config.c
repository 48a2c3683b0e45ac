/* SPDX-License-Identifier: MIT */
/* What a step's container may do, as its config.json says it. */
#include "builder/native/runtime/runtime_config.h"
#include "builder/native/runtime/seccomp.h"
#include "builder/native/runtime/subids.h"
#include "tests/unit/support.h"

#include <string.h>

static cJSON *config_for(const struct container *container)
{
	static const char *const words[] = {"/bin/true", NULL}, *const env[] = {NULL};
	const struct run_step step = {.words = words, .env = env, .cwd = "/"};
	const struct run_user user = {0};
	struct error err = {0};
	cJSON *config = NULL;

	if (runtime_config(&step, &user, container, &config, &err) < 0)
		fail_msg("%s", err.text);
	return config;
}

static bool has(const cJSON *list, const char *text)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, list)
		if (strcmp(item->valuestring, text) == 0)
			return true;
	return false;
}

static const cJSON *linux_part(const cJSON *config, const char *name)
{
	return cJSON_GetObjectItem(cJSON_GetObjectItem(config, "linux"), name);
}

static bool can(const cJSON *config, const char *capability)
{
	const cJSON *process = cJSON_GetObjectItem(config, "process");
	const cJSON *sets = cJSON_GetObjectItem(process, "capabilities");

	return has(cJSON_GetObjectItem(sets, "bounding"), capability) &&
	       has(cJSON_GetObjectItem(sets, "effective"), capability);
}

static void test_paths(void **state)
{
	static const char *const masked[] = {"/proc/kcore", "/proc/keys", "/proc/interrupts",
					     "/sys/firmware", "/sys/devices/virtual/powercap"};
	static const char *const readonly[] = {"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs",
					       "/proc/sysrq-trigger"};
	const struct container plain = {.root = "/r", .files = "/f", .rules_devices = true};
	_cleanup_(json_free) cJSON *config = config_for(&plain);

	for (size_t i = 0; i < ARRAY_LEN(masked); i++)
		assert_true(has(linux_part(config, "maskedPaths"), masked[i]));
	for (size_t i = 0; i < ARRAY_LEN(readonly); i++)
		assert_true(has(linux_part(config, "readonlyPaths"), readonly[i]));
	assert_null(linux_part(config, "uidMappings"));
	assert_null(linux_part(config, "seccomp"));
	(void)state;
}

static void test_devices(void **state)
{
	const struct container rules = {.root = "/r", .files = "/f", .rules_devices = true};
	const struct container none = {.root = "/r", .files = "/f"};
	_cleanup_(json_free) cJSON *with = config_for(&rules);
	_cleanup_(json_free) cJSON *without = config_for(&none);
	const cJSON *first = cJSON_GetArrayItem(
		cJSON_GetObjectItem(linux_part(with, "resources"), "devices"), 0);

	/* all are denied before some are allowed */
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(first, "allow")));
	assert_null(cJSON_GetObjectItem(first, "major"));
	assert_true(can(with, "CAP_MKNOD"));
	assert_null(linux_part(without, "resources"));
	assert_false(can(without, "CAP_MKNOD"));
	assert_true(can(without, "CAP_CHOWN"));
	assert_false(can(with, "CAP_NET_RAW"));
	assert_false(can(with, "CAP_SYS_ADMIN"));
	(void)state;
}

static void test_user_namespace(void **state)
{
	const struct idmap map = {.start = 0x7e000000, .fd = -1};
	const struct container mapped = {.root = "/r", .files = "/f", .map = &map};
	_cleanup_(json_free) cJSON *config = config_for(&mapped);
	static const char *const names[] = {"uidMappings", "gidMappings"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const cJSON *row = cJSON_GetArrayItem(linux_part(config, names[i]), 0);

		assert_int_equal(cJSON_GetObjectItem(row, "containerID")->valuedouble, 0);
		assert_int_equal(cJSON_GetObjectItem(row, "hostID")->valuedouble, 0x7e000000);
		assert_int_equal(cJSON_GetObjectItem(row, "size")->valuedouble, 1 << 24);
	}
}

/* What the profile says of a call: its rules' actions and conditions, "A" allow, "A?" with one. */
static const char *said(const cJSON *profile, const char *name, struct arena *arena)
{
	const char *all = "";
	const cJSON *rule;

	cJSON_ArrayForEach (rule, cJSON_GetObjectItem(profile, "syscalls")) {
		const cJSON *number = cJSON_GetObjectItem(rule, "errnoRet");

		if (!has(cJSON_GetObjectItem(rule, "names"), name))
			continue;
		all = number ? arena_printf(arena, "%s%d", all, (int)number->valuedouble)
			     : arena_printf(arena, "%sA%s", all,
					    cJSON_GetObjectItem(rule, "args") ? "?" : "");
	}
	return all;
}

static void test_seccomp(void **state)
{
	static const char *const plain[] = {"CAP_CHOWN", "CAP_SYS_CHROOT", NULL};
	static const char *const admin[] = {"CAP_SYS_ADMIN", NULL};
	static const struct {
		const char *name, *plain, *admin;
	} rows[] = {
		{"read", "A", "A"},	    {"ptrace", "A", "A"},
		{"chroot", "A", ""},	    {"mount", "", "A"},
		{"unshare", "", "A"},	    {"setns", "", "A"},
		{"clone", "A?", "A"},	    {"clone3", "38", "A"},
		{"bpf", "", "A"},	    {"add_key", "", ""},
		{"keyctl", "", ""},	    {"kexec_load", "", ""},
		{"io_uring_setup", "", ""}, {"personality", "A?A?A?A?A?", "A?A?A?A?A?"},
	};
	struct scratch *s = *state;
	struct error err = {0};

	source_root(s);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(json_free) cJSON *one = NULL;
		_cleanup_(json_free) cJSON *two = NULL;

		assert_int_equal(seccomp_profile(plain, &one, &err), 0);
		assert_int_equal(seccomp_profile(admin, &two, &err), 0);
		assert_string_equal(cJSON_GetObjectItem(one, "defaultAction")->valuestring,
				    "SCMP_ACT_ERRNO");
		assert_string_equal(said(one, rows[i].name, &s->arena), rows[i].plain);
		assert_string_equal(said(two, rows[i].name, &s->arena), rows[i].admin);
	}
}

static void test_overlap(void **state)
{
	struct scratch *s = *state;
	const char *path = in(s, "subids");
	static const char text[] = "a:1000:10\nb:nonsense\n";
	struct error err = {0};

	assert_int_equal(file_write(path, text, strlen(text), 0600, &err), 0);
	assert_true(subids_overlap(path, 1009, 5));
	assert_true(subids_overlap(path, 990, 11));
	assert_false(subids_overlap(path, 1010, 5));
	assert_false(subids_overlap(path, 990, 10));
	assert_false(subids_overlap("/nonexistent", 0, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_paths),	   SCRATCH_TEST(test_devices),
		SCRATCH_TEST(test_user_namespace), SCRATCH_TEST(test_seccomp),
		SCRATCH_TEST(test_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Build arguments leave an image's config; nothing else does. */
#include "oci/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = {"APT_MIRROR", "PIP_MIRROR", NULL};

static void check(const char *before, const char *after)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	assert_int_equal(history_redact_text(before, names, &out), after != NULL);
	if (after)
		assert_string_equal(out.text, after);
}

static void test_texts(void **state)
{
	(void)state;
	check("|1 APT_MIRROR=http://10.0.0.1/ /bin/sh -c apt-get update",
	      "/bin/sh -c apt-get update");
	check("|2 APT_MIRROR=http://m/ V=a b c /bin/sh -c make all", "/bin/sh -c make all");
	check("|2 P=/opt/x PIP_MIRROR=http://m/ --x /y /bin/sh -c pip", "/bin/sh -c pip");
	check("RUN |1 PIP_MIRROR=http://m/ /bin/sh -c pip install x # buildkit",
	      "RUN /bin/sh -c pip install x # buildkit");
	check("|1 APT_MIRROR=x /bin/bash -o pipefail -c a", "/bin/bash -o pipefail -c a");
	check("|1 APT_MIRROR=x", "");
	/* others stay as they are */
	check("|1 OTHER=http://m/ /bin/sh -c a", NULL);
	check("|1 XAPT_MIRROR=x /bin/sh -c a", NULL);
	check("/bin/sh -c APT_MIRROR=x make", NULL);
	check("/bin/sh -c #(nop)  CMD [\"|1 APT_MIRROR=x\"]", NULL);
	check("|x APT_MIRROR=x /bin/sh", NULL);
	check("|0 /bin/sh -c APT_MIRROR=x", NULL);
	check("", NULL);
	check("|", NULL);
	check("RUN ", NULL);
}

static void test_config(void **state)
{
	static const char text[] =
		"{\"config\":{\"Env\":[\"APT_MIRROR=kept\"]},\"container_config\":{\"Cmd\":[\"|1\",\"APT_MIRROR=http://m/\",\"/bin/sh\",\"-c\",\"x\"]},\"history\":[{\"created_by\":\"|1 APT_MIRROR=http://m/ /bin/sh -c x\",\"comment\":\"c\"},{\"empty_layer\":true},{\"created_by\":7}]}";
	static const char expected[] =
		"{\"config\":{\"Env\":[\"APT_MIRROR=kept\"]},\"container_config\":{\"Cmd\":[\"/bin/sh\",\"-c\",\"x\"]},\"history\":[{\"created_by\":\"/bin/sh -c x\",\"comment\":\"c\"},{\"empty_layer\":true},{\"created_by\":7}]}";
	_cleanup_(json_free) cJSON *json = cJSON_Parse(text);
	_cleanup_(free_pointer) char *after = NULL;

	(void)state;
	assert_false(history_redact(json, NULL));
	assert_true(history_redact(json, names));
	after = cJSON_PrintUnformatted(json);
	assert_string_equal(after, expected);
	assert_false(history_redact(json, names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

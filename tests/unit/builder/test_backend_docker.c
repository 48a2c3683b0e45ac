/* SPDX-License-Identifier: MIT */
/* What is removed of a build on another machine, by a `docker` that only notes what it is asked. */
#include "tests/unit/support.h"

#include "builder/client/backend_docker.h"

static const char stand_in[] =
	"#!/bin/sh\n"
	"case \"$1 $2\" in\n"
	"'image ls') echo sha256:1; echo sha256:2 ;;\n"
	"'image inspect') echo ' sha256:aaa'; echo sha256:0123456789abcccc sha256:bbb; echo sha256:ffffffffffff sha256:ccc ;;\n"
	"'image rm') shift 2; echo \"rm $*\" >>\"$NOTES\" ;;\n"
	"esac\n";

static const char log_text[] = "Step 1/3 : FROM base\n"
			       " ---> 111111111111\n"
			       "Step 2/3 : RUN a\n"
			       " ---> Using cache\n"
			       " ---> 222222222222\n"
			       "Step 3/3 : RUN b\n"
			       " ---> 0123456789ab\n"
			       "Step 4/4 : RUN c\n"
			       " ---> Running in 9876543210ab\n";

extern const struct backend backend_docker;

static void forget(struct scratch *s, const char *image, const char *expected)
{
	const struct build_target target = {.docker_host = ""};
	struct error err = {0};
	const char *docker = put(s, "docker", stand_in), *notes = in(s, "notes");
	char *said;

	assert_int_equal(chmod(docker, 0755), 0);
	put(s, "notes", "");
	setenv("NOTES", notes, 1);
	setenv("PATH", arena_printf(&s->arena, "%s:/usr/bin:/bin", s->folder), 1);
	assert_fine(dockerd_forget(&backend_docker, &target, image, log_text, &err));
	assert_fine(file_read(notes, 4096, &s->arena, &said, NULL, &err));
	assert_string_equal(said, expected);
}

static void test_what_is_removed(void **state)
{
	forget(*state, "train", "rm train\nrm 0123456789ab 111111111111\n");
	/* Ctrl-C: the image of the last step may be there although its line never came */
	forget(*state, NULL, "rm sha256:bbb\nrm 0123456789ab 111111111111\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_what_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

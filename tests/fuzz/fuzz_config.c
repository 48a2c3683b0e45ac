/* SPDX-License-Identifier: MIT */
/*
 * Configs of images: the bytes end where their length says, without a NUL. What is read is whole, and
 * a platform is refused or not, whatever the config is.
 */
#include "tests/fuzz/fuzz.h"

#include "builder/native/image_config.h"
#include "oci/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(json_free) cJSON *config = NULL;
	struct error err = {0};
	int rc = platform_check_config("linux/amd64", (const char *)data, size, &err);

	fuzz_check_error(rc, &err);
	err = (struct error){0};
	rc = image_config_parse((const char *)data, size, "config", &config, &err);
	fuzz_check_error(rc, &err);
	return 0;
}

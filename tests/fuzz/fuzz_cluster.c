/* SPDX-License-Identifier: MIT */
/* YAML, and cluster.yaml in it. Every error names a place. */
#include "tests/fuzz/fuzz.h"

#include "core/yaml.h"
#include "plan/cluster.h"

/* "FILE:LINE:COLUMN: ..." */
static void check_place(const char *text, const char *file)
{
	int line = 0, column = 0, used = 0;
	size_t length = strlen(file);

	fuzz_check(strncmp(text, file, length) == 0);
	fuzz_check(sscanf(text + length, ":%d:%d: %n", &line, &column, &used) == 2 && used);
	fuzz_check(line > 0 && column > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *path = fuzz_file(data, size);
	struct cluster cluster;
	struct error err = {0};
	struct yaml *root;
	int rc = yaml_parse("f", (const char *)data, size, &arena, &root, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		check_place(err.text, "f");
	err = (struct error){0};
	rc = cluster_load(path, &arena, &cluster, &err);
	fuzz_check_error(rc, &err);
	if (rc < 0) {
		fuzz_check(err.kind == ERROR_USAGE);
		check_place(err.text, path);
		return 0;
	}
	fuzz_check(cluster.host_count >= 1 && cluster.host_count <= CLUSTER_HOSTS_MAX);
	for (size_t i = 0; i < cluster.host_count; i++) {
		const struct host *host = &cluster.hosts[i];

		fuzz_check(host->name[0] && host->address[0] && host->name[0] != '-');
		fuzz_check(!strpbrk(host->name, "/ \n\t'\"$"));
		fuzz_check(host->port >= 1 && host->port <= 65535);
		fuzz_check(cluster_host(&cluster, host->name) != NULL);
	}
	return 0;
}

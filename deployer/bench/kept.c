/* SPDX-License-Identifier: MIT */
#include "deployer/bench/kept.h"

#include "core/file.h"
#include "core/private.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DAY_S 86400

int kept_read(const struct cluster *cluster, const char *kind, size_t most, struct arena *arena,
	      struct kept *kept, cJSON **documents, struct error *err)
{
	const char *all = cluster_state_path(cluster, "history", arena);
	size_t count = 0;

	*documents = cJSON_CreateArray();
	kept->folder = arena_printf(arena, "%s/%s", all, kind);
	if (private_folder(all, err) < 0 || private_folder(kept->folder, err) < 0 ||
	    folder_list(kept->folder, ".json", arena, &kept->names, err) < 0)
		return -1;
	while (kept->names[count])
		count++;
	for (size_t i = count > most ? count - most : 0; i < count; i++) {
		struct error ignored = {0};
		cJSON *json;

		if (json_read(arena_printf(arena, "%s/%s", kept->folder, kept->names[i]), &json,
			      &ignored) == 0)
			cJSON_AddItemToArray(*documents, json);
	}
	return 0;
}

/* Removes files before that number, except the newest of each of the last days. */
static void kept_thin(const struct kept *kept, long before, long days, struct arena *arena)
{
	long today = (long)time(NULL) / DAY_S, last_day = LONG_MAX;
	size_t count = 0;

	while (kept->names[count])
		count++;
	while (count-- > 0) {
		const char *path = arena_printf(arena, "%s/%s", kept->folder, kept->names[count]);
		struct stat st;
		long day;

		if (strtol(kept->names[count], NULL, 10) >= before || stat(path, &st) < 0)
			continue;
		day = (long)st.st_mtime / DAY_S;
		if (day >= last_day || today - day >= days)
			unlink(path);
		else
			last_day = day;
	}
}

int kept_add(const struct kept *kept, const cJSON *document, long most, long days,
	     struct arena *arena, struct error *err)
{
	long number = 1;

	for (size_t i = 0; kept->names[i]; i++)
		number = strtol(kept->names[i], NULL, 10) + 1;
	if (json_write(arena_printf(arena, "%s/%06ld.json", kept->folder, number), document, 0600,
		       err) < 0)
		return -1;
	kept_thin(kept, number - most + 1, days, arena);
	return 0;
}

static int kept_by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double kept_median(double *numbers, size_t count)
{
	if (count == 0)
		return 0;
	qsort(numbers, count, sizeof(numbers[0]), kept_by_size);
	return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

/* SPDX-License-Identifier: MIT */
/* What --gpus, --driver and the like of `lab up` mean for each host. */
#include "deployer/lab/lab_gpus.h"

#include "core/file.h"
#include "core/str.h"
#include "core/table.h"
#include "deployer/lab/lab_gpu_files.h"
#include "deployer/lab/lab_state.h"
#include "plan/version.h"

#include <stdlib.h>
#include <string.h>

#define LAB_DRIVER_BYTES_MAX 32
#define LAB_MODELS "images/simulated/gpus.csv"
#define LAB_MIG "-MIG" /* behind a model: in MIG mode */

static int lab_gpus_models(struct arena *arena, struct table *models, struct error *err)
{
	const char *path;

	if (share_path(arena, LAB_MODELS, &path, err) < 0)
		return -1;
	return table_load(path, arena, models, err);
}

static ssize_t lab_gpus_row(const struct table *models, const char *name)
{
	for (size_t row = 0; row < models->row_count; row++)
		if (strcasecmp(table_cell(models, row, "gpu"), name) == 0)
			return (ssize_t)row;
	return -1;
}

static void lab_gpus_add_models(const struct table *models, struct str *out)
{
	for (size_t row = 0; row < models->row_count; row++)
		str_addf(out, "%s%s", row ? ", " : "", table_cell(models, row, "gpu"));
}

void lab_gpus_list_models(struct str *out)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error ignored = {0};
	struct table models;

	if (lab_gpus_models(&arena, &models, &ignored) == 0)
		lab_gpus_add_models(&models, out);
}

/* The next word of a list with `separator` between; NULL at its end. */
static const char *lab_gpus_next(const char **list, char separator, struct arena *arena)
{
	const char *at = *list, *end;

	if (!at)
		return NULL;
	end = strchr(at, separator);
	*list = end ? end + 1 : NULL;
	return end ? arena_strndup(arena, at, (size_t)(end - at)) : arena_strdup(arena, at);
}

/* "H100-MIG" -> "H100", and whether it was so. */
static const char *lab_gpus_model(const char *text, bool *mig, struct arena *arena)
{
	size_t length = strlen(text), end = strlen(LAB_MIG);

	*mig = length > end && strcasecmp(text + length - end, LAB_MIG) == 0;
	return *mig ? arena_strndup(arena, text, length - end) : text;
}

/* "8xH100" -> 8 and its row. */
static int lab_gpus_part(const char *part, const struct table *models, int *count,
			 struct lab_gpu *gpu, struct arena *arena, struct error *err)
{
	_cleanup_(str_release) struct str known = STR_INIT;
	char *end;
	long number = strtol(part, &end, 10);
	const char *model = *end == 'x' ? lab_gpus_model(end + 1, &gpu->mig, arena) : "";
	ssize_t found = lab_gpus_row(models, model);

	if (end == part || *end != 'x' || number < 1 || number > LAB_GPUS_MAX)
		return error_set(
			err, ERROR_USAGE,
			"--gpus: '%s' is not a number from 1 to %d, 'x' and a GPU, such as 8xH100",
			part, LAB_GPUS_MAX);
	if (found < 0) {
		lab_gpus_add_models(models, &known);
		return error_set(err, ERROR_USAGE,
				 "--gpus: the lab cannot simulate the GPU '%s'; it can: %s", model,
				 known.text);
	}
	*count = (int)number;
	gpu->row = (size_t)found;
	if (gpu->mig && !*lab_gpu_cell(gpu, "mig"))
		return error_set(err, ERROR_USAGE, "--gpus: %s has no MIG", model);
	return 0;
}

int lab_gpus_each(const char *spec, struct arena *arena,
		  int (*each)(const struct lab_gpu *gpu, void *arg, struct error *err), void *arg,
		  struct error *err)
{
	struct table models;
	const char *part;
	struct lab_gpu gpu = {.models = &models};
	int count = 0;

	if (!*spec)
		return 0;
	if (lab_gpus_models(arena, &models, err) < 0)
		return -1;
	while ((part = lab_gpus_next(&spec, '+', arena))) {
		if (lab_gpus_part(part, &models, &count, &gpu, arena, err) < 0)
			return -1;
		for (int i = 0; i < count; i++, gpu.index++) {
			if (gpu.index >= LAB_GPUS_MAX)
				return error_set(err, ERROR_USAGE,
						 "--gpus: a host has at most %d GPUs",
						 LAB_GPUS_MAX);
			if (each(&gpu, arg, err) < 0)
				return -1;
		}
	}
	return 0;
}

const char *lab_gpu_cell(const struct lab_gpu *gpu, const char *column)
{
	return table_cell(gpu->models, gpu->row, column);
}

/* --- texts ----------------------------------------------------------------------------------- */

struct lab_gpus_text {
	struct str *out;
	struct arena *arena;
	const char *product;
	int count;
};

static void lab_gpus_flush(struct lab_gpus_text *text)
{
	if (text->count)
		str_addf(text->out, "%s%dx %s", text->out->length ? ", " : "", text->count,
			 text->product);
	text->count = 0;
}

static int lab_gpus_count(const struct lab_gpu *gpu, void *arg, struct error *err)
{
	struct lab_gpus_text *text = arg;
	const char *product = arena_printf(text->arena, "%s%s", lab_gpu_cell(gpu, "product"),
					   gpu->mig ? " (MIG)" : "");

	(void)err;
	if (text->count && strcmp(text->product, product) != 0)
		lab_gpus_flush(text);
	text->product = product;
	text->count++;
	return 0;
}

const char *lab_gpus_text(const struct lab_host *host, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	struct lab_gpus_text text = {&out, arena, "", 0};
	struct error ignored = {0};

	lab_gpus_each(host->gpus.spec, arena, lab_gpus_count, &text, &ignored);
	lab_gpus_flush(&text);
	return out.length ? arena_strdup(arena, out.text) : "";
}

static int lab_gpus_newest_driver(const struct lab_gpu *gpu, void *arg, struct error *err)
{
	const char **newest = arg, *driver = lab_gpu_cell(gpu, "driver");

	(void)err;
	if (!**newest || version_compare(driver, *newest) > 0)
		*newest = driver;
	return 0;
}

const char *lab_gpus_driver(const struct lab_host *host, struct arena *arena)
{
	const char *driver = "";
	struct error ignored = {0};

	if (*host->gpus.driver)
		return host->gpus.driver;
	lab_gpus_each(host->gpus.spec, arena, lab_gpus_newest_driver, &driver, &ignored);
	return driver;
}

/* --- the wish -------------------------------------------------------------------------------- */

static int lab_gpus_accept(const struct lab_gpu *gpu, void *arg, struct error *err)
{
	bool *has_nvlink = arg;

	(void)err;
	*has_nvlink |= strcmp(lab_gpu_cell(gpu, "nvlinks"), "0") != 0;
	return 0;
}

static int lab_gpus_check(const char *spec, bool nvlink, struct arena *arena, struct error *err)
{
	bool has_nvlink = false;

	if (lab_gpus_each(spec, arena, lab_gpus_accept, &has_nvlink, err) < 0)
		return -1;
	if (nvlink && *spec && !has_nvlink)
		return error_set(err, ERROR_USAGE, "--nvlink: %s have no NVLink", spec);
	return 0;
}

static int lab_gpus_check_driver(const char *driver, struct error *err)
{
	if (strlen(driver) < LAB_DRIVER_BYTES_MAX && strchr(driver, '.') &&
	    strspn(driver, "0123456789.") == strlen(driver) && driver[0] != '.' &&
	    driver[strlen(driver) - 1] != '.')
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--driver: '%s' is no version of a driver, such as 550.54.15", driver);
}

static int lab_gpus_set(struct lab *lab, const struct lab_gpus_wish *wish, const char *text,
			struct arena *arena, struct error *err)
{
	const char *value;
	int first, last;

	if (lab_hosts_meant(lab, "--gpus", text, &first, &last, &value, arena, err) < 0)
		return -1;
	if (strcmp(value, "none") == 0)
		value = "";
	else if (!*value)
		return error_set(err, ERROR_USAGE, "--gpus: write 8xH100, node01=8xH100, or none");
	if (lab_gpus_check(value, wish->nvlink, arena, err) < 0)
		return -1;
	for (int i = first; i <= last; i++) {
		const struct lab_gpus old = lab->hosts[i].gpus;
		struct error ignored = {0};

		/* links stay where the new GPUs can have them; a host with --gpus has the toolkit */
		lab->hosts[i].gpus = (struct lab_gpus){
			.spec = value,
			.driver = *value ? old.driver : "",
			.nvlink = *value &&
				  (wish->nvlink || (old.nvlink && lab_gpus_check(value, true, arena,
										 &ignored) == 0)),
			.infiniband = *value && (wish->infiniband || old.infiniband),
			.toolkit = *value != '\0',
		};
	}
	return 0;
}

static int lab_gpus_set_driver(struct lab *lab, const char *text, struct arena *arena,
			       struct error *err)
{
	const char *value;
	int first, last;

	if (lab_hosts_meant(lab, "--driver", text, &first, &last, &value, arena, err) < 0 ||
	    lab_gpus_check_driver(value, err) < 0)
		return -1;
	for (int i = first; i <= last; i++) {
		if (!*lab->hosts[i].gpus.spec && first == last)
			return error_set(err, ERROR_USAGE,
					 "--driver %s: that host has no GPUs; give --gpus too",
					 text);
		if (*lab->hosts[i].gpus.spec)
			lab->hosts[i].gpus.driver = value;
	}
	return 0;
}

static int lab_gpus_take_toolkit(struct lab *lab, const char *text, struct arena *arena,
				 struct error *err)
{
	const char *name = strcmp(text, "all") == 0 ? "" : arena_printf(arena, "%s=", text), *value;
	int first, last;

	if (lab_hosts_meant(lab, "--no-toolkit", name, &first, &last, &value, arena, err) < 0)
		return -1;
	for (int i = first; i <= last; i++)
		lab->hosts[i].gpus.toolkit = false;
	return 0;
}

/* Calls `set` for each word of each list. */
static int lab_gpus_words(struct lab *lab, const struct words *lists, struct arena *arena,
			  int (*set)(struct lab *lab, const char *text, struct arena *arena,
				     struct error *err),
			  struct error *err)
{
	for (size_t i = 0; i < lists->count; i++) {
		const char *list = lists->list[i], *text;

		while ((text = lab_gpus_next(&list, ',', arena)))
			if (set(lab, text, arena, err) < 0)
				return -1;
	}
	return 0;
}

/* --nvlink and --infiniband without --gpus are for the GPUs that are there. */
static int lab_gpus_add_links(struct lab *lab, const struct lab_gpus_wish *wish,
			      struct arena *arena, struct error *err)
{
	for (int i = 0; i < lab->host_count; i++) {
		struct lab_gpus *gpus = &lab->hosts[i].gpus;

		if (!*gpus->spec)
			continue;
		if (lab_gpus_check(gpus->spec, wish->nvlink, arena, err) < 0)
			return -1;
		gpus->nvlink |= wish->nvlink;
		gpus->infiniband |= wish->infiniband;
	}
	return 0;
}

static int lab_gpus_take_links(struct lab *lab, const struct lab_gpus_wish *wish, struct error *err)
{
	const char *both = wish->nvlink && wish->no_nvlink	     ? "nvlink"
			   : wish->infiniband && wish->no_infiniband ? "infiniband"
								     : NULL;

	if (both)
		return error_set(err, ERROR_USAGE, "--%s and --no-%s exclude each other", both,
				 both);
	for (int i = 0; i < lab->host_count; i++) {
		lab->hosts[i].gpus.nvlink &= !wish->no_nvlink;
		lab->hosts[i].gpus.infiniband &= !wish->no_infiniband;
	}
	return 0;
}

static bool lab_gpus_is_wished(const struct lab_gpus_wish *wish)
{
	return wish->gpus.count || wish->drivers.count || wish->no_toolkit.count || wish->nvlink ||
	       wish->infiniband || wish->no_nvlink || wish->no_infiniband;
}

static bool lab_gpus_any(const struct lab *lab)
{
	for (int i = 0; i < lab->host_count; i++)
		if (*lab->hosts[i].gpus.spec)
			return true;
	return false;
}

/* Whether a person has broken the host's GPUs: writing them anew mends that. */
static bool lab_gpus_has_fault(const struct lab *lab, int host, struct arena *arena)
{
	return file_exists(
		lab_path(lab, arena_printf(arena, "node%02d/gpus/fault", host + 1), arena));
}

int lab_gpus_apply(struct lab *lab, const struct lab_gpus_wish *wish, struct arena *arena,
		   struct error *err)
{
	struct lab_gpus *before = ARENA_ARRAY(arena, (size_t)lab->host_count, struct lab_gpus);

	for (int i = 0; i < lab->host_count; i++) {
		if (!lab->hosts[i].gpus.spec)
			lab->hosts[i].gpus = (struct lab_gpus){.spec = "", .driver = ""};
		before[i] = lab->hosts[i].gpus;
	}
	if (lab_gpus_take_links(lab, wish, err) < 0)
		return -1;
	for (size_t i = 0; i < wish->gpus.count; i++) {
		const char *list = wish->gpus.list[i], *text;

		while ((text = lab_gpus_next(&list, ',', arena)))
			if (lab_gpus_set(lab, wish, text, arena, err) < 0)
				return -1;
	}
	if (lab_gpus_is_wished(wish) && !wish->gpus.count && !lab_gpus_any(lab))
		return error_set(
			err, ERROR_USAGE,
			"no host of this lab has GPUs; give --gpus, such as --gpus 8xH100");
	if ((!wish->gpus.count && lab_gpus_add_links(lab, wish, arena, err) < 0) ||
	    lab_gpus_words(lab, &wish->drivers, arena, lab_gpus_set_driver, err) < 0 ||
	    lab_gpus_words(lab, &wish->no_toolkit, arena, lab_gpus_take_toolkit, err) < 0)
		return -1;
	for (int i = 0; i < lab->host_count; i++) {
		const struct lab_gpus *now = &lab->hosts[i].gpus;

		/* sshd's environment and the engine's hook are read at their start */
		lab->hosts[i].restarts = (*before[i].spec != '\0') != (*now->spec != '\0') ||
					 before[i].toolkit != now->toolkit;
		lab->hosts[i].gpus_changed =
			lab_gpus_is_wished(wish) || lab_gpus_has_fault(lab, i, arena);
	}
	return 0;
}

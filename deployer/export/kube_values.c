/* SPDX-License-Identifier: MIT */
#include "deployer/export/kube_values.h"
#include "deployer/export/kube_metadata.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT_NAME_MAX 253
#define OWN_MOUNT "/dev/shm" /* kube_add_mounts */

/* A name of objects: small letters, digits, '-' and '.', a letter or a digit at both ends of each part. */
static bool values_is_object(const char *text, size_t most)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++) {
		bool is_inner = i > 0 && i + 1 < length && text[i - 1] != '.' && text[i + 1] != '.';

		if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) &&
		    !(is_inner && strchr("-.", text[i])))
			return false;
	}
	return length > 0 && length <= most;
}

static bool values_is_namespace(const char *text)
{
	return values_is_object(text, KUBE_LABEL_MAX) && !strchr(text, '.');
}

static bool values_is_name(const char *text)
{
	return values_is_object(text, OBJECT_NAME_MAX);
}

/* It is the value of a label, too. */
static bool values_is_queue(const char *text)
{
	return values_is_object(text, KUBE_LABEL_MAX);
}

/* "node", and "tolerate" without its effect: KEY or KEY=VALUE */
static bool values_is_label(const char *text)
{
	size_t key = strcspn(text, "=");
	const char *value = text + key + (text[key] == '=');

	return kube_is_key(text, key) && (!*value || kube_is_name(value, strlen(value)));
}

/* As kubectl writes a taint: KEY[=VALUE], with ":EFFECT" behind it or without. */
static bool values_is_taint(const char *text)
{
	static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
	size_t length = strcspn(text, ":"), key = strcspn(text, "=:");
	size_t value = key < length ? length - key - 1 : 0;
	bool has_effect = !text[length];

	for (size_t i = 0; !has_effect && i < ARRAY_LEN(effects); i++)
		has_effect = strcmp(text + length + 1, effects[i]) == 0;
	return has_effect && kube_is_key(text, key) &&
	       (!value || kube_is_name(text + key + 1, value));
}

/* An extended resource, whose prefix tells it from Kubernetes' own; for RDMA with "=COUNT" behind it. */
static bool values_is_resource(const char *text)
{
	return strchr(text, '/') && kube_is_key(text, strlen(text));
}

static bool values_is_rdma(const char *text)
{
	size_t key = strcspn(text, "=");
	const char *count = text + key + 1;

	if (!memchr(text, '/', key) || !kube_is_key(text, key))
		return false;
	return !text[key] || (count[strspn(count, "0")] && !count[strspn(count, "0123456789")]);
}

static bool values_is_number(const char *text)
{
	return !text[strspn(text, "0123456789")];
}

/* How much of the text is a number that is not 0, as 1.5; 0: none is. */
static size_t values_number(const char *text)
{
	size_t whole = strspn(text, "0123456789"), part = 0;

	if (whole && text[whole] == '.')
		part = 1 + strspn(text + whole + 1, "0123456789");
	return strcspn(text, "123456789") < whole + part ? whole + part : 0;
}

static bool values_is_cpus(const char *text)
{
	size_t number = values_number(text);

	return number && (!text[number] || strcmp(text + number, "m") == 0);
}

static bool values_is_size(const char *text)
{
	static const char *const units[] = {"",	  "k",	"M",  "G",  "T",  "P", "E",
					    "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	size_t number = values_number(text);

	for (size_t i = 0; number && i < ARRAY_LEN(units); i++)
		if (strcmp(text + number, units[i]) == 0)
			return true;
	return false;
}

static const struct values_form {
	const char *setting;
	bool (*is_right)(const char *value);
	bool may_be_empty; /* then it is left out */
	const char *needed;
} values_forms[] = {
	{"namespace", values_is_namespace, true, "a namespace has small letters, digits and '-'"},
	{"queue", values_is_queue, true, "a queue has small letters, digits, '-' and '.'"},
	{"priority", values_is_name, true,
	 "a PriorityClass has small letters, digits, '-' and '.'"},
	{"pull-secret", values_is_name, true, "a Secret has small letters, digits, '-' and '.'"},
	{"env-secret", values_is_name, true, "a Secret has small letters, digits, '-' and '.'"},
	{"claim", values_is_name, true,
	 "a ResourceClaimTemplate has small letters, digits, '-' and '.'"},
	{"service-account", values_is_name, true,
	 "a ServiceAccount has small letters, digits, '-' and '.'"},
	{"runtime", values_is_name, false,
	 "a ClusterTrainingRuntime has small letters, digits, '-' and '.'"},
	{"gpu-resource", values_is_resource, false, "a resource is needed, as nvidia.com/gpu"},
	{"rdma-resource", values_is_rdma, false,
	 "NAME or NAME=COUNT is needed, COUNT from 1, as rdma/hca_shared_devices_a=1; container.devices: none leaves it out"},
	{"tolerate", values_is_taint, true,
	 "KEY[=VALUE][:EFFECT] of a taint is needed, as nvidia.com/gpu or dedicated=ml:NoSchedule; effects are NoSchedule, PreferNoSchedule and NoExecute, and without one all are tolerated"},
	{"node", values_is_label, true, "LABEL=VALUE is needed, as pool=train"},
	{"cpu", values_is_cpus, true, "a number of processors is needed, as 16 or 1500m"},
	{"memory", values_is_size, true, "a size is needed, as 64Gi"},
	{"user", values_is_number, true, "a number is needed"},
	{"group", values_is_number, true, "a number is needed"},
	{"keep", values_is_number, true, "a number is needed"},
};

static int values_check_pair(const char *pair, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(values_forms); i++) {
		const struct values_form *form = &values_forms[i];
		size_t length = strlen(form->setting);

		if (strncmp(pair, form->setting, length) != 0 || pair[length] != '=')
			continue;
		pair += length + 1;
		if (*pair ? form->is_right(pair) : form->may_be_empty)
			return 0;
		return error_set(err, ERROR_USAGE, "--set %s=%s: %s", form->setting, pair,
				 form->needed);
	}
	return 0;
}

/* "/data/" is "/data". */
static size_t values_path_length(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

static bool values_is_same_path(const char *one, const char *other)
{
	size_t length = values_path_length(one);

	return length == values_path_length(other) && strncmp(one, other, length) == 0;
}

static int values_check_volumes(const struct kube *k, struct error *err)
{
	const char *const *volumes = k->wish->cluster->container.volumes;

	for (size_t i = 0; volumes[i]; i++) {
		const struct export_volume v = export_volume(volumes[i], k->wish->arena);
		bool is_taken = values_is_same_path(v.target, OWN_MOUNT);

		if (v.is_name && !values_is_name(v.source))
			return error_set(
				err, ERROR_USAGE,
				"container.volumes: %s: '%s' can be no PersistentVolumeClaim, whose name has small letters, digits, '-' and '.'",
				volumes[i], v.source);
		if (is_taken)
			return error_set(
				err, ERROR_USAGE,
				"container.volumes: %s: the pods have their shared memory at %s; container.shm_size says how much",
				volumes[i], OWN_MOUNT);
		for (size_t other = 0; other < i && !is_taken; other++)
			is_taken = values_is_same_path(
				v.target, export_volume(volumes[other], k->wish->arena).target);
		if (is_taken)
			return error_set(
				err, ERROR_USAGE,
				"container.volumes: %s: another volume has that path in the container",
				volumes[i]);
	}
	return 0;
}

int kube_check_values(const struct kube *k, bool has_volumes, struct error *err)
{
	for (const char *const *pair = k->wish->settings; *pair; pair++)
		if (values_check_pair(*pair, err) < 0)
			return -1;
	return has_volumes ? values_check_volumes(k, err) : 0;
}

double kube_cpus(const char *quantity)
{
	char *end;
	double cpus = strtod(quantity, &end);

	return *end == 'm' ? cpus / 1000 : cpus;
}

/* SPDX-License-Identifier: MIT */
#include "deployer/export/kube_metadata.h"

#include "core/foreign.h"

#include <ctype.h>
#include <string.h>

/* What this program writes itself, and by which setting. */
static const char *const kube_own_keys[][2] = {
	{KUBE_PART_OF, "the name in cluster.yaml"},
	{KUBE_QUEUE, "--set queue=NAME"},
	{KUBE_GROUP, "--set gang=volcano"},
};

bool kube_is_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && (!text[i] || !strchr("._-", text[i])))
			return false;
	return length > 0 && length <= KUBE_LABEL_MAX && isalnum((unsigned char)text[0]) &&
	       isalnum((unsigned char)text[length - 1]);
}

bool kube_is_key(const char *text, size_t length)
{
	const char *slash = memchr(text, '/', length);
	size_t prefix = slash ? (size_t)(slash - text) + 1 : 0;

	for (size_t i = 0; i + 1 < prefix; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]))
			return false;
	return prefix != 1 && kube_is_name(text + prefix, length - prefix);
}

static const char *kube_key_owner(const char *pair, size_t key)
{
	for (size_t i = 0; i < ARRAY_LEN(kube_own_keys); i++)
		if (strlen(kube_own_keys[i][0]) == key &&
		    strncmp(kube_own_keys[i][0], pair, key) == 0)
			return kube_own_keys[i][1];
	return NULL;
}

/* What is wrong with pairs[at] as a label, or else as an annotation; NULL: nothing. */
static const char *kube_pair_fault(const char *const *pairs, size_t at, bool is_label,
				   struct arena *arena)
{
	size_t key = strcspn(pairs[at], "=");
	const char *value = pairs[at] + key + 1, *owner = kube_key_owner(pairs[at], key);

	if (!pairs[at][key] || !kube_is_key(pairs[at], key))
		return "KEY=VALUE is needed, with a key as team or example.com/team";
	if (is_label && *value && !kube_is_name(value, strlen(value)))
		return "a label's value has at most 63 letters, digits and ._-, and begins and ends with "
		       "a letter or a digit";
	if (strcmp(foreign_clean_line(arena_strdup(arena, value)), value) != 0)
		return "control characters are not allowed";
	if (owner)
		return arena_printf(arena, "ringup writes it, by %s", owner);
	for (size_t other = 0; other < at; other++)
		if (strncmp(pairs[other], pairs[at], key + 1) == 0)
			return "the key is given twice";
	return NULL;
}

int kube_check_metadata(const struct kube *k, const char *setting, struct error *err)
{
	const char *const *pairs = export_values(k->exporter, k->wish, setting);
	const char *fault;

	for (size_t i = 0; pairs[i]; i++) {
		fault = kube_pair_fault(pairs, i, strcmp(setting, "label") == 0, k->wish->arena);
		if (fault)
			return error_set(err, ERROR_USAGE, "--set %s=%s: %s", setting, pairs[i],
					 fault);
	}
	return 0;
}

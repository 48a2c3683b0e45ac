/* SPDX-License-Identifier: MIT */
#include "deployer/setup/nvidia_source.h"

#include "resolver/os_find.h"

void nvidia_source_of(const struct catalog *whole, const struct facts *facts, struct arena *arena,
		      struct nvidia_source *source)
{
	const char *arch = *facts->arch ? facts->arch : NULL;
	const struct catalog *catalog = whole ? catalog_for(whole, arch, arena) : NULL;
	const char *os = catalog ? os_of_host(catalog, facts->os) : NULL;

	*source = (struct nvidia_source){"", "", "", ""};
	if (!os)
		return;
	source->place = catalog_named(catalog, "os", os, "repository");
	source->key = catalog_named(catalog, "os", os, "key");
	source->fingerprint = catalog_named(catalog, "key", source->key, "fingerprint");
	source->sha256 = catalog_named(catalog, "key", source->key, "sha256");
	if (!*source->place || (!*source->fingerprint && !*source->sha256))
		*source = (struct nvidia_source){"", "", "", ""};
}

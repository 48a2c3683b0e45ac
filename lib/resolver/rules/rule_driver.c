/* SPDX-License-Identifier: MIT */
/*
 * Which driver runs which CUDA. Source: NVIDIA, "CUDA Compatibility" (minor-version and forward
 * compatibility), and the driver table of the CUDA release notes.
 */
#include "resolver/rules/rule_driver.h"

#include "resolver/request.h"

#include "core/str.h"

#include <string.h>

bool driver_reaches(const char *driver, const char *minimum)
{
	/* a branch without a version means its newest driver */
	if (!strchr(driver, '.'))
		return version_compare(driver, minimum) >= 0 || version_in_series(minimum, driver);
	return version_compare(driver, minimum) >= 0;
}

/* The one version that a ">=384.81" cell names. */
static const char *least(const struct needs *needs)
{
	return needs && needs->count && needs->alternatives[0].clause_count
		       ? needs->alternatives[0].clauses[0].version
		       : NULL;
}

/*
 * Whether cuda-compat of this release was made for the driver's branch. Those are the branches that
 * any of NVIDIA's images of the release ever admitted (NVIDIA_REQUIRE_CUDA), even if a later push
 * of the tag removed them.
 */
static bool compat_branch(const struct model *model, const char *driver, const char *cuda)
{
	const struct table *require = catalog_table(model->catalog, "require");

	for (size_t row = 0; require && row < require->row_count; row++)
		if (version_in_series(cuda, table_cell(require, row, "version")) &&
		    list_has(table_cell(require, row, "branches"), driver, strcspn(driver, ".")))
			return true;
	return false;
}

enum admission driver_runs(const struct model *model, const char *driver, const struct value *cuda,
			   bool compat)
{
	const char *exact = least(cuda->needs[COMPONENT_DRIVER]);
	const char *minor = value_cell(cuda, "driver_minor");

	if (!exact || driver_reaches(driver, exact))
		return ADMIT_YES;
	if (*minor && driver_reaches(driver, minor + strspn(minor, ">= ")))
		return ADMIT_MINOR;
	if (compat && strcmp(value_cell(cuda, "compat"), "yes") == 0 &&
	    compat_branch(model, driver, cuda->version))
		return ADMIT_COMPAT;
	return ADMIT_NO;
}

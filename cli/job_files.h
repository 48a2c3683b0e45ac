/* SPDX-License-Identifier: MIT */
/* job_files.h - the files of a job for a scheduler, for `export` and `run --on --dry-run`. */
#ifndef CLI_JOB_FILES_H
#define CLI_JOB_FILES_H

#include "cli/app/command.h"
#include "deployer/export/export.h"

/* Prints the first file, or the paths of all of them where they went into `folder`; NULL: nowhere. With --json all of both. */
void job_files_show(const struct context *ctx, const char *folder, const struct exporter *exporter,
		    const struct export_wish *wish, const struct export_files *files);

/*
 * The command that makes the same files again, for their first comment: `begin` are the words behind "ringup". `env` are the words of
 * --env, whose values are not in it: one may be a secret, and stands where the engine reads it. In the context's arena.
 */
const char *job_files_origin(const struct context *ctx, const char *const *begin,
			     const struct opt *rows, const void *values, const struct words *env,
			     const char *const *arguments);

#endif

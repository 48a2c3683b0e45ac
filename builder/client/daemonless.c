/* SPDX-License-Identifier: MIT */
#include "builder/client/daemonless.h"

#include "builder/client/client.h"
#include "builder/native/runtime/runtime.h"
#include "core/words.h"

#include <string.h>

static struct client daemonless_client(const struct build_target *target)
{
	return (struct client){.on = target->on, .step = "STEP "};
}

/* The words `first` with the runtime in them, and then the image unless it is NULL. */
static const char *const *daemonless_words(const char *const *first, const char *image,
					   struct arena *arena)
{
	const char *runtime = runtime_name() ? runtime_name() : "runc";
	struct words words = WORDS_INIT(arena);

	for (; *first; first++)
		words_add(&words, strcmp(*first, "@runtime") == 0 ? runtime : *first);
	if (image)
		words_add(&words, image);
	return words.list;
}

bool daemonless_available(const struct backend *backend, const struct build_target *target,
			  struct arena *arena, const char **why)
{
	const char *program = backend->words->program;
	struct client c = daemonless_client(target);

	if (!client_exists(&c, program)) {
		*why = arena_printf(arena, "the %s command is not installed (apt-get install %s)",
				    program, program);
		return false;
	}
	return client_answers(&c, backend->words->answers,
			      arena_printf(arena, "%s does not work", program),
			      arena_printf(arena, "see %s info", program), arena, why);
}

int daemonless_has_image(const struct backend *backend, const struct build_target *target,
			 const char *image, bool *found, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct client c = daemonless_client(target);

	return client_ask(&c, daemonless_words(backend->words->has_image, image, &arena), found,
			  err);
}

int daemonless_import_base(const struct backend *backend, const struct build_target *target,
			   const char *tar, const char *image, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct client c = daemonless_client(target);

	return client_give(&c, daemonless_words(backend->words->import_base, image, &arena), tar,
			   err);
}

int daemonless_forget(const struct backend *backend, const struct build_target *target,
		      const char *image, const char *log, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct client c = daemonless_client(target);

	(void)log;
	if (!image)
		return 0;
	return client_clean(&c, daemonless_words(backend->words->remove, image, &arena), err);
}

const char *const *daemonless_build_words(const struct backend *backend, const char *context,
					  const char *image, const char *const *build_args,
					  struct arena *arena)
{
	return client_build_words(daemonless_words(backend->words->build, NULL, arena), context,
				  image, build_args, arena);
}

static const char *const *daemonless_build_words_there(const struct backend *backend,
						       const char *context, const char *image,
						       const char *const *build_args,
						       struct arena *arena)
{
	return client_build_words(backend->words->build_there, context, image, build_args, arena);
}

int daemonless_build(const struct backend *backend, const struct build_job *job, struct error *err)
{
	struct client c = daemonless_client(job->target);

	return client_build(&c, backend, job,
			    job->target->on ? daemonless_build_words_there : daemonless_build_words,
			    CONTEXT_FOLDER, err);
}

int daemonless_save(const struct backend *backend, const struct build_target *target,
		    const char *image, int fd, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct client c = daemonless_client(target);

	return client_write(&c, daemonless_words(backend->words->save, image, &arena), fd, err);
}

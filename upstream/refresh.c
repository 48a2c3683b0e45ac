/* SPDX-License-Identifier: MIT */
#include "upstream/refresh.h"

#include "core/str.h"
#include "upstream/python/frameworks.h"
#include "upstream/redist.h"
#include "upstream/releases.h"
#include "upstream/repository.h"
#include "upstream/tags.h"
#include "upstream/python/wheels.h"

#include <string.h>

/* PyPI and NVIDIA's repositories: each is asked, whatever the other says. */
static int refresh_library(struct refresh *refresh, const char *component, struct error *err)
{
	struct error second = {0};

	if (refresh_pip_rows(refresh, component, err) < 0 && err->kind == ERROR_INTERRUPTED)
		return -1;
	if (refresh_repositories(refresh, component, &second) < 0 && err->kind == ERROR_NONE)
		*err = second;
	else if (second.kind == ERROR_INTERRUPTED)
		*err = second;
	return err->kind == ERROR_NONE ? 0 : -1;
}

static int refresh_cudnn(struct refresh *refresh, struct error *err)
{
	struct error archives = {0};

	if (refresh_library(refresh, "cudnn", err) < 0 && err->kind == ERROR_INTERRUPTED)
		return -1;
	if (refresh_redist(refresh, &archives) < 0 &&
	    (err->kind == ERROR_NONE || archives.kind == ERROR_INTERRUPTED))
		*err = archives;
	return err->kind == ERROR_NONE ? 0 : -1;
}

static int refresh_nccl(struct refresh *refresh, struct error *err)
{
	return refresh_library(refresh, "nccl", err);
}

const struct refresh_part refresh_parts[] = {
	{"torch", "PyPI and PyTorch's index", "pypi", refresh_torch},
	{"tensorflow", "PyPI", "pypi", refresh_tensorflow},
	{"jax", "PyPI", "pypi", refresh_jax},
	{"horovod", "PyPI", "pypi", refresh_horovod},
	{"wheel", "PyPI", "pypi", refresh_wheels},
	{"cuda", "PyPI", "pypi", refresh_cuda},
	{"cudnn", "PyPI and NVIDIA's repositories", "pypi", refresh_cudnn},
	{"nccl", "PyPI and NVIDIA's repositories", "pypi", refresh_nccl},
	{"openmpi", "open-mpi.org", "openmpi-releases", refresh_openmpi},
	{"image", "Docker Hub", "docker-hub-cuda", refresh_images},
	{NULL, NULL, NULL, NULL},
};

int refresh_keep_error(struct error *first, const struct error *err)
{
	if (first->kind == ERROR_NONE)
		*first = *err;
	return first->kind == ERROR_NONE ? 0 : -1;
}

const char *refresh_url(const struct refresh *refresh, const char *host_and_path)
{
	return *refresh->downloads
		       ? arena_printf(refresh->arena, "%s/%s", refresh->downloads, host_and_path)
		       : arena_printf(refresh->arena, "https://%s", host_and_path);
}

struct pypi refresh_index(const struct refresh *refresh, const char *index)
{
	size_t length = strlen(index);

	while (length && index[length - 1] == '/')
		length--;
	return (struct pypi){.web = &refresh->web,
			     .index = arena_strndup(refresh->arena, index, length),
			     .arena = refresh->arena};
}

struct pypi refresh_pypi(const struct refresh *refresh)
{
	return refresh_index(refresh, *refresh->pip ? refresh->pip : PYPI_INDEX);
}

int refresh_component(struct refresh *refresh, const struct refresh_part *part, struct error *err)
{
	if (part->run(refresh, err) < 0)
		return -1;
	rows_stamp(&refresh->rows, part->component, part->source);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A layer of an engine on its way to the normalised one: within its budget, or an error; and what it
 * becomes is a layer that lists.
 */
#include "tests/fuzz/fuzz.h"

#include "builder/native/layer/layer_list.h"
#include "core/file.h"
#include "core/log.h"
#include "oci/budget.h"
#include "oci/layout.h"
#include "oci/normalise.h"

struct layer {
	const char *folder, *bytes;
	size_t length;
	char diff_id[DIGEST_TEXT_BYTES];
	struct descriptor blob;
};

static int next_piece(void *arg, const void **bytes, size_t *length, struct error *err)
{
	struct layer *layer = arg;

	(void)err;
	*bytes = layer->bytes;
	*length = layer->length < 700 ? layer->length : 700; /* no multiple of a block */
	layer->bytes += *length;
	layer->length -= *length;
	return 0;
}

static int normalise(void *arg, struct packer *packer, struct error *err)
{
	const struct budget_limits limits = {.unpacked_bytes = MIB, .entries = 1000};
	char plain[DIGEST_TEXT_BYTES];
	struct layer *layer = arg;
	struct budget budget;

	budget_init(&budget, &limits, NULL);
	if (packer_begin(packer, layer->folder, err) < 0 ||
	    layer_normalise(next_piece, layer, 1000, packer, &budget, plain, err) < 0)
		return -1;
	fuzz_check(!layer->length && atomic_load(&budget.entries) <= 1000);
	return packer_end(packer, layer->diff_id, &layer->blob, err);
}

static void check_result(const struct layer *layer)
{
	char path[LAYOUT_PATH_BYTES];
	struct error err = {0};
	struct tree tree;
	int rc;

	fuzz_check(layout_blob_path(layer->folder, layer->blob.digest, path, &err) == 0);
	tree_init(&tree);
	/* names that lead out of the layer are an error here, and nowhere before */
	rc = layer_list(path, layer->diff_id, NULL, &tree, &err);
	fuzz_check_error(rc, &err);
	tree_release(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(free_pointer) char *tar = fuzz_text(data, size);
	char folder[] = "/dev/shm/ringup-fuzz-XXXXXX";
	struct layer layer = {.folder = folder, .bytes = tar, .length = size};
	struct error err = {0}, ignored;
	int rc;

	log_setup(LOG_QUIET, false);
	fuzz_mend_tar(tar, size);
	fuzz_check(mkdtemp(folder) != NULL);
	fuzz_check(layout_init(folder, &err) == 0);
	rc = packer_run(normalise, &layer, &err);
	fuzz_check_error(rc, &err);
	if (rc == 0)
		check_result(&layer);
	folder_remove(folder, &ignored);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* The packages of an image, from its own files, and the SPDX document that lists them. */
#include "tests/unit/builder/native_support.h"

#include "builder/evidence/attest.h"
#include "core/log.h"

#define RPM_LIST "usr/share/ringup/rpm-packages"

/* An image of two layers: the first has old/, the second new/. */
static struct built two_layers(struct scratch *s, const char *old, const char *new)
{
	const char *const files[][2] = {
		{"old/" RPM_LIST, old},
		{"old/var/lib/dpkg/status",
		 "Package: tar\nStatus: install ok installed\nArchitecture: amd64\n"
		 "Version: 1.34+dfsg-1.2\n\nPackage: gone\nStatus: deinstall ok config-files\n"
		 "Architecture: amd64\nVersion: 1\n"},
		{"new/" RPM_LIST, new},
		{"new/usr/lib/python3/dist-packages/numpy-1.26.4.dist-info/METADATA",
		 "Name: numpy\n"},
		{NULL, NULL}};

	return build(s, make_spec(s,
				  "ARG SOURCE_DATE_EPOCH=1\nFROM scratch\nCOPY old/ /\n"
				  "COPY new/ /\n",
				  files));
}

static const char LIST[] = "bash 5.1.8-9.el9 x86_64\ngpg-pubkey 8483c65d-5ccc5b19 (none)\n"
			   "libibverbs 51.0-1.el9 i686\nlibibverbs 51.0-1.el9 x86_64\n"
			   "openssl-libs 1:3.2.2-6.el9+2 x86_64\n";

static void test_kinds(void **state)
{
	struct scratch *s = *state;
	struct built built = two_layers(s, "replaced 1-1 noarch\n", LIST);
	struct inventory inventory;
	struct error err = {0};
	const char *all = "";

	assert_fine(inventory_read(built.layout, &built.manifest, in(s, "cache"), NULL, &s->arena,
				   &inventory, &err));
	for (size_t i = 0; i < inventory.count; i++)
		all = arena_printf(&s->arena, "%s%d %s %s %s\n", all, inventory.list[i].kind,
				   inventory.list[i].name, inventory.list[i].version,
				   inventory.list[i].architecture);
	assert_string_equal(all, "0 tar 1.34+dfsg-1.2 amd64\n"
				 "1 bash 5.1.8-9.el9 x86_64\n"
				 "1 libibverbs 51.0-1.el9 i686\n"
				 "1 libibverbs 51.0-1.el9 x86_64\n"
				 "1 openssl-libs 1:3.2.2-6.el9+2 x86_64\n"
				 "2 numpy 1.26.4 \n");
}

/* What is no line of the list is passed over. */
static void test_bad_lists(void **state)
{
	static const char *const lists[] = {"\n",	"bash",		 "bash \n",
					    "bash 5.1", "bash 5.1 \n\n", "\n\n \nbash  \n"};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct built built = two_layers(s, "x 1 noarch\n", lists[i]);
		struct inventory inventory;
		struct error err = {0};

		assert_fine(inventory_read(built.layout, &built.manifest, NULL, NULL, &s->arena,
					   &inventory, &err));
		for (size_t k = 0; k < inventory.count; k++)
			assert_int_not_equal(inventory.list[k].kind, INVENTORY_RPM);
	}
}

/* A layer that is added to an image as it is. */
static struct descriptor add_layer(struct scratch *s, const char *layout, const char *tar)
{
	struct descriptor blob;
	struct error err = {0};
	size_t length;
	char *bytes;

	assert_fine(file_read(tar, MIB, &s->arena, &bytes, &length, &err));
	assert_fine(layout_put(layout, bytes, length, MEDIA_OCI_LAYER, &blob, &err));
	return blob;
}

/* What a later layer removes is no part of the image, at the top of the tree as below it. */
static void test_removed(void **state)
{
	static const char *const marks[] = {".wh.opt", "opt/.wh.lib", "opt/lib/.wh..wh..opq",
					    "./opt/lib/.wh.b-1.dist-info"};
	struct scratch *s = *state;
	const char *layout = in(s, "layout");
	struct error err = {0};

	assert_fine(layout_init(layout, &err));
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		struct made_tar low = tar_make(s, "low.tar"), high = tar_make(s, "high.tar");
		struct descriptor layers[2], manifest;
		struct manifest image = {.media_type = MEDIA_OCI_MANIFEST,
					 .layers = layers,
					 .layer_count = ARRAY_LEN(layers)};
		struct inventory inventory;
		const char *text;

		tar_file(&low, "opt/lib/b-1.dist-info/METADATA", "");
		tar_file(&high, marks[i], "");
		layers[0] = add_layer(s, layout, tar_end(&low));
		layers[1] = add_layer(s, layout, tar_end(&high));
		image.config = layers[0];
		text = manifest_write(&image, &s->arena);
		assert_fine(layout_put(layout, text, strlen(text), MEDIA_OCI_MANIFEST, &manifest,
				       &err));
		assert_fine(
			inventory_read(layout, &manifest, NULL, NULL, &s->arena, &inventory, &err));
		assert_int_equal(inventory.count, 0);
	}
}

static const char *sbom_of(struct scratch *s, const struct built *built, const char *vendor)
{
	static const struct plan plan;
	struct spec spec = {.os = "x1", .os_vendor = vendor};
	const struct attest_input input = {.name = "lab/train",
					   .layout = built->layout,
					   .manifest = &built->manifest,
					   .spec = &spec,
					   .plan = &plan};
	struct error err = {0};
	const char *text;

	assert_fine(sbom_write(&input, &s->arena, &text, &err));
	return text;
}

static void test_sbom(void **state)
{
	static const char *const vendors[] = {"rocky", "almalinux", "redhat"};
	struct scratch *s = *state;
	struct built built = two_layers(s, "", LIST);
	const char *text;

	for (size_t i = 0; i < ARRAY_LEN(vendors); i++)
		assert_has(sbom_of(s, &built, vendors[i]),
			   arena_printf(&s->arena, "\"pkg:rpm/%s/bash@5.1.8-9.el9?arch=x86_64\"",
					vendors[i]));
	text = sbom_of(s, &built, "rocky");
	assert_has(text, "\"pkg:rpm/rocky/openssl-libs@3.2.2-6.el9%2B2?arch=x86_64&epoch=1\"");
	assert_has(text, "\"versionInfo\":\"1:3.2.2-6.el9+2\"");
	assert_has(text, "\"SPDXID\":\"SPDXRef-Rpm-i686-libibverbs-51.0-1.el9\"");
	assert_has(text, "\"SPDXID\":\"SPDXRef-Rpm-x86-64-libibverbs-51.0-1.el9\"");
	assert_lacks(text, "gpg-pubkey");
	assert_has(text, "\"pkg:pypi/numpy@1.26.4\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_kinds),
		SCRATCH_TEST(test_bad_lists),
		SCRATCH_TEST(test_sbom),
		SCRATCH_TEST(test_removed),
	};

	umask(022);
	log_setup(LOG_QUIET, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/keys/private_key.h"

#include "core/file.h"
#include "core/secret.h"

#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_CEILING_BYTES (64 * KIB)
#define OPENSSH_LABEL "-----BEGIN OPENSSH PRIVATE KEY-----"
#define OPENSSH_MAGIC "openssh-key-v1" /* with its NUL */
#define FIELD_BYTES_MAX (16 * KIB)

struct wire {
	const unsigned char *at;
	size_t left;
};

/* The next string of the wire format (RFC 4251, section 5): its length in 4 bytes, then its bytes. */
static bool wire_next(struct wire *wire, struct wire *field)
{
	size_t length;

	if (wire->left < 4)
		return false;
	length = (size_t)wire->at[0] << 24 | (size_t)wire->at[1] << 16 | (size_t)wire->at[2] << 8 |
		 wire->at[3];
	if (length > FIELD_BYTES_MAX || length > wire->left - 4)
		return false;
	*field = (struct wire){wire->at + 4, length};
	wire->at += 4 + length;
	wire->left -= 4 + length;
	return true;
}

static bool wire_is(const struct wire *field, const char *text)
{
	return field->left == strlen(text) && memcmp(field->at, text, field->left) == 0;
}

/* The bytes of the base64 between the label and the next "-----"; what is no base64 ends it. */
static size_t private_key_decode(const char *text, struct arena *arena, unsigned char **bytes)
{
	char *packed = arena_alloc(arena, strlen(text) + 4);
	size_t length = 0;
	int got;

	for (; *text && *text != '-'; text++)
		if (!strchr(" \t\r\n", *text))
			packed[length++] = *text;
	while (length % 4)
		packed[length++] = '=';
	*bytes = arena_alloc(arena, length + 4);
	got = EVP_DecodeBlock(*bytes, (const unsigned char *)packed, (int)length);
	secret_wipe_bytes(packed, length);
	return got > 0 ? (size_t)got : 0;
}

/* The parts of an OpenSSH key file, in its decoded bytes. */
struct openssh_key {
	struct wire cipher, blob, secret;
};

/* PROTOCOL.key: magic, cipher, kdf, its options, the number of keys, the public key, the private part. */
static bool private_key_split(const unsigned char *bytes, size_t length, struct openssh_key *parts)
{
	size_t magic = sizeof(OPENSSH_MAGIC);
	struct wire wire, skipped;

	if (length <= magic || memcmp(bytes, OPENSSH_MAGIC, magic) != 0)
		return false;
	wire = (struct wire){bytes + magic, length - magic};
	parts->secret = (struct wire){NULL, 0};
	if (!wire_next(&wire, &parts->cipher) || !wire_next(&wire, &skipped) ||
	    !wire_next(&wire, &skipped) || wire.left <= 4)
		return false;
	wire.at += 4; /* how many keys: always one */
	wire.left -= 4;
	if (!wire_next(&wire, &parts->blob))
		return false;
	wire_next(&wire, &parts->secret);
	return true;
}

static void private_key_read_openssh(const char *text, struct arena *arena, struct private_key *key)
{
	unsigned char *bytes;
	size_t length = private_key_decode(text, arena, &bytes);
	struct openssh_key parts;
	struct wire type;
	char *base64;

	if (private_key_split(bytes, length, &parts)) {
		key->encrypted = !wire_is(&parts.cipher, "none");
		base64 = arena_alloc(arena, parts.blob.left * 4 / 3 + 8);
		EVP_EncodeBlock((unsigned char *)base64, parts.blob.at, (int)parts.blob.left);
		key->public_base64 = base64;
		if (wire_next(&parts.blob, &type))
			key->type = arena_strndup(arena, (const char *)type.at, type.left);
		key->state = PRIVATE_KEY_FOUND;
	}
	secret_wipe_bytes(bytes, length);
}

/* The private part of an Ed25519 key: two equal numbers, the type, the public key, seed and public key. */
static bool private_key_take_seed(const struct openssh_key *parts, unsigned char seed[static 32],
				  unsigned char public_key[static 32])
{
	struct wire blob = parts->blob, secret = parts->secret, type, known, own, both;

	if (!wire_is(&parts->cipher, "none") || secret.left < 8 ||
	    memcmp(secret.at, secret.at + 4, 4) != 0)
		return false;
	secret.at += 8;
	secret.left -= 8;
	if (!wire_next(&blob, &type) || !wire_is(&type, "ssh-ed25519") ||
	    !wire_next(&blob, &known) || known.left != 32)
		return false;
	if (!wire_next(&secret, &type) || !wire_is(&type, "ssh-ed25519") ||
	    !wire_next(&secret, &own) || own.left != 32 || !wire_next(&secret, &both) ||
	    both.left != 64 || memcmp(own.at, known.at, 32) != 0 ||
	    memcmp(both.at + 32, known.at, 32) != 0)
		return false;
	memcpy(seed, both.at, 32);
	memcpy(public_key, known.at, 32);
	return true;
}

bool private_key_ed25519(const char *path, unsigned char seed[static 32],
			 unsigned char public_key[static 32])
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct error why = {0};
	struct openssh_key parts;
	unsigned char *bytes;
	const char *label;
	size_t length, decoded;
	bool found = false;
	char *text;

	if (file_read(path, KEY_CEILING_BYTES, &arena, &text, &length, &why) < 0)
		return false;
	label = strstr(text, OPENSSH_LABEL);
	if (label) {
		decoded = private_key_decode(label + strlen(OPENSSH_LABEL), &arena, &bytes);
		found = private_key_split(bytes, decoded, &parts) &&
			private_key_take_seed(&parts, seed, public_key);
		secret_wipe_bytes(bytes, decoded);
	}
	secret_wipe_bytes(text, length);
	return found;
}

static void private_key_read_pem(const char *text, struct private_key *key)
{
	static const struct {
		const char *label, *type;
	} labels[] = {{"RSA PRIVATE KEY", "ssh-rsa"},
		      {"EC PRIVATE KEY", "ecdsa-sha2-"},
		      {"DSA PRIVATE KEY", "ssh-dss"},
		      {"PRIVATE KEY", ""},
		      {"ENCRYPTED PRIVATE KEY", ""}};
	const char *begin = strstr(text, "-----BEGIN ");

	if (!begin)
		return;
	begin += strlen("-----BEGIN ");
	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		size_t length = strlen(labels[i].label);

		if (strncmp(begin, labels[i].label, length) != 0 ||
		    !starts_with(begin + length, "-----"))
			continue;
		key->state = PRIVATE_KEY_FOUND;
		key->type = labels[i].type;
		key->encrypted = starts_with(labels[i].label, "ENCRYPTED") ||
				 strstr(text, "Proc-Type: 4,ENCRYPTED");
	}
}

/* PATH.pub says what a PEM file hides. */
static void private_key_read_public(struct arena *arena, struct private_key *key)
{
	struct error ignored = {0};
	char *text, *type, *base64;

	if (file_read(arena_printf(arena, "%s.pub", key->path), KEY_CEILING_BYTES, arena, &text,
		      NULL, &ignored) < 0)
		return;
	type = strsep(&text, " \t\r\n");
	base64 = text ? strsep(&text, " \t\r\n") : NULL;
	if (!base64 || !*base64)
		return;
	key->public_base64 = base64;
	if (!*key->type || starts_with(key->type, "ecdsa-"))
		key->type = type;
}

/* As sshkey_perm_ok of OpenSSH (authfile.c) has it: what another user owns is that user's to keep. */
static bool private_key_is_exposed(const char *path)
{
	struct stat seen;

	return stat(path, &seen) == 0 && seen.st_uid == getuid() && (seen.st_mode & 077);
}

void private_key_look(const char *path, struct arena *arena, struct private_key *key)
{
	struct error why = {0};
	const char *label;
	size_t length;
	char *text;

	*key = (struct private_key){
		.path = path, .state = PRIVATE_KEY_MISSING, .type = "", .public_base64 = ""};
	if (access(path, F_OK) < 0)
		return;
	key->state = PRIVATE_KEY_UNREADABLE;
	if (file_read(path, KEY_CEILING_BYTES, arena, &text, &length, &why) < 0)
		return;
	key->state = PRIVATE_KEY_FOREIGN;
	label = strstr(text, OPENSSH_LABEL);
	if (label)
		private_key_read_openssh(label + strlen(OPENSSH_LABEL), arena, key);
	else
		private_key_read_pem(text, key);
	secret_wipe_bytes(text, length);
	if (key->state == PRIVATE_KEY_FOUND && !*key->public_base64)
		private_key_read_public(arena, key);
	if (key->state == PRIVATE_KEY_FOUND && private_key_is_exposed(path))
		key->state = PRIVATE_KEY_EXPOSED;
}

bool private_key_is_for_libssh2(const char *type)
{
	size_t length = strcspn(type, " ");

	if (memchr(type, '@', length)) /* a certificate, or FIDO */
		return false;
	return starts_with(type, "ecdsa-sha2-") || starts_with(type, "ssh-ed25519");
}

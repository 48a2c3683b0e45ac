/* SPDX-License-Identifier: MIT */
/* Images that an engine built twice: what differs goes, all else stays. */
#include "tests/unit/support.h"

#include "core/proc.h"
#include "oci/archive/archive.h"
#include "oci/layout.h"

#include <fcntl.h>

#define NEWEST_S 1704067200

/*
 * Two docker-archives of one content: a.tar and b.tar differ in times, names of owners, the
 * container's id and the history's times; c.tar in a byte of a file. Python's tarfile makes them
 * and looks at the result, so that libarchive is not its own judge.
 */
static const char maker[] =
	"import hashlib, io, json, sys, tarfile\n"
	"def layer(mtime, name, body):\n"
	"    out = io.BytesIO()\n"
	"    with tarfile.open(fileobj=out, mode='w', format=tarfile.PAX_FORMAT) as tar:\n"
	"        def add(path, kind, size=0, data=None, link='', mode=0o644, t=mtime):\n"
	"            i = tarfile.TarInfo(path)\n"
	"            i.type, i.size, i.linkname, i.mode, i.mtime = kind, size, link, mode, t\n"
	"            i.uname = i.gname = name\n"
	"            i.uid = 7\n"
	"            if kind == tarfile.REGTYPE:\n"
	"                i.pax_headers = {'SCHILY.xattr.user.k': 'v', 'atime': str(t)}\n"
	"            tar.addfile(i, io.BytesIO(data) if data else None)\n"
	"        add('d', tarfile.DIRTYPE, mode=0o1777)\n"
	"        add('d/f', tarfile.REGTYPE, len(body), body, mode=0o4755)\n"
	"        add('d/old', tarfile.REGTYPE, 1, b'o', t=1000000000)\n"
	"        add('d/hard', tarfile.LNKTYPE, link='d/f')\n"
	"        add('d/soft', tarfile.SYMTYPE, link='f')\n"
	"        add('d/.wh.gone', tarfile.REGTYPE)\n"
	"    return out.getvalue()\n"
	"def image(path, mtime, name, body):\n"
	"    data = layer(mtime, name, body)\n"
	"    config = {'architecture': 'amd64', 'os': 'linux', 'created': str(mtime),\n"
	"      'container': name, 'docker_version': name, 'config': {'Hostname': name, 'Env': ['A=b']},\n"
	"      'history': [{'created': str(mtime), 'created_by': '/bin/sh -c #(nop) COPY dir:' + format(int(mtime), '064x') + ' in /bin '}],\n"
	"      'rootfs': {'type': 'layers', 'diff_ids': ['sha256:' + hashlib.sha256(data).hexdigest()]}}\n"
	"    text = json.dumps(config).encode()\n"
	"    hexes = hashlib.sha256(text).hexdigest()\n"
	"    manifest = json.dumps([{'Config': hexes + '.json', 'RepoTags': [], 'Layers': ['l/layer.tar']}])\n"
	"    with tarfile.open(path, 'w') as tar:\n"
	"        for n, b in (('l/layer.tar', data), (hexes + '.json', text), ('manifest.json', manifest.encode())):\n"
	"            i = tarfile.TarInfo(n); i.size = len(b); tar.addfile(i, io.BytesIO(b))\n"
	"f = sys.argv[1]\n"
	"image(f + '/a.tar', 1800000000, 'one', b'body' * 70000)\n"
	"image(f + '/b.tar', 1900000001.5, 'two', b'body' * 70000)\n"
	"image(f + '/c.tar', 1800000000, 'one', b'Body' * 70000)\n";

static const char judge[] =
	"import gzip, hashlib, json, sys, tarfile\n"
	"f, digest = sys.argv[1], sys.argv[2]\n"
	"blob = lambda d: open(f + '/layout/blobs/sha256/' + d.split(':')[1], 'rb').read()\n"
	"m = json.loads(blob(digest)); c = json.loads(blob(m['config']['digest']))\n"
	"plain = gzip.decompress(blob(m['layers'][0]['digest']))\n"
	"assert c['rootfs']['diff_ids'] == ['sha256:' + hashlib.sha256(plain).hexdigest()]\n"
	"assert c['history'][0]['created_by'] == '/bin/sh -c #(nop) COPY dir in /bin ', c\n"
	"assert c['created'] == c['history'][0]['created'] == '2024-01-01T00:00:00Z', c\n"
	"assert not {'container', 'docker_version'} & set(c) and c['config'] == {'Env': ['A=b']}, c\n"
	"t = {i.name: i for i in tarfile.open(f + '/layout/blobs/sha256/' + m['layers'][0]['digest'].split(':')[1])}\n"
	"assert list(t) == ['d', 'd/f', 'd/old', 'd/hard', 'd/soft', 'd/.wh.gone'], list(t)\n"
	"assert [i.mtime for i in t.values()] == [1704067200, 1704067200, 1000000000] + 3 * [1704067200]\n"
	"assert all(i.uname == i.gname == '' and i.uid == 7 for i in t.values())\n"
	"assert (t['d'].mode, t['d/f'].mode, t['d/f'].size) == (0o1777, 0o4755, 280000)\n"
	"assert t['d/hard'].linkname == 'd/f' and t['d/soft'].linkname == 'f'\n"
	"assert t['d/f'].pax_headers['SCHILY.xattr.user.k'] == 'v' and 'atime' not in t['d/f'].pax_headers\n";

static void python(const char *program, const char *folder, const char *digest)
{
	struct error err = {0};

	assert_fine(proc_check(WORDS("python3", "-c", program, folder, digest), &err));
}

static void import(struct scratch *s, const char *name, struct descriptor *manifest)
{
	struct archive_options options = {.normalise = true, .newest_s = NEWEST_S};
	_cleanup_(fd_close) int fd = open(in(s, name), O_RDONLY | O_CLOEXEC);
	struct error err = {0};

	assert_true(fd >= 0);
	assert_fine(archive_import(fd, in(s, "layout"), &options, &s->arena, manifest, &err));
}

static void test_what_differs_goes(void **state)
{
	struct scratch *s = *state;
	struct descriptor a, b, c;

	python(maker, s->folder, "");
	import(s, "a.tar", &a);
	import(s, "b.tar", &b);
	import(s, "c.tar", &c);
	assert_string_equal(a.digest, b.digest);
	assert_string_not_equal(a.digest, c.digest);
	python(judge, s->folder, a.digest);
}

/* A layer is checked as it came, before anything is changed in it. */
static void test_damage_is_found(void **state)
{
	struct scratch *s = *state;
	struct archive_options options = {.normalise = true, .newest_s = NEWEST_S};
	_cleanup_(fd_close) int fd = -1;
	struct descriptor manifest;
	struct error err = {0};

	python(maker, s->folder, "");
	/* a byte of the file's content, behind the headers */
	fd = open(in(s, "a.tar"), O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "X", 1, 100000), 1);
	assert_fails(archive_import(fd, in(s, "layout"), &options, &s->arena, &manifest, &err),
		     ERROR_FAILED, "damaged");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_what_differs_goes),
		SCRATCH_TEST(test_damage_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

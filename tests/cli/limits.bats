#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What an image may unpack to: the same limits on every way in, by flag and by cluster.yaml.

load helper

setup() {
	common_setup
	echo one >file
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: "oci:base", files: [{from: file, to: /y}]}' >cluster.yaml
}

# image DIR PACKER PLAIN_MIB FILES: an OCI layout of one layer, with a file of zeros and some empty files. The
# layer is called gzip, whatever packed it. It is packed MiB by MiB, so that a large one is made at once.
image() {
	python3 - "$@" <<-'END'
		import gzip, hashlib, io, json, os, subprocess, sys, tarfile
		folder, packer, mib, files = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
		def pack(data):
		    if packer == 'gzip':
		        return gzip.compress(data, 9, mtime=0)
		    return subprocess.run(['zstd', '-q', '-c'], input=data, stdout=subprocess.PIPE, check=True).stdout
		def header(name, size):
		    info = tarfile.TarInfo(name)
		    info.size = size
		    return info.tobuf()
		os.makedirs(f'{folder}/blobs/sha256')
		def put(data, kind):
		    digest = hashlib.sha256(data).hexdigest()
		    open(f'{folder}/blobs/sha256/{digest}', 'wb').write(data)
		    return {'mediaType': f'application/vnd.oci.image.{kind}', 'digest': f'sha256:{digest}', 'size': len(data)}
		plain, packed, zeros = hashlib.sha256(), io.BytesIO(), bytes(1 << 20)
		packed_zeros = pack(zeros)
		for piece in [header('zeros', mib << 20)] + [None] * mib + [header(f'f{i}', 0) for i in range(files)] + [bytes(1024)]:
		    plain.update(zeros if piece is None else piece)
		    packed.write(packed_zeros if piece is None else pack(piece))
		config = {'architecture': 'amd64', 'os': 'linux', 'rootfs': {'type': 'layers', 'diff_ids': ['sha256:' + plain.hexdigest()]}}
		layer = put(packed.getvalue(), 'layer.v1.tar+gzip')
		manifest = put(json.dumps({'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.manifest.v1+json',
		                           'config': put(json.dumps(config).encode(), 'config.v1+json'), 'layers': [layer]}).encode(), 'manifest.v1+json')
		open(f'{folder}/oci-layout', 'w').write('{"imageLayoutVersion":"1.0.0"}')
		json.dump({'schemaVersion': 2, 'manifests': [manifest]}, open(f'{folder}/index.json', 'w'))
	END
}

@test "a bomb is refused, packed by gzip at its ceiling, by zstd far beyond it, or as a whole" {
	local why='packed became more than 1.0 GiB, over 200 times as much'
	image base zstd 1100 0
	apart ringup -q build --engine native
	says 1 "$why" '--max-unpacked SIZE' image.limits.unpacked
	rm -r base
	image base gzip 1100 0
	apart ringup -q copy oci:base rootfs:tree
	says 1 "$why" '--max-unpacked SIZE' image.limits.unpacked
	[ ! -e tree ]
	rm -r base
	# one plain layer in an archive
	python3 - >bomb.tar.zst <<-'END'
		import subprocess, sys, tarfile
		info = tarfile.TarInfo('id/layer.tar')
		info.size = 1100 << 20
		pack = lambda data: subprocess.run(['zstd', '-q', '-c'], input=data, stdout=subprocess.PIPE, check=True).stdout
		sys.stdout.buffer.write(pack(info.tobuf()) + pack(bytes(1 << 20)) * 1100 + pack(bytes(1024)))
	END
	apart ringup -q copy docker-archive:bomb.tar.zst oci:out
	says 2 "$why" bomb.tar.zst
}

@test "bytes: a flag, a key, and which of them counts" {
	image base gzip 3 0
	printf '%s\n' 'image: {limits: {unpacked: 2M}}' 'hosts: [a]' >small.yaml
	ringup -q copy oci:base docker-archive:a.tar
	apart ringup -q copy --max-unpacked 2M oci:base rootfs:tree
	says 1 'unpacks to more than 2.0 MiB, its limit' --max-unpacked image.limits.unpacked
	apart ringup -q -f small.yaml copy oci:base rootfs:tree
	says 1 'more than 2.0 MiB, its limit'
	apart ringup -q -f small.yaml copy docker-archive:a.tar oci:out
	says 2 'more than 2.0 MiB, its limit'
	apart ringup -q build --engine native --max-unpacked 2M
	says 1 'more than 2.0 MiB, its limit'
	ringup -q -f small.yaml copy --max-unpacked 4M oci:base rootfs:tree
	[ "$(stat -c %s tree/zeros)" = $((3 << 20)) ]
	ringup -q build --engine native --max-unpacked 4M
	# a move that unpacks nothing has no limit
	ringup -q -f small.yaml copy oci:base oci:out
}

@test "entries: the same" {
	image base gzip 0 30
	printf '%s\n' 'image: {limits: {entries: 20}}' 'hosts: [a]' >small.yaml
	apart ringup -q copy --max-entries 20 oci:base rootfs:tree
	says 1 'more than 20 files, its limit; --max-entries N, or image.limits.entries in cluster.yaml'
	apart ringup -q -f small.yaml copy oci:base rootfs:tree
	says 1 'more than 20 files'
	apart ringup -q build --engine native --max-entries 20
	says 1 'more than 20 files'
	ringup -q -f small.yaml copy --max-entries 31 oci:base rootfs:tree
	[ "$(ls tree | wc -l)" = 31 ]
	sed -i 's/{base/{limits: {entries: 31}, base/' cluster.yaml
	ringup -q build --engine native
}

@test "no size, no number: bad input, before anything is done" {
	image base gzip 0 1
	for size in 0 -1 40X G 1.5G 99999999999T ''; do
		apart ringup copy "--max-unpacked=$size" oci:base rootfs:tree
		says 2 '--max-unpacked takes a size such as 40G'
	done
	apart ringup build --max-unpacked much
	says 2 '--max-unpacked takes a size'
	apart ringup copy --max-entries many oci:base rootfs:tree
	says 2 max-entries
	sed -i 's/{base/{limits: {unpacked: much}, base/' cluster.yaml
	apart ringup build
	says 2 "'unpacked' is 'much': it takes auto, or a size such as 40G"
	sed -i 's/unpacked: much/entries: 0/' cluster.yaml
	apart ringup build
	says 2 entries
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What enters the cache is hashed, and a cache that others may write is refused. No stack, no RUN: nothing
# here needs an engine, a runtime or root.

load helper

setup() {
	common_setup
	CACHE=$HOME/.cache/ringup
	echo one >file
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: scratch, files: [{from: file, to: /x}]}' >base.yaml
	printf '%s\n' 'hosts: [a]' 'stack: []' 'image: {base: "oci:base", files: [{from: file, to: /y}]}' >cluster.yaml
}

# layers DIR: the layers of the only image in the layout, as files, from the lowest up.
layers() {
	local manifest
	manifest=$(jq -r '.manifests[0].digest' "$1/index.json")
	jq -r --arg d "$1/blobs/" '.layers[].digest | $d + sub(":"; "/")' "$1/blobs/${manifest/://}"
}

# damage FILE: other bytes of the same length.
damage() {
	sleep 0.05 # a step of the clock that gives files their times
	printf 'XX' | dd of="$1" bs=1 seek=40 conv=notrunc status=none
}

@test "the blobs of a base are hashed on their way into the store" {
	local layer
	ringup -q -f base.yaml build -o oci:base
	ringup -q build --clear
	layer=$(layers base)
	damage "$layer"
	apart ringup -q build --engine native -o oci:out
	says 1 "blob sha256:${layer##*/}" 'is damaged' 'make the image again'
	[ ! -e "$CACHE/native/layout/blobs/sha256/${layer##*/}" ]
	[ ! -e out ]
}

@test "a base in a folder that others may write is copied: a later change there changes nothing here" {
	local layer digest
	ringup -q -f base.yaml build -o oci:base
	ringup -q build --clear
	chmod 777 base/blobs/sha256
	layer=$(layers base)
	ringup -q build --engine native -o oci:out
	digest=$(jq -r '.manifests[0].digest' out/index.json)
	[ "$(stat -c %i "$layer")" != "$(stat -c %i "$CACHE/native/layout/blobs/sha256/${layer##*/}")" ]
	damage "$layer"
	rm -r out
	ringup -q build --engine native -o oci:out
	[ "$(jq -r '.manifests[0].digest' out/index.json)" = "$digest" ]
	for layer in $(layers out); do
		sha256sum --status -c <<<"${layer##*/}  $layer"
	done
}

@test "a blob of the store that was damaged is made again" {
	local layer digest
	ringup -q -f base.yaml build -o oci:base
	digest=$(jq -r '.manifests[0].digest' base/index.json)
	layer=$(layers base)
	damage "$CACHE/native/layout/blobs/sha256/${layer##*/}"
	rm -r base
	ringup -q -f base.yaml build -o oci:base
	[ "$(jq -r '.manifests[0].digest' base/index.json)" = "$digest" ]
	sha256sum --status -c <<<"${layer##*/}  $layer"
}

@test "a copy hashes what it copies, and what is there" {
	local layer
	ringup -q -f base.yaml build -o oci:base
	ringup -q copy oci:base oci:there
	layer=$(layers base)
	rm "there/blobs/sha256/${layer##*/}"
	cp "$layer" there/blobs/sha256/
	damage "there/blobs/sha256/${layer##*/}"
	ringup -q copy oci:base oci:there
	sha256sum --status -c <<<"${layer##*/}  there/blobs/sha256/${layer##*/}"
	rm -r there
	cp -r base damaged
	damage "damaged/blobs/sha256/${layer##*/}"
	apart ringup -q copy oci:damaged oci:there
	says 1 'is damaged'
	apart ringup -q copy oci:damaged docker-archive:there.tar
	says 1 'is damaged'
	[ ! -e there.tar ]
}

@test "a cache that others may write is refused, by what reads it and by what removes it" {
	ringup -q -f base.yaml build -o oci:base
	chmod 775 "$CACHE"
	for words in 'build --engine native' 'build --clear' 'copy oci:base docker-archive:a.tar' \
		'copy docker-archive:a.tar oci:there'; do
		: >a.tar
		# shellcheck disable=SC2086 # words
		apart ringup -q -f base.yaml $words
		[ "$words" = 'copy oci:base docker-archive:a.tar' ] || says 1 "$CACHE has the mode 0775" 'chmod go-w'
	done
	[ -e "$CACHE/native" ]
	chmod 755 "$CACHE"
	chmod 777 "$CACHE/native/layers"
	apart ringup -q build --engine native
	says 1 "$CACHE/native/layers has the mode 0777"
	chmod 700 "$CACHE/native/layers"
	chmod 777 "$HOME/.cache"
	apart ringup -q build --engine native
	says 1 "$HOME/.cache has the mode 0777" 'every user' XDG_CACHE_HOME
	chmod 1777 "$HOME/.cache"
	ringup -q build --engine native
	ringup -q build --clear
}

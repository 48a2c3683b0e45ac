#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A registry that lies about sizes: every blob has the size that the document says that names it, or it is refused.
# Run with a sanitizer's build it also shows that no reader takes such a size for the length of its buffer.

load ../cli/helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	python3 "$BATS_TEST_DIRNAME/../standin/lying_registry.py" . >registry.log 2>&1 3>&- 4>&- &
	echo $! >registry.pid
	while [ ! -e port ]; do sleep 0.05; done
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/registry.pid")"
}

setup() {
	common_setup
	A=127.0.0.1:$(cat "$BATS_FILE_TMPDIR/port")
}

# each NAME STATUS [TEXT]: inspect, pull and copy of that image end so, and say so.
each() {
	local word target
	for word in inspect pull copy; do
		target=
		rm -rf pulled
		[ $word != pull ] || target=oci:pulled
		[ $word != copy ] || target=$A/copied/x:1
		# shellcheck disable=SC2086  # no target is no word
		apart timeout 20 ringup $word --platform linux/amd64 "$A/$1:1" $target
		says "$2" "${@:3}" || { echo "command: $word $1"; return 1; }
	done
}

@test "sizes that are no sizes: in the config, a layer, an index" {
	local place lie
	for place in config layer entry; do
		for lie in beyond exponent negative fraction text nothing; do
			each "$place/$lie" 1 'has a descriptor without a size'
		done
		each "$place/twice" 1 'says something twice'
	done
}

@test "a config of 2^50 bytes that has 38 and no closing quote" {
	each config/huge 1 'is said to have 1125899906842624 bytes'
}

@test "a config with a byte more or less than its descriptor says" {
	each config/less 1 'has 38 bytes, and what names it says 37'
	each config/more 1 'has 38 bytes, and what names it says 39'
	each config/true 0
}

@test "a layer with a byte more or less, or of 2^50 bytes: refused by what fetches it" {
	local lie
	for lie in less more; do
		apart ringup pull "$A/layer/$lie:1" oci:pulled
		says 1 'of another size than the manifest names'
		apart ringup copy "$A/layer/$lie:1" "$A/copied/x:1"
		says 1 'of another size than the'
	done
	apart ringup pull "$A/layer/huge:1" oci:pulled
	says 1 '16 TiB is the most'
	apart ringup copy "$A/layer/huge:1" "$A/copied/x:1"
	says 1 '16 TiB is the most'
	# nothing of it stays; the config, which was on its way beside it, may wait to be checked
	[ -z "$(find pulled -name ".partial-$(head -c 1000 /dev/zero | sha256sum | cut -c 1-64)*")" ]
	each layer/true 0
}

@test "an image whose index lies about its manifest" {
	local lie
	for lie in huge less more; do
		each "entry/$lie" 1 'and what names it says'
		apart ringup copy --all "$A/entry/$lie:1" "$A/copied/x:1"
		says 1 'and what names it says'
		apart ringup pull --all "$A/entry/$lie:1" oci:pulled
		says 1 'and what names it says'
	done
	each entry/true 0
}

@test "referrers with sizes that are none" {
	local lie
	for lie in beyond negative fraction text nothing; do
		apart ringup inspect "$A/referrer/$lie:1"
		says 1 'the list of referrers has a descriptor without a size'
	done
	apart ringup inspect "$A/referrer/twice:1"
	says 1 'says something twice'
	apart ringup inspect "$A/referrer/huge:1"
	says 0
	grep -q '^referrers .* 1024 TiB$' ../out
}

@test "one blob under two sizes, an index that is a manifest too, and too many layers or images" {
	apart ringup pull "$A/twin/sizes:1" oci:pulled
	says 1 'is named with two different sizes'
	apart ringup copy "$A/twin/sizes:1" "$A/copied/x:1"
	says 1 'is named with two different sizes'
	each both/kinds 1 'is an index and a manifest at once'
	each many/layers 1 '1024 is the most'
	each many/images 1 '4096 is the most'
}

# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A cache that holds what the lab's standard image is built of, so that not every file builds it again. It lies
# beside the program and is made, by a real native build, when the first file asks for it; another program gets
# another one. Tests get hard links to its layers in a cache of their own.

# Where seeds lie: beside the program, or in /var/tmp where a folder above belongs to somebody else, since ringup
# refuses a cache there.
seed_folder() {
	local build folder
	build=$(dirname "$(command -v ringup)")
	folder=$(realpath "$build")
	while [ "$folder" != / ]; do
		case $(stat -c %u "$folder") in
			0 | "$UID") ;;
			*) echo "/var/tmp/ringup-seed-$UID" && return ;;
		esac
		folder=$(dirname "$folder")
	done
	echo "$build/seed"
}

# seed_fill CACHE: fills CACHE/ringup, and makes the seed first where it is missing.
seed_fill() {
	local seeds seed
	seeds=$(seed_folder)
	seed=$seeds/$(sha256sum <"$(command -v ringup)" | cut -c1-16)
	mkdir -p "$seeds" "$1"
	(
		flock 9
		[ -e "$seed/whole" ] || seed_make "$seeds" "$seed"
	) 9>"$seeds/lock" 3>&- 4>&- || return
	cp -al "$seed/cache/ringup" "$1/"
	# what is written in place must not be shared
	find "$1/ringup" -type f \( -name '*.log' -o -name index.json -o -name oci-layout \) -exec cp --remove-destination {} {}.own \; \
		-exec mv {}.own {} \;
}

# Older seeds go, but their base root filesystems, whose names say what made them, are taken on.
seed_make() {
	local seeds=$1 seed=$2 old
	mkdir -p "$seed.new/cache/ringup"
	for old in "$seeds"/*/cache/ringup/ringup-base-*.tar "${XDG_CACHE_HOME:-$HOME/.cache}"/ringup/ringup-base-*.tar; do
		[ ! -e "$old" ] || [ "${old#"$seed.new/"}" != "$old" ] || cp -l "$old" "$seed.new/cache/ringup/" 2>/dev/null || true
	done
	(
		cd "$seed.new"
		ringup -q lab up --loopback --hosts 1
		sed '/^container:/d' cluster.yaml >own.yaml
		ringup -q lab down
		XDG_CACHE_HOME=$PWD/cache ringup -q -f own.yaml build
	) >"$seed.new/log" 2>&1 || {
		echo "seed: the lab's standard image cannot be built:" >&2
		cat "$seed.new/log" >&2
		rm -rf "$seed.new"
		return 1
	}
	rm -rf "$seed.new/cache/ringup/native/work"
	find "$seeds" -mindepth 1 -maxdepth 1 -type d ! -path "$seed.new" -exec rm -rf {} +
	touch "$seed.new/whole"
	mv "$seed.new" "$seed"
}

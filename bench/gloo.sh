#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds gloo.cc with the gloo of Horovod's source package on PyPI, and prints the program's path. The program
# and gloo's objects stay in GLOO_CACHE (~/.cache/ringup/gloo). Needs g++ and make, and pip the first time.
# Where gloo is not available it says so and ends with 1.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cache=${GLOO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringup/gloo}
horovod='horovod==0.28.1 --hash=sha256:92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0'
source=$cache/gloo

none() {
	echo "gloo.sh: gloo is not there: $1" >&2
	exit 1
}

fetch() {
	local new=$cache/new
	rm -rf "$new"
	mkdir -p "$new"
	echo "$horovod" >"$new/horovod.txt"
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --require-hashes \
		-r "$new/horovod.txt" -d "$new" >"$new/log" 2>&1 || none "pip: $(tail -n 1 "$new/log")"
	tar -xzf "$new"/horovod-*.tar.gz -C "$new" --strip-components=2 --wildcards '*/third_party/gloo/*'
	# What gloo's cmake writes when only TCP is enabled.
	sed -E 's/@GLOO_VERSION_[A-Z]+@/0/; s/^#cmakedefine01 (\w+)/#define \1 0/; s/(TRANSPORT_TCP) 0/\1 1/' \
		"$new/gloo/gloo/config.h.in" >"$new/gloo/gloo/config.h"
	rm -rf "$source"
	mv "$new/gloo" "$source"
	rm -rf "$new"
}

# build: gloo without the rendezvous and transports that need a library; existing objects stay
build() {
	make -s -j "$(nproc)" -f - program <<-END
		files := \$(filter-out %/linux_devices.cc %/win.cc %/redis_store.cc, \$(wildcard \
			\$(addprefix $source/gloo/,*.cc common/*.cc rendezvous/*.cc transport/*.cc transport/tcp/*.cc)))
		objects := \$(patsubst %.cc,%.o,\$(foreach f,\$(files),\$(if \$(findstring cuda,\$f),,\$f)))
		flags := -std=c++11 -O3 -DNDEBUG -w -I$source # as in gloo's cmake files
		.PHONY: program
		program: $cache/allreduce
		$cache/allreduce: $root/bench/gloo.cc \$(objects); g++ \$(flags) -o \$@ \$^ -lpthread
		%.o: %.cc; g++ \$(flags) -c -o \$@ \$<
	END
}

command -v g++ make >/dev/null || none "g++ or make is missing"
[[ -e $source/gloo/config.h ]] || fetch
build >&2 || none "its sources do not compile"
echo "$cache/allreduce"

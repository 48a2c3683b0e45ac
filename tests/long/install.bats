#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# make dist, install and uninstall, without git and from elsewhere. Nothing is compiled but one file: the
# programs are those of the build that is tested.

load ../cli/helper

setup() {
	common_setup
	programs=$(cd "$ROOT" && realpath "${BUILD:-build}")
	dest=$PWD/dest prefix=/opt/tools
}

# As a person would call it: the make that runs the tests hands nothing down.
plain_make() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u SAN -u O -u BUILD make --no-print-directory "$@"
}

# The sources as a release has them, in ./ringup-VERSION; no git can be found there or called.
unpack() {
	plain_make -s -C "$ROOT" dist DIST="$PWD/out"
	tar -xf out/ringup-*.tar.gz
	tree=$(echo "$PWD"/ringup-*/)
	mkdir bin
	printf '#!/bin/sh\necho git was called: "$@" >&2\nexit 128\n' >bin/git
	chmod +x bin/git
	export PATH=$PWD/bin:$PATH
}

# install_from TREE WORD...: with the programs that are built; -o all: they are not made again.
install_from() {
	local tree=$1
	shift
	apart plain_make -o all -C "$tree" install O="$programs" DESTDIR="$dest" PREFIX="$prefix" "$@"
}

# The installed program, in another folder and with nothing in its environment.
installed() {
	mkdir -p elsewhere
	status=0
	(cd elsewhere && env -i "$dest$prefix/bin/ringup" "$@") >../out 2>../err || status=$?
}

@test "a tarball has the version, one folder, and the same bytes each time" {
	unpack
	[ "$(basename out/ringup-*.tar.gz)" = "ringup-$(ringup version | cut -d' ' -f2).tar.gz" ]
	[ "$(tar -tf out/ringup-*.tar.gz | cut -d/ -f1 | sort -u)" = "$(basename "$tree")" ]
	tar -tvf out/ringup-*.tar.gz | awk '$2 != "root/root" || $1 !~ /^-rw[x-]r-[x-]r-[x-]$/ { print; bad = 1 } END { exit bad }'
	# an unpacked tarball makes the same one, with what a build and an editor leave in it
	mkdir "$tree/build" "$tree/.ringup"
	touch "$tree/build/ringup" "$tree/.ringup/state" "$tree/cluster.yaml" "$tree/ringup.lock"
	plain_make -s -C "$tree" dist
	plain_make -s -C "$tree" dist DIST="$PWD/again"
	cmp out/ringup-*.tar.gz again/ringup-*.tar.gz
	cmp out/ringup-*.tar.gz "$tree"/ringup-*.tar.gz
}

@test "a tarball is compiled and installed without git" {
	unpack
	plain_make -s -C "$tree" build/cli/cmd_version.o
	install_from "$tree"
	says 0
	[ ! -s ../err ]
	for program in ringup allreduce ringup-job allreduce-mpi.so; do
		[ ! -e "$programs/$program" ] || cmp "$programs/$program" "$dest$prefix/bin/$program"
	done
	[ "$(stat -c %a "$dest$prefix/bin/ringup")" = 755 ]
	[ "$(readlink "$dest$prefix/bin/all_reduce_perf")" = allreduce ]
	# every data file of the tarball, each with its content and its mode
	for folder in LICENSE recipes images deployer/remote builder/remote; do
		diff -r "$tree/$folder" "$dest$prefix/share/ringup/$folder"
	done
	diff <(cd "$tree" && find recipes images deployer/remote builder/remote -type f -printf '%m %P\n' | sort) \
		<(cd "$dest$prefix/share/ringup" && find recipes images deployer/remote builder/remote -type f -printf '%m %P\n' | sort)
}

@test "the installed program finds its data, from anywhere and with an empty environment" {
	install_from "$ROOT"
	says 0
	installed version
	says 0
	installed resolve --no-lock 'torch==2.1.0' 'gpu==V100' 'driver==535.54.03'
	says 0
	grep -q '^cuda ' ../out
	installed recipe os==debian12 -o context
	says 0
	[ -s elsewhere/context/Dockerfile ]
	# the worker's sources and the entry scripts
	[ -n "$(find elsewhere/context -name main.c)" ]
	diff -r "$ROOT/images/entry" elsewhere/context/entry
	installed matrix --check
	says 0
}

@test "compilers', editors' and patch's left-overs are not installed" {
	unpack
	touch "$tree"/recipes/{a.recipe~,b.recipe.orig,.c.recipe.swp,'#d.recipe#',e.recipe.rej} "$tree"/images/worker/{ring.o,ring.d,allreduce,allreduce-mpi.so}
	install_from "$tree"
	says 0
	diff <(tar -tf out/ringup-*.tar.gz | sed -n -E 's,^[^/]*/((recipes|images|deployer/remote|builder/remote)/.*|LICENSE)$,\1,p' | LC_ALL=C sort) \
		<(cd "$dest$prefix/share/ringup" && find . -type f ! -name installed -printf '%P\n' | LC_ALL=C sort)
}

@test "uninstall leaves nothing, and what is not ringup's" {
	install_from "$ROOT"
	says 0
	plain_make -s -C "$ROOT" uninstall DESTDIR="$dest" PREFIX="$prefix"
	[ ! -e "$dest$prefix" ]
	# a folder that was there before stays, and so does a file in a folder that install made
	mkdir -p "$dest$prefix/bin"
	install_from "$ROOT"
	touch "$dest$prefix/share/ringup/recipes/mine" "$dest$prefix/share/other"
	plain_make -s -C "$ROOT" uninstall DESTDIR="$dest" PREFIX="$prefix"
	[ "$(cd "$dest$prefix" && find . | sort | xargs)" = '. ./bin ./share ./share/other ./share/ringup ./share/ringup/recipes ./share/ringup/recipes/mine' ]
	apart plain_make -s -C "$ROOT" uninstall DESTDIR="$dest" PREFIX="$prefix"
	says 2 "nothing is installed in $dest$prefix"
}

@test "an install over an older one leaves none of its data" {
	unpack
	cp "$tree"/recipes/catalog/nccl.csv "$tree"/recipes/catalog/older.csv
	mkdir "$tree"/recipes/old
	touch "$tree"/recipes/old/older.recipe
	install_from "$tree"
	says 0
	[ -e "$dest$prefix/share/ringup/recipes/old/older.recipe" ]
	install_from "$ROOT"
	says 0
	[ ! -e "$dest$prefix/share/ringup/recipes/old" ]
	[ ! -e "$dest$prefix/share/ringup/recipes/catalog/older.csv" ]
	[ -x "$dest$prefix/bin/ringup" ]
}

@test "sources without their data, or without programs, are not installed" {
	unpack
	rm -r "$tree"/builder/remote
	install_from "$tree"
	says 2 'there are no files in' builder/remote
	[ ! -e "$dest" ]
	install_from "$ROOT" O="$PWD/nothing"
	says 2 "$PWD/nothing/ringup is not built"
	[ ! -e "$dest" ]
}

@test "the targets are in make help" {
	apart plain_make -s -C "$ROOT" help
	says 0
	for target in install uninstall dist; do
		grep -qE "^  make $target +[a-z]" ../out
	done
}

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install.sh install BUILD PREFIX: the programs of the folder BUILD and the data of this tree go into PREFIX.
# install.sh uninstall PREFIX: removes what the last install put there, and nothing else.
#
# PREFIX/share/ringup/installed lists what was installed, one path in PREFIX a line; folders that install
# made end with '/'. An install removes the one before it, so that no recipe of an older version stays.
set -euo pipefail
cd "$(dirname "$0")/.."

LIST=share/ringup/installed
FOLDERS=(recipes images deployer/remote builder/remote)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
	echo "install: $*" >&2
	exit 1
}

# The data files, sorted, without files that compilers, editors and patch leave behind.
data() {
	local folder
	for folder in "${FOLDERS[@]}"; do
		[[ -n $(find "$folder" -type f -print -quit) ]] || die "there are no files in $PWD/$folder"
	done
	{
		echo LICENSE
		find "${FOLDERS[@]}" -type f ! -name '.*' ! -name '*~' ! -name '#*' ! -name '*.orig' ! -name '*.rej' \
			! -name '*.bak' ! -name '*.[oad]' ! -name '*.so' ! -name '*.pyc' ! -path images/worker/allreduce
	} | LC_ALL=C sort
}

# The folder and those above it up to PREFIX that do not exist yet, each once.
make_folder() {
	local prefix=$1 folder=$2
	[[ ! -d $prefix/$folder ]] || return 0
	[[ $folder == . ]] || make_folder "$prefix" "$(dirname "$folder")"
	if [[ $folder == . ]]; then mkdir -p "$prefix"; else mkdir -m 755 "$prefix/$folder"; fi
	echo "$folder/"
}

do_install() {
	local build=$1 prefix=$2 program folder
	for program in ringup allreduce ringup-job; do
		[[ -x $build/$program ]] || die "$build/$program is not built; run make"
	done
	data >"$work/data"
	do_uninstall "$prefix"
	{
		for folder in bin $(sed -n 's,^\(.*\)/[^/]*$,share/ringup/\1,p' "$work/data" | uniq); do
			make_folder "$prefix" "$folder"
		done
		# the worker looks for its MPI plug-in beside itself, and the lab for its stand-ins beside ringup
		for program in ringup allreduce ringup-job allreduce-mpi.so simulated-cuda.so simulated-nccl.so simulated-nvml.so; do
			[[ -e $build/$program ]] || continue
			install -m 755 "$build/$program" "$prefix/bin/$program"
			echo "bin/$program"
		done
		# nccl-tests' programs are the worker under their names
		while read -r program; do
			ln -sf allreduce "$prefix/bin/$program"
			echo "bin/$program"
		done < <("$build/allreduce" --programs)
		# OpenSSH for images that have none, beside ringup too
		if [[ -d $build/ringup-ssh ]]; then
			make_folder "$prefix" bin/ringup-ssh
			for program in "$build"/ringup-ssh/*; do
				install -m 755 "$program" "$prefix/bin/ringup-ssh/"
				echo "bin/ringup-ssh/${program##*/}"
			done
		fi
		tar -cf - --mode=u=rwX,go=rX -T "$work/data" | tar -xpf - --no-same-owner -C "$prefix/share/ringup"
		sed 's,^,share/ringup/,' "$work/data"
		echo "$LIST"
	} >"$work/installed"
	install -m 644 "$work/installed" "$prefix/$LIST"
	echo "installed $(grep -vc '/$' "$work/installed") files into $prefix"
}

do_uninstall() {
	local prefix=$1
	[[ -e $prefix/$LIST ]] || return 0
	if grep -nE '^/|(^|/)\.\.(/|$)' "$prefix/$LIST" >&2; then die "$prefix/$LIST leads out of $prefix"; fi
	grep -v '/$' "$prefix/$LIST" | tr '\n' '\0' >"$work/files"
	# backwards: a folder comes before what lies in it
	sed -n 's,/$,,p' "$prefix/$LIST" | tac | tr '\n' '\0' >"$work/folders"
	(
		cd "$prefix"
		xargs -0 rm -f <"$work/files"
		# one may be gone, and '.' is the next line's
		xargs -0 rmdir --ignore-fail-on-non-empty <"$work/folders" 2>/dev/null || true
	)
	if grep -Fqzx . "$work/folders"; then rmdir --ignore-fail-on-non-empty "$prefix"; fi
}

case ${1:-} in
install) do_install "$2" "${3%/}" ;;
uninstall)
	[[ -e ${2%/}/$LIST ]] || die "nothing is installed in $2: there is no $LIST"
	do_uninstall "${2%/}"
	;;
*) die "usage: install.sh install BUILD PREFIX, or install.sh uninstall PREFIX" ;;
esac

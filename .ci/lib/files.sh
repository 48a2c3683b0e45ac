# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the checks. lint.sh lists the files once; a check that is run alone lists them itself.

# Every file that git tracks or would track, and that is there.
files() {
	local path
	if [[ -n ${LINT_FILES:-} ]]; then
		cat "$LINT_FILES"
		return
	fi
	git ls-files -co --exclude-standard | while IFS= read -r path; do
		if [[ -f $path ]]; then
			printf '%s\n' "$path"
		fi
	done
}

# Those whose path matches an extended regular expression; none is fine.
files_like() {
	files | { grep -E "$1" || true; }
}

# shellcheck disable=SC2034 # for the checks
modules='lib|builder|registry-client|deployer|upstream|cli'

# Shell scripts by name or by their first line, without the bats files.
shell_files() {
	local path first
	files_like '\.sh$|(^|/)[^./]+$' | while IFS= read -r path; do
		IFS= read -r first <"$path" 2>/dev/null || true
		if [[ $path == *.sh || $first =~ ^'#!'.*[/\ ](ba|da)?sh($|\ ) ]]; then
			printf '%s\n' "$path"
		fi
	done
}

# The flags of the Makefile, one per line, so that a check sees what the compiler sees.
compile_flags() {
	local flags
	if ! flags=$(make -s --no-print-directory "O=${BUILD:-build}" print-flags 2>/dev/null); then
		flags="-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wshadow -Wmissing-prototypes
			-Wstrict-prototypes -Wpointer-arith -Wwrite-strings -Wvla -O2 -pthread -I. -Ilib
			-I${BUILD:-build}/gen
			$(pkg-config --cflags libcurl libarchive libcjson libssh2 openssl yaml-0.1 libisal)"
	fi
	# shellcheck disable=SC2086 # split into words on purpose
	printf '%s\n' $flags
}

# Prints findings if there are any, and says so with its status.
report() {
	[[ -z $1 ]] || { printf '%s\n' "$1"; return 1; }
}

#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the root filesystem of a Debian as a tar file: debian.sh CODENAME OUTPUT [MIRROR]
#
# The code name is that of the OS's row in recipes/catalog/os.csv. MIRROR is where packages come from now; the result
# names only the public upstreams. A mirror that ends in /debian has its security suite beside it, and so has a
# snapshot (/debian/20261122T130000Z). ca-certificates is inside so that https sources work in the first build step,
# and comes from the updates, so that no step has to upgrade it (which takes seconds).
# shellcheck disable=SC2016  # $1 is for mmdebstrap's hooks: the root that it makes
set -eu
release=$1
case $release in
'' | *[!a-z]*) echo "$0: '$release' is no code name of a Debian" >&2 && exit 1 ;;
esac
output=$2
mirror=${3:-http://deb.debian.org/debian}
until=${3:+false} # a mirror may lag; signatures are checked all the same
trap 'rm -f "$output.all.tar"' EXIT
set -- "deb $mirror $release main" "deb $mirror $release-updates main"
case $mirror in
*/debian) security=$mirror-security ;;
*/debian/2*) security=${mirror%/debian/*}/debian-security/${mirror##*/debian/} ;;
*) security= ;;
esac
[ -z "$security" ] || set -- "$@" "deb $security $release-security main"

# Nobody reads manuals in a container: like Debian's own slim images this one leaves them, the translations and the
# documents other than licences out, of its own packages and of those that a recipe adds. The folders of the manuals stay,
# since the alternatives of Java and PostgreSQL cannot be set without them (Debian bug 863199).
set -- --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-include=/usr/share/locale/locale.alias' \
	--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
	--customize-hook='for n in 1 2 3 4 5 6 7 8; do mkdir -p "$1/usr/share/man/man$n"; done' \
	--customize-hook='mv "$1"/etc/dpkg/dpkg.cfg.d/99mmdebstrap "$1"/etc/dpkg/dpkg.cfg.d/slim' \
	"$release" "$output.all.tar" "$@"

# Without the hook Debian 12 gets the package usrmerge, which brings all of Perl.
merged=/usr/share/mmdebstrap/hooks/maybe-merged-usr
[ ! -d "$merged" ] || set -- --hook-dir="$merged" "$@"

# The same packages give the same bytes: what the installation makes gets this time, as in the recipes.
export SOURCE_DATE_EPOCH=1704067200

# Root of a user namespace may not mount all that root may.
mode=auto
[ "$(tr -s ' ' </proc/self/uid_map)" = ' 0 0 4294967295' ] || mode=unshare

# Host names, machine ids and caches of the machine that builds must not be in the result.
mmdebstrap --quiet --mode="$mode" --variant=minbase --include=ca-certificates \
	--aptopt='Acquire::Languages "none"' \
	--aptopt='Acquire::Retries "3"' \
	--aptopt="Acquire::Check-Valid-Until \"${until:-true}\"" \
	--customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/log/*' \
	--customize-hook='rm -f "$1"/var/cache/ldconfig/aux-cache "$1"/var/lib/dpkg/*-old "$1"/etc/*-' \
	--customize-hook='rm -f "$1"/etc/hostname "$1"/etc/resolv.conf "$1"/etc/machine-id' \
	--customize-hook='rm -f "$1"/etc/apt/apt.conf.d/99mmdebstrap' \
	--customize-hook='printf "deb http://deb.debian.org/%s main\n" \
		"debian '"$release"'" "debian '"$release"'-updates" "debian-security '"$release"'-security" \
		>"$1"/etc/apt/sources.list' \
	"$@"

# Each container gets its own /dev, and only the machine's root could unpack device nodes.
mmtarfilter --path-exclude='/dev/*' <"$output.all.tar" >"$output"

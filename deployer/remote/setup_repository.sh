#!/bin/sh
# SPDX-License-Identifier: MIT
# Adds a repository of packages to this host, if its key is the one that is known. One that is there already stays.
#   setup_repository.sh NAME CHECK HOST/PATH KEY FINGERPRINT SHA256
# CHECK says what the key has signed: packages (each) or list (that of the packages). KEY is HOST/PATH of its file. SHA256 is
# that of the file, where FINGERPRINT is "" because nobody knows it. ARCH in HOST/PATH is what dpkg calls the processor.
name=$1 check=$2 place=$3 key=$4 fingerprint=$5 sha256=$6
root=${RINGUP_ROOT:-}

fail() {
	echo "repository $name: $1" >&2
	exit 1
}

# tool COMMAND PACKAGE
tool() {
	command -v "$1" >/dev/null 2>&1 && return
	if command -v apt-get >/dev/null; then
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends ca-certificates "$2"
	elif command -v dnf >/dev/null; then
		dnf -y install "$2"
	elif command -v yum >/dev/null; then
		yum -y install "$2"
	else
		zypper --non-interactive install "$2"
	fi
}

if [ -z "$place" ] || [ -z "$fingerprint$sha256" ]; then fail "no repository with a known key fits this system"; fi
if command -v apt-get >/dev/null; then
	[ "${place#*ARCH}" = "$place" ] || place=${place%%ARCH*}$(dpkg --print-architecture)${place#*ARCH}
	if ! command -v gpg >/dev/null || ! command -v curl >/dev/null; then apt-get update -q; fi
fi
! grep -rqsF "https://$place" "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d" "$root/etc/yum.repos.d" "$root/etc/zypp/repos.d" || exit 0
gnupg=gnupg2
if command -v apt-get >/dev/null; then gnupg=gnupg; fi
if command -v zypper >/dev/null; then gnupg=gpg2; fi
if ! tool curl curl || ! tool gpg "$gnupg"; then exit 1; fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export GNUPGHOME="$tmp"
curl -fsSL --retry 3 "https://$key" -o "$tmp/key" || fail "https://$key cannot be fetched"
if [ -n "$fingerprint" ]; then
	gpg --batch --with-colons --with-fingerprint "$tmp/key" >"$tmp/said" 2>/dev/null
	if [ "$(grep -c '^pub:' "$tmp/said")" != 1 ] || ! grep -q "^fpr:::::::::$fingerprint:" "$tmp/said"; then
		fail "the key of https://$key is not $fingerprint; nothing was added"
	fi
else
	sed '/^Version/d' "$tmp/key" | sha256sum | grep -q "^$sha256 " || fail "the key of https://$key has not the checksum $sha256; nothing was added"
fi
if command -v apt-get >/dev/null; then
	mkdir -p "$root/usr/share/keyrings" "$root/etc/apt/sources.list.d" || exit 1
	gpg --batch --yes --dearmor -o "$root/usr/share/keyrings/ringup-$name.gpg" "$tmp/key" || exit 1
	chmod 644 "$root/usr/share/keyrings/ringup-$name.gpg"
	echo "deb [signed-by=/usr/share/keyrings/ringup-$name.gpg] https://$place /" >"$root/etc/apt/sources.list.d/ringup-$name.list"
	exit
fi
repos=$root/etc/yum.repos.d packages=1 list=0
if command -v zypper >/dev/null; then repos=$root/etc/zypp/repos.d; fi
if [ "$check" = list ]; then packages=0 list=1; fi
mkdir -p "$repos" "$root/etc/pki/rpm-gpg" || exit 1
cp "$tmp/key" "$root/etc/pki/rpm-gpg/RPM-GPG-KEY-ringup-$name" || exit 1
rpm --import "$root/etc/pki/rpm-gpg/RPM-GPG-KEY-ringup-$name" || exit 1
printf '[%s]\nname=%s\nbaseurl=https://%s\nenabled=1\ngpgcheck=%s\nrepo_gpgcheck=%s\ngpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-ringup-%s\n' \
	"ringup-$name" "ringup-$name" "$place" "$packages" "$list" "$name" >"$repos/ringup-$name.repo"

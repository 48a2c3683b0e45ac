#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deployer/remote/setup_repository.sh: a repository whose key is another one than the known is not added. Nothing of this machine
# is changed: its /etc is a folder of the test's own, and its package managers are stand-ins.

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export RINGUP_ROOT=$PWD/root GNUPGHOME=$PWD/gnupg
	mkdir -m 700 gnupg
	mkdir -p root bin
	gpg --batch --quiet --passphrase '' --quick-generate-key 'Test <test@example.org>' ed25519 sign never
	gpg --batch --armor --export >key.pub
	fingerprint=$(gpg --batch --with-colons --list-keys | sed -n 's/^fpr:::::::::\([^:]*\):/\1/p' | head -n 1)
	# what a host has beside its package manager
	for tool in awk cat chmod cp curl cut date dirname gpg gpg-agent grep head ls mkdir mktemp rm sed sh sha256sum sort tr uname; do
		[ -z "$(type -P $tool)" ] || ln -s "$(type -P $tool)" "bin/$tool"
	done
	rm bin/curl
	program curl 'while [ $# -gt 0 ]; do case $1 in -o) out=$2; shift ;; https:*) echo "$1" >>asked ;; esac; shift; done; cat key.pub >"$out"'
}

# program NAME TEXT
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}

add() {
	run env PATH="$PWD/bin" sh "$ROOT/deployer/remote/setup_repository.sh" "$@"
}

@test "apt: the key signs this repository only; a second time changes nothing" {
	program apt-get 'exit 0'
	program dpkg 'echo arm64'
	add nvidia packages example.org/deb/ARCH example.org/key "$fingerprint" ''
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	[ "$(cat root/etc/apt/sources.list.d/ringup-nvidia.list)" = 'deb [signed-by=/usr/share/keyrings/ringup-nvidia.gpg] https://example.org/deb/arm64 /' ]
	gpg --batch --with-colons --show-keys root/usr/share/keyrings/ringup-nvidia.gpg | grep -q "$fingerprint"
	[ "$(cat asked)" = https://example.org/key ]
	add nvidia packages example.org/deb/ARCH example.org/key "$fingerprint" ''
	[ "$status" -eq 0 ]
	[ "$(wc -l <asked)" -eq 1 ]
}

@test "another key than the known one: nothing is added, and it is said" {
	program apt-get 'exit 0'
	program dpkg 'echo amd64'
	add nvidia packages example.org/deb example.org/key 0123456789012345678901234567890123456789 ''
	[ "$status" -eq 1 ]
	[[ $output = *'the key of https://example.org/key is not 0123456789012345678901234567890123456789; nothing was added'* ]]
	add nvidia packages example.org/deb example.org/key '' 0123
	[ "$status" -eq 1 ]
	[[ $output = *'has not the checksum 0123'* ]]
	# a second key in the file would be trusted too
	gpg --batch --quiet --passphrase '' --quick-generate-key 'Other <other@example.org>' ed25519 sign never
	gpg --batch --armor --export >key.pub
	add nvidia packages example.org/deb example.org/key "$fingerprint" ''
	[ "$status" -eq 1 ]
	add nvidia packages '' / '' ''
	[ "$status" -eq 1 ]
	[[ $output = *'no repository with a known key fits this system'* ]]
	[ ! -e root/etc/apt ]
}

@test "RPM: signed packages or a signed list, dnf and zypper" {
	program dnf 'exit 0'
	program rpm 'echo "$*" >>imported'
	add toolkit list 'example.org/rpm/$basearch' example.org/key "$fingerprint"
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	cat >expected <<-'END'
		[ringup-toolkit]
		name=ringup-toolkit
		baseurl=https://example.org/rpm/$basearch
		enabled=1
		gpgcheck=0
		repo_gpgcheck=1
		gpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-ringup-toolkit
	END
	diff expected root/etc/yum.repos.d/ringup-toolkit.repo
	cmp key.pub root/etc/pki/rpm-gpg/RPM-GPG-KEY-ringup-toolkit
	grep -q -e '--import .*RPM-GPG-KEY-ringup-toolkit' imported
	rm bin/dnf
	program zypper 'exit 0'
	add nvidia packages example.org/sles15 example.org/key '' "$(sed '/^Version/d' key.pub | sha256sum | cut -d' ' -f1)"
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	grep -qx 'gpgcheck=1' root/etc/zypp/repos.d/ringup-nvidia.repo
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The list of packages that an image of RHEL's family holds for its SBOM, by a real rpm and its database.

load helper
setup() {
	common_setup
	unset RINGUP_CATALOG # the real one
}

# package NAME HEADER...: an empty package, put into the database
package() {
	printf '%s\n' "Name: $1" "${@:2}" 'Release: 4.el9' 'Summary: x' 'License: MIT' '%description' x '%files' >"$1.spec"
	rpmbuild -bb --quiet --define "_topdir $PWD/built" --define '_build_id_links none' "$1.spec"
	rpm --root "$PWD/root" --dbpath /var/lib/rpm --nodeps --ignorearch -i built/RPMS/*/"$1"-[0-9]*.rpm
}

# the check of a recipe, on the folders of this test
write_list() { # OS
	ringup recipe openmpi==4.1.1 os=="$1" 2>/dev/null |
		grep -A 1 -F 'rpm -qa' | sed -e "s|/tmp/|$PWD/|g" -e "s|/usr/share|$PWD/usr/share|g" \
		-e "s|rpm -qa|rpm --root $PWD/root --dbpath /var/lib/rpm -qa|" >../step
	sh -eu ../step
}

@test "each package once, with epoch, version and architecture, sorted" {
	mkdir -p root/var/lib/rpm
	package zlib 'Version: 1.2.11' 'BuildArch: noarch'
	package openssl-libs 'Version: 3.2.2' 'Epoch: 1'
	for os in rockylinux9 centos7; do
		rm -rf usr
		write_list "$os"
		diff usr/share/ringup/rpm-packages - <<-END
			openssl-libs 1:3.2.2-4.el9 $(rpm --eval '%{_arch}')
			zlib 1.2.11-4.el9 noarch
		END
	done
}

@test "an rpm that fails ends the build" {
	mkdir -p root bin
	printf '#!/bin/sh\nexit 3\n' >bin/rpm
	chmod 755 bin/rpm
	run env PATH="$PWD/bin:$PATH" bash -c "$(declare -f write_list); write_list rockylinux9"
	[ "$status" -eq 3 ]
}

@test "Debian's images and bare hosts have no such list" {
	! ringup recipe openmpi==4.1.4 os==debian12 | grep -F 'rpm -qa'
	! ringup recipe --format script openmpi==5.0.8 os==rockylinux9 | grep -F 'rpm -qa'
}

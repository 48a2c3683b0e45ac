#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Mirrors of Debian's archives, of RPM repositories and of downloads: what a RUN does with them, run here.

load helper
setup() {
	common_setup
	unset RINGUP_CATALOG # the real one
	mkdir -p etc/yum.repos.d etc/zypp/repos.d etc/apt/sources.list.d tmp bin
	# what the package manager is told, and the repositories that it would read
	cat >bin/dnf <<-'END'
		#!/bin/sh
		echo "$0 $*"
		for word; do
			case $word in --setopt=reposdir=*) cat "${word#--setopt=reposdir=}"/*.repo ;; esac
		done
	END
	chmod 755 bin/dnf
	cp bin/dnf bin/yum
}

# The RUN of a recipe with WORD in it as ../step, and the program that it calls, on folders of this test's
steps() { # WORD REQUEST...
	word=$1 && shift
	rm -rf ../context
	ringup recipe -o ../context "$@" 2>/dev/null >&2
	python3 - "$word" "$PWD" "$ROOT/tests/recipe" <<-'END'
		import os, sys
		word, folder, tests = sys.argv[1:]
		sys.path.insert(0, tests)
		import dockerfile
		def here(text):
		    for own in ("/tmp/", "/etc/yum.repos.d", "/etc/zypp/repos.d", "/etc/apt/", "/usr/share/keyrings/"):
		        text = text.replace(own, folder + own)
		    return text
		found = [body for _, body in dockerfile.runs(open("../context/Dockerfile").read()) if word in body]
		assert found, word
		open("../step", "w").write(here(found[0]))
		program = open("../context/step").read()
		assert "\n# what differs " in program # nothing is deleted here
		open("bin/step", "w").write(here(program[:program.index("\n# what differs ")]))
		os.chmod("bin/step", 0o755)
	END
}

# What the package manager reads in the step
run_step() { # NAME=VALUE...
	rm -rf tmp && mkdir tmp
	env YUM_MIRROR= APT_MIRROR= DOWNLOADS_MIRROR= "$@" PATH="$PWD/bin:$PATH" sh -eu ../step >../out
}

repository() { # NAME LINE...
	name=$1 && shift
	printf '%s\n' "[$name]" "name=$name" "$@" gpgcheck=1 enabled=1 >"etc/yum.repos.d/$name.repo"
}

@test "mirrors.yum: in place of host and first folder, of the OS's own repositories alone" {
	repository rocky 'mirrorlist=https://mirrors.rockylinux.org/mirrorlist?arch=$basearch&repo=BaseOS-$releasever' \
		'#baseurl=http://dl.rockylinux.org/$contentdir/$releasever/BaseOS/$basearch/os/'
	repository alma 'mirrorlist=https://mirrors.almalinux.org/mirrorlist/$releasever/baseos' \
		'# baseurl=https://repo.almalinux.org/almalinux/$releasever/BaseOS/$basearch/os/'
	repository ubi 'baseurl = https://cdn-ubi.redhat.com/content/public/ubi/dist/ubi9/9/$basearch/baseos/os'
	repository centos 'baseurl=https://vault.centos.org/7.9.2009/os/$basearch/' 'metalink=https://x/y'
	cp -r etc/yum.repos.d before
	steps openssh-server openmpi==5.0.8 os==rockylinux9
	run_step YUM_MIRROR=http://mirror.lan/pub
	grep -qxF 'baseurl=http://mirror.lan/pub/$releasever/BaseOS/$basearch/os/' ../out
	grep -qxF 'baseurl=http://mirror.lan/pub/public/ubi/dist/ubi9/9/$basearch/baseos/os' ../out
	grep -qxF 'baseurl=http://mirror.lan/pub/os/$basearch/' ../out
	[ "$(grep -c '^baseurl=http://mirror.lan/pub/' ../out)" -eq 4 ]
	! grep -E '^(mirrorlist|metalink)' ../out
	diff -r before etc/yum.repos.d # the image's own
}

@test "without mirrors.yum the OS's repositories are as they are" {
	repository rocky '#baseurl=http://dl.rockylinux.org/$contentdir/$releasever/BaseOS/$basearch/os/'
	cp -r etc/yum.repos.d before
	for os in rockylinux9 centos7; do
		steps openssh-server openmpi==4.1.1 os==$os
		run_step
		grep -qF ' install -y --' ../out
		grep -qxF '#baseurl=http://dl.rockylinux.org/$contentdir/$releasever/BaseOS/$basearch/os/' ../out
		diff -r before etc/yum.repos.d
	done
}

@test "NVIDIA's repository: beside mirrors.yum, in mirrors.downloads, and as it was in the end" {
	repository rocky '#baseurl=http://dl.rockylinux.org/$contentdir/$releasever/BaseOS/$basearch/os/'
	repository nvidia-cuda 'baseurl=https://developer.download.nvidia.com/compute'
	cp -r etc/yum.repos.d before
	steps libnccl- cuda==12.4.1 nccl openmpi==4.1.6 os==rockylinux9
	run_step YUM_MIRROR=http://mirror.lan/pub
	grep -qxF 'baseurl=https://developer.download.nvidia.com/compute' ../out
	grep -qxF 'baseurl=http://mirror.lan/pub/$releasever/BaseOS/$basearch/os/' ../out
	run_step YUM_MIRROR=http://mirror.lan/pub DOWNLOADS_MIRROR=http://mirror.lan/files
	grep -qxF 'baseurl=http://mirror.lan/files/developer.download.nvidia.com/compute' ../out
	! grep -F 'https:' ../out
	diff -r before etc/yum.repos.d
}

@test "the same with apt, where packages are taken and where headers are" {
	echo '# none of NVIDIA' >etc/apt/sources.list.d/own.list
	cat >bin/apt-get <<-'END'
		#!/bin/sh
		echo "$*"
		parts=$(sed -n 's/.*SourceParts "\([^"]*\)".*/\1/p' "$APT_CONFIG") list=$(sed -n 's/.*SourceList "\([^"]*\)".*/\1/p' "$APT_CONFIG")
		[ -z "$list" ] || cat "$list"
		cat "$parts"/*.list
	END
	chmod 755 bin/apt-get
	at='deb https://developer.download.nvidia.com/compute /'
	echo "$at" >etc/apt/sources.list.d/nvidia-cuda.list
	for word in libnccl2= libnccl-dev=; do
		steps "$word" cuda==12.2.2 nccl openmpi==4.1.6 os==ubuntu22.04
		for apt in '' http://mirror.lan/ubuntu; do
			for downloads in '' http://mirror.lan/files; do
				run_step APT_MIRROR=$apt DOWNLOADS_MIRROR=$downloads
				grep -qF "$word" ../out
				grep -qxF "deb ${downloads:-https:/}/developer.download.nvidia.com/compute /" ../out
				[ -z "$downloads" ] || ! grep -F 'https:' ../out
				[ -z "$apt" ] || grep -qxF "deb $apt jammy main universe" ../out
				[ "$(grep -cF '# none of' ../out)" -gt 0 ] || [ -n "$apt" ] # a mirror stands in for the OS's own
				[ "$(cat etc/apt/sources.list.d/nvidia-cuda.list)" = "$at" ]
			done
		done
	done
}

@test "NVIDIA's key: the one that is known, and what only the check needs goes again" {
	printf '#!/bin/sh\necho "$*" >>calls\n' | tee bin/apt-get bin/apt-mark >bin/curl
	printf '#!/bin/sh\n[ "$1" = --dearmor ] || printf "pub:\\nfpr:::::::::%%s:\\n" "$KEY"\n' >bin/gpg
	printf '#!/bin/sh\nfor file; do :; done; echo key >"$file"; echo "$*" >>calls\n' >bin/curl
	chmod 755 bin/*
	mkdir -p usr/share/keyrings
	steps 'step nvidia' cuda==12.2.2 nccl openmpi==4.1.6 os==ubuntu22.04
	run run_step KEY=EB693B3035CD5710E231E123A4B469963BF863CD
	[ "$status" -ne 0 ]
	[ ! -e etc/apt/sources.list.d/nvidia-cuda.list ]
	run_step KEY=EB693B3035CD5710E231E123A4B469963BF863CC
	grep -qF "/keyrings/nvidia-cuda.gpg] https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64 /" etc/apt/sources.list.d/nvidia-cuda.list
	grep -qF 'purge -y --auto-remove' calls
}

@test "a snapshot of Debian's archive has its security suite beside it, in steps and for the base" {
	cat >bin/apt-get <<-'END'
		#!/bin/sh
		cat tmp/apt.list
	END
	printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >bin/mmdebstrap
	printf '#!/bin/sh\nexit 0\n' >bin/mmtarfilter
	chmod 755 bin/*
	steps openssh-server openmpi==4.1.4 os==debian12
	at=http://snapshot.debian.org/archive
	for mirror in $at/debian/20261122T130000Z http://mirror.lan/debian http://mirror.lan/other; do
		case $mirror in
		*Z) security="deb $at/debian-security/20261122T130000Z bookworm-security main" ;;
		*/debian) security="deb http://mirror.lan/debian-security bookworm-security main" ;;
		*) security='' ;;
		esac
		run_step APT_MIRROR=$mirror
		grep -qxF "deb $mirror bookworm main" ../out
		[ "$(grep -- -security ../out | sort -u)" = "$security" ]
		touch base.tar.all.tar
		PATH="$PWD/bin:$PATH" sh "$ROOT/images/base/debian.sh" bookworm base.tar "$mirror" >../out
		cat ../out base.tar >../all
		grep -qxF "deb $mirror bookworm main" ../out
		[ "$(grep '^deb .*-security ' ../out)" = "$security" ]
	done
}

@test "mirrors.yum and Amazon Linux: refused, with the reason" {
	printf 'hosts: [a]\nmirrors: {yum: "http://mirror.lan/pub"}\n' >cluster.yaml
	apart ringup recipe openmpi==5.0.8 os==amzn2023
	says 1 mirrors.yum
	apart ringup recipe openmpi==5.0.8 os==rockylinux9
	says 0
	! grep -F mirror.lan ../out
}

@test "mirrors.downloads: a file below its host's name, with the checksum of the origin" {
	at=mirror/download.open-mpi.org/release/open-mpi/v4.1
	mkdir -p "$at"
	echo 'not that' >"$at/openmpi-4.1.6.tar.bz2"
	steps openmpi-4.1.6 openmpi==4.1.6 os==ubuntu22.04
	DOWNLOADS_MIRROR="file://$PWD/mirror" run sh ../step
	[ "$status" -ne 0 ]
	[[ $output == *"openmpi-4.1.6.tar.bz2: FAILED"* ]]
	cmp "$at/openmpi-4.1.6.tar.bz2" tmp/openmpi-4.1.6.tar.bz2
	# with the right file it goes on to unpack it
	sed -i "s/echo \"[0-9a-f]*/echo \"$(sha256sum <"$at/openmpi-4.1.6.tar.bz2" | cut -c 1-64)/" ../step
	DOWNLOADS_MIRROR="file://$PWD/mirror" run sh ../step
	[[ $output == *"openmpi-4.1.6.tar.bz2: OK"*tar* ]]
}

@test "mirrors.apt: the suites that the release has, with the name of its security suite" {
	mkdir -p etc/apt/apt.conf.d
	printf '#!/bin/sh\n[ "$1" != update ] || cat tmp/apt.list\n' >bin/apt-get
	chmod 755 bin/apt-get
	security() { # OS
		steps openssh-server openmpi==4.1.1 os=="$1"
		run_step APT_MIRROR=http://mirror.lan/debian
		grep -qxF "deb http://mirror.lan/debian-security $2 main" ../out
	}
	security debian10 buster/updates
	! grep -F buster-updates ../out # the archive keeps none
	grep -qxF "deb http://archive.debian.org/debian-security buster/updates main" etc/apt/sources.list
	security debian11 bullseye-security
	grep -qxF "deb http://mirror.lan/debian bullseye-updates main" ../out
}

@test "zypper: its repositories by a mirror in a copy, NVIDIA's by mirrors.downloads" {
	printf '#!/bin/sh\necho "$*"; cat "$2"/*.repo\n' >bin/zypper
	chmod 755 bin/zypper
	printf '[SLE_BCI]\nbaseurl=https://updates.suse.com/SUSE/Products/SLE-BCI/15-SP7/x86_64/product/\n' >etc/zypp/repos.d/SLE_BCI.repo
	printf '[nvidia-cuda]\nbaseurl=https://developer.download.nvidia.com/compute/cuda/repos/sles15/x86_64\n' >etc/zypp/repos.d/nvidia-cuda.repo
	steps 'step zypper' os==sles15 openmpi==5.0.8
	run_step
	grep -qxE -- "--reposd-dir $PWD/tmp/repos -n install --no-recommends ca-certificates openssh .*" ../out
	grep -qxF 'baseurl=https://updates.suse.com/SUSE/Products/SLE-BCI/15-SP7/x86_64/product/' ../out
	run_step YUM_MIRROR=http://m.lab/suse DOWNLOADS_MIRROR=http://d.lab
	grep -qxF 'baseurl=http://m.lab/suse/Products/SLE-BCI/15-SP7/x86_64/product/' ../out
	grep -qxF 'baseurl=http://d.lab/developer.download.nvidia.com/compute/cuda/repos/sles15/x86_64' ../out
	grep -q updates.suse.com etc/zypp/repos.d/SLE_BCI.repo
	printf "hosts: [a]\nbuild: {ca: ca.pem}\n" >cluster.yaml
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -out ca.pem -subj /CN=x -days 2 2>/dev/null
	apart ringup recipe os==sles15 openmpi==5.0.8
	says 1 zypper CA build.ca
}

@test "a key that is known by its file's checksum: another file is refused before rpm has it; what checks it goes again" {
	printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; cp key.pub "$2"\n' >bin/curl
	# the first list has no gnupg2, as if the second were made after it had come
	printf '#!/bin/sh\ncase $1 in\n-qa) cat rpms; echo gnupg2 >>rpms ;;\n*) echo "$1 $2" | sed "s|/.*|KEY|" >>rpm.log ;;\nesac\n' >bin/rpm
	chmod 755 bin/curl bin/rpm
	echo bash >rpms
	steps 'step nvidia' cuda==13.0.2 openmpi==5.0.8 os==rockylinux10
	sum=$(grep -oE 'CDF6BA43.pub [0-9a-f]{64}' ../step | cut -d' ' -f2)
	printf 'the key\nVersion: GnuPG v2\n' >key.pub
	run run_step
	[ "$status" -ne 0 ]
	[ ! -e rpm.log ]
	sed -i "s/$sum/$(echo 'the key' | sha256sum | cut -d' ' -f1)/" ../step # GnuPG's line does not count
	echo bash >rpms
	run_step
	diff rpm.log <(printf '%s\n' '--import KEY' '-e gnupg2')
	grep -qxF 'baseurl=https://developer.download.nvidia.com/compute/cuda/repos/rhel10/x86_64' etc/yum.repos.d/nvidia-cuda.repo
}

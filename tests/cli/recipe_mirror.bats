#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Mirrors of Debian's archives, of RPM repositories and of downloads: what a RUN does with them, run here.

load helper
setup() {
	common_setup
	unset RINGUP_CATALOG # the real one
	mkdir -p etc/yum.repos.d tmp bin
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

# RUNs of a recipe with WORD in them, one a file, on folders of this test's
steps() { # WORD REQUEST...
	word=$1 && shift
	ringup recipe "$@" 2>/dev/null >../dockerfile
	python3 - "$word" "$PWD" "$ROOT/tests/recipe" <<-'END'
		import sys
		word, folder, tests = sys.argv[1:]
		sys.path.insert(0, tests)
		import dockerfile
		found = [body for _, body in dockerfile.runs(open("../dockerfile").read()) if word in body]
		assert found, word
		body = found[0].split("; \\\n    rm -rf ")[0].replace("/tmp/", folder + "/tmp/")
		for own in " /etc/yum.repos.d", " /etc/apt/", ">/etc/apt/":
		    body = body.replace(own, own.replace("/", folder + "/", 1))
		open("../step", "w").write(body)
	END
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
	repository nvidia-cuda 'baseurl=https://developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64'
	cp -r etc/yum.repos.d before
	steps openssh-server openmpi==5.0.8 os==rockylinux9
	YUM_MIRROR=http://mirror.lan/pub PATH="$PWD/bin:$PATH" sh ../step >../out
	grep -qxF 'baseurl=http://mirror.lan/pub/$releasever/BaseOS/$basearch/os/' ../out
	grep -qxF 'baseurl=http://mirror.lan/pub/public/ubi/dist/ubi9/9/$basearch/baseos/os' ../out
	grep -qxF 'baseurl=http://mirror.lan/pub/os/$basearch/' ../out
	[ "$(grep -c '^baseurl=http://mirror.lan/pub/' ../out)" -eq 4 ]
	! grep -F nvidia ../out # nothing of this step comes from there
	! grep -E '^(mirrorlist|metalink)' ../out
	diff -r before etc/yum.repos.d # the image's own
}

@test "without mirrors.yum the OS's repositories are as they are" {
	for os in rockylinux9 centos7; do
		steps openssh-server openmpi==4.1.1 os==$os
		YUM_MIRROR='' PATH="$PWD/bin:$PATH" sh ../step >../out
		grep -qF ' install -y --' ../out
		! grep -F reposdir ../out
		[ -z "$(ls tmp)" ]
	done
}

# NVIDIA's step without the key, which is not fetched here: `add` writes what it would
nvidia_step() { # FILE TEXT REQUEST...
	file=$1 text=$2 && shift 2
	steps 'cuda;' "$@"
	sed -i -e "s|^    add developer.*|    printf '%b' '$text' >$PWD/$file; \\\\|" ../step
}

@test "NVIDIA's repository: beside mirrors.yum, in mirrors.downloads, and as it was in the end" {
	repository rocky '#baseurl=http://dl.rockylinux.org/$contentdir/$releasever/BaseOS/$basearch/os/'
	nvidia_step etc/yum.repos.d/nvidia-cuda.repo '[nvidia-cuda]\nbaseurl=https://developer.download.nvidia.com/compute\n' \
		cuda==12.4.1 nccl openmpi==4.1.6 os==rockylinux9
	YUM_MIRROR=http://mirror.lan/pub DOWNLOADS_MIRROR='' PATH="$PWD/bin:$PATH" sh ../step >../out
	sed -n '/libnccl/,$p' ../out >../last
	grep -qxF 'baseurl=https://developer.download.nvidia.com/compute' ../last
	grep -qxF 'baseurl=http://mirror.lan/pub/$releasever/BaseOS/$basearch/os/' ../last
	rm -r tmp && mkdir tmp
	YUM_MIRROR=http://mirror.lan/pub DOWNLOADS_MIRROR=http://mirror.lan/files PATH="$PWD/bin:$PATH" sh ../step >../out
	sed -n '/libnccl/,$p' ../out >../last
	grep -qxF 'baseurl=http://mirror.lan/files/developer.download.nvidia.com/compute' ../last
	! grep -F 'https:' ../last
	grep -qxF 'baseurl=https://developer.download.nvidia.com/compute' etc/yum.repos.d/nvidia-cuda.repo
}

@test "the same with apt, where packages are taken and where headers are" {
	mkdir -p etc/apt/sources.list.d
	echo '# none of NVIDIA yet' >etc/apt/sources.list.d/own.list
	cat >bin/apt-get <<-'END'
		#!/bin/sh
		echo "$*"
		if grep -q SourceParts "$APT_CONFIG"; then cat tmp/apt.list; else cat etc/apt/sources.list.d/*; fi
	END
	chmod 755 bin/apt-get
	at='deb https://developer.download.nvidia.com/compute /'
	nvidia_step etc/apt/sources.list.d/nvidia-cuda.list "$at\n" cuda==12.2.2 nccl openmpi==4.1.6 os==ubuntu22.04
	for apt in '' http://mirror.lan/ubuntu; do
		for downloads in '' http://mirror.lan/files; do
			rm -rf tmp && mkdir tmp
			APT_MIRROR=$apt DOWNLOADS_MIRROR=$downloads PATH="$PWD/bin:$PATH" sh ../step >../out
			sed -n '/libnccl/,$p' ../out >../last
			grep -qxF "deb ${downloads:-https:/}/developer.download.nvidia.com/compute /" ../last
			[ -z "$downloads" ] || ! grep -F 'https:' ../last
			[ "$(cat etc/apt/sources.list.d/nvidia-cuda.list)" = "$at" ]
		done
	done
	steps libnccl-dev cuda==12.2.2 nccl openmpi==4.1.6 os==ubuntu22.04
	rm -rf tmp && mkdir tmp
	APT_MIRROR='' DOWNLOADS_MIRROR=http://mirror.lan/files PATH="$PWD/bin:$PATH" sh ../step >../out
	sed -n '/libnccl/,$p' ../out >../last
	grep -qxF 'deb http://mirror.lan/files/developer.download.nvidia.com/compute /' ../last
	[ "$(cat etc/apt/sources.list.d/nvidia-cuda.list)" = "$at" ]
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
		rm -rf tmp && mkdir tmp
		APT_MIRROR=$mirror PATH="$PWD/bin:$PATH" sh ../step >../out
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
		APT_MIRROR=http://mirror.lan/debian PATH="$PWD/bin:$PATH" sh ../step >../out
		grep -qxF "deb http://mirror.lan/debian-security $2 main" ../out
	}
	security debian10 buster/updates
	! grep -F buster-updates ../out # the archive keeps none
	grep -qxF "deb http://archive.debian.org/debian-security buster/updates main" etc/apt/sources.list
	security debian11 bullseye-security
	grep -qxF "deb http://mirror.lan/debian bullseye-updates main" ../out
}

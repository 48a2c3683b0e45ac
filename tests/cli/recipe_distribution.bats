#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A new distribution, and a new package manager, touch recipes/ only: rows of the catalog, and a *.recipe file for
# what the package manager is told. Each test has a copy of recipes/ of its own.

load helper
setup() {
	common_setup
	unset RINGUP_CATALOG
	mkdir share
	cp -r "$ROOT/recipes" share/recipes
	ln -s "$ROOT/images" share/images
	export RINGUP_SHARE=$PWD/share
	printf 'name: lab\nhosts: [a]\n' >cluster.yaml
}

# row TABLE COLUMN=VALUE...: adds a row; cells that are not named are empty
row() {
	python3 - "share/recipes/catalog/$1.csv" "${@:2}" <<-'END'
		import sys
		path, cells = sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])
		head = next(line for line in open(path) if not line.startswith("#")).rstrip("\n").split(",")
		assert set(cells) <= set(head), set(cells) - set(head)
		cells = {"certainty": "unsourced", "source": "common-knowledge", **cells}
		print(",".join(cells.get(column, "") for column in head), file=open(path, "a"))
	END
}

# system OS DISTRIBUTION COLUMN=VALUE...: the rows that every operating system needs
system() {
	row os "version=$1" "distribution=$2" rank=9 locale=C.UTF-8 'cuda=<0' "${@:3}"
	row glibc version=2.31 "os=$1"
	row gcc version=7.5.0 "os=$1" kind=default "build_packages=gcc;$CXX"
	row python version=3.6 "os=$1" kind=default "run_packages=python3;python3-pip"
}

# The rules for every Dockerfile, and a shell that can read each RUN.
is_whole() {
	PYTHONPATH=$ROOT/tests/recipe python3 - ../out <<-'END'
		import subprocess, sys
		import dockerfile
		text = open(sys.argv[1]).read()
		findings = list(dockerfile.wrong(text))
		done = subprocess.run(["sh", "-n"], input=dockerfile.shell(text), text=True, capture_output=True)
		assert not findings and not done.returncode, (findings, done.stderr)
	END
}

# What is not in recipes/ is as it was: the program is the same one, and the copy differs in these files.
touched() {
	diff -rq "$ROOT/recipes" share/recipes | sed -E 's,.* (share/)?recipes/([^ ]*) differ$,\2,; s,^Only in share/recipes/?([^:]*): ,\1/,' |
		sed -E 's,.*/(catalog/[^/]*)$,\1,' | LC_ALL=C sort | tr '\n' ' '
}

mageia() {
	CXX=gcc-c++ system mageia9 mageia id=mageia vendor=mageia family=mageia aka=mga \
		package_manager=urpmi image=docker.io/library/mageia:9 openssl=1.1.1 \
		'run_packages=ca-certificates;openssh;iproute2;procps'
	row package_manager name=urpmi kind=rpm list=yum 'install=urpmi -n install' exact=NAME=VERSION \
		'traces=/var/cache/urpmi' gomp=libgomp1 quadmath=libquadmath0
	cat >share/recipes/os/urpmi.recipe <<-'END'
		# SPDX-License-Identifier: MIT
		# The package manager of Mageia.
		order: 20
		when: os.package_manager==urpmi
		--- value packages.program
		urpmi
		--- value packages.install
		step urpmi -n install --no-recommends
		--- value step.packages
		packages() {
			urpmi -n refresh
			"$@"
		}
		--- value packages.ask
		urpmi -n refresh >&2
			for name in "$@"; do urpmi -n info "$name" | awk -v name="$name" '$1 == "Version" { print name, $3 }'; done
		--- value packages.tools.lines
		      ca-certificates \
		      curl \
		      tar \
		      xz \
		      bzip2 \
		      gzip \
		      make \
		      perl \
		      which \
		      file
		--- value packages.fetch
		ca-certificates curl tar xz
		--- stack
		# packages of the OS
		RUN ${packages.install} \
		${distribution.run_packages.lines}
		--- build
		# the compiler, and headers
		RUN ${packages.install} \
		${distribution.build_packages.lines}
	END
}

@test "Mageia: rows, and one recipe for urpmi" {
	mageia
	apart ringup matrix --check
	says 0
	apart ringup recipe os==mageia9 openmpi==4.1.6
	says 0
	is_whole
	ringup recipe -o context os==mageia9 openmpi==4.1.6
	shellcheck context/step
	grep -qF '/var/cache/urpmi' context/step
	grep -qxF 'FROM docker.io/library/mageia:9 AS stack' ../out
	[ "$(grep -c 'urpmi -n install --no-recommends' ../out)" -ge 2 ]
	grep -qF 'rpm -qa --queryformat' ../out # for the SBOM
	! grep -wE 'apt-get|yum|dnf' ../out
	[ "$(touched)" = 'catalog/gcc.csv catalog/glibc.csv catalog/os.csv catalog/package_manager.csv catalog/python.csv os/urpmi.recipe ' ]
}

@test "Mageia: packages of the cluster file, the names that people have, and what another list says" {
	mageia
	printf 'image: {yum: [ImageMagick, vim-9.0-1]}\n' >>cluster.yaml
	apart ringup recipe os==mageia9 openmpi==4.1.6
	says 0
	grep -qF '# image.yum of the cluster file' ../out
	grep -qxE '      ImageMagick vim-9.0-1' ../out
	sed -i 's/yum: .*/apt: [imagemagick]}/' cluster.yaml
	apart ringup recipe os==mageia9 openmpi==4.1.6
	says 2 'image.apt' 'mageia9 has urpmi' 'image.yum'
	apart ringup recipe os==mga9
	says 2 "no OS 'mga9'" mageia9
}

@test "Mageia: what is pinned is written as urpmi reads it" {
	mageia
	sed -i '$a stack: ["os==mageia9", "openmpi==4.1.6"]' cluster.yaml
	ringup resolve >../out
	python3 - <<-'END'
		import json
		lock = json.load(open("ringup.lock"))
		lock["pinned"] = {"at": "2026-11-22T13:05:00Z", "packages": {"openssh": "8.4p1-150300.3.22.1", "make": "4.2.1-7.3.2"},
		                  "images": {"docker.io/library/mageia:9": "sha256:" + "a" * 64}}
		json.dump(lock, open("ringup.lock", "w"))
	END
	apart ringup recipe
	says 0
	grep -qE '^ .* openssh=8\.4p1-150300\.3\.22\.1( |$)' ../out
	grep -qE '^ .* make=4\.2\.1-7\.3\.2( |$)' ../out
	grep -qxF "FROM docker.io/library/mageia:9@sha256:$(printf 'a%.0s' {1..64}) AS stack" ../out
}

@test "a new distribution with apt: rows" {
	CXX=g++ system kali2024 kali id=kali family=debian codename=kali-rolling package_manager=apt components='main contrib' \
		image=docker.io/kalilinux/kali-rolling:latest openssl=3 aka=kalilinux \
		'run_packages=ca-certificates;openssh-server;openssh-client;iproute2;procps'
	apart ringup matrix --check
	says 0
	for form in dockerfile script; do
		apart ringup recipe --format "$form" os==kali2024 openmpi==4.1.6
		says 0
		if [ "$form" = dockerfile ]; then is_whole; else shellcheck ../out; fi
		grep -qE 'apt-get .*install' ../out
	done
	grep -qF '[[ $ID == kali &&' ../out
	ringup recipe -o context os==kali2024 openmpi==4.1.6
	shellcheck context/step
	grep -qF 'for suite in kali-rolling kali-rolling-updates; do echo "deb $APT_MIRROR $suite main contrib"; done' context/step
	apart ringup recipe os==kalilinux2024
	says 2 kali2024
	[ "$(touched)" = 'catalog/gcc.csv catalog/glibc.csv catalog/os.csv catalog/python.csv ' ]
}

@test "a new RHEL clone: rows" {
	CXX=gcc-c++ system navylinux8 navylinux id=navy family=redhat package_manager=dnf image=docker.io/navylinux/navy:8 openssl=1.1.1 \
		'run_packages=ca-certificates;openssh-server;openssh-clients;iproute;procps-ng'
	apart ringup matrix --check
	says 0
	apart ringup recipe os==navylinux8 openmpi==4.1.6
	says 0
	is_whole
	grep -qF 'dnf install -y' ../out
	apart ringup recipe --format script os==navylinux8 openmpi==4.1.6
	says 0
	grep -qF '[[ $ID == navy &&' ../out
}

@test "two recipes of one name in different folders: refused, with both paths" {
	cp share/recipes/os/apt.recipe share/recipes/user/apt.recipe
	apart ringup recipe os==debian12 openmpi==4.1.4
	says 2 recipes/user/apt.recipe 'has the name of' recipes/os/apt.recipe
}

@test "a name without a value: the recipe's path and line" {
	sed -i 's/^mpirun --version.*/mpirun ${openmpi.flavour}/' share/recipes/openmpi/openmpi-check.recipe
	apart ringup recipe os==debian12 openmpi==4.1.4
	says 2 'recipes/openmpi/openmpi-check.recipe:5' openmpi.flavour
}

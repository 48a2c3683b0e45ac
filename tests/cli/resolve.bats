#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# resolve: text, reasons, JSON, conflicts, and the lock. No cluster, no network.

load helper
setup() { common_setup; }

@test "a table of the stack" {
	apart ringup resolve --no-lock 'openmpi==4.1.*'
	says 0
	golden resolve
	[ ! -e ringup.lock ]
}

@test "one reason and source per choice" {
	apart ringup resolve --explain 'openmpi>=4,<5' os==debian12
	says 0
	golden resolve-explain
}

@test "the JSON of a stack" {
	apart ringup --json resolve openmpi==4.1.4
	says 0
	golden resolve-json
	json 'd["ok"] is True'
	json 'd["stack"]["openmpi"]["version"] == "4.1.4"'
	json 'all({"version", "reason", "source", "package"} <= set(c) for c in d["stack"].values())'
	json 'd["requests"] == ["openmpi==4.1.4"]'
}

@test "a conflict: exit 3, who stands against what, and what would work" {
	apart ringup resolve 'openmpi>=6'
	says 3 'openmpi>=6'
	golden resolve-conflict
}

@test "the JSON of a conflict" {
	apart ringup --json resolve 'openmpi>=6'
	says 3
	json 'd["ok"] is False'
	json 'd["conflict"][0]["request"] == "openmpi>=6"'
	json '{"request", "because", "source"} <= set(d["conflict"][0])'
	json 'd["suggestions"] == ["openmpi==5.0.1"]'
	golden resolve-conflict-json
	suggestion=$(python3 -c 'import json; print(json.load(open("../out"))["suggestions"][0])')
	apart ringup resolve "$suggestion"
	says 0
}

@test "what the catalog does not hold is no stack" {
	apart ringup resolve cuda==12.1
	says 3 'cuda==12.1'
	apart ringup resolve openmpi 'gpu==V100'
	says 3 'gpu==V100'
}

@test "words that are no requirement: exit 2" {
	apart ringup resolve openmpi=4
	says 2 "'openmpi=4' is not a requirement"
	apart ringup resolve 'openmpi>=3<4'
	says 2 'is not a requirement'
	apart ringup resolve opnmpi
	says 2 "did you mean 'openmpi'?"
	apart ringup resolve 'openmpi>=4.*'
	says 2 'is not a requirement'
	apart ringup --json resolve opnmpi
	says 2
	json '"did you mean" in d["error"]'
}

@test "spaces and dots at the end do no harm" {
	apart ringup resolve 'openmpi == 4.1.4 ' 'os==debian12.'
	says 0
	grep -q 'openmpi  *4\.1\.4 ' ../out
}

@test "the lock is written, and the same bytes again" {
	printf 'hosts: [a]\nstack: [openmpi==4.1.4]\n' >cluster.yaml
	apart ringup resolve
	says 0
	[ -s ringup.lock ]
	[ "$(stat -c %a ringup.lock)" = 644 ]
	cp -p ringup.lock ../first
	sleep 1
	apart ringup resolve
	says 0
	cmp ringup.lock ../first
	[ "$(stat -c %Y ringup.lock)" = "$(stat -c %Y ../first)" ]
	cp ringup.lock ../out
	json 'd["stack"]["openmpi"]["version"] == "4.1.4"'
	json 'd["catalog"].startswith("sha256:")'
}

@test "the lock follows a change" {
	printf 'hosts: [a]\nstack: [openmpi==4.1.4]\n' >cluster.yaml
	ringup resolve
	printf 'hosts: [a]\nstack: [openmpi==4.1.*]\n' >cluster.yaml
	apart ringup resolve
	says 0
	cp ringup.lock ../out
	json 'd["stack"]["openmpi"]["version"] == "4.1.10"'
}

@test "a lock that is damaged is written anew" {
	printf 'hosts: [a]\n' >cluster.yaml
	echo '{' >ringup.lock
	apart ringup resolve
	says 0
	cp ringup.lock ../out
	json 'd["ok"]'
}

@test "--no-lock writes none, a conflict writes none" {
	printf 'hosts: [a]\nstack: [openmpi==4.1.4]\n' >cluster.yaml
	apart ringup resolve --no-lock
	says 0
	[ ! -e ringup.lock ]
	printf 'hosts: [a]\nstack: [openmpi>=6]\n' >cluster.yaml
	apart ringup resolve
	says 3
	[ ! -e ringup.lock ]
}

@test "the lock lies beside the file that is named" {
	mkdir deep
	printf 'hosts: [a]\n' >deep/c.yaml
	apart ringup -f deep/c.yaml resolve
	says 0
	[ -s deep/ringup.lock ]
	[ ! -e ringup.lock ]
}

@test "facts from a file: no driver, a CPU stack" {
	cat >facts.json <<-'END'
		{"schema": 1, "hosts": [{"host": "a", "kernel": "6.1", "driver": ""}]}
	END
	apart ringup resolve --facts facts.json openmpi
	says 0
}

@test "facts from a file: a driver that the catalog knows nothing for" {
	cat >facts.json <<-'END'
		{"schema": 1, "hosts": [{"host": "a", "driver": ""}, {"host": "b", "driver": "525.60.13", "gpus": "A100"}]}
	END
	apart ringup resolve --facts facts.json
	says 2 'there is no cluster.yaml'
	apart ringup resolve --facts facts.json openmpi
	says 3 'host b' 525.60.13 'accelerator: cpu'
	apart ringup --json resolve --facts facts.json openmpi
	says 3
	json '"525.60.13" in d["conflict"][0]["because"]'
	printf 'hosts: [a, b]\naccelerator: cpu\n' >cluster.yaml
	apart ringup resolve --facts facts.json
	says 0
}

# probed DRIVER: node01 of cluster.yaml was probed and has this driver.
probed() {
	printf 'name: lab\nhosts: [node01, node02]\nstack: [openmpi]\n' >cluster.yaml
	mkdir -p .ringup
	printf '{"hosts": [{"host": "node01", "kernel": "6.1", "driver": "%s"}, {"host": "gone", "kernel": "6.1", "driver": "1.2"}]}' \
		"$1" >.ringup/facts.json
}

@test "facts of the last probe count for resolve, recipe, build and push, and are said with their age" {
	local words
	probed 525.60.13
	touch -d '3 hours ago' .ringup/facts.json
	for words in resolve 'resolve openmpi' 'resolve --all' recipe 'recipe openmpi' 'build --dry-run' push; do
		# shellcheck disable=SC2086 # words
		apart ringup $words
		says 3 "host node01: it has NVIDIA driver 525.60.13" "facts of 1 of 2, from a probe 3 hours ago"
		! grep -q gone ../err
		[ "$(grep -c 'facts of 1 of 2' ../err)" = 1 ]
	done
	for words in 'resolve --no-lock' 'resolve openmpi' 'resolve --all' recipe 'recipe openmpi'; do
		# shellcheck disable=SC2086 # words
		apart ringup $words --no-facts
		says 0
		! grep -q 'facts of' ../err
	done
}

@test "facts of the last probe: other facts, and questions about other hosts, leave them out" {
	probed 525.60.13
	echo '{"hosts": [{"host": "node01", "kernel": "6.1"}]}' >facts.json
	apart ringup resolve --no-lock --facts facts.json
	says 0
	! grep -q 'facts of' ../err
	apart ringup resolve 'driver==470.57.02' openmpi
	! grep -q 'facts of' ../err
	echo '{"hosts": []}' >facts.json
	apart ringup resolve --no-lock --facts facts.json
	says 0
}

@test "facts of the last probe that cannot be read: the error names the file and the way out" {
	probed 525.60.13
	echo '{"hosts": [' >.ringup/facts.json
	apart ringup resolve
	says 1 .ringup/facts.json "ringup probe" --no-facts
	apart ringup resolve --no-facts
	says 0
}

@test "facts that are none: exit 2" {
	apart ringup resolve --facts none.json openmpi
	says 2 none.json
	echo '{' >facts.json
	apart ringup resolve --facts facts.json openmpi
	says 2 facts.json
	echo '{}' >facts.json
	apart ringup resolve --facts facts.json openmpi
	says 2 facts.json
	echo '{"hosts": [{}]}' >facts.json
	apart ringup resolve --facts facts.json openmpi
	says 2 facts.json
	echo '{"hosts": []} trailing' >facts.json
	apart ringup resolve --facts facts.json openmpi
	says 2 facts.json
}

@test "accelerator: cuda is never a silent CPU stack" {
	printf 'hosts: [a]\naccelerator: cuda\n' >cluster.yaml
	apart ringup resolve
	says 3 cuda
	[ ! -e ringup.lock ]
}

@test "a catalog that is broken names its line" {
	cp -r "$RINGUP_CATALOG" catalog
	echo '1,2,3' >>catalog/openmpi.csv
	RINGUP_CATALOG=$PWD/catalog apart ringup resolve openmpi
	says 2 'openmpi.csv:7: 3 cells, the header has 7'
}

@test "the real catalog resolves" {
	unset RINGUP_CATALOG
	apart ringup --json resolve
	says 2 'cluster.yaml'
	printf 'hosts: [a]\naccelerator: cpu\n' >cluster.yaml
	apart ringup --json resolve
	says 0
	json 'd["ok"] and {"os", "openmpi", "python", "glibc"} <= set(d["stack"])'
}

@test "a wheel that PyPI does not have comes with its index" {
	unset RINGUP_CATALOG # the real one
	# another build of the same version: its name tells the two apart
	apart ringup resolve --no-lock torch==2.7.0+cu118 gpu==B200
	says 3 "this would work: torch==2.7.0+cu128"
	ringup -q resolve --no-lock torch==2.7.0+cu128 gpu==B200
	apart ringup resolve --no-lock torch==1.7.1+cu92 gpu==RTX3090
	says 3 "this would work: torch==1.7.1+cu110"
	apart ringup resolve --no-lock torch==2.13.0 gpu==V100
	says 0
	grep -q 'torch==2.13.0+cu126 from https://download.pytorch.org/whl/cu126' ../out
	apart ringup resolve --no-lock torch==1.9.0
	says 0
	grep -q ' from https://download.pytorch.org/whl/torch_stable.html' ../out
}

@test "the warning about a small /dev/shm: only where container.shm_size is small, which by default it is not" {
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	printf '%s\n' 'hosts: [a]' 'stack: ["nccl>=2.7"]' 'accelerator: cuda' 'registry: {address: "127.0.0.1:1"}' >cluster.yaml
	apart ringup resolve --no-lock
	says 0
	! grep -q /dev/shm ../err
	echo 'container: {shm_size: 512m}' >>cluster.yaml
	apart ringup resolve --no-lock
	says 0 "no space left in /dev/shm where it has Docker's 64 MB"
	rm cluster.yaml
	apart ringup resolve --no-lock 'nccl>=2.7'
	says 0
	! grep -q /dev/shm ../err
}

@test "a stack that no recipe makes is shown with the reason, where an image is wanted" {
	unset RINGUP_CATALOG
	apart ringup resolve --no-lock openmpi os==centos6
	says 0 'this stack has no image: ' 'the TLS of centos6 is too old'
	grep -q '^openmpi ' ../out
	apart ringup --json resolve --no-lock cuda os==ubuntu17.04
	says 0 'and none of cuDNN and NCCL for it'
	apart ringup resolve --no-lock torch
	says 0
	! grep -q 'no image' ../err
	echo '{name: c, hosts: [a], stack: [openmpi, os==centos6], container: {engine: none}}' >cluster.yaml
	apart ringup resolve --no-lock
	says 0
	! grep -q 'no image' ../err
}

# bare HOST=OS...: a cluster with engine: none, whose hosts were probed and have these OSes.
bare() {
	local host list=
	for host; do
		list+="{\"host\": \"${host%%=*}\", \"kernel\": \"6.1\", \"os\": \"${host#*=}\"},"
	done
	printf '{name: lab, hosts: [a, b], stack: [openmpi, python], container: {engine: none}}\n' >cluster.yaml
	mkdir -p .ringup
	echo "{\"hosts\": [${list%,}]}" >.ringup/facts.json
}

@test "engine: none: the stack is for the hosts' own OS, whatever the lock of another one has" {
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	bare a=ubuntu22.04 b=ubuntu22.04
	ringup -q resolve --no-facts >/dev/null
	grep -q debian12 ringup.lock
	apart ringup build --dry-run
	says 3 "ringup.lock is locked to a stack that does not fit any more" "os==ubuntu22.04" "resolve --update"
	apart ringup --json resolve
	says 0
	json 'd["stack"]["os"]["version"] == "ubuntu22.04" and d["stack"]["python"]["version"].startswith("3.10")'
	json 'd["requests"] == ["openmpi", "python"]'
	apart ringup recipe --format script
	says 0
	grep -qF '$ID == ubuntu && ($VERSION_ID == 22.04' ../out
	# whoever names an OS gets it; a question with containers is not about the hosts' OS
	apart ringup --json resolve --no-lock openmpi os==ubuntu24.04
	json 'd["stack"]["os"]["version"] == "ubuntu24.04"'
	bare a=rocky9.4 b=rocky9.5
	apart ringup --json resolve --no-lock
	json 'd["stack"]["os"]["version"] == "rockylinux9"'
	sed -i 's/engine: none/engine: docker/' cluster.yaml
	apart ringup --json resolve --no-lock
	json 'd["stack"]["os"]["version"] == "debian12"'
}

@test "engine: none: hosts of several OSes, and an OS that no stack is for: exit 3, with what works" {
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	bare a=debian12 b=ubuntu24.04
	apart ringup resolve
	says 3 "the hosts' own OS, and they have several" "split the cluster: a -> debian12; b -> ubuntu24.04"
	apart ringup --json resolve
	says 3
	json '[g["members"] for g in d["groups"]] == ["a", "b"]'
	bare a=void20240314 b=void20240314
	apart ringup resolve
	says 3 "the catalog has none for void20240314 (host a)" "stack: []" "os==NAME"
}

@test "engine: none: where no stack is for the hosts' own OS, the one of another OS is taken and said" {
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	bare a=debian12
	sed -i 's/stack: .*\], container/stack: [cuda], container/' cluster.yaml
	sed -i 's/"kernel"/"driver": "470.57.02", "kernel"/' .ringup/facts.json
	apart ringup --json resolve
	says 0 "the stack is not for the hosts' own OS" "driver 470.57.02 (host a)"
	json 'd["stack"]["os"]["version"] != "debian12" and d["stack"]["cuda"]["version"].startswith("11.")'
	apart ringup build --dry-run
	says 0
	apart ringup --json resolve --no-lock cuda==13.0
	says 3 "driver 470.57.02 (host a)"
	! grep -q "os==debian12" ../err
}

@test "stack: []: nothing is resolved, and the lock holds nothing that nobody asked for" {
	printf '{name: lab, hosts: [a], stack: [], image: {base: "docker.io/library/debian:12"}, registry: {address: "127.0.0.1:1"}}\n' >cluster.yaml
	apart ringup --json resolve --update
	says 0
	json 'd["stack"] == {} and d["requests"] == []'
	apart ringup resolve
	says 0 "asks for nothing"
	grep -q 'docker.io/library/debian:12' ../out
	! grep -q openmpi ../out ringup.lock
	# a question of the command line is another one
	apart ringup resolve openmpi
	says 0
	grep -q '^openmpi' ../out
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# cluster.yaml as people write it: what is wrong is named with file, line, column and the nearest key.

load helper
setup() { common_setup; }

# refused NAME: cluster.yaml from stdin is refused with exit 2 and the words of NAME.err.
refused() {
	cat >cluster.yaml
	apart ringup resolve --no-lock
	says 2 'cluster.yaml'
	[ ! -s ../out ]
	golden "cluster-$1"
}

# accepted: cluster.yaml from stdin is fine.
accepted() {
	cat >cluster.yaml
	apart ringup resolve --no-lock
	says 0
}

@test "unknown key at the top" {
	refused unknown-key <<-'END'
		name: lab
		hosts: [a]
		regsitry: {address: "r:5000"}
	END
}

@test "unknown key that is near nothing" {
	refused unknown-key-far <<-'END'
		hosts: [a]
		kubernetes: true
	END
}

@test "unknown key inside of a map" {
	refused unknown-key-inside <<-'END'
		hosts: [a]
		container:
		  engine: docker
		  sshd-port: 9435
	END
}

@test "unknown key of a host" {
	refused unknown-key-host <<-'END'
		hosts:
		  - node01
		  - {address: 10.0.0.9, slot: 4}
	END
}

@test "a number that is none" {
	refused wrong-number <<-'END'
		hosts:
		  - {address: 10.0.0.9, port: ssh}
	END
}

@test "a port out of range" {
	refused wrong-port <<-'END'
		hosts: [a]
		container: {sshd_port: 94350}
	END
}

@test "yes is no boolean" {
	refused wrong-boolean <<-'END'
		hosts: [a]
		container: {privileged: yes}
	END
}

@test "a list where a word is wanted" {
	refused wrong-list <<-'END'
		name: [lab]
		hosts: [a]
	END
}

@test "a word where a map is wanted" {
	refused wrong-map <<-'END'
		hosts: [a]
		registry: 10.0.0.254:5000
	END
}

@test "a choice that is none" {
	refused wrong-choice <<-'END'
		hosts: [a]
		accelerator: gpu
	END
}

@test "a name that cannot be one" {
	refused wrong-name <<-'END'
		name: My Cluster
		hosts: [a]
	END
}

@test "no hosts at all: a scheduler has its own, and for all else they are missed" {
	local command
	accepted <<-'END'
		name: lab
		jobs: {train: {command: [python3, train.py]}}
	END
	apart ringup export slurm --set container=none --nodes 2 train
	says 0
	grep -qx '#SBATCH --nodes=2' ../out
	for command in up 'up --dry-run' status probe doctor 'exec -- true' 'run -- true' 'run train' bench down restart 'hosts trust' 'keys install' setup 'ps --gpus'; do
		# shellcheck disable=SC2086 # words
		apart ringup $command
		says 2 "cluster.yaml: there are no 'hosts' to work on: list them, as in hosts: [node01, node02]"
	done
	for command in 'logs node01' 'cp cluster.yaml @*:/tmp/' rollback 'wait --hosts node01'; do
		# shellcheck disable=SC2086 # words
		apart ringup $command
		says 2
	done
}

@test "an empty list of hosts" {
	refused empty-hosts <<-'END'
		hosts: []
	END
}

@test "an empty file" {
	refused empty-file </dev/null
}

@test "a host twice, through a range" {
	refused twice <<-'END'
		hosts: ["node[01-08]", {address: 10.0.0.9}, node03]
	END
}

@test "a range that falls" {
	refused range-falls <<-'END'
		hosts: ["node[08-01]"]
	END
}

@test "a range without its end" {
	refused range-open <<-'END'
		hosts:
		  - node[01-08
	END
}

@test "a range that YAML took for a list" {
	refused range-list <<-'END'
		hosts:
		  - [01-08]
	END
}

@test "a range of too many" {
	refused range-many <<-'END'
		hosts: ["node[1-100000]"]
	END
}

@test "a host that is an option" {
	refused option-host <<-'END'
		hosts: [-oProxyCommand=touch]
	END
}

@test "a host name that leaves its folder" {
	refused path-host <<-'END'
		hosts: [{address: 10.0.0.1, name: ../../x}]
	END
}

@test "anchors and aliases" {
	refused anchors <<-'END'
		hosts: [a]
		ssh: &x {user: root}
		container: *x
	END
}

@test "tags" {
	refused tags <<-'END'
		hosts: [a]
		name: !!python/object/apply:os.system lab
	END
}

@test "a key twice" {
	refused key-twice <<-'END'
		hosts: [a]
		name: x
		hosts: [b]
	END
}

@test "broken YAML" {
	refused broken <<-'END'
		hosts: [a
		name: x
	END
}

@test "tabs" {
	printf 'hosts:\n\t- a\n' | refused tabs
}

# says_of YAML TEXT: a cluster of one host with that is refused with this text.
says_of() {
	printf 'hosts: [a]\n%s\n' "$1" >bad.yaml
	apart ringup -f bad.yaml recipe
	says 2 'bad.yaml:2:' "$2"
}

@test "sizes, processors and addresses that are none" {
	local size
	for size in lots 8x 0 -1 8gg 1.2.3g '"8 g"' '"."' 0.0g; do
		says_of "container: {shm_size: $size}" "it takes a size such as 512m or 8g"
		says_of "container: {memory: $size}" "it takes a size such as 512m or 8g"
	done
	for size in all 0 8cores 1.5.1; do
		says_of "container: {cpus: $size}" "it takes a number such as 8 or 1.5"
	done
	says_of "registry: {address: 'https://reg.lan:5000'}" "'address' is HOST:PORT, without 'https://': write 'reg.lan:5000'"
	for size in 512m 8g 8GB 8GiB 1.5g 1073741824 0.5t; do
		printf 'hosts: [a]\ncontainer: {shm_size: %s, memory: %s, cpus: 1.5}\n' "$size" "$size" >good.yaml
		ringup -f good.yaml recipe >/dev/null
	done
}

@test "two documents" {
	refused documents <<-'END'
		hosts: [a]
		---
		hosts: [b]
	END
}

@test "a requirement that is none" {
	refused requirement <<-'END'
		hosts: [a]
		stack: ["openmpi=4"]
	END
}

@test "an unknown component" {
	refused component <<-'END'
		hosts: [a]
		stack: [tensorflw]
	END
}

@test "an engine that is none" {
	printf 'hosts: [a]\ncontainer: {engine: dokcer}\n' >cluster.yaml
	apart ringup status
	says 2
	golden cluster-engine
}

@test "the file is missing" {
	apart ringup resolve
	says 2 "there is no cluster.yaml"
	apart ringup -f lab/other.yaml status
	says 2 "there is no lab/other.yaml"
	# named, it must be there, though words are given
	apart ringup -f other.yaml resolve os
	says 2 "there is no other.yaml"
}

@test "the file is a folder" {
	mkdir cluster.yaml
	apart ringup resolve
	says 2 cluster.yaml
}

@test "JSON is a cluster file too" {
	accepted <<-'END'
		{"name": "lab", "hosts": ["node[01-03]", {"address": "10.0.0.9", "port": 22}],
		 "stack": ["openmpi"], "container": {"privileged": false}}
	END
	refused json <<-'END'
		{"name": "lab",
		 "hosts": ["a"], "imge": {}}
	END
}

@test "an example with most keys is fine" {
	mkdir src
	echo x >src/x
	accepted <<-'END'
		name: lab
		hosts: [ "node[01-08]", {address: 10.0.0.9, user: ops, port: 22, slots: 4, gpus: "0,1", arch: amd64} ]
		ssh: {user: root, key: ~/.ssh/id_ed25519, known_hosts: ~/.ssh/known_hosts, jump: bastion, sudo: false, transport: auto}
		registry: {address: "10.0.0.254:5000", namespace: team, ca: ./ca.pem, insecure: false}
		stack: [ "python==3.11.*" ]
		accelerator: auto
		mirrors: {apt: URL, yum: URL, pip: URL, docker: URL, downloads: URL}
		image: {name: train, base: auto, apt: [git], pip: [numpy], files: [{from: ./src, to: /workspace}], env: {A: b}, platforms: [linux/amd64]}
		container: {engine: auto, sshd_port: 9435, gpus: all, capabilities: [compute, utility], network: host, interface: auto,
		            shm_size: 8g, volumes: ["/data:/data:ro"], env: {NCCL_DEBUG: WARN}, privileged: false, ulimits: {}, devices: auto}
	END
	apart ringup recipe
	says 0
	grep -q 'COPY files/0 /workspace' ../out
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'registry serve --on HOST' on a lab host: its own sshd, address, files and engine. One lab, in order.
# A process where the host has the program; a container of its Docker Engine where it has not.

load helper

setup_file() {
	lab_begin
	ringup -q lab up --hosts 1 3>&- 4>&-
	python3 "$BATS_TEST_DIRNAME/../fault/image.py" image 2 1
}

teardown_file() {
	cd "$LAB" || return
	ringup -q registry stop --on node01 >/dev/null 2>&1 3>&- 4>&- || true
	rm -rf image pulled other
	lab_end
}

setup() {
	cd "$LAB"
	A=$(address node01):5000
	CA=.ringup/registry/node01/ca.pem
	# Login and images go to the host's registry, not to the lab's own.
	sed "s,address: \"10[^\"]*:5000\",address: \"$A\"," cluster.yaml >own.yaml
}

# registry_on VERB WORDS...: 'ringup registry VERB --on node01', with what it prints in $output.
registry_on() {
	local verb=$1
	shift
	run --separate-stderr ringup registry "$verb" --on node01 "$@" 3>&- 4>&-
	echo "$output" "$stderr"
	[ "$status" -eq 0 ]
}

# host_hides PROGRAM...: as if they were not installed on the host; host_shows brings them back.
host_hides() {
	local path
	for path; do inside node01 mount --bind /dev/null "$path"; done
}

host_shows() {
	local path
	for path; do
		! inside node01 mountpoint -q "$path" || inside node01 umount "$path"
	done
}

pids_on_host() {
	inside node01 pgrep -f 'docker-registry serve|registry serve /var' || true
}

push_and_pull() {
	ringup -q push --ca "$CA" oci:image:1 "$A/lab/$1:1" >/dev/null
	rm -rf pulled
	ringup -q pull --ca "$CA" "$A/lab/$1:1" oci:pulled:1 >/dev/null
	diff -r image/blobs pulled/blobs
}

@test "serve --on: starts the host's registry; the CA's key and the password stay here" {
	registry_on serve
	[[ $output == *"https://$A runs as a process on node01"* ]]
	[ "$(stat -c %a .ringup/registry/node01 .ringup/registry/node01/ca.key | xargs)" = "700 600" ]
	[ "$(inside node01 find /var/lib/ringup/registry -maxdepth 1 -type f -printf '%f %m\n' | sort | xargs)" = \
		"config.yml 600 htpasswd 600 owner 600 registry.log 600 registry.pid 600 server.key 600 server.pem 600 started 600" ]
	[ "$(inside node01 ss -Hltn | awk '{print $4}' | grep :5000)" = "$A" ]
	openssl verify -CAfile "$CA" .ringup/registry/node01/server.pem
	openssl x509 -in .ringup/registry/node01/server.pem -noout -text | grep "IP Address:${A%:*}, DNS:node01"
	! grep -rqF "$(cat .ringup/registry/node01/password)" /proc/[0-9]*/cmdline
}

@test "login, push, pull; status shows it" {
	ringup login --ca "$CA" -u ringup "$A" <.ringup/registry/node01/password
	push_and_pull one
	registry_on status --json
	jq -e '.host == "node01" and .running and .as == "process" and .tag_count == 1 and .bytes > 3000000
		and .storage == "/var/lib/ringup/registry/data" and .certificate_days > 800' <<<"$output"
	registry_on status
	[[ $output == *"lab/one:1  3.0 MiB"* ]]
}

@test "twice: the same process; a host's name or its address mean the same" {
	local before
	before=$(pids_on_host)
	registry_on serve
	[[ $output == *"runs already"* ]]
	same process "$before" "$(pids_on_host)"
	ringup registry status --on "${A%:*}" >/dev/null
}

@test "with the settings changed, or killed: it starts again with its images" {
	local before
	before=$(pids_on_host)
	registry_on serve --address ":5000" --as process
	same process "$before" "$(pids_on_host)"
	inside node01 sh -c 'kill -9 "$(cut -d" " -f1 /var/lib/ringup/registry/registry.pid)"'
	registry_on status
	[[ $output == *"does not run"* ]]
	registry_on serve
	[[ $output == *"runs as a process"* ]]
	push_and_pull one
}

@test "the host's address changes: a new certificate, the same CA" {
	local before port
	before=$(sha256sum "$CA")
	# What it would have been before the address changed.
	jq '.address = "10.83.0.1:5000"' .ringup/registry/node01/registry.json >changed
	mv changed .ringup/registry/node01/registry.json
	echo subjectAltName=IP:10.83.0.1 >.ringup/registry/node01/server.ext
	registry_on serve
	[[ $output == *"https://$A runs as"* ]]
	same CA "$before" "$(sha256sum "$CA")"
	openssl x509 -in .ringup/registry/node01/server.pem -noout -text | grep "IP Address:${A%:*}, DNS:node01"
	push_and_pull one
}

@test "another port is another registry, on a host that the cluster file does not name so" {
	local there=root@${A%:*}:22 before
	before=$(pids_on_host)
	run --separate-stderr ringup registry serve --on "$there" --address :5001 3>&- 4>&-
	[ "$status" -eq 0 ]
	[[ $output == *"https://${A%:*}:5001 runs as a process"* ]]
	[ "$(pids_on_host | wc -l)" = 2 ]
	run ringup registry stop --on "$there" --address :5001
	[ "$output" = stopped ]
	same process "$before" "$(pids_on_host)"
	fails 2 registry status --on "$there"
	says "no registry in"
}

@test "two people, one host: the registry of the first is left alone until --take-over" {
	local before verb folder=/var/lib/ringup/registry
	before=$(pids_on_host; inside node01 sha256sum $folder/server.pem $folder/htpasswd $folder/owner)
	mkdir -p colleague
	sed "s,\.ringup/lab,$LAB/.ringup/lab,g" cluster.yaml >colleague/cluster.yaml
	cd colleague
	fails 1 registry serve --on node01
	one_line
	says "node01: the registry ringup-registry there belongs to somebody else" "$(id -un)@$(hostname) started it at 20" \
		"from $LAB;" "ringup registry serve --on node01 --take-over"
	for verb in stop gc; do
		fails 1 registry $verb --on node01
		says "belongs to somebody else"
	done
	same registry "$before" "$(pids_on_host; inside node01 sha256sum $folder/server.pem $folder/htpasswd $folder/owner)"
	ringup -q registry serve --on node01 --take-over >/dev/null
	cd "$LAB"
	fails 1 registry serve --on node01
	says "from $LAB/colleague;"
	# as an earlier ringup left it
	inside node01 rm $folder/owner
	fails 1 registry serve --on node01
	says "names no owner"
	registry_on serve --take-over
	registry_on serve
	push_and_pull one
	rm -r colleague
}

@test "gc frees what was removed" {
	ringup -q rm --ca "$CA" "$A/lab/one:1" >/dev/null
	registry_on gc
	registry_on status --json
	jq -e '.running and .tag_count == 0 and .used_bytes < 1000000' <<<"$output"
}

@test "an unknown host key is refused" {
	sed 's,known_hosts: [^}]*,known_hosts: nobody,' cluster.yaml >other.yaml
	touch nobody
	fails 1 -f other.yaml registry serve --on node01
	says "not in" nobody
	[ ! -s nobody ]
	rm nobody other.yaml
}

@test "stop: nothing of it runs, and its images stay; twice is harmless" {
	push_and_pull two
	registry_on stop
	[ "$output" = stopped ]
	[ -z "$(pids_on_host)" ]
	registry_on stop
	[ "$output" = "it did not run" ]
	inside node01 test -d /var/lib/ringup/registry/data/docker/registry/v2/repositories/lab/two
}

@test "without the program: a container that restarts by itself, with the same images" {
	local programs=(/usr/bin/docker-registry)
	host_hides "${programs[@]}"
	fails 1 registry serve --on node01 || { host_shows "${programs[@]}"; false; }
	host_shows "${programs[@]}"
	says "Unable to find image 'registry:2.8.3'" "--image"
	# What the image's name stands for: no Docker Hub here, so it is made of Debian's own program.
	mkdir root root/bin
	cp /usr/bin/docker-registry root/bin/registry
	ldd root/bin/registry | grep -o '/[^ ]*' | xargs cp --parents -L -t root
	tar -C root -c . | inside node01 docker import - registry:2.8.3 >/dev/null
	rm -r root
	host_hides "${programs[@]}"
	registry_on serve || { host_shows "${programs[@]}"; false; }
	[[ $output == *"runs as a container on node01"* ]]
	[ "$(inside node01 docker inspect -f '{{.HostConfig.RestartPolicy.Name}} {{.HostConfig.Privileged}} {{.HostConfig.CapDrop}}' \
		ringup-registry)" = "unless-stopped false [ALL]" ]
	ringup inspect --ca "$CA" "$A/lab/two:1" >/dev/null
	push_and_pull three
	registry_on serve
	[[ $output == *"runs already"* ]]
	ringup -q rm --ca "$CA" "$A/lab/three:1" >/dev/null
	registry_on gc
	registry_on status
	[[ $output == *"runs as a container"* ]]
	host_shows "${programs[@]}"
	# With the program there again it is a process again.
	registry_on serve
	[[ $output == *"runs as a process"* ]]
	[ "$(inside node01 docker ps -aq)" = "" ]
	ringup inspect --ca "$CA" "$A/lab/two:1" >/dev/null
}

@test "neither program nor engine: says what to install" {
	local paths=(/usr/bin/docker-registry) path
	for path in /usr/bin/docker /usr/local/bin/docker; do
		! inside node01 test -e "$path" || paths+=("$path")
	done
	registry_on stop
	host_hides "${paths[@]}"
	fails 1 registry serve --on node01 || { host_shows "${paths[@]}"; false; }
	host_shows "${paths[@]}"
	one_line
	says node01 "--install installs" "no container engine"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The main job on three namespace hosts, looked at with other tools: docker in the hosts, curl at the
# registry, ss, ssh. One lab for the file; the tests run in order.

load helper

setup_file() {
	lab_begin
	ringup -q lab up --hosts 3 3>&- 4>&-
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB"
}

# environment HOST WORD...: what the words say of the environment in the host's container, sorted, without what each way
# in has for itself. (NUL-separated, since a value may have several lines.)
environment() {
	in_container "$@" | tr '\0\n' '\n~' | grep -vE '^(SHLVL|PWD|OLDPWD|_|SSH_(CLIENT|CONNECTION))=' | sort
}

# same_environment FROM TO: a login from FROM to TO finds the environment and directory that `exec` finds on TO.
same_environment() {
	same "environment of $2" "$(environment "$2" cat /proc/self/environ)" "$(environment "$1" ssh "$2" cat /proc/self/environ)"
	same "directory of $2" "$(in_container "$2" pwd)" "$(in_container "$1" ssh "$2" pwd)"
}

digest() {
	jq -r .image "$LAB/up.json" | sed 's/.*@//'
}

@test "lab up: each host has its own address, sshd, engine and folders" {
	[ "$(hosts | wc -l)" = 3 ]
	local host address roots=()
	for host in $(hosts); do
		address=$(address "$host")
		[ "$(inside "$host" hostname)" = "$host" ]
		[ "$(inside "$host" ip -o -4 addr show dev eth0 | awk '{print $4}')" = "$address/24" ]
		[[ "$(head -c 4 <"/dev/tcp/$address/22")" == SSH- ]]
		inside "$host" ss -Hltn | awk '{print $4}' | grep -Fx "$address:22"
		roots+=("$(inside "$host" docker info --format '{{.DockerRootDir}}')")
		[ "$(inside "$host" docker ps -aq)" = "" ]
		[ "$(inside "$host" awk '$2 == "/var/lib/ringup" || $2 == "/etc/docker"' /proc/self/mounts | wc -l)" = 2 ]
	done
	[ "$(printf '%s\n' "${roots[@]}" | sort -u | wc -l)" = 3 ]
	[ "$(ssh-keygen -lf .ringup/lab/known_hosts | awk '{print $2}' | sort -u | wc -l)" = 3 ]
	[ "$(stat -c %a .ringup .ringup/auth.json .ringup/lab/id_ed25519 .ringup/lab/registry/password | xargs)" = "700 600 600 600" ]
}

@test "lab up: the registry refuses without its password and CA, and works with them" {
	local url
	url=https://$(registry_address)/v2/
	[ "$(curl -s -o /dev/null -w '%{http_code}' --cacert .ringup/lab/registry/ca.pem "$url")" = 401 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' --cacert .ringup/lab/registry/ca.pem -u lab:wrong "$url")" = 401 ]
	run curl -s "$url"
	[ "$status" = 60 ] # not trusted
	[ "$(registry /v2/ -o /dev/null -w '%{http_code}')" = 200 ]
	run curl -s --max-time 5 "http://$(registry_address)/v2/"
	[[ "$output" != *'{}'* ]]
}

@test "up: three hosts up; the password stands on no command line meanwhile" {
	secrets >secrets
	(cat secrets && echo ringup/lab/login) >patterns
	# Looks at the arguments of every process of this machine, the hosts' included, all the time.
	(while [[ ! -e sampled ]]; do
		grep -azhFf patterns /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' >>seen || true
		sleep 0.04
	done) 3>&- 4>&- &
	local sampler=$! status=0
	ringup --json up >up.json 2>up.err 3>&- 4>&- || status=$?
	touch sampled
	wait "$sampler"
	cat up.err
	[ "$status" = 0 ]
	grep -q ringup/lab/login seen # so the looking works
	run ! grep -Ff secrets seen
	rm -f patterns secrets sampled seen
	jq -e '.schema == 1 and (.hosts | length == 3) and all(.hosts[]; .ok and .changed)' up.json
	jq -e '.ssh_connections == 3' up.json
	[[ "$(jq -r .image up.json)" == "$(registry_address)/lab/train@sha256:"* ]]
}

@test "image: in the registry under its tag and digest, each blob whole" {
	local tags tag headers blob
	# (beside the list of what refers to it)
	tags=$(registry /v2/lab/train/tags/list | jq -r '.tags[] | select(startswith("sha256-") | not)')
	[ "$(wc -l <<<"$tags")" = 1 ]
	tag=$tags
	[[ "$(jq -r .recipe ringup.lock)" == *"$tag"* ]]
	[ "$(jq -r .image ringup.lock)" = "$(jq -r .image up.json)" ]
	registry "/v2/lab/train/manifests/$tag" -H "$MANIFEST_TYPES" -D headers >manifest
	headers=$(tr -d '\r' <headers)
	grep -qix "docker-content-digest: $(digest)" <<<"$headers"
	[ "sha256:$(sha256sum <manifest | cut -d' ' -f1)" = "$(digest)" ]
	registry "/v2/lab/train/manifests/$(digest)" -H "$MANIFEST_TYPES" | cmp - manifest
	while read -r blob size; do
		registry "/v2/lab/train/blobs/$blob" -L >blob
		[ "sha256:$(sha256sum <blob | cut -d' ' -f1)" = "$blob" ]
		[ "$(stat -c %s blob)" = "$size" ]
	done < <(jq -r '[.config] + .layers | .[] | "\(.digest) \(.size)"' manifest)
	[ "$(jq '.layers | length' manifest)" -ge 2 ]
}

@test "image: neither its history nor its config names the mirrors of this machine" {
	registry "/v2/lab/train/blobs/$(jq -r .config.digest manifest)" -L >config
	jq -e '.history | length > 0' config
	jq -e '.config.Labels["org.ringup.stack.openmpi"] | test("^4\\.")' config
	local url
	grep -oE '"https?://[^"]+"' cluster.yaml | tr -d '"' >mirrors
	[ -s mirrors ]
	while read -r url; do
		url=${url#*//}
		run ! grep -F "${url%%/*}" config
	done <mirrors
	run ! grep -E 'APT_MIRROR=h|PIP_INDEX_URL=h' config
	rm -f manifest config blob headers mirrors
}

@test "image: its SBOM and provenance refer to it, and say what is inside" {
	local digest index sbom provenance
	digest=$(jq -r .image ringup.lock | sed 's/.*@//')
	index=$(registry "/v2/lab/train/manifests/${digest/:/-}" -H 'Accept: application/vnd.oci.image.index.v1+json')
	[ "$(jq '.manifests | length' <<<"$index")" = 2 ]
	document() {
		local artifact
		artifact=$(jq -r ".manifests[] | select(.artifactType == \"$1\") | .digest" <<<"$index")
		artifact=$(registry "/v2/lab/train/manifests/$artifact" -H "$MANIFEST_TYPES")
		[ "$(jq -r .subject.digest <<<"$artifact")" = "$digest" ]
		registry "/v2/lab/train/blobs/$(jq -r '.layers[0].digest' <<<"$artifact")"
	}
	sbom=$(document application/spdx+json)
	jq -e '.spdxVersion == "SPDX-2.3"' <<<"$sbom"
	# what the containers say of themselves
	in_container node01 dpkg-query -W -f '${Package} ${Version}\n' | sort >inside
	jq -r '.packages[] | select(.SPDXID | startswith("SPDXRef-Deb-")) | "\(.name) \(.versionInfo)"' <<<"$sbom" | sort >listed
	diff inside listed
	jq -e '[.packages[].SPDXID] | length == (unique | length)' <<<"$sbom"
	provenance=$(document application/vnd.in-toto+json)
	jq -e --arg d "${digest#sha256:}" '.subject[0].digest.sha256 == $d' <<<"$provenance"
	jq -e '.predicateType == "https://slsa.dev/provenance/v1"' <<<"$provenance"
	jq -e --arg h "$(jq -r .recipe ringup.lock)" '.predicate.buildDefinition.internalParameters.recipe == $h' <<<"$provenance"
	secrets >patterns
	run ! grep -Ff patterns <<<"$sbom$provenance"
	rm -f patterns inside listed
}

@test "image: without manuals, translations and Perl's library, with every package's licence" {
	[ -z "$(in_container node01 find /usr/share/man /usr/share/info /usr/share/locale -type f ! -name locale.alias ! -name dir)" ]
	[ -z "$(in_container node01 find /usr/share -maxdepth 1 -name perl)" ]
	in_container node01 test -s /usr/share/doc/openmpi-bin/copyright
}

@test "hosts: one container each, from the registry's digest, with least rights" {
	local host
	for host in $(hosts); do
		[ "$(inside "$host" docker ps -aq | wc -l)" = 1 ]
		[ "$(inspect "$host" .State.Running)" = true ]
		[ "$(inspect "$host" .Config.Image)" = "$(jq -r .image up.json)" ]
		inside "$host" docker image inspect "$(inspect "$host" .Image)" |
			jq -e --arg image "$(jq -r .image up.json)" '.[0].RepoDigests | index($image) != null'
		[ "$(inspect "$host" .HostConfig.Privileged)" = false ]
		[ "$(inspect "$host" '.HostConfig.CapAdd // [] | length')" = 0 ]
		[ "$(inspect "$host" '.HostConfig.Devices // [] | length')" = 0 ]
		[ "$(inspect "$host" .HostConfig.NetworkMode)" = host ]
		[ "$(inspect "$host" .HostConfig.PidMode)" = "" ]
		[ "$(inspect "$host" .HostConfig.IpcMode)" = private ]
		[ "$(inspect "$host" .HostConfig.ShmSize)" = $((512 * 1024 * 1024)) ]
		[ "$(inspect "$host" '.Mounts | length')" = 1 ]
		[ "$(inspect "$host" '.Mounts[0] | "\(.Source) \(.Destination) \(.RW)"')" = "/var/lib/ringup/lab/ssh /etc/ringup/ssh false" ]
		inspect "$host" '.Config.Env[]' | grep -Fx "RINGUP_HOST=$host"
		inspect "$host" '.Config.Env[]' | grep -Fx "NCCL_SOCKET_IFNAME==eth0"
		run ! in_container "$host" touch /etc/ringup/ssh/x
		run ! in_container "$host" test -e /root/.ssh
	done
}

@test "hosts: the container's sshd takes keys only, on the host's address and port 9435" {
	local host config
	for host in $(hosts); do
		config=$(in_container "$host" /usr/sbin/sshd -T -f /etc/ringup/ssh/sshd_config)
		for line in 'port 9435' "listenaddress $(address "$host"):9435" 'passwordauthentication no' \
			'kbdinteractiveauthentication no' 'usepam no' 'permitrootlogin without-password' \
			'pubkeyauthentication yes' 'hostkey /etc/ringup/ssh/ssh_host_ed25519_key' 'allowtcpforwarding no' \
			'allowstreamlocalforwarding no' 'allowagentforwarding no' 'permittunnel no' 'gatewayports no'; do
			grep -Fx "$line" <<<"$config"
		done
		[ "$(inside "$host" ss -Hltn | awk '{print $4}' | grep ':9435$')" = "$(address "$host"):9435" ]
		# asked for a password it offers no such way, not even to try
		inside "$host" cat /var/lib/ringup/lab/ssh/known_hosts >workers
		run ssh -p 9435 -o StrictHostKeyChecking=yes -o UserKnownHostsFile=workers -o PubkeyAuthentication=no \
			"root@$(address "$host")" true </dev/null
		[ "$status" = 255 ]
		[[ "$output" == *"Permission denied (publickey)"* ]]
	done
	rm workers
}

@test "hosts: keys are readable by their owner alone, and the workers' host keys differ" {
	local host folder=/var/lib/ringup/lab/ssh
	for host in $(hosts); do
		[ "$(inside "$host" stat -c %a $folder/id_ed25519 $folder/ssh_host_ed25519_key $folder/secret | sort -u)" = 600 ]
		[ "$(inside "$host" stat -c %a /var/lib/ringup/lab)" = 700 ]
		inside "$host" cmp "$folder/ssh_host_ed25519_key" "$LAB/.ringup/keys/host-$host"
		[ "$(inside "$host" find /var/lib/ringup/lab -mindepth 1 -maxdepth 1 | sort | xargs)" = "/var/lib/ringup/lab/ca-files /var/lib/ringup/lab/owner /var/lib/ringup/lab/registry-ca.crt /var/lib/ringup/lab/ssh" ]
		inside "$host" cmp "/etc/docker/certs.d/$(registry_address)/ca.crt" "$LAB/.ringup/lab/registry/ca.pem"
		inside "$host" cat $folder/ssh_host_ed25519_key | sha256sum
	done | sort -u >prints
	[ "$(grep -c -- - prints)" = 3 ]
	rm prints
	[ "$(stat -c %a .ringup .ringup/keys | xargs)" = "700 700" ]
	[ "$(find .ringup/keys -type f ! -name '*.pub' -printf '%m\n' | sort -u)" = 600 ]
}

@test "hosts: the password is in no journal, container, file or log afterwards" {
	local host
	secrets >patterns
	[ "$(wc -l <patterns)" = 2 ]
	grep -qFf patterns .ringup/auth.json # so the patterns are right
	run ! grep -rlFf patterns .ringup --exclude-dir=lab --exclude=auth.json
	run ! grep -lFf patterns up.json up.err ringup.lock cluster.yaml
	run ! grep -rlFf patterns /root/.docker
	for host in $(hosts); do
		run ! grep -rlFf patterns ".ringup/lab/$host" --exclude-dir=overlay2
		[ "$(inspect "$host" . | grep -cFf patterns)" = 0 ]
		# in the places of this host and of this lab: other runs of the machine have folders of their own
		[ "$(inside "$host" find /var/lib/ringup /run /etc "$LAB/.ringup" -xdev -name login -path '*/ringup/*' ! -path '*/overlay2/*')" = "" ]
		[ "$(in_container "$host" env | grep -cFf patterns)" = 0 ]
		# nor the cluster's own secret, where others could read it
		[ "$(inspect "$host" . | grep -cFf .ringup/keys/secret)" = 0 ]
	done
	run ! grep -lFf .ringup/keys/secret .ringup/journal.jsonl up.json up.err
	rm patterns
	jq -es 'length >= 9 and all(.[]; .time and .host and .action)' .ringup/journal.jsonl
}

@test "mesh: every worker logs in to every other, host keys checked" {
	all_meet node01 node02 node03
	local config
	config=$(in_container node01 ssh -G node02)
	grep -ixE 'stricthostkeychecking (yes|true)' <<<"$config"
	grep -ix 'userknownhostsfile /etc/ringup/ssh/known_hosts' <<<"$config"
	# an unknown key is refused, so the check is real
	run in_container node01 ssh -o UserKnownHostsFile=/dev/null node02 true
	[ "$status" = 255 ]
	[[ "$output" == *"Host key verification failed"* ]]
	# so is one that is another host's
	in_container node01 sh -c "awk -v a='[$(address node03)]:9435' -v b='[$(address node02)]:9435' \
		'\$1 == a {\$1 = b; print}' /etc/ringup/ssh/known_hosts >/tmp/swapped"
	run in_container node01 ssh -o UserKnownHostsFile=/tmp/swapped node02 true
	[ "$status" = 255 ]
	in_container node01 rm /tmp/swapped
}

@test "names: each container finds every host by its name, at its cluster address only" {
	local from to
	for from in $(hosts); do
		for to in $(hosts); do
			same "$to from $from" "$(address "$to")" "$(in_container "$from" getent ahosts "$to" | awk '{print $1}' | sort -u)"
		done
		[ "$(in_container "$from" getent ahosts localhost | wc -l)" -ge 1 ]
		# what the engine gave is still there, and the host's own file is not touched
		diff <(inside "$from" cat /etc/hosts | grep -vwE 'node0[1-3]') <(in_container "$from" grep -v ' # ringup$' /etc/hosts)
		run ! inside "$from" grep ringup /etc/hosts
	done
	[ "$(ringup exec -H node01 -- getent ahosts node03 | awk 'NR == 1 {print $2, $4}')" = "$(address node03) node03" ]
}

@test "environment: a login finds the one of exec, and not the secret" {
	local one
	same_environment node01 node02
	same_environment node03 node01
	one=$(in_container node01 ssh node02 env)
	grep -Fx RINGUP_HOST=node02 <<<"$one"
	grep -Fx NCCL_SOCKET_IFNAME==eth0 <<<"$one"
	grep -Fx OMPI_ALLOW_RUN_AS_ROOT=1 <<<"$one"
	run ! in_container node02 grep -rFf /etc/ringup/ssh/secret /run/ringup
	[ "$(in_container node02 stat -c %a /run/ringup /run/ringup/environment | xargs)" = "700 600" ]
}

@test "mpirun by names: as quick as by addresses" {
	# where names are asked of a resolver that does not answer, the logins take 80 s
	in_container node01 timeout 60 mpirun --allow-run-as-root -np 3 -H node01,node02,node03 --bind-to none hostname >out
	[ "$(sort out | xargs)" = "node01 node02 node03" ]
	rm out
}

@test "a login on a terminal says nothing of its own" {
	[ "$(in_container node01 ssh -tt node02 'echo x' 2>&1 </dev/null | tr -d '\r' | grep -v '^Connection to ')" = x ]
}

@test "second up: nothing changes, one SSH connection per host" {
	local host before files=() logins=() i=0
	before=$(container_lines)
	for host in $(hosts); do
		files+=("$(host_files "$host")")
		logins+=("$(logins "$host")")
	done
	local lock
	lock=$(stat -c '%i %y' ringup.lock)
	ringup --json up >second.json 2>/dev/null 3>&- 4>&-
	same containers "$before" "$(container_lines)"
	for host in $(hosts); do
		same "files of $host" "${files[i]}" "$(host_files "$host")"
		[ "$(logins "$host")" = $((logins[i] + 1)) ]
		i=$((i + 1))
	done
	same ringup.lock "$lock" "$(stat -c '%i %y' ringup.lock)"
	jq -e 'all(.hosts[]; .ok and (.changed | not)) and .ssh_connections == 3' second.json
	same image "$(jq .image up.json)" "$(jq .image second.json)"
}

@test "up --dry-run on a cluster that is up: no command for any host, nothing changes" {
	local before
	before=$(container_lines)
	run --separate-stderr ringup up --dry-run
	[ "$status" = 0 ]
	[[ "$output" != *"docker run"* && "$output" != *"docker pull"* && "$output" != *"docker build"* ]]
	same containers "$before" "$(container_lines)"
}

@test "two people, one host: the second one's commands are refused, the first one's cluster goes on" {
	local before words
	before=$(container_lines)
	rm -rf clone
	mkdir clone
	sed "s,\.ringup/lab,$LAB/.ringup/lab,g" cluster.yaml >clone/cluster.yaml
	install -d -m 700 clone/.ringup
	cp .ringup/auth.json clone/.ringup/
	cd clone
	for words in up down 'down --purge' bench logs 'exec true'; do
		# shellcheck disable=SC2086 # words
		fails 1 $words
		one_line
		says "node01, node02, node03: the container $CONTAINER there belongs to somebody else" \
			"$(id -un)@$(hostname) started it at $(inspect node01 '.Config.Labels["org.ringup.time"]') from $LAB;" \
			"a new clone" --take-over
		same containers "$before" "$(container_lines)"
	done
	[ "$(ringup --json status 2>/dev/null | jq -r '.hosts[0] | "\(.state) \(.owner.folder)"')" = "foreign $LAB" ]
	cd "$LAB"
	ringup -q up
	same containers "$before" "$(container_lines)"
	# a container without labels, as an earlier ringup made it, and nothing of ours beside it
	inside node02 sh -c "docker rename $CONTAINER kept && mv /var/lib/ringup/lab /var/lib/ringup/kept"
	inside node02 docker create --name "$CONTAINER" "$(jq -r .image up.json)" >/dev/null
	fails 4 up
	says node02 "the container $CONTAINER there names no owner"
	fails 1 exec -H node02 true
	inside node02 sh -c "docker rm $CONTAINER && docker rename kept $CONTAINER && mv /var/lib/ringup/kept /var/lib/ringup/lab"
	ringup -q up
	same containers "$before" "$(container_lines)"
	# their job would end with the container
	ringup -q run -d --name theirs --ppn 1 -- sleep 300 3>&- 4>&-
	cd clone
	fails 1 up --take-over
	says "a job runs in the container of another owner" "theirs" "from $LAB" --force
	fails 1 down --take-over
	says "a job runs in the container of another owner"
	same containers "$before" "$(container_lines)"
	(cd "$LAB" && ringup stop theirs)
	ringup -q up --take-over
	differ containers "$before" "$(container_lines)"
	[ "$(inspect node03 '.Config.Labels["org.ringup.cluster-id"]')" = "$(cat .ringup/cluster-id)" ]
	cd "$LAB"
	fails 1 down
	ringup -q up --take-over
	rm -r clone
}

@test "bench by ssh: passes with 2 ranks on each of 3 hosts; JSON is whole" {
	ringup --json bench -- -b 1K -e 64K -f 4 -n 3 >bench.json
	jq -e '.schema == 1 and .verdict == "pass"' bench.json
	jq -e '.results | length >= 4 and all(.[]; .wrong == 0 and .bytes > 0 and .usec > 0 and .busbw >= 0)' bench.json
	[ "$(jq -r '.ranks[].host' bench.json | sort | uniq -c | awk '{print $1, $2}' | xargs)" = "2 node01 2 node02 2 node03" ]
	[ "$(jq -c '[.ranks[].rank] | sort' bench.json)" = "[0,1,2,3,4,5]" ]
	jq -e '.verdict == "pass"' .ringup/last-bench.json
	# as the worker wrote it: percentiles, per-rank times, placement
	jq -e 'all(.results[]; .p99_usec >= .p50_usec and (.ranks | length == 6)) and all(.ranks[]; .cores > 0)' bench.json
	jq -e '.launcher == "ssh" and .expected.busbw == null and (.expected.because | test("eth0 of node01 is virtual"))' bench.json
	ringup -q bench --from .ringup/last-bench.json --facts .ringup/facts.json | grep -F 'no expectation: eth0 of node01 is virtual'
}

@test "bench by mpirun: passes with 2 ranks on each of 3 hosts, started over port 9435" {
	local before
	before=$(inside node02 docker logs "$CONTAINER" 2>&1 | grep -c 'Accepted publickey')
	ringup --json bench --launcher mpirun -- -b 1K -e 64K -f 4 -n 3 >bench.json
	jq -e '.verdict == "pass" and all(.results[]; .wrong == 0)' bench.json
	[ "$(jq -r '.ranks[].host' bench.json | sort | uniq -c | awk '{print $1, $2}' | xargs)" = "2 node01 2 node02 2 node03" ]
	[ "$(inside node02 docker logs "$CONTAINER" 2>&1 | grep -c 'Accepted publickey')" -gt "$before" ]
}

@test "mpirun by hand over three containers: no --root, no secret, rank 0 is found" {
	local list network
	list=$(for host in $(hosts); do printf '%s:2,' "$(address "$host")"; done)
	network=$(address node01 | cut -d. -f1-3).0/24
	inside node01 docker exec "$CONTAINER" mpirun --allow-run-as-root --np 6 --host "${list%,}" --map-by slot --bind-to none \
		--mca btl_tcp_if_include "$network" --mca oob_tcp_if_include "$network" \
		allreduce -b 1K -e 64K -f 4 -n 3 --json >mpirun.json
	jq -e '.verdict == "pass" and .world == 6' mpirun.json
	[ "$(jq -r '.ranks[].host' mpirun.json | sort | uniq -c | awk '{print $1, $2}' | xargs)" = "2 node01 2 node02 2 node03" ]
}

# Nothing of a job lives in the containers: no rank (they are called $1), no daemon of mpirun, no supervisor.
no_job() {
	local host
	for host in node01 node02 node03; do
		wait_for 15 eval "! in_container $host pgrep -f '$1|orted|prted|mpirun|ringup-job'"
	done
}

@test "run by mpirun: every rank on its host, with the container's environment" {
	# shellcheck disable=SC2016 # the ranks' own variables
	ringup run --launcher mpirun -e 'A=b c' --workdir /usr -- sh -c 'echo "$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE $A $PWD"' >out 3>&- 4>&-
	six_ranks 'of 6 b c /usr' | cmp - <(sort out)
	no_job nothing-else
}

@test "run by mpirun: a rank fails, ringup is killed, a host is cut off: nothing is left" {
	local pid status=0
	# shellcheck disable=SC2016
	ringup run --launcher mpirun -- sh -c '[ $OMPI_COMM_WORLD_RANK != 4 ] || exit 5; sleep 54321' 2>err 3>&- 4>&- || status=$?
	[ "$status" = 5 ]
	grep -q 'rank 4 on node03 ended with status 5' err
	no_job 'sleep 54321'

	ringup run --launcher mpirun -- sh -c 'echo up; exec sleep 54321' >out 2>err 3>&- 4>&- &
	pid=$!
	note_pid "$pid"
	wait_for 20 eval '[ "$(grep -c up out)" = 6 ]'
	kill -9 "$pid"
	no_job 'sleep 54321'

	ringup run --launcher mpirun -- sh -c 'echo up; exec sleep 54321' >out 2>err 3>&- 4>&- &
	pid=$!
	note_pid "$pid"
	wait_for 20 eval '[ "$(grep -c up out)" = 6 ]'
	inside node02 ip link set eth0 down
	wait "$pid" || status=$?
	inside node02 ip link set eth0 up
	[ "$status" = 1 ]
	grep -q 'node02: the host does not answer any more' err
	no_job 'sleep 54321'
}

@test "a container that somebody stops while a job runs: the error says so, and not that the connection was lost" {
	ringup run -- sh -c 'echo up; exec sleep 54321' >out 2>err 3>&- 4>&- &
	pid=$!
	note_pid "$pid"
	wait_for 20 eval '[ "$(grep -c up out)" = 6 ]'
	inside node02 docker kill "$CONTAINER"
	wait "$pid" || status=$?
	[ "$status" = 1 ]
	grep -q 'node02: its container was stopped while the job ran' err
	no_job 'sleep 54321'
	ringup -q up 3>&- 4>&-
}

@test "bench: the table for people, and its verdict" {
	run --separate-stderr ringup bench -- -b 1K -e 4K -f 2 -n 2
	[ "$status" = 0 ]
	[[ "$output" == *"BUSBW (GB/s)"* && "$output" == *"WRONG"* ]]
	[ "$(grep -cE '^ +(1024|2048|4096) ' <<<"$output")" = 3 ]
	[[ "$output" == *'6 ranks on 3 hosts, launcher ssh: verdict "pass"'* ]]
}

@test "bench: wrong data ends with status 5 and names rank and host" {
	fails 5 bench -- -b 1K -e 4K -f 2 -n 2 --fault-inject corrupt:3
	says "rank 3" node02
	jq -e '.verdict != "pass"' .ringup/last-bench.json
	fails 5 --json bench -- -b 1K -e 1K -n 2 --fault-inject corrupt:3
	jq -e '.verdict != "pass" and any(.results[]; .wrong > 0)' "$BATS_TEST_TMPDIR/stdout"
}

@test "status: what docker says, as table and as JSON" {
	local host
	ringup --json status >status.json
	for host in $(hosts); do
		[ "$(jq -r ".hosts[] | select(.host == \"$host\") | \"\(.state) \(.container) \(.started) \(.image)\"" status.json)" = \
			"running $(inspect "$host" '"\(.Id) \(.State.StartedAt) \(.Config.Image)"')" ]
	done
	run --separate-stderr ringup status
	[ "$status" = 0 ]
	[ "$(grep -c ' running ' <<<"$output")" = 3 ]
	inside node02 docker stop -t 1 "$CONTAINER"
	[ "$(ringup --json status 2>/dev/null | jq -r '[.hosts[].state] | join(" ")')" = "running stopped running" ]
	up
}

@test "logs: each container's own lines behind its host's name" {
	local host
	run --separate-stderr ringup logs
	[ "$status" = 0 ]
	for host in $(hosts); do
		grep -Fx "$host: Server listening on $(address "$host") port 9435." <<<"${output//$'\r'/}"
	done
	# logins that went well are talk
	[[ "$output" != *Accepted* && "$output" != *Disconnected* && "$output" != *"session opened"* ]]
	run --separate-stderr ringup logs --all -n 1 node02
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
	[ "${output%$'\r'}" = "node02: $(inside node02 docker logs --tail 1 "$CONTAINER" 2>&1 | tr -d '\r')" ]
	[[ "$(ringup logs --all node02)" == *"Accepted publickey for root"* ]]
	[[ "$(ringup -v logs node02 2>/dev/null)" == *"Accepted publickey for root"* ]]
	run ringup logs nobody
	[ "$status" = 2 ]
}

@test "exec: on all, on one; words arrive as they are; a failure is named" {
	run --separate-stderr ringup exec -- sh -c 'echo "$RINGUP_HOST: $1"' x 'two  words; $HOME'
	[ "$status" = 0 ]
	[ "$(sort <<<"$output" | head -1)" = 'node01: node01: two  words; $HOME' ]
	[ "${#lines[@]}" = 3 ]
	run --separate-stderr ringup exec -H node02 -- hostname
	[ "$output" = "node02: node02" ]
	ringup --json exec -- cat /etc/ringup/ssh/sshd_config >exec.json
	[ "$(jq -r '.hosts[1].stdout' exec.json)" = "$(inside node02 cat /var/lib/ringup/lab/ssh/sshd_config)" ]
	fails 7 exec -- sh -c '[ "$RINGUP_HOST" != node02 ] || exit 7'
	says node02 7
	fails 1 exec -- false
	says node01 node02 node03
}

@test "an RSA key goes through the system's ssh, with the same results and one connection" {
	local host before
	ssh-keygen -q -t rsa -b 2048 -N '' -f rsa
	for host in $(hosts); do
		cp ".ringup/lab/$host/authorized_keys" "kept-$host"
		cat rsa.pub >>".ringup/lab/$host/authorized_keys"
	done
	sed 's|key: .ringup/lab/id_ed25519|key: rsa|' cluster.yaml >rsa.yaml
	before=$(container_lines)
	ringup -q -f rsa.yaml --json up >out
	jq -e '[.hosts[] | .ok and (.changed | not)] | all' out
	same containers "$before" "$(container_lines)"
	run --separate-stderr ringup -q -f rsa.yaml exec -- sh -c 'echo "$1"; echo to stderr >&2' sh "it's \$x"
	[ "$status" = 0 ]
	[ "$(grep -c "it's \$x" <<<"$output")" = 3 ]
	[ "$(grep -c 'to stderr' <<<"$stderr")" = 3 ]
	for host in $(hosts); do
		mv "kept-$host" ".ringup/lab/$host/authorized_keys"
	done
	rm rsa rsa.pub rsa.yaml out
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'ringup-ssh-*' -newer cluster.yaml)" ]
}

@test "bench: a worker that cannot start is named with its host" {
	local secret=/var/lib/ringup/lab/ssh/secret
	inside node02 mv $secret $secret.away
	run ringup bench
	inside node02 mv $secret.away $secret
	[ "$status" = 1 ]
	[[ "$output" == *"node02: the worker cannot be started"*"ringup up"* ]]
	[[ "$output" != *"node01:"* ]]
	ringup -q bench -- -b 8 -e 8
}

@test "repair: a stopped container comes back alone" {
	local others
	others=$(container_lines node01 node03)
	inside node02 docker stop -t 1 "$CONTAINER"
	ringup --json up >up2.json 2>/dev/null 3>&- 4>&-
	same "the others" "$others" "$(container_lines node01 node03)"
	[ "$(inspect node02 .State.Running)" = true ]
	[ "$(jq -c '[.hosts[].changed]' up2.json)" = "[false,true,false]" ]
	all_meet node01 node02 node03
}

@test "repair: a removed container comes back alone, by the commands of --dry-run too" {
	local others before
	others=$(container_lines node01 node02)
	inside node03 docker rm -f "$CONTAINER"
	# what did not run there did not fail
	fails 4 --json exec -- echo ran
	says "node03: no worker is up there; run 'ringup up' first"
	jq -e '[.hosts[] | .status] == [0, 0, null]' "$BATS_TEST_TMPDIR/stdout"
	ringup up --dry-run >script 2>/dev/null
	[ "$(container_line node03)" = "node03 absent" ]
	run ! grep -FfI <(password) script
	grep -q 'docker run' script
	run ! grep -E "(root@$(address node01)|root@$(address node02)) .*docker run" script
	# pasted into a shell they do what up would have done
	bash -eu script >script.out 2>&1 </dev/null 3>&- 4>&- || { cat script.out; false; }
	same "the others" "$others" "$(container_lines node01 node02)"
	[ "$(inspect node03 .State.Running)" = true ]
	before=$(container_lines)
	up
	same containers "$before" "$(container_lines)"
	inside node03 docker rm -f "$CONTAINER"
	up
	same "the others" "$others" "$(container_lines node01 node02)"
	[ "$(inspect node03 .State.Running)" = true ]
	all_meet node01 node02 node03
}

@test "repair: files that were removed on a host come back, seen by its container too" {
	local others
	others=$(container_lines node02 node03)
	inside node01 rm -rf /var/lib/ringup/lab "/etc/docker/certs.d/$(registry_address)"
	up
	same "the others" "$others" "$(container_lines node02 node03)"
	in_container node01 test -s /etc/ringup/ssh/id_ed25519
	all_meet node01 node02 node03
}

@test "lab up again: harmless" {
	local before processes
	before=$(container_lines)
	processes=$(state '.hosts[].process.pid, .registry.pid')
	cp cluster.yaml kept.yaml
	ringup -q lab up --hosts 3 3>&- 4>&-
	same processes "$processes" "$(state '.hosts[].process.pid, .registry.pid')"
	same containers "$before" "$(container_lines)"
	cmp cluster.yaml kept.yaml
	run ringup lab up --hosts 2
	[ "$status" = 2 ]
	[[ "$output" == *"lab down"* ]]
}

@test "another lab beside this one comes and goes without touching it" {
	local other before
	before=$(container_lines)
	other=$(mktemp -d "$LAB/other.XXXXXX")
	(cd "$other" && ringup -q lab up --hosts 1 3>&- 4>&- && ringup -q lab down)
	[ "$(ls -A "$other")" = "" ]
	rmdir "$other"
	same containers "$before" "$(container_lines)"
	[ "$(inside node01 awk '$2 == "/var/lib/ringup" || $2 == "/etc/docker"' /proc/self/mounts | wc -l)" = 2 ]
	inside node01 test -s /var/lib/ringup/lab/ssh/mesh
	up
	same containers "$before" "$(container_lines)"
}

@test "a fourth host joins without touching the others" {
	local before
	before=$(container_lines node01 node02 node03)
	ringup -q lab up --hosts 4 3>&- 4>&-
	ringup --json up >up4.json 2>/dev/null 3>&- 4>&-
	same "the three" "$before" "$(container_lines node01 node02 node03)"
	jq -e '(.hosts | length) == 4 and all(.hosts[]; .ok)' up4.json
	[ "$(inspect node04 .Config.Image)" = "$(jq -r .image up.json)" ]
	[ "$(inspect node04 .State.Running)" = true ]
	all_meet node01 node02 node03 node04
	# the names too, of old and new, without a restart
	[ "$(in_container node01 getent ahosts node04 | awk '{print $1}' | sort -u)" = "$(address node04)" ]
	[ "$(in_container node04 getent ahosts node01 | awk '{print $1}' | sort -u)" = "$(address node01)" ]
	[ "$(ringup --json bench -- -b 1K -e 4K -n 2 2>/dev/null | jq '.ranks | length')" = 8 ]
}

@test "changed container settings: every container is made anew, with them" {
	local before host
	before=$(container_lines)
	variant variant.yaml 's/shm_size: 512m/shm_size: 256m, env: {RINGUP_TEST: "a b; $c", QUOTES: "it'"'"'s \\"so\\" # % `x`", UID: "5"}, volumes: ["\/usr\/share:\/data:ro"]/'
	ringup --json -f variant.yaml up >up5.json 2>/dev/null 3>&- 4>&-
	jq -e 'all(.hosts[]; .ok and .changed)' up5.json
	for host in $(hosts); do
		run ! grep -F "$(container_line "$host")" <<<"$before"
		inspect "$host" '.Config.Env[]' | grep -Fx 'RINGUP_TEST=a b; $c'
		[ "$(inspect "$host" .HostConfig.ShmSize)" = $((256 * 1024 * 1024)) ]
		[ "$(inspect "$host" '.Mounts[] | select(.Destination == "/data") | "\(.Source) \(.RW)"')" = "/usr/share false" ]
		[ "$(inside "$host" docker ps -aq | wc -l)" = 1 ]
	done
	[ "$(in_container node03 printenv RINGUP_TEST)" = 'a b; $c' ]
	[ "$(in_container node03 printenv QUOTES)" = "it's \"so\" # % \`x\`" ]
	same_environment node01 node02
	before=$(container_lines)
	ringup -q -f variant.yaml up
	same containers "$before" "$(container_lines)"
}

@test "a cluster.yaml changed by hand is kept by lab up" {
	cp cluster.yaml kept.yaml
	sed -i 's/sshd_port: 9435/sshd_port: 9436/' cluster.yaml
	cp cluster.yaml edited.yaml
	ringup -q lab up --hosts 4 3>&- 4>&-
	cmp cluster.yaml edited.yaml
	up
	[ "$(inside node02 ss -Hltn | awk '{print $4}' | grep -cE ':943[56]$')" = 1 ]
	inside node02 ss -Hltn | awk '{print $4}' | grep -Fx "$(address node02):9436"
	all_meet node01 "$(hosts | tail -n 1)"
	cp kept.yaml cluster.yaml
}

@test "down, then up: images and keys are kept, so it is quick" {
	local host key images
	key=$(inside node01 cat /var/lib/ringup/lab/ssh/ssh_host_ed25519_key.pub 2>/dev/null || cat .ringup/keys/host-node01.pub)
	images=$(inside node03 docker image ls -q --no-trunc)
	ringup -q down
	for host in $(hosts); do
		[ "$(inside "$host" docker ps -aq)" = "" ]
		[ "$(inside "$host" ss -Hltn | grep -cE ':943[56] ' || true)" = 0 ]
	done
	ringup -q down # twice is harmless
	same images "$images" "$(inside node03 docker image ls -q --no-trunc)"
	ringup up 2>up.log 3>&- 4>&-
	run ! grep -E 'pulls|builds|built' up.log
	same key "$key" "$(cat .ringup/keys/host-node01.pub)"
	all_meet node01 "$(hosts | tail -n 1)"
}

@test "down --purge: no container, image, key or file is left on any host" {
	local host
	ringup -q down
	ringup -q down --purge # also of what an earlier 'down' has left
	for host in $(hosts); do
		[ "$(inside "$host" docker ps -aq)" = "" ]
		same "images of $host" "" "$(inside "$host" docker image ls -aq)"
		same "files of $host" "" "$(host_files "$host")"
		[ "$(inside "$host" find /var/lib/ringup -mindepth 1)" = "" ]
		run ! inside "$host" test -e "/etc/docker/certs.d/$(registry_address)"
	done
	[ ! -e .ringup/keys ]
	[ -e .ringup/auth.json ] # the login is the person's
}

@test "up of two hosts after a purge, then down --purge at once" {
	local host
	up --hosts node01,node02
	all_meet node01 node02
	ringup -q down --purge
	for host in $(hosts); do
		[ "$(inside "$host" docker ps -aq)$(inside "$host" docker image ls -aq)$(host_files "$host")" = "" ]
	done
}

@test "lab down: a changed cluster.yaml stays, all else is gone" {
	echo '# mine' >>cluster.yaml
	cp cluster.yaml edited.yaml
	ringup -q lab down
	cmp cluster.yaml edited.yaml
	rm cluster.yaml
	rm -f ringup.lock
	nothing_left
	run ringup lab down # twice is harmless
	[ "$status" = 0 ]
}

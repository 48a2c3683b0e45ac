#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Commands on hosts that do not answer: 127.0.0.1 port 1, where nobody listens. What failed, where, and
# what to do; exit 1. Nothing here needs a server or root.

load helper
setup() {
	common_setup
	mkdir keys
	ssh-keygen -q -t ed25519 -N '' -f keys/id
	touch keys/known_hosts
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: [{address: 127.0.0.1, name: one, port: 1}, {address: 127.0.0.2, name: two, port: 1}]
		ssh: {key: keys/id, known_hosts: keys/known_hosts, transport: libssh2}
		registry: {address: "127.0.0.1:1"}
	END
}

# down WORD...: fails with exit 1, naming both hosts, the port and the cause.
down() {
	apart ringup "$@"
	says 1 one two 'port 1' 'refused'
}

@test "exec" {
	down exec true
	[ ! -s ../out ]
}

@test "exec on one host names that one alone" {
	apart ringup exec -H two true
	says 1 two '127.0.0.2' 'refused'
	! grep -q '127.0.0.1' ../err
	apart ringup exec -H three true
	says 2 "there is no host 'three' in cluster.yaml"
}

@test "exec, as JSON" {
	apart ringup --json exec true
	says 1 refused
	json '[h["host"] for h in d["hosts"]] == ["one", "two"]'
	json 'all("status" not in h for h in d["hosts"])'
}

@test "up" {
	down up
	[ ! -e ringup.lock ]
}

@test "up --dry-run" {
	down up --dry-run
}

@test "bench" {
	down bench
}

@test "probe" {
	down probe
}

@test "status" {
	down status
	grep -qE '^one .*unreachable' ../out
	grep -qE '^two .*unreachable' ../out
	apart ringup --json status
	says 1
	json 'all(h["state"] == "unreachable" and "refused" in h["error"] for h in d["hosts"])'
}

@test "logs" {
	down logs
}

@test "down" {
	down down
	down down --purge
}

@test "the error says what to do next" {
	apart ringup exec true
	grep -qE 'ssh|sshd|port' ../err
	[ "$(wc -l <../err)" -le 6 ]
}

@test "the system's ssh gives the same answer" {
	sed -i 's/transport: libssh2/transport: openssh/' cluster.yaml
	apart ringup exec true
	says 1 one two 'refused'
}

@test "state stays private" {
	apart ringup status
	[ "$(stat -c %a .ringup)" = 700 ]
	[ "$(stat -c %a .ringup/facts.json)" = 600 ]
}

@test "state that was open to others is closed" {
	for words in status up down; do
		rm -rf .ringup
		mkdir -m 755 .ringup
		# shellcheck disable=SC2086 # words
		apart ringup $words
		[ "$(stat -c %a .ringup)" = 700 ] || { echo "after $words"; return 1; }
	done
}

@test "state behind a link, or of another user, is refused" {
	mkdir -m 700 elsewhere
	ln -s elsewhere .ringup
	for words in status up 'up --dry-run' down 'bench' probe; do
		# shellcheck disable=SC2086 # words
		apart ringup $words
		says 1 .ringup 'symbolic link'
	done
	[ "$(ls -A elsewhere)" = "" ]
	[ "$(id -u)" = 0 ] || return 0
	rm .ringup
	mkdir -m 700 .ringup
	chown 4242 .ringup
	apart ringup status
	says 1 .ringup 'belongs to another user'
	[ "$(stat -c %a:%u .ringup)" = 700:4242 ]
}

@test "a second up is told of the first" {
	mkdir -p .ringup
	exec 9>.ringup/lock
	flock -n 9
	apart ringup up
	says 1 'another ringup is at work' .ringup/lock
	exec 9>&-
	down up
}

# A peer that takes the connection and says nothing must not hold us.
@test "a host that accepts and is silent: the deadline ends it" {
	python3 - <<-'END' >port &
		import socket, time
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		s.listen(8)
		print(s.getsockname()[1], flush=True)
		time.sleep(60)
	END
	server=$!
	for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
	printf 'hosts: [{address: 127.0.0.1, port: %s}]\nssh: {key: keys/id, known_hosts: keys/known_hosts}\n' \
		"$(cat port)" >cluster.yaml
	begin=$(date +%s)
	apart ringup --timeout 2 exec true
	end=$(date +%s)
	kill "$server"
	says 1 '127.0.0.1'
	[ $((end - begin)) -lt 20 ]
}

# A peer that is no sshd.
@test "a host that speaks something else" {
	python3 - <<-'END' >port &
		import socket
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		s.listen(8)
		print(s.getsockname()[1], flush=True)
		while True:
		    c, _ = s.accept()
		    c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
		    c.close()
	END
	server=$!
	for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
	printf 'hosts: [{address: 127.0.0.1, port: %s}]\nssh: {key: keys/id, known_hosts: keys/known_hosts}\n' \
		"$(cat port)" >cluster.yaml
	apart ringup --timeout 5 exec true
	kill "$server"
	says 1 '127.0.0.1' "$(cat port)"
}

@test "Ctrl-C: exit 130, soon" {
	python3 - <<-'END' >port &
		import socket, time
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		s.listen(8)
		print(s.getsockname()[1], flush=True)
		time.sleep(60)
	END
	server=$!
	for _ in $(seq 50); do [ -s port ] && break; sleep 0.1; done
	printf 'hosts: [{address: 127.0.0.1, port: %s}]\nssh: {key: keys/id, known_hosts: keys/known_hosts}\n' \
		"$(cat port)" >cluster.yaml
	# a job of a non-interactive shell ignores SIGINT: python gives it back
	python3 - <<-'END'
		import signal, subprocess, time
		signal.signal(signal.SIGINT, signal.default_int_handler)
		begin = time.time()
		p = subprocess.Popen(["ringup", "--timeout", "40", "exec", "true"], stderr=subprocess.PIPE, text=True)
		time.sleep(1)
		p.send_signal(signal.SIGINT)
		err = p.communicate(timeout=20)[1]
		assert p.returncode == 130, (p.returncode, err)
		assert "interrupted" in err, err
		assert time.time() - begin < 10
	END
	kill "$server"
}

@test "a host name that does not resolve" {
	printf 'hosts: [no-such-host.invalid]\nssh: {key: keys/id, known_hosts: keys/known_hosts}\n' >cluster.yaml
	apart ringup --timeout 5 exec true
	says 1 no-such-host.invalid
}

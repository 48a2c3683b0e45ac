# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the bats files of ssh: real sshds on loopback addresses, each test with folders of its own. Needs root, as the lab
# does. Where a test needs other users, their sshd runs in a mount namespace with a passwd, shadow and sudoers of its own.

# ssh_hosts_setup N: keys, known_hosts, and sshds on 127.0.0.1 to 127.0.0.N at $PORT.
ssh_hosts_setup() {
	local n
	PORT=$(python3 "$ROOT/tests/free_port.py")
	export PORT
	unset SSH_AUTH_SOCK SSH_ASKPASS DISPLAY
	for key in ed25519 ecdsa rsa; do
		ssh-keygen -q -t "$key" -N '' -C test -f "$key"
	done
	ssh-keygen -q -t ed25519 -N '' -f host_key
	cat ed25519.pub ecdsa.pub rsa.pub >authorized
	: >known
	for n in $(seq "$1"); do
		start_sshd "$n"
		trust "127.0.0.$n"
	done
}

ssh_hosts_teardown() {
	local file
	for file in "$BATS_TEST_TMPDIR"/work/sshd*.pid; do
		[ ! -s "$file" ] || kill "$(cat "$file")" || true
	done
}

# start_sshd N OPTION...: the sshd of 127.0.0.N; it listens when this returns.
start_sshd() {
	local n=$1
	shift
	/usr/sbin/sshd -f /dev/null -h "$PWD/host_key" -E "$PWD/sshd$n.log" -o "PidFile=$PWD/sshd$n.pid" \
		-o "ListenAddress=127.0.0.$n" -o "Port=$PORT" -o "AuthorizedKeysFile=$PWD/authorized" -o StrictModes=no -o UsePAM=no \
		"$@" 3>&- 4>&-
	wait_for_port "127.0.0.$n"
}

# end_sshd N...: ends the sshds of 127.0.0.N; their ports are free when this returns.
end_sshd() {
	local n pid
	for n; do
		pid=$(cat "sshd$n.pid")
		kill "$pid"
		while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
	done
}

# wait_for_port ADDRESS
wait_for_port() {
	local try
	for try in $(seq 100); do
		(: <"/dev/tcp/$1/$PORT") 2>/dev/null && return
		sleep 0.05
	done
	echo "nothing listens on $1 port $PORT after $try tries"
	return 1
}

# trust ADDRESS: its host key is known.
trust() {
	echo "[$1]:$PORT $(cut -d' ' -f1,2 host_key.pub)" >>known
}

# cluster SSH HOST...: cluster.yaml with the section ssh and entries of hosts.
cluster() {
	local section=$1 host
	shift
	printf 'ssh: {%s}\ncontainer: {engine: none}\naccelerator: cpu\nhosts:\n' "$section" >cluster.yaml
	for host; do
		printf '  - {%s}\n' "$host" >>cluster.yaml
	done
}

# three: entries of three hosts.
three() {
	mapfile -t THREE < <(for n in 1 2 3; do echo "address: 127.0.0.$n, name: node0$n, port: $PORT"; done)
}

# start_users USER:SHELL...: an sshd on 127.0.0.9 with these users, each with the password `secret`; sudo.rules are the sudoers.
# $AUTHORIZED is sshd's AuthorizedKeysFile, $SSHD_MORE are more options of it.
start_users() {
	local user id=4700 hash folder=$PWD/users
	mkdir -p "$folder"
	chmod 755 "$folder"
	cp -a /etc/passwd /etc/shadow /etc/group "$folder"
	hash=$(openssl passwd -6 secret)
	for user; do
		id=$((id + 1))
		install -d -o "$id" -g "$id" "$folder/${user%%:*}"
		echo "${user%%:*}:x:$id:$id::$folder/${user%%:*}:${user#*:}" >>"$folder/passwd"
		echo "${user%%:*}:$hash:19000:0:99999:7:::" >>"$folder/shadow"
		echo "${user%%:*}:x:$id:" >>"$folder/group"
	done
	install -m 440 sudo.rules "$folder/sudoers"
	# the folders above are those of the tests, which other users may not enter otherwise
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/work" 2>/dev/null || true
	# shellcheck disable=SC2016 # of the inner shell
	unshare -m --propagation private sh -c 'for file in passwd shadow group sudoers; do
		mount --bind "$1/$file" "/etc/$file" || exit
	done
	exec /usr/sbin/sshd -f /dev/null -h "$2/host_key" -E "$2/sshd9.log" -o "PidFile=$2/sshd9.pid" -o ListenAddress=127.0.0.9 \
		-o "Port=$3" -o "AuthorizedKeysFile=$4" -o StrictModes=no -o UsePAM=no $5' sh "$folder" "$PWD" "$PORT" "${AUTHORIZED:-$PWD/authorized}" \
		"${SSHD_MORE:-}" 3>&- 4>&-
	wait_for_port 127.0.0.9
	trust 127.0.0.9
}

# typed ANSWER WORD...: runs the words at a terminal where a person types ANSWER to each question. Ends with "asked N, status N".
typed() {
	python3 - "$@" >../out <<-'END'
		import os, pty, sys
		pid, screen = pty.fork()
		if pid == 0:
		    os.execvp(sys.argv[2], sys.argv[2:])
		said, asked = b"", 0
		while True:
		    try:
		        more = os.read(screen, 4096)
		    except OSError:
		        break
		    if not more:
		        break
		    said += more
		    questions = said.count(b"assword") + said.count(b"assphrase for") + said.count(b"[y/N] ")
		    if questions > asked and (said.endswith(b": ") or said.endswith(b"[y/N] ")):
		        asked += 1
		        os.write(screen, sys.argv[1].encode() + b"\n")
		status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		sys.stdout.write(said.decode(errors="replace").replace("\r", ""))
		print(f"asked {asked}, status {status}")
	END
}

# without_terminal WORD...: nobody can be asked.
without_terminal() {
	apart setsid -w "$@" </dev/null
}

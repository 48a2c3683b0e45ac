#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Help pages, and what happens to words that mean nothing.

load helper
setup() { common_setup; }

# The commands as their files name them.
commands() {
	local file
	for file in "$ROOT"/cli/cmd_*.c; do
		file=${file##*/cmd_}
		echo "${file%.c}"
	done
}

@test "the list names every command, once, in order" {
	apart ringup help
	says 0
	diff <(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' ../out) <(commands | LC_ALL=C sort)
	grep -q '^exit status:' ../out
	[ ! -s ../err ]
}

@test "every command has a page, by --help, -h and help" {
	for command in $(commands); do
		apart ringup "$command" --help
		says 0
		grep -q "^usage: ringup .*$command" ../out || { echo "$command"; cat ../out; false; }
		[ ! -s ../err ]
		cp ../out ../page
		apart ringup "$command" -h
		says 0
		cmp ../out ../page
		apart ringup help "$command"
		says 0
		cmp ../out ../page
		apart ringup --help "$command"
		says 0
		cmp ../out ../page
	done
}

@test "each page's summary is the list's" {
	apart ringup help
	cp ../out ../list
	for command in $(commands); do
		summary=$(sed -n "s/^  $command  *//p" ../list)
		[ -n "$summary" ]
		apart ringup help "$command"
		grep -qF -- "$summary" ../out
	done
}

@test "pages fit a terminal of 100 columns" {
	for command in $(commands); do
		ringup help "$command" | awk -v c="$command" 'length($0) > 100 { print c ": " $0; bad = 1 } END { exit bad }'
	done
}

@test "help cluster.yaml: every key with its default and its meaning" {
	apart ringup help cluster.yaml
	says 0
	[ ! -s ../err ]
	grep -qxF 'container.sshd_port: 9435' ../out
	grep -qxF 'container.capabilities: [compute, utility]' ../out
	grep -qxF "registry.namespace: (the cluster's name)" ../out
	grep -qxF 'hosts[].address: (required)' ../out
	grep -qxF 'image.files[].to: (required)' ../out
	# a key in one line, its meaning in the next
	awk 'NR > 3 && (NR % 2 == 0 ? !/^[a-z]/ : !/^    [^ ]/) { print; bad = 1 } END { exit bad }' ../out
	awk 'length($0) > 100 { print; bad = 1 } END { exit bad }' ../out
	sed -n 's/^\([][a-zA-Z_.]*\): .*/\1/p' ../out >../keys
	apart ringup --json help cluster.yaml
	says 0
	json '[k["key"] for k in d["keys"]] == open("../keys").read().split()'
	json '{"key": "ssh.user", "default": "root", "help": "user to log in as on every host"} in d["keys"]'
	json 'all(("default" in k) != ("note" in k) and k["help"] for k in d["keys"])'
}

@test "a default of help cluster.yaml, written into the file, changes nothing" {
	printf 'hosts: [a]\n' >bare.yaml
	ringup --json help cluster.yaml >keys.json
	python3 - >written.yaml <<-'END'
		import json

		def put(tree, before=""):
		    for name, value in tree.items():
		        print(before + name + ":" + ("" if isinstance(value, dict) else " " + value))
		        if isinstance(value, dict):
		            put(value, before + "  ")

		tree = {"hosts": "[a]", "jobs": {"NAME": {"command": "a"}}}
		for key in json.load(open("keys.json"))["keys"]:
		    if "default" in key and "[]" not in key["key"]:
		        *way, last = key["key"].split(".")
		        where = tree
		        for name in way:
		            where = where.setdefault(name, {})
		        where[last] = key["default"]
		put(tree)
	END
	grep -qxF '  capabilities: [compute, utility]' written.yaml
	for command in recipe 'resolve --no-lock'; do
		read -ra words <<<"$command"
		apart ringup -f bare.yaml "${words[@]}"
		says 0
		cp ../out ../bare
		apart ringup -f written.yaml "${words[@]}"
		says 0
		cmp ../out ../bare
	done
}

@test "every documented command is there, and every command is documented" {
	for command in $(commands); do
		grep -qw -- "$command" "$ROOT/docs/cli.md" || { echo "docs/cli.md does not name $command"; false; }
	done
}

@test "no command: the list, and exit 2" {
	apart ringup
	says 2 'no command was given'
}

@test "an unknown command: exit 2 and the nearest one" {
	apart ringup stauts
	says 2 "there is no command 'stauts'; did you mean 'status'?"
	apart ringup scancel job-1
	says 2 "there is no command 'scancel'; did you mean 'stop'?"
	[ ! -s ../out ]
	apart ringup frobnicate-all
	says 2 "there is no command 'frobnicate-all'; 'ringup help' lists them"
	apart ringup help hosts trust
	says 0
	grep -q '^usage: ringup .* hosts .*trust' ../out
	apart ringup help hosts install
	says 2 "'ringup hosts' has no 'install'; see 'ringup help hosts'"
	apart ringup help stauts
	says 2 "there is no command 'stauts'"
	apart ringup ''
	says 2 'there is no command'
}

@test "an unknown option: exit 2 and the nearest one" {
	apart ringup --jsn version
	says 2 "unknown option '--jsn'; did you mean '--json'?"
	apart ringup resolve --explian
	says 2 "resolve: unknown option '--explian'; did you mean '--explain'?"
	apart ringup resolve -x
	says 2 "unknown option '-x'"
	apart ringup up --dry-rn
	says 2 "did you mean '--dry-run'?"
	[ ! -s ../out ]
}

@test "values that are missing, too many or of the wrong kind: exit 2" {
	apart ringup --jobs
	says 2 '--jobs needs a value: N'
	apart ringup --jobs many version
	says 2 "--jobs takes a whole number, not 'many'"
	apart ringup --timeout -1 version
	says 2 "--timeout takes a whole number, not '-1'"
	apart ringup --json=1 version
	says 2 '--json takes no value'
	apart ringup version now
	says 2 "'now' is one argument too many"
	apart ringup lab
	says 2 'usage: ringup lab'
	apart ringup lab sideways
	says 2 "lab up"
	apart ringup exec
	says 2 'usage: ringup exec'
}

@test "version, in each spelling" {
	apart ringup version
	says 0
	grep -qE '^ringup [0-9]+\.[0-9]+\.[0-9]+$' ../out
	cp ../out ../version
	apart ringup --version
	says 0
	cmp ../out ../version
	apart ringup --json version
	json '"version" in d'
	apart ringup version --json
	json "'ringup ' + d['version'] == open('../version').read().strip()"
}

@test "global options stand before or after the command" {
	printf 'hosts: [a]\naccelerator: cpu\n' >other.yaml
	apart ringup -f other.yaml --json resolve --no-lock
	json 'd["ok"]'
	cp ../out ../before
	apart ringup resolve --no-lock --json -fother.yaml
	cmp ../out ../before
	apart ringup resolve --no-lock --json --file=other.yaml
	cmp ../out ../before
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Files that a person gives or keeps, and that are none, never end, or hold what they should not: refused at once,
# with the file's name, and exit 2 as README.md says.

load helper
load foreign
setup() {
	common_setup
	printf 'hosts: [a]\nstack: [python, "os==debian12"]\naccelerator: cpu\n' >cluster.yaml
	mkfifo pipe
	ln -s /dev/zero zero
}

# refuses FILE WORD...: soon, exit 2, with the file's name.
refuses() {
	local file=$1
	shift
	apart timeout -k 5 20 ringup "$@"
	says 2 "$file"
}

@test "what could be read for ever, at each place that names a file" {
	local file
	for file in zero pipe . /dev/zero /dev/full; do
		refuses "$file" -f "$file" probe
		refuses "$file" resolve --no-lock --facts "$file" python
		refuses "$file" bench --from "$file"
		REGISTRY_AUTH_FILE=$file refuses "$file" ls 127.0.0.1:1
		refuses "$file" ls --ca "$file" 127.0.0.1:1
		CONTAINERS_REGISTRIES_CONF=$file refuses "$file" inspect 127.0.0.1:1/a:1
	done
	mkdir catalog config
	ln -s /dev/zero catalog/openmpi.csv
	refuses catalog/openmpi.csv --catalog catalog matrix
	ln -s /dev/zero config/config.json
	DOCKER_CONFIG=config refuses config/config.json ls 127.0.0.1:1
	rm -f ringup.lock
	ln -s /dev/zero ringup.lock
	refuses ringup.lock recipe -o out
}

@test "a pipe that is handed over is a file" {
	apart ringup -f <(cat cluster.yaml) recipe -o one
	says 0
	cat cluster.yaml | ringup -f /dev/stdin recipe -o two >../out
	apart ringup -f /dev/stdin recipe -o three <cluster.yaml
	says 0
	diff -r one two
	diff -r one three
	apart timeout -k 5 20 ringup -f /dev/stdin probe </dev/zero
	says 2 /dev/stdin
	apart timeout -k 5 20 ringup -f <(cat /dev/zero) probe
	says 2 'larger than'
}

@test "the first SIGTERM ends the wait for a pipe" {
	local pid
	mkfifo other
	sleep 60 >other 3>&- 4>&- &
	sleeper=$!
	ringup -f other probe >../out 2>../err 3>&- 4>&- &
	pid=$!
	timeout 30 bash -c "until [ -n \"\$(find /proc/$pid/fd -lname '*/other' 2>/dev/null)\" ]; do sleep 0.05; done"
	kill "$pid"
	status=0
	wait "$pid" || status=$?
	kill "$sleeper"
	says 130 other
}

@test "control characters in cluster.yaml" {
	local value
	for value in 'a\0b' 'a\e[2J' 'a\x7f' 'a\u009bm' 'a\rb' 'a\u0000'; do
		printf 'hosts: ["%s"]\n' "$value" >bad.yaml
		refuses 'bad.yaml:1:9: the text holds the control character' -f bad.yaml probe
		printf '{"hosts": ["a"], "name": "%s"}\n' "$value" >bad.yaml
		refuses bad.yaml:1: -f bad.yaml probe
		harmless
	done
	printf '{"hosts": [{"host": "a\\u0000b", "kernel": "6"}]}' >facts.json
	refuses 'facts.json holds a NUL' resolve --no-lock --facts facts.json python
}

@test "auth files of another shape, in each place" {
	local text
	mkdir docker
	for text in '{"auths":[1,2]}' '[]' 'null' '{"auths":{"127.0.0.1:1":7}}' '{"credHelpers":[1]}' '{"auths":{},"auths":{}}' '{'; do
		echo "$text" >docker/config.json
		DOCKER_CONFIG=docker refuses docker/config.json ls 127.0.0.1:1
		REGISTRY_AUTH_FILE=docker/config.json refuses docker/config.json ls 127.0.0.1:1
		mkdir -p .ringup
		echo "$text" >.ringup/auth.json
		refuses .ringup/auth.json ls 127.0.0.1:1
		refuses .ringup/auth.json logout 127.0.0.1:1
		[ "$(cat .ringup/auth.json)" = "$text" ]
		rm -r .ringup
	done
}

@test "a password is kept whole or refused" {
	local long
	long=$(printf 'p%.0s' {1..9000})
	apart ringup login -u u 127.0.0.1:1 <<<"$long"
	says 2 'too long'
	apart ringup login -u u 127.0.0.1:1 < <(printf 'a\0b\n')
	says 2 NUL
	apart ringup login -u u 127.0.0.1:1 < <(printf 'a\nb\n')
	says 2 'more than one line'
	apart ringup login -u u 127.0.0.1:1 < <(printf 'a\n'; sleep 0.2; printf 'b\n')
	says 2 'more than one line'
	apart timeout -k 5 20 ringup login -u u 127.0.0.1:1 </dev/zero
	says 2
	[ ! -e .ringup/auth.json ]
}

@test "without HOME, or with a relative one, nothing is made here" {
	local home
	cp cluster.yaml "$BATS_TEST_TMPDIR/kept.yaml"
	for home in -uHOME HOME= HOME=relative; do
		env "$home" ringup recipe -o "$BATS_TEST_TMPDIR/recipe" >/dev/null
		env "$home" XDG_CACHE_HOME=relative XDG_DATA_HOME=relative ringup recipe -o "$BATS_TEST_TMPDIR/recipe" >/dev/null
		env "$home" ringup probe >../out 2>../err || true
		! env "$home" XDG_CACHE_HOME= ringup push docker-archive:zero 127.0.0.1:1/a:1 >../out 2>../err
	done
	[ "$(echo *)" = 'cluster.yaml pipe zero' ]
	[ ! -e '~' ]
}

@test "layouts and archives that are broken" {
	python3 "$ROOT/tests/fault/image.py" good 2 1
	for change in 'echo { >bad/index.json' 'echo [] >bad/index.json' 'rm bad/index.json' \
		'echo "{\"manifests\": [7]}" >bad/index.json' 'find bad/blobs -type f -size -1000c -exec sh -c "echo >\$1" - {} \;'; do
		rm -rf bad
		cp -r good bad
		eval "$change"
		apart ringup copy oci:bad:1 oci:there:1
		says 2 bad
		apart ringup copy oci:bad:1 docker-archive:there.tar
		says 2 bad
	done
	echo nonsense >bad.tar
	refuses bad.tar copy docker-archive:bad.tar oci:there:1
	tar cf empty.tar cluster.yaml
	refuses empty.tar copy docker-archive:empty.tar oci:there:1
	ringup -q copy oci:good:1 docker-archive:cut.tar
	truncate -s 1000 cut.tar
	refuses cut.tar copy docker-archive:cut.tar oci:there:1
	refuses pipe copy docker-archive:pipe oci:there:1
}

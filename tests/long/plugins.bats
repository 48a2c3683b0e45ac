#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# An engine, a launcher and an engine to export to are one file each: in a copy of the tree a new file is all that changes, the
# program knows the new name, and what others get by default stays as it was.

load ../cli/helper

setup_file() {
	local root folder name
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	name=$(basename "$BUILD")
	folder=$BATS_FILE_TMPDIR/tree
	mkdir -p "$folder"
	(cd "$root" && git ls-files -co --exclude-standard | while IFS= read -r path; do
		[ ! -f "$path" ] || printf '%s\0' "$path"
	done | xargs -0 cp -p --parents -t "$folder")
	# what is compiled already stays so: objects and their lists, as old as they are
	(cd "$root" && find "$name" -path "$name/seed" -prune -o -type f \( -name '*.o' -o -name '*.d' -o -path '*/gen/*' \
		-o -name flags -o -name .deps \) -print0 | xargs -0 cp -p --parents -t "$folder")
	cd "$folder"
	sed -e 's/engine_none/engine_aaa/; s/"none"/"aaa"/; s/no containers: [^"]*/an engine of a test/' \
		-e 's/\.rank = -1/.rank = 500/' deployer/engine/engine_none.c >deployer/engine/engine_aaa.c
	sed -e 's/launcher_ssh/launcher_aaa/; s/ssh_words/aaa_words/; s/ssh_tasks/aaa_tasks/; s/"ssh"/"aaa"/; s/\.rank = 16/.rank = 500/' \
		deployer/launcher/launcher_ssh.c >deployer/launcher/launcher_aaa.c
	sed -e 's/compose_/aaa_/g; s/exporter_compose/exporter_aaa/; s/"compose"/"aaa"/' \
		deployer/export/export_compose.c >deployer/export/export_aaa.c
	make --no-print-directory "O=$name" "SAN=$([[ $name != *-san ]] || echo 1)" CC="${CC:-gcc}" "$name/ringup" "$name/tests/deployer/test_engine" \
		"$name/tests/deployer/test_launcher" "$name/tests/deployer/test_container" >make.log 2>&1 || {
		cat make.log
		return 1
	}
}

setup() {
	common_setup
	TREE=$BATS_FILE_TMPDIR/tree
	NAME=$(basename "$BUILD")
}

@test "only the new files and what names the lists are compiled" {
	run grep -c '^  CC ' "$TREE/make.log"
	[ "$output" -le 8 ]
	grep -q 'CC .*deployer/engine/engine_aaa.c' "$TREE/make.log"
	grep -q 'CC .*deployer/launcher/launcher_aaa.c' "$TREE/make.log"
	grep -q 'CC .*deployer/export/export_aaa.c' "$TREE/make.log"
}

@test "the program knows them: in errors and in --help" {
	printf 'hosts: [127.0.0.1]\ncontainer: {engine: nothing}\n' >cluster.yaml
	apart "$TREE/$NAME/ringup" status
	says 2 "there is no engine 'nothing'" 'known engines: aaa docker none'
	apart "$TREE/$NAME/ringup" export nothing
	says 2 "'nothing' is nothing that ringup exports to" 'aaa (one machine'
	apart "$TREE/$NAME/ringup" help bench
	[ "$status" -eq 0 ]
	grep -q 'how ranks are started: aaa, mpirun, ssh (the default)' ../out
}

@test "the defaults stay: auto is the engine of the lowest rank, and so is the launcher" {
	local test
	for test in test_engine test_launcher test_container; do
		run "$TREE/$NAME/tests/deployer/$test"
		[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	done
}

@test "the lints of names, layers and plug-ins have nothing to say" {
	local check
	cd "$TREE"
	find lib builder registry-client deployer cli images -name '*.[ch]' >files.list
	for check in plugins names layers; do
		run env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=.ci/lib LINT_FILES=files.list python3 ".ci/lint/$check.py"
		[ "$status" -eq 0 ] || { echo "$check: $output"; return 1; }
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ringup.lock: what is built is what it says, only resolve moves it, and what moves is shown.

load helper
setup() {
	common_setup
	# a catalog of the test's own, so that versions can come and go
	cp -r "$RINGUP_CATALOG" catalog
	export RINGUP_CATALOG=$PWD/catalog
	cluster 'openmpi' 'os==debian12'
}

# cluster REQ...: a cluster file that asks for these.
cluster() {
	cat >cluster.yaml <<-END
		name: lab
		hosts: [a]
		registry: {address: "127.0.0.1:1"}
		image: {base: "registry.lan:5000/base/debian:12"}
		stack: [$(printf '"%s", ' "$@")]
	END
	sed -i 's/, \]/]/' cluster.yaml
}

# newer: the catalog learns of a newer Open MPI and a newer Python.
newer() {
	echo '5.0.9,debian12,openmpi-bin=5.0.9,libopenmpi-dev=5.0.9,a later build,documented,test' >>catalog/openmpi.csv
	echo '3.12.1,debian12,python3=3.12.1,,a later one,documented,test' >>catalog/python.csv
}

# locked NAME: the version that ringup.lock has.
locked() {
	python3 -c 'import json, sys
print(json.load(open("ringup.lock"))["stack"].get(sys.argv[1], {}).get("version"))' "$1"
}

# lacks FILE PATTERN: no line of it has this.
lacks() {
	if grep -n -- "$2" "$1"; then return 1; fi
}

# edit PYTHON: changes the lock `d`.
edit() {
	python3 -c "
import json
d = json.load(open('ringup.lock'))
$1
json.dump(d, open('ringup.lock', 'w'), indent=1)"
}

# refused STATUS TEXT...: recipe, build and push all end with STATUS and say each TEXT.
refused() {
	for command in recipe 'build --dry-run' build push; do
		# shellcheck disable=SC2086  # words
		apart ringup $command
		says "$@" || { echo "command: $command"; return 1; }
		[ ! -s ../out ] || { echo "$command has output"; return 1; }
	done
}

@test "recipe takes the locked versions, whatever the catalog has learnt since" {
	ringup resolve
	newer
	apart ringup recipe
	says 0
	grep -q 'openmpi-bin=5\.0\.1' ../out
	lacks ../out '5\.0\.9\|3\.12\.1'
	rm ringup.lock
	apart ringup recipe
	says 0
	grep -q 'openmpi-bin=5\.0\.9' ../out
	[ ! -e ringup.lock ]
}

@test "a wheel that PyPI has is that of its CUDA, and not the one of the newest CUDA of this version" {
	unset RINGUP_CATALOG
	cluster 'torch==2.13.0' 'cuda==13.0.*' 'os==ubuntu24.04'
	sed -i '/^image/d' cluster.yaml
	apart ringup resolve
	says 0
	[ "$(locked cuda)" = 13.0.3 ]
	apart ringup recipe
	says 0
}

@test "a request that was added since: recipe, build and push refuse, exit 2" {
	ringup resolve
	cluster 'openmpi' 'os==debian12' 'python>=3'
	refused 2 './ringup.lock was resolved for another stack' "'python>=3' was added since" "run 'ringup resolve'"
}

@test "a request that was taken away since" {
	ringup resolve
	cluster 'openmpi'
	refused 2 './ringup.lock was resolved for another stack' "'os==debian12' was taken away since"
}

@test "a request that was changed since, until resolve was run" {
	ringup resolve
	cluster 'openmpi<5' 'os==debian12'
	refused 2 "'openmpi<5' was added since"
	ringup resolve
	[ "$(locked openmpi)" = 4.1.10 ]
	apart ringup recipe
	says 0
	grep -q 'openmpi-bin=4\.1\.10' ../out
}

@test "the order of the requests is no change" {
	ringup resolve
	cluster 'os==debian12' 'openmpi'
	apart ringup recipe
	says 0
}

@test "the accelerator that was changed since" {
	ringup resolve
	echo 'accelerator: cuda' >>cluster.yaml
	refused 2 './ringup.lock' 'accelerator: cuda' "run 'ringup resolve'"
	sed -i 's/accelerator: cuda/accelerator: cpu/' cluster.yaml
	apart ringup recipe
	says 0
}

@test "a lock that is damaged, or is none: exit 2 with its name and the way out" {
	for text in '' '{' '[]' '{}' '{"stack": []}' '{"stack": {}}' '{"stack": {"os": {}}}' '{"stack": {"os": 7}}'; do
		printf '%s' "$text" >ringup.lock
		refused 2 './ringup.lock' "'ringup resolve --update' writes it anew" || { echo "text: $text"; false; }
	done
	apart ringup resolve --update
	says 0
	apart ringup recipe
	says 0
}

@test "a lock of a later ringup is refused" {
	ringup resolve >/dev/null
	sed -i 's/"schema":.*/"schema": 99,/' ringup.lock
	refused 2 ringup.lock schema
	sed -i 's/"schema":.*/"schema": 1e22,/' ringup.lock
	refused 2 ringup.lock schema
}

@test "a lock with a component twice, as a bad merge leaves it, is refused" {
	ringup resolve
	python3 - <<-'END'
		text = open("ringup.lock").read()
		begin = text.index('"openmpi":')
		end = text.index("}", begin) + 1
		twice = text[begin:end] + ",\n" + text[begin:end].replace("5.0.1", "4.1.4")
		open("ringup.lock", "w").write(text[:begin] + twice + text[end:])
	END
	refused 2 ringup.lock openmpi
}

@test "a locked version that the catalog dropped is built all the same" {
	ringup resolve
	sed -i '/^5\.0\.1,/d' catalog/openmpi.csv
	apart ringup recipe
	says 0
	grep -q 'openmpi-bin=5\.0\.1' ../out
}

@test "a locked stack that a rule of today forbids: exit 3, the rule, and the way out" {
	ringup resolve
	cat >catalog/conflicts.csv <<-'END'
		id,when,effect,symptom,fix,note,certainty,source
		hang,openmpi==5.0.1 & python>=3,refuse,every rank hangs,take Open MPI 4,,documented,test
	END
	refused 3 './ringup.lock is locked to a stack that does not fit any more' "'ringup resolve --update'"
	ringup resolve
	[ "$(locked openmpi)" = 4.1.10 ]
	apart ringup recipe
	says 0
}

@test "a locked stack that does not fit any more: the error says what is wrong with it" {
	ringup resolve
	cat >catalog/conflicts.csv <<-'END'
		id,when,effect,symptom,fix,note,certainty,source
		hang,openmpi==5.0.1 & python>=3,refuse,every rank hangs,take Open MPI 4,,documented,test
	END
	refused 3 'openmpi==5.0.1 & python>=3' 'every rank hangs'
}

@test "a locked stack that hosts cannot run: the error names them" {
	unset RINGUP_CATALOG # the real one
	printf 'hosts: ["node[01-03]"]\naccelerator: cuda\nstack: [cuda==12.8.1]\n' >cluster.yaml
	ringup -q resolve
	mkdir -p .ringup
	python3 - >.ringup/facts.json <<-'END'
		import datetime, json
		now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
		print(json.dumps({"ok": True, "probed": now, "hosts": [
		    {"host": "node%02d" % i, "driver": "450.80.02" if i > 1 else "570.86.15", "gpus": "Tesla V100-SXM2-32GB"}
		    for i in (1, 2, 3)]}))
	END
	refused 3 'does not fit any more' 'driver 450.80.02 (host node[02-03])'
	# hosts that no stack is for: no version of the lock is to blame
	sed -i 's/450.80.02/470.256.02/g; s/Tesla V100-SXM2-32GB/NVIDIA H100 80GB HBM3/g' .ringup/facts.json
	refused 3 'does not fit any more' 'driver 470.256.02 does not know the H100 SXM5'
	! grep -F 'do not go together' ../err
}

@test "resolve keeps the locked versions; only the catalog's revision moves" {
	ringup resolve
	cp ringup.lock ../first
	newer
	apart ringup resolve
	says 0
	[ "$(locked openmpi) $(locked python)" = '5.0.1 3.11.2' ]
	diff <(grep -v '"catalog"' ../first) <(grep -v '"catalog"' ringup.lock)
}

@test "resolve that moves nothing keeps what the lock says of the image" {
	ringup resolve
	edit 'd["recipe"] = "sha256:" + "0" * 64; d["image"] = "r/lab@sha256:" + "1" * 64'
	apart ringup resolve
	says 0
	grep -q '"recipe"' ringup.lock
	grep -q '"image"' ringup.lock
}

@test "resolve moves what the cluster file asks otherwise now, and nothing else" {
	cluster 'openmpi==4.1.4' 'os==debian12'
	ringup resolve
	newer
	cluster 'openmpi==4.1.*' 'os==debian12'
	apart ringup resolve
	says 0
	[ "$(locked openmpi) $(locked python)" = '4.1.10 3.11.2' ]
}

@test "--update moves every version and says which" {
	ringup resolve
	newer
	apart ringup resolve --update
	says 0 'openmpi: 5.0.1 -> 5.0.9' 'python: 3.11.2 -> 3.12.1'
	lacks ../err 'gcc:\|os:\|glibc:'
	[ "$(locked openmpi) $(locked python)" = '5.0.9 3.12.1' ]
	apart ringup resolve --update
	says 0 'ringup.lock: nothing moves'
}

@test "--update NAME moves that one" {
	ringup resolve
	newer
	apart ringup resolve --update python
	says 0 'python: 3.11.2 -> 3.12.1'
	lacks ../err 'openmpi:'
	[ "$(locked openmpi) $(locked python)" = '5.0.1 3.12.1' ]
	apart ringup resolve --update openmpi python
	says 0 'openmpi: 5.0.1 -> 5.0.9'
	[ "$(locked openmpi) $(locked python)" = '5.0.9 3.12.1' ]
}

@test "--update shows what comes and what goes" {
	ringup resolve
	edit 'd["stack"]["horovod"] = dict(d["stack"]["openmpi"], version="0.28.1"); del d["stack"]["python"]'
	apart ringup resolve --update
	says 0 'python: (not there) -> 3.11.2' 'horovod: 0.28.1 -> (not there any more)'
	[ "$(locked python) $(locked horovod)" = '3.11.2 None' ]
}

@test "--update with --json: one document, the difference on standard error" {
	ringup resolve
	newer
	apart ringup --json resolve --update
	says 0 'openmpi: 5.0.1 -> 5.0.9'
	json 'd["stack"]["openmpi"]["version"] == "5.0.9"'
}

@test "--update with --no-lock moves nothing" {
	ringup resolve
	cp ringup.lock ../first
	newer
	apart ringup resolve --update --no-lock
	says 0
	grep -q '5\.0\.9' ../out
	cmp ringup.lock ../first
}

@test "--update: a word that is no component, and no cluster file" {
	ringup resolve
	apart ringup resolve --update opnmpi
	says 2 "'opnmpi'"
	apart ringup resolve --update 'openmpi>=4'
	says 2 "'openmpi>=4'"
	rm cluster.yaml
	apart ringup resolve --update
	says 2 cluster.yaml
}

@test "--update with no stack leaves the lock as it was" {
	ringup resolve
	cp ringup.lock ../first
	cluster 'openmpi>=6'
	apart ringup resolve --update
	says 3 'openmpi>=6'
	cmp ringup.lock ../first
}

@test "--prefer oldest and newest" {
	apart ringup resolve --no-lock --prefer oldest 'openmpi>=4,<5' os==debian12
	says 0
	grep -q '^openmpi  *4\.1\.4 ' ../out
	apart ringup resolve --no-lock --prefer newest 'openmpi>=4,<5' os==debian12
	says 0
	grep -q '^openmpi  *4\.1\.10 ' ../out
	apart ringup resolve --no-lock 'openmpi>=4,<5' os==debian12
	grep -q '^openmpi  *4\.1\.10 ' ../out
	apart ringup resolve --no-lock --prefer middle openmpi
	says 2 '--prefer takes newest or oldest' middle
}

@test "--prefer with --update moves the lock both ways" {
	ringup resolve
	apart ringup resolve --update --prefer oldest
	says 0 'openmpi: 5.0.1 -> 3.1.6'
	[ "$(locked openmpi)" = 3.1.6 ]
	apart ringup resolve
	[ "$(locked openmpi)" = 3.1.6 ]
	apart ringup resolve --update --prefer newest
	says 0 'openmpi: 3.1.6 -> 5.0.1'
}

@test "--all: one line per stack, best first, and no lock" {
	newer
	apart ringup resolve --all
	says 0
	[ "$(cat ../out)" = 'os debian12, python 3.12.1
os debian12, python 3.11.2' ]
	[ ! -e ringup.lock ]
	apart ringup resolve --all openmpi
	says 0
	[ "$(wc -l <../out)" -eq 3 ]
	apart ringup resolve --all --prefer oldest openmpi
	says 0
	[ "$(wc -l <../out)" -eq 3 ]
}

@test "--all takes REQ words, and ends with 3 where there is no stack" {
	apart ringup resolve --all 'python<3.10'
	says 0
	[ "$(cat ../out)" = 'os debian11, python 3.9.2' ]
	apart ringup resolve --all 'openmpi>=6'
	says 3 'openmpi>=6'
	[ ! -s ../out ]
}

@test "--all with --json is one document" {
	newer
	apart ringup --json resolve --all
	says 0
	json 'd["ok"] is True'
	json '[s["stack"]["python"]["version"] for s in d["stacks"]] == ["3.12.1", "3.11.2"]'
}

@test "--prefer beside a lock says that versions move with --update only" {
	ringup resolve >/dev/null
	apart ringup resolve --prefer oldest
	says 0
	grep -q -- '--update' ../err
}

@test "other words without a cluster file are a new question" {
	rm cluster.yaml
	ringup resolve openmpi==4.1.4 os==debian12 >/dev/null
	apart ringup resolve openmpi os==debian12
	says 0
	grep -Eq '^openmpi +5\.0\.1' ../out
	grep -q 'openmpi: 4.1.4 -> 5.0.1' ../err
}

@test "a lock with a library of a wheel fits, whatever NVIDIA's own package of that version needs" {
	unset RINGUP_CATALOG # the real one
	printf '%s\n' 'hosts: [a]' 'stack: [tensorflow==2.20.0, os==ubuntu24.04, openmpi==5.0.8]' >cluster.yaml
	ringup -q resolve >/dev/null
	apart ringup recipe
	says 0
	grep -qF 'org.ringup.stack.nccl="2.27.7"' ../out
}

@test "the same words again without a cluster file keep the lock" {
	rm cluster.yaml
	ringup resolve openmpi==4.1.4 os==debian12
	newer
	apart ringup resolve openmpi==4.1.4 os==debian12
	[ "$status" -eq 0 ]
	[ "$(locked python)" = 3.11.2 ]
}

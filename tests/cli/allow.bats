#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --allow ID: rules that a person overrules, on the command line and in cluster.yaml, in the lock, the recipe and reports.

load helper
setup() {
	common_setup
	unset RINGUP_CATALOG
}

RULE=horovod-torch-2.1

# cluster LINE...: a cluster file of a stack that a rule refuses, with more lines.
cluster() {
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: [a]
		registry: {address: "127.0.0.1:1"}
		stack: ["horovod==0.27.0", "torch==2.1.0", "os==ubuntu22.04"]
	END
	printf '%s\n' "$@" >>cluster.yaml
}

@test "a refusal names the rule, and how it is overruled" {
	apart ringup --json resolve --no-lock horovod==0.27.0 torch==2.1.0
	says 3 "--allow $RULE overrules the rule that refuses it"
	json 'd["allow"] == ["horovod-torch-2.1"]'
	apart ringup --json resolve --no-lock openmpi==4.1.4 openmpi==4.1.5
	says 3
	json '"allow" not in d'
}

@test "resolve: a warning each time, and the JSON says what is overruled" {
	apart ringup --json resolve --no-lock horovod==0.27.0 torch==2.1.0 --allow "$RULE" --allow gpu-driver
	says 0 "warning: --allow $RULE: horovod<0.28 & torch>=2.1 do not go together"
	json 'd["allow"] == ["horovod-torch-2.1", "gpu-driver"]'
	json '[o["id"] for o in d["overruled"]] == ["horovod-torch-2.1"]'
	json '"C++17" in d["overruled"][0]["because"] and "horovod-3996" in d["overruled"][0]["source"]'
	json '"--allow gpu-driver: this stack does not break that rule" in d["notes"]'
	apart ringup resolve --no-lock horovod==0.27.0 torch==2.1.0 --allow "$RULE" --allow gpu-driver
	says 0 "warning: --allow $RULE: " "warning: --allow gpu-driver: this stack does not break that rule"
	[ "$(grep -c -- "--allow" ../err)" -eq 2 ]
}

@test "resolve --all gives the stacks of a rule that is overruled" {
	apart ringup --json resolve --no-lock --all horovod==0.27.0 torch==2.1.0 os==ubuntu22.04 python==3.10 --allow "$RULE"
	says 0
	json 'd["stacks"] and all(o["overruled"][0]["id"] == "horovod-torch-2.1" for o in d["stacks"])'
	apart ringup resolve --no-lock --all horovod==0.27.0 torch==2.1.0 os==ubuntu22.04 python==3.10 --allow "$RULE"
	says 0
	[ "$(wc -l <../out)" -eq "$(grep -c "python 3.10 (breaks $RULE)\$" ../out)" ]
}

@test "an unknown id: exit 2 with near ones, from the command line and the file" {
	apart ringup resolve --no-lock torch --allow driver-cud
	says 2 "no rule that refuses has the id 'driver-cud'; the nearest are: driver-cuda"
	cluster 'allow: [gpu-drivr]'
	apart ringup resolve
	says 2 "cluster.yaml: allow: no rule that refuses has the id 'gpu-drivr'" gpu-driver
	[ ! -e ringup.lock ]
}

@test "the recipe says it in a comment" {
	apart ringup recipe horovod==0.27.0 torch==2.1.0 os==ubuntu22.04 --allow "$RULE" --allow driver-cuda
	says 0 "warning: --allow $RULE: " "warning: --allow driver-cuda: this stack does not break that rule"
	[ "$(grep -c "^# overruled by --allow $RULE: .*C++17.*\[horovod-3996" ../out)" -eq 1 ]
	[ "$(grep -c '^# overruled' ../out)" -eq 1 ]
}

@test "cluster.yaml: resolve, recipe and build take its ids, and the lock keeps them" {
	cluster
	apart ringup resolve
	says 3 "--allow $RULE overrules"
	cluster "allow: [$RULE]"
	apart ringup resolve
	says 0 "warning: --allow $RULE: "
	python3 -c '
import json
d = json.load(open("ringup.lock"))
assert d["allow"] == ["horovod-torch-2.1"], d["allow"]
assert [o["id"] for o in d["overruled"]] == ["horovod-torch-2.1"], d["overruled"]'
	apart ringup recipe
	says 0 "warning: --allow $RULE: "
	grep -q "^# overruled by --allow $RULE: " ../out
	apart ringup build --dry-run
	says 0 "warning: --allow $RULE: "
}

@test "a lock is taken up only while its rules are overruled" {
	cluster "allow: [$RULE]"
	ringup resolve
	cluster
	for command in recipe 'build --dry-run' build push; do
		# shellcheck disable=SC2086  # words
		apart ringup $command
		says 2 "./ringup.lock was resolved with --allow $RULE; give it again" || { echo "$command"; return 1; }
		[ ! -s ../out ]
	done
	apart ringup recipe --allow "$RULE"
	says 0
	apart ringup build --dry-run --allow "$RULE"
	says 0
	# one more is no reason to refuse the lock
	apart ringup recipe --allow "$RULE" --allow gpu-driver
	says 0 "warning: --allow gpu-driver: this stack does not break that rule"
}

@test "resolve without the id looks for a stack that keeps the rule" {
	cluster "allow: [$RULE]"
	sed -i 's/torch==2.1.0/torch>=2.0/' cluster.yaml
	ringup resolve
	[ "$(python3 -c 'import json; print(json.load(open("ringup.lock"))["stack"]["torch"]["version"])')" = 2.0.1 ]
	sed -i '/^allow/d' cluster.yaml
	apart ringup resolve
	says 0
	python3 -c '
import json
d = json.load(open("ringup.lock"))
assert "allow" not in d and "overruled" not in d, d.keys()'
	ringup recipe >/dev/null
}

@test "an image tag that is gone may be named" {
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: [a]
		stack: ["cuda==11.8.0", "os==ubuntu22.04"]
		image: {base: "nvidia/cuda:latest"}
	END
	apart ringup resolve --no-lock
	says 3 'manifest unknown' '--allow image-latest overrules the rule that refuses it'
	apart ringup resolve --no-lock --allow image-latest
	says 0 'warning: --allow image-latest: nvidia/cuda:latest: manifest unknown'
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# examples/: every script is short and can be read by Python, and every cluster file makes an image with its script.

load helper

setup() {
	common_setup
	cp -r "$ROOT/examples" .
	mkdir -p images/worker/sgd
	cp "$ROOT/images/worker/sgd/digits_data.h" images/worker/sgd
}

@test "every script is short, compiles, and says what it is for" {
	# --help needs no framework, and of NumPy only the name
	mkdir modules
	touch modules/numpy.py
	export PYTHONPATH=$PWD/modules PYTHONDONTWRITEBYTECODE=1
	for script in examples/*.py; do
		[ "$(wc -l <"$script")" -lt 80 ]
		python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$script"
		case $script in */digits.py | */comparison_*.py) continue ;; esac
		python3 "$script" --help >help
		grep -q '^Digits with ' help
		grep -q -- '--epochs EPOCHS' help
	done
}

@test "every cluster file makes an image with its script and the data, and starts it" {
	local count=0
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	for file in examples/*/cluster.yaml; do
		script=$(sed -n 's/.*to: \(.*\.py\)}/\1/p' "$file" | head -n 1)
		touch "$(dirname "$file")/ca.pem"
		ringup -f "$file" recipe >Dockerfile
		for name in "$script" /opt/examples/digits.py /opt/examples/digits_data.h; do
			grep -q "^COPY files/[0-9] $name\$" Dockerfile
		done
		launcher=$(sed -n 's/^#.* --launcher \([a-z]*\) .*/\1/p' "$file")
		ringup -f "$file" run --dry-run --launcher "$launcher" -- python3 "$script" >plan
		grep -q "^node01: env " plan
		grep -q " -- python3 $script\$\|TF_CONFIG=.* python3 $script\$" plan # a word may hold a line end
		count=$((count + 1))
	done
	[ "$count" = 3 ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A recipe for every pair of catalog values that can stand together: each is a Dockerfile, its shell
# parses, hadolint is silent, and versions, checksums and keys are pinned.

load ../cli/helper
setup() {
	common_setup
	PATH="$PATH:$(cd "$ROOT" && realpath "${BUILD:-build}")/tools/bin" # 'make deps' puts hadolint there
}

@test "1000 recipes, each whole" {
	unset RINGUP_CATALOG # the real one
	run python3 "$ROOT/tests/recipe/walk.py" --least 1000 --seed "${RECIPE_SEED:-1}"
	echo "$output" | tail -n 20
	[ "$status" -eq 0 ]
}

# What stands here cannot be built, for the reason that the error gives.
unbuildable() {
	case $1 in
	ubuntu14.04) grep -qF 'the pip of ubuntu14.04' "$2" ;;
	ubuntu17.04) grep -qF 'none of cuDNN and NCCL for it' "$2" ;;
	centos6) grep -qF 'the TLS of centos6 is too old' "$2" ;;
	debian9) grep -qF 'no checksum of an archive of NCCL' "$2" ;;
	*) false ;;
	esac
}

@test "the newest of each framework: a recipe on every OS that has a stack" {
	unset RINGUP_CATALOG # the real one
	local os words form status made=0 wrong=0
	echo 'hosts: [a]' >cluster.yaml
	for os in $(tail -n +2 "$ROOT/recipes/catalog/os.csv" | cut -d, -f1); do
		for words in torch 'torch gpu==H100' 'torch gpu==B200' tensorflow mxnet 'horovod torch' 'horovod tensorflow'; do
			for form in dockerfile script; do
				status=0
				# shellcheck disable=SC2086 # several requests
				ringup recipe --format "$form" "os==$os" $words >/dev/null 2>err || status=$?
				case $status in
				0) made=$((made + 1)) ;;
				3) ;;
				*) unbuildable "$os" err || { wrong=$((wrong + 1)) && echo "os==$os $words: $(cat err)"; } ;;
				esac
			done
		done
	done
	echo "$made recipes, $wrong that failed"
	[ "$made" -ge 200 ]
	[ "$wrong" = 0 ]
}

@test "the newest of each framework for aarch64: a recipe on every OS that has a stack" {
	unset RINGUP_CATALOG # the real one
	local os words form status made=0 wrong=0
	printf '%s\n' 'hosts: [a]' 'accelerator: cpu' >cpu.yaml
	for os in $(tail -n +2 "$ROOT/recipes/catalog/os.aarch64.csv" | cut -d, -f1); do
		for words in 'torch gpu==GH200' 'torch gpu==GB200' 'torch gpu==GB10' 'jax gpu==GH200' 'nccl gpu==GH200'; do
			for form in dockerfile script; do
				status=0
				# shellcheck disable=SC2086 # several requests
				ringup recipe --format "$form" "os==$os" $words >out 2>err || status=$?
				[ "$status" != 3 ] || continue
				made=$((made + 1))
				if [ "$status" != 0 ] || grep -v '^ *#' out | grep -qE 'x86_64|amd64'; then
					wrong=$((wrong + 1)) && echo "os==$os $words: $(cat err)"
				fi
			done
		done
		for words in torch tensorflow jax 'horovod tensorflow'; do
			status=0
			# shellcheck disable=SC2086 # several requests
			ringup -f cpu.yaml recipe "os==$os" arch==aarch64 $words >out 2>err || status=$?
			[ "$status" != 3 ] || continue
			made=$((made + 1))
			if [ "$status" != 0 ] || grep -v '^ *#' out | grep -qE 'x86_64|amd64'; then
				wrong=$((wrong + 1)) && echo "os==$os $words: $(cat err)"
			fi
		done
	done
	echo "$made recipes, $wrong that failed"
	[ "$made" -ge 100 ]
	[ "$wrong" = 0 ]
}

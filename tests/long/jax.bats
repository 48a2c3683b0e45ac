#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# JAX (CPU) from wheels, for real: it is what was resolved, and computes.

load ../lab/build_helper

setup_file() {
	build_begin
	cat >cluster.yaml <<-'END'
		name: jax
		hosts: [a]
		accelerator: cpu
		stack: ["jax==0.10.2", "os==debian12", "openmpi==4.1.4"]
		image: {name: jax}
	END
	ringup --json resolve --no-lock >resolved.json
	python3 "$REPO/.ci/lib/wheels.py" jax==0.10.2 3.11 >set.txt
	python3 -m pip download -q --no-deps --only-binary :all: --require-hashes --python-version 3.11 \
		--platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_17_x86_64 \
		--platform manylinux2014_x86_64 -d wheels -r set.txt
	pip_index wheels
	{ grep '^  apt' mirrors || true; echo "  pip: \"$PIP_URL\""; } | { echo mirrors: && cat; } >>cluster.yaml
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

@test "an image with JAX is built, and its checks compute on the CPU" {
	build build -o oci:jax
	nothing_runs
	grep -q "^JAX 0.10.2 jaxlib 0.10.2" "$XDG_CACHE_HOME"/ringup/build-*.log
}

@test "inside: JAX and jaxlib of the set, and no library of NVIDIA's" {
	flatten jax >tree
	grep -q '^usr/local/lib/python3.11/dist-packages/jax-0.10.2.dist-info ' tree
	grep -q '^usr/local/lib/python3.11/dist-packages/jaxlib-0.10.2.dist-info ' tree
	run ! grep -q '^usr/local/lib/python3.11/dist-packages/nvidia' tree
	flatten --config jax >config
	[ "$(jq -r '.Labels["org.ringup.stack.jax"]' config)" = "$(jq -r .stack.jax.version resolved.json)" ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A CUDA image for real, with neither a GPU nor NVIDIA's repository: Debian's packages, and CUDA, cuDNN and
# NCCL from NVIDIA's wheels. What is inside is what was resolved.

load ../lab/build_helper

setup_file() {
	build_begin
	cat >cluster.yaml <<-'END'
		name: cuda
		hosts: [a]
		accelerator: cuda
		stack: ["cuda==12.6.3", cudnn, nccl, "os==debian12", "openmpi==4.1.4"]
		image: {name: cuda}
	END
	ringup --json resolve --no-lock >resolved.json
	ringup recipe >Dockerfile
	# the wheels that the recipe names, by their hashes
	grep -oE "'nvidia-[^ ]+==[^ ]+ --hash=sha256:[0-9a-f]{64}'" Dockerfile | tr -d "'" >wheels.txt
	[ "$(wc -l <wheels.txt)" -ge 4 ]
	python3 -m pip download -q --no-deps --only-binary :all: --require-hashes --python-version 3.11 \
		--platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 --platform manylinux_2_27_x86_64 \
		-d wheels -r wheels.txt
	pip_index wheels
	# the packages' mirror, and the wheels' index
	{ grep '^  apt' mirrors || true; echo "  pip: \"$PIP_URL\""; } | { echo mirrors: && cat; } >>cluster.yaml
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

@test "a CUDA image is built here, from Debian's packages and NVIDIA's wheels" {
	build build -o oci:cuda
	nothing_runs
}

@test "inside: CUDA, cuDNN and NCCL are what was resolved, and on the library path" {
	flatten cuda >tree
	version() { jq -r ".stack.$1.version" resolved.json; }
	# wheels name their version in the folder beside them
	grep -q "^usr/local/lib/python3.11/dist-packages/nvidia_cudnn_cu12-$(version cudnn).dist-info " tree
	grep -q "^usr/local/lib/python3.11/dist-packages/nvidia_nccl_cu12-$(version nccl | cut -d- -f1).dist-info " tree
	grep -q "^usr/local/lib/python3.11/dist-packages/nvidia_cuda_runtime_cu12-$(version cuda | cut -d. -f1,2)\..*.dist-info " tree
	grep -q '^etc/ld.so.conf.d/nvidia-wheels.conf file' tree
	flatten --config cuda >config
	[ "$(jq -r '.Labels["org.ringup.stack.nccl"]' config)" = "$(version nccl)" ]
}

@test "inside: the worker loads that NCCL and reports its version" {
	local nccl
	nccl=$(jq -r .stack.nccl.version resolved.json | cut -d- -f1)
	cat "$XDG_CACHE_HOME"/ringup/build-*.log | grep "^nccl ${nccl//./\\.} (/usr/local/lib/python3.11/dist-packages/nvidia/nccl/lib/"
}

@test "layers are 512 MiB at most, but for a file that is larger" {
	local manifest
	manifest=cuda/blobs/sha256/$(digest cuda | cut -d: -f2)
	[ "$(jq '.layers | length' "$manifest")" -ge 6 ]
	python3 - cuda "$(jq -r '.layers[].digest' "$manifest")" <<-'END'
		import gzip, io, sys, tarfile
		for digest in sys.argv[2].split():
		    with tarfile.open(f"{sys.argv[1]}/blobs/sha256/{digest[7:]}") as tar:
		        sizes = [m.size for m in tar if m.isreg()]
		    assert sum(sizes) <= 512 << 20 or len(sizes) == 1, (digest, sum(sizes), len(sizes))
	END
}

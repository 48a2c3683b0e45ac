#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# TensorFlow (CPU) with Horovod, from wheels and from source, for real: imports, and trains a step on two
# ranks. It takes minutes and a gigabyte: `make test SUITES=long`.

load ../lab/build_helper

setup_file() {
	build_begin
	cat >cluster.yaml <<-'END'
		name: tf
		hosts: [a]
		accelerator: cpu
		stack: ["tensorflow==2.13.1", horovod, "os==debian12", "openmpi==4.1.4"]
		image: {name: tf, files: [{from: ./step.py, to: /step.py}]}
	END
	cat >step.py <<-'END'
		import horovod.tensorflow as hvd
		import tensorflow as tf

		hvd.init()
		tf.random.set_seed(hvd.rank())
		w = tf.Variable(tf.random.normal([4, 1]))
		hvd.broadcast_variables([w], root_rank=0)
		with hvd.DistributedGradientTape(tf.GradientTape()) as tape:
		    loss = tf.reduce_mean((tf.random.normal([8, 4]) @ w - 1.0) ** 2)
		w.assign_sub(0.1 * tape.gradient(loss, [w])[0])
		everyone = hvd.allgather(tf.reshape(w, [1, 4])).numpy()
		assert (everyone == everyone[0]).all(), everyone
		print("trained", hvd.rank(), "of", hvd.size(), tf.__version__, flush=True)
	END
	ringup --json resolve --no-lock >resolved.json
	local words=(python3 -m pip download -q --no-deps --only-binary :all: --python-version 3.11
		--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2010_x86_64
		--platform manylinux_2_5_x86_64 --platform manylinux1_x86_64 --platform manylinux_2_12_x86_64 -d wheels)
	for set in tensorflow==2.13.1 horovod-needs; do
		python3 "$REPO/.ci/lib/wheels.py" "$set" 3.11 >set.txt
		"${words[@]}" -r set.txt
	done
	"${words[@]}" wheel==0.37.1 cmake==3.25.2
	python3 -m pip download -q --no-deps --no-binary horovod -d wheels horovod==0.28.1
	pip_index wheels
	{ grep '^  apt' mirrors || true; echo "  pip: \"$PIP_URL\""; } | { echo mirrors: && cat; } >>cluster.yaml
}

teardown_file() {
	build_end
}

setup() {
	cd "$WORK" || return
}

@test "TensorFlow with Horovod: built, and the versions inside are those resolved" {
	build build -o oci:tf
	flatten tf >tree
	for name in tensorflow horovod; do
		grep -q "dist-packages/$name-$(jq -r ".stack.$name.version" resolved.json).dist-info " tree
	done
}

@test "it imports and trains one step on two ranks" {
	engine_up
	export DOCKER_HOST=unix://$RUN/docker.sock
	ringup copy oci:tf docker-daemon:tf:1
	run docker run --rm --network none tf:1 mpirun -np 2 --oversubscribe -mca btl self,vader python3 /step.py
	[ "$status" = 0 ] || { echo "$output" && false; }
	[[ "$output" == *"trained 0 of 2 $(jq -r .stack.tensorflow.version resolved.json)"* ]]
	[[ "$output" == *"trained 1 of 2"* ]]
}

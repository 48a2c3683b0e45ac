#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Nothing of the worker ever hangs: every fault in every phase on every path. It takes minutes: `make test SUITES=long`.

load ../cli/worker_hang

@test "a stopped rank is named, over TCP" {
	each_phase stop 4 1 ": rank 1 (here) does not answer" "$ALL_PHASES" --no-shm
	finish
}

@test "a stopped rank 0 is named by the others" {
	for path in --quiet --no-shm; do
		rank_0_stops "bootstrap first run pairs one sum async" $path
		finish
	done
}

@test "a killed rank is named" {
	each_phase die 7 0 "; see its own output" "$ALL_PHASES" --json
	each_phase die 7 2 "; see its own output" "$ALL_PHASES" --no-shm
	finish
}

@test "a rank that answers but takes no further part is named, over TCP" {
	for rank in 0 2; do
		each_phase drop 4 $rank ": rank $rank (here) is behind the others" "$ALL_PHASES" --no-shm
		finish
	done
}

@test "leave-one-out: who dies or drops out is named" {
	leave_one_out die 7 "rank 1 (here, "
	leave_one_out drop 4 "leave-one-out: rank 1 (here) is behind the others"
}

@test "collectives: who is stopped or drops out is named, on every path" {
	for name in reduce_scatter all_gather broadcast sendrecv; do
		collective_hangs $name
	done
	ends 4 "in phase run: rank 3 (host1) is behind the others" hosts 2 2 -n 2 -w 1 -b 64K -e 64K --timeout 2 \
		--fault-inject drop:3@run
	finish
}

@test "mpi backend: who hangs is named, though MPI does not let go of the others" {
	for phase in bootstrap first pairs; do
		mpi_hangs $phase
		finish
	done
	ends 4 "in phase run: rank 0 (here) does not answer" \
		mpi -n 3 "$ALLREDUCE" --backend mpi "${RUN[@]}" --fault-inject stop:0
	finish
}

@test "nccl: who hangs, dies or drops out is named, though NCCL does not let go of the others" {
	standin_setup
	RUN+=(--backend nccl)
	export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/standin
	mkdir "$LD_LIBRARY_PATH"
	standin_build "$LD_LIBRARY_PATH"
	each_phase stop 4 1 ": rank 1 (here) does not answer" "bootstrap first run"
	each_phase die 7 1 "; see its own output" "bootstrap first run"
	each_phase drop 4 1 ": rank 1 (here) is behind the others" "bootstrap first run"
	finish
	ends 4 "rank 0 (here) does not answer in phase bootstrap" "$ALLREDUCE" --procs 3 "${RUN[@]}" --fault-inject stop:0@bootstrap
	finish
}

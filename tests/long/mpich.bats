#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# 'ringup run' with MPICH's mpirun on three hosts that have it instead of Open MPI: ranks, how they end, and what is left.

load ../lab/helper

setup_file() {
	lab_cluster 3 --loopback
	cd "$LAB" || return
	# Debian's MPICH, as a host has it that has no other
	mkdir mpich
	for program in mpirun mpiexec; do
		ln -s "/usr/bin/$program.mpich" "mpich/$program"
	done
	ln -s /usr/bin/hydra_pmi_proxy mpich/
	cat >program.c <<-'END'
		#include <mpi.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>

		int main(int argc, char **argv)
		{
			int rank, count, sum, value[9] = {0};

			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Comm_size(MPI_COMM_WORLD, &count);
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
			printf("%d of %d, sum %d\n", rank, count, sum);
			fflush(stdout);
			if (strcmp(argv[1], "truncate") == 0 && rank == 2)
				MPI_Send(value, 9, MPI_INT, 3, 0, MPI_COMM_WORLD);
			if (strcmp(argv[1], "truncate") == 0 && rank == 3)
				MPI_Recv(value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (strcmp(argv[1], "abort") == 0 && rank == 3)
				MPI_Abort(MPI_COMM_WORLD, 7);
			if (strcmp(argv[1], "exit") == 0 && rank == 3)
				exit(7);
			if (strcmp(argv[1], "kill") == 0 && rank == 3)
				raise(SIGKILL);
			if (strcmp(argv[1], "stay") == 0)
				sleep(600);
			if (strcmp(argv[1], "pause") == 0)
				sleep(7);
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc.mpich -o mpich-program program.c
}

teardown_file() {
	lab_end
}

setup() {
	cd "$LAB" || return
}

# mpich WORD OPTION...: the program on two ranks of each host, with stdout in out and stderr in err.
mpich() {
	local word=$1
	shift
	status=0
	ringup run --launcher mpirun -e "PATH=$LAB/mpich:/usr/bin:/bin" "$@" -- "$LAB/mpich-program" "$word" >out 2>err 3>&- 4>&- || status=$?
	cat out err
}

left_nothing() {
	none_left "$LAB/(mpich|.*ringup-job)"
}

@test "every rank runs once and they are one world" {
	mpich end
	[ "$status" = 0 ]
	[ "$(sort out)" = "[0 node01] 0 of 6, sum 15
[1 node01] 1 of 6, sum 15
[2 node02] 2 of 6, sum 15
[3 node02] 3 of 6, sum 15
[4 node03] 4 of 6, sum 15
[5 node03] 5 of 6, sum 15" ]
	left_nothing
}

@test "a rank that exits, and one that is killed, are named with their status" {
	mpich exit
	[ "$status" = 7 ]
	grep 'rank 3 on node02 ended with status 7' err
	mpich kill
	[ "$status" = 137 ]
	grep 'rank 3 on node02 was ended by signal 9' err
	left_nothing
}

@test "MPI_Abort and an MPI call that fails: MPICH kills every rank, and the one that asked for it is named" {
	mpich abort
	[ "$status" = 137 ]
	grep 'rank 3 on node02 ended the job' err
	grep 'likely cause (rank 3 on node02): the program called MPI_Abort with status 7' err
	run ! grep 'memory ran out' err
	mpich truncate
	[ "$status" = 137 ]
	grep 'rank 3 on node02 ended the job' err
	grep 'Fatal error in .*Message truncated' err
	left_nothing
}

@test "a program of the other MPI than the mpirun: each rank is a world of its own, and each host says so" {
	mpicc.openmpi -o open-program program.c
	for name in mpich open; do
		export PATH_OF_MPIRUN="$LAB/mpich:/usr/bin:/bin"
		[ "$name" != mpich ] || PATH_OF_MPIRUN=/usr/bin:/bin
		status=0
		ringup run --launcher mpirun -e "PATH=$PATH_OF_MPIRUN" -- "$LAB/$name-program" pause >out 2>err 3>&- 4>&- || status=$?
		cat out err
		[ "$status" = 0 ]
		[ "$(grep -c '0 of 1, sum 0$' out)" = 6 ]
		[ "$(grep -c 'is a world of its own' err)" = 3 ]
	done
	grep 'this rank has loaded Open MPI, and the mpirun of MPICH started it' err
	left_nothing
}

@test "ringup is killed: nothing of the job is left" {
	local pid
	ringup run --launcher mpirun -e "PATH=$LAB/mpich:/usr/bin:/bin" -- "$LAB/mpich-program" stay >out 2>err 3>&- 4>&- &
	pid=$!
	until [ "$(wc -l <out)" = 6 ]; do
		sleep 0.1
		kill -0 "$pid"
	done
	[ "$(pgrep -fc "$LAB/mpich-program stay")" -ge 6 ]
	kill -9 "$pid"
	left_nothing
}

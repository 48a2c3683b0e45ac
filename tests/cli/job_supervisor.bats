#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ringup-job (images/worker/job) from the outside: what it obeys, when it ends, what it leaves.

setup() {
	JOB=${BUILD:-build}/ringup-job
	[[ $JOB == /* ]] || JOB=$PWD/$JOB
	ID=t$BATS_TEST_NUMBER-$$
	cd "$BATS_TEST_TMPDIR"
	mkfifo in
	MARK=$BATS_TEST_TMPDIR/mark
	ln -s "$(command -v sleep)" "$MARK"
	PID=
}

teardown() {
	[ -z "$PID" ] || kill "$PID" 2>/dev/null || true
	! ls -d /tmp/ringup-job-"$ID"* 2>/dev/null
}

# begin ARGS...: a supervisor that reads what is written to descriptor 7, and writes to the file out.
begin() {
	"$JOB" host --id "$ID" "$@" <in >out 2>err 3>&- 4>&- 7>&- &
	PID=$!
	exec 7>in
}

# says PATTERN: waits until the supervisor has said a line of that kind.
says() {
	for _ in $(seq 200); do
		! grep -qE -- "$1" out || return 0
		sleep 0.05
	done
	cat out err
	return 1
}

# ends: the supervisor ends, its last word is "done", and nothing of the job lives.
ends() {
	wait "$PID"
	PID=
	[ "$(tail -n 1 out)" = "done" ]
	! pgrep -f "$MARK"
}

@test "a task: its words, environment and folder; its lines; its status" {
	begin
	mkdir there
	printf '%s\n' "set A=from set" "default A=default" "default B=default" "dir $PWD/there" "task 3" 'word sh' 'word -c' \
		'word echo "$A|$B|$C|$PWD"; echo e >&2; printf "no end"; exit 9' 'env C=x\\y\nz' start >&7
	says '^exit 3 9$'
	grep -qxF "o 3 from set|default|x\\\\y" out
	grep -qxF "o 3 z|$PWD/there" out
	grep -qxF 'e 3 e' out
	grep -qxF 'O 3 no end' out
	exec 7>&-
	ends
}

@test "stdin ends, stop, SIGTERM, silence: all that the job started ends" {
	for way in eof stop TERM silence; do
		rm -f in out
		mkfifo in
		begin --lost-after 2 --grace 1
		printf '%s\n' "task 0" "word sh" "word -c" "word setsid $MARK 100 & trap '' TERM; echo up; exec $MARK 100" start >&7
		says '^o 0 up'
		case $way in
			eof) exec 7>&- ;;
			stop) echo stop >&7 ;;
			TERM) kill "$PID" ;;
			silence) ;;
		esac
		ends
	done
}

# ends_after LEAST MOST: so many tenths of a second go by until it has ended. MOST is what another grace would take at least.
ends_after() {
	local begin=${EPOCHREALTIME/./}
	ends
	local took=$(((${EPOCHREALTIME/./} - begin) / 100000))
	echo "took $took tenths of a second"
	((took >= $1 && took <= $2))
}

@test "what ignores SIGTERM has one second when ringup is lost, and what --grace or stop says otherwise" {
	while read -r options word least most; do
		rm -f in out
		mkfifo in
		# shellcheck disable=SC2086 # words
		begin --lost-after 1 ${options//,/ }
		printf '%s\n' "task 0" "word sh" "word -c" "word trap '' TERM; echo up; while :; do $MARK 100; done" start >&7
		says '^o 0 up'
		[ "$word" = - ] || echo "${word//,/ }" >&7
		ends_after "$least" "$most"
	done <<-END
		--ports,0 - 10 45
		--grace,4 - 48 999
		--ports,0 stop 38 999
		--grace,4 stop,1 8 38
	END
}

@test "facts: the ports of InfiniBand and RoCE that have a link" {
	local port
	for port in mlx5_10/ports/1 mlx5_2/ports/1 mlx5_2/ports/2 mlx5_3/ports/1; do
		mkdir -p "sys/class/infiniband/$port"
		echo '4: ACTIVE' >"sys/class/infiniband/$port/state"
	done
	echo '1: DOWN' >sys/class/infiniband/mlx5_3/ports/1/state
	rm sys/class/infiniband/mlx5_2/ports/1/state
	export RINGUP_SYS=$PWD/sys
	begin
	says '^ready'
	[ "$(grep '^fact rdma' out)" = "$(printf 'fact rdma %s\n' mlx5_2:2 mlx5_10:1)" ]
	exec 7>&-
	ends
}

@test "a program that is not there, and a folder that is not there" {
	begin
	printf '%s\n' "task 0" "word ./nothing" "task 1" "word true" start >&7
	says '^exit 0 127$'
	grep -q '^e 0 ringup: cannot run ./nothing: No such file' out
	says '^exit 1 0$'
	exec 7>&-
	ends
}

@test "words that it does not know are trouble, and harm nothing" {
	begin
	printf '%s\n' "word lost" "jump" "signal 900" "" "task 1" "word echo" "word fine" start >&7
	says '^o 1 fine$'
	[ "$(grep -c '^trouble' out)" = 4 ]
	head -c 3000000 /dev/zero | tr '\0' x >&7 || true # one line without an end
	ends
}

@test "ranks join, wait for go, and get the job's environment and folder" {
	begin --address 127.0.0.9
	says '^ready'
	OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "$JOB" rank --id "$ID" -- sh -c 'echo $A in $PWD; exit 6' >&2 3>&- 4>&- 7>&- &
	rank=$!
	says '^join 1 2 -1$'
	sleep 0.2
	! grep -q '^o 1' out
	printf '%s\n' "set A=b" "dir /usr" go >&7
	says '^exit 1 6$'
	grep -qxF 'o 1 b in /usr' out
	status=0
	wait $rank || status=$?
	[ "$status" = 6 ]
	# one that is killed is told, and its command ends with it
	RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 "$JOB" rank --id "$ID" --address 127.0.0.9 -- "$MARK" 100 3>&- 4>&- 7>&- &
	rank=$!
	says '^join 0 2 0$'
	for _ in $(seq 100); do
		! pgrep -f "$MARK 100" || break
		sleep 0.05
	done
	kill -9 $rank
	says '^exit 0 137$'
	exec 7>&-
	ends
}

@test "stdin: every byte reaches the one rank that has it, others read /dev/null" {
	begin
	printf '%s\n' "input 1" "task 0" "word sh" 'word -c' 'word readlink /proc/self/fd/0; wc -c' \
		"task 1" "word od" "word -An" "word -tx1" start 'in a\\b\nc' 'in \0'$'\xff'' d' eof >&7
	says '^exit 1 0$'
	says '^exit 0 0$'
	grep -qxF 'o 0 /dev/null' out
	grep -qxF 'o 0 0' out
	grep -qxF 'o 1  61 5c 62 0a 63 00 ff 20 64' out
	[ "$(awk '$1 == "took" {n += $2} END {print n}' out)" = 9 ]
	! grep -qE '^(trouble|closed)' out
	exec 7>&-
	ends
}

@test "stdin: a rank that does not read holds up nothing, and one that has enough is noticed" {
	begin
	big=$(head -c 50000 /dev/zero | tr '\0' x)
	printf '%s\n' "input 0" "task 0" "word sh" "word -c" "word echo up; $MARK 100" "task 1" "word echo" "word fine" start >&7
	says '^o 0 up'
	for _ in 1 2 3 4 5; do echo "in $big"; done >&7
	says '^took'
	[ "$(awk '$1 == "took" {n += $2} END {print n}' out)" -lt 250000 ]
	# it still obeys and lives, and more than the window is refused
	says '^o 1 fine$'
	says '^beat$'
	for _ in 1 2 3; do echo "in $big"; done >&7
	says '^trouble more of stdin came'
	echo stop >&7
	ends
	rm -f in out
	mkfifo in
	begin
	printf '%s\n' "input 0" "task 0" "word sh" "word -c" "word exec 0<&-; exec $MARK 100" start >&7
	says '^closed$'
	echo 'in more' >&7
	exec 7>&-
	ends
}

@test "stdin of a rank that joined: through its runner" {
	begin
	says '^ready'
	RANK=3 WORLD_SIZE=4 "$JOB" rank --id "$ID" -- tr a-z A-Z 3>&- 4>&- 7>&- &
	says '^join 3 4 -1$'
	printf '%s\n' "input 3" go 'in some words\n' eof >&7
	says '^exit 3 0$'
	grep -qxF 'o 3 SOME WORDS' out
	exec 7>&-
	ends
}

@test "a terminal: size, keys, bytes as they are; of a task and of a rank that joined" {
	unset TERM
	begin
	says '^ready'
	printf '%s\n' "default TERM=vt100" "terminal 0 33 77" "task 0" "word sh" "word -c" \
		'word tty -s && tty -s <&2 && stty size; echo $TERM; trap "stty size" WINCH; trap "echo ended; exit 4" INT; echo up; while :; do read x; echo "<$x>"; done' start >&7
	says 'up'
	echo 'in one\n' >&7
	says '^O 0 .*<one>'
	echo 'size 44 88' >&7
	echo 'in two\n' >&7
	says '44 88'
	printf 'in \003\n' >&7
	says '^exit 0 4$'
	grep -qF '33 77'$'\r''\n' out
	grep -qF 'vt100' out
	! grep -qE '^[oeE] 0' out
	exec 7>&-
	ends
	rm -f in out
	mkfifo in
	begin
	says '^ready'
	RANK=0 WORLD_SIZE=2 "$JOB" rank --id "$ID" -- sh -c 'tty -s && stty size && ps -o tty= -p $$ | tr -d " "; exit 5' 3>&- 4>&- 7>&- &
	says '^join 0'
	printf '%s\n' 'terminal 0 12 34' go >&7
	says '^exit 0 5$'
	grep -qF '12 34'$'\r''\n' out
	grep -qE '^O 0 .*pts/' out
	exec 7>&-
	ends
}

@test "a rank without a supervisor, or without a number, says so" {
	run env RANK=1 WORLD_SIZE=2 "$JOB" rank --id "$ID" -- true
	[ "$status" = 125 ]
	[[ $output == *"no supervisor of the job $ID"* ]]
	begin
	says '^ready'
	run env -u RANK -u SLURM_PROCID -u PMI_RANK "$JOB" rank --id "$ID" -- true 7>&-
	[ "$status" = 125 ]
	[[ $output == *"nothing in the environment says which rank"* ]]
	exec 7>&-
	ends
}

@test "the supervisor is killed: its tasks and the ranks that joined end" {
	begin
	says '^ready'
	printf '%s\n' "task 0" "word $MARK" "word 100" start go >&7
	RANK=1 WORLD_SIZE=2 "$JOB" rank --id "$ID" -- "$MARK" 100 3>&- 4>&- 7>&- &
	says '^join 1'
	for _ in $(seq 100); do
		[ "$(pgrep -fc "^$MARK 100")" != 2 ] || break
		sleep 0.05
	done
	kill -9 "$PID"
	for _ in $(seq 100); do
		pgrep -f "$MARK" >/dev/null || break
		sleep 0.1
	done
	! pgrep -f "^$MARK 100"
	PID=
	exec 7>&-
	rm -rf "/tmp/ringup-job-$ID-"
}

@test "a launcher's ssh asks for a program on another host, and ends as that does" {
	begin
	says '^ready'
	printf '%s\n' "task t0" "word sh" "word -c" \
		'word ssh -o A=no -xp 22 me@10.0.0.2 -p22 -o StrictHostKeyChecking=no sh -c "echo \\\\a"; echo status $?; ssh 10.0.0.3 two' \
		start >&7
	says '^spawn [0-9]+ 10.0.0.2 sh -c echo '
	grep -qxE 'spawn [0-9]+ 10.0.0.2 sh -c echo \\\\a' out
	number=$(sed -n 's/^spawn \([0-9]*\) .*/\1/p' out)
	printf '%s\n' "spawned 77 1" "spawned $number 7" >&7
	says '^o t0 status 7$'
	says '^spawn [0-9]+ 10.0.0.3 two$'
	# no answer: the job's end is the program's
	exec 7>&-
	ends
	run "$JOB" rank --id "$ID" -- true
	ln -s "$JOB" ssh
	run ./ssh host true
	[ "$status" = 255 ]
	[[ $output == *"which job this is"* ]]
	run env RINGUP_JOB_ID="$ID" ./ssh host
	[ "$status" = 255 ]
	[[ $output == *"opens no shell"* ]]
	run ./ssh -o X=y
	[ "$status" = 255 ]
	[[ $output == *"name of a host"* ]]
}

@test "a rank has its host's environment and folder, whatever its launcher brings from another host" {
	mkdir here
	cd here
	mkfifo in
	OWN=here begin --address 127.0.0.9
	says '^ready'
	echo "set RINGUP_JOB=x" >&7
	echo "default D=default" >&7
	echo "default OWN=default" >&7
	(cd / && OWN=there D=theirs KEPT=yes RANK=0 PATH="$BATS_TEST_TMPDIR:$PATH" \
		"$JOB" rank --id "$ID" -- sh -c 'echo "$OWN $D $KEPT $PWD $PATH"' 3>&- 4>&- 7>&- &)
	says '^join 0'
	echo go >&7
	says '^exit 0 0$'
	grep -qxF "o 0 here default yes $PWD $PATH" out
	exec 7>&-
	ends
	cd ..
}

@test "of several supervisors that share a machine a rank joins the one that it comes from" {
	begin --address 127.0.0.9
	mkfifo in2
	"$JOB" host --id "$ID" --address 127.0.0.8 <in2 >out2 2>err2 3>&- 4>&- 7>&- &
	other=$!
	exec 8>in2
	says '^ready'
	printf '%s\n' "task t0" "word sh" "word -c" "word RANK=5 $JOB rank --id $ID -- echo me & wait" start go >&7
	says '^o 5 me$'
	! grep -q join out2
	exec 7>&- 8>&-
	wait "$other"
	ends
}

@test "sweep, and the next supervisor, end what a killed one left" {
	for way in sweep next; do
		rm -f in out
		mkfifo in
		begin --address 127.0.0.7
		printf '%s\n' "task 0" "word sh" "word -c" "word setsid sh -c 'trap \"\" TERM; $MARK 100; $MARK 100' & echo up; exec $MARK 200" start >&7
		says '^o 0 up'
		kill -9 "$PID"
		wait "$PID" || true
		exec 7>&-
		if [ $way = sweep ]; then
			[[ $("$JOB" sweep --id "$ID" --grace 1) == "swept "[123] ]] # the rank may be gone, and a daemon may be two
			rm -rf "/tmp/ringup-job-$ID-127.0.0.7"
		else
			touch -d '2 minutes ago' "/tmp/ringup-job-$ID-127.0.0.7"
			"$JOB" host --id "$ID"-2 </dev/null >out 3>&- 4>&- 7>&-
			[ ! -e "/tmp/ringup-job-$ID-127.0.0.7" ]
		fi
		! pgrep -f "$MARK 100"
	done
	PID=
}

@test "usage" {
	for words in "" "host" "host --id A/B" "host --id x y" "rank --id x" "host --id x --ports many" "jump --id x" "sweep" "sweep --id x y"; do
		# shellcheck disable=SC2086
		run "$JOB" $words </dev/null
		[ "$status" = 2 ] || { echo "$words: $status"; false; }
	done
}

/* SPDX-License-Identifier: MIT */
/*
 * protocol.h - what ringup and ringup-job say to each other.
 *
 * On each host of a job runs one supervisor, `ringup-job host`. Its stdin and stdout are ringup's SSH
 * connection. Both sides send lines: a keyword, then fields with one space between. The last field may
 * hold any text: "\\" stands for a backslash, "\n" for the end of a line, and "\0" for a NUL byte.
 *
 * ringup says:
 *   set NAME=VALUE     environment of every rank, over that of the container
 *   default NAME=VALUE the same for a name that the container does not set
 *   dir PATH           working folder of every rank
 *   task LABEL         begins a process that this host starts. LABEL is a rank, "3", or "t0" for a
 *                      process that starts ranks itself (mpirun), or "v" for one that says what the host has. Its
 *                      words and environment follow:
 *   env NAME=VALUE
 *   word TEXT
 *   input LABEL        this rank's stdin is a pipe, and "in" lines are for it. Without this it is /dev/null.
 *                      Said before "start", and for a rank that joins before "go"; once
 *   terminal LABEL ROWS COLUMNS   instead: its stdin, stdout and stderr are a pseudo-terminal
 *   start              starts the tasks
 *   go                 lets the ranks that joined begin with the user's command
 *   spawned NUMBER STATUS   what was asked for under this number has ended
 *   in TEXT            bytes of stdin. No more than PROTOCOL_INPUT_BYTES_MAX may be on their way: said,
 *                      and not "took"
 *   eof                stdin ends
 *   size ROWS COLUMNS  of the terminal now
 *   signal NUMBER      to every rank's command
 *   stacks             asks what every process of the job does
 *   cpu                asks how much time of processors the job has used
 *   stop [SECONDS]     ends everything of the job; SIGKILL comes after these seconds in place of --grace's
 *   beat               ringup lives; at least one line every PROTOCOL_BEAT_SECONDS
 *
 * The supervisor says:
 *   hello PROTOCOL     first
 *   fact NAME VALUE    machine (id of its boot), cores, gpus, interface, network (CIDR), rdma (several,
 *                      "mlx5_0:1"), port (several)
 *   ready              it has said all facts
 *   join RANK WORLD LOCAL   a rank that another program started waits for "go"
 *   spawn NUMBER HOST COMMAND   a launcher wants a shell on that host to run the command
 *   o LABEL TEXT       a line of the label's stdout; "e" for stderr
 *   O LABEL TEXT       the same without an end of line: more of the line follows. "E" for stderr
 *                      Of a terminal comes only "O", as it is read, and TEXT may have ends of lines
 *   took NUMBER        so many more bytes of stdin are in the rank's pipe
 *   closed             nobody reads stdin any more
 *   exit LABEL STATUS  its command ended; 128 + N for signal N
 *   stack LABEL TEXT   of a rank's process; LABEL is "-" for other processes of the job. TEXT is a line of
 *                      /proc ("pid 7 state S waits in futex_wait: WORDS"), py-spy, faulthandler or gdb. A
 *                      rank may end meanwhile, since faulthandler prints when its process is aborted
 *   stacked            all stacks are said
 *   cpu MSEC           so much, of all its processes; from PROTOCOL_CPU_MSEC_MAX on it begins again
 *   trouble TEXT       why the supervisor cannot do what it was told
 *   beat
 *   left NUMBER        so many processes of the job could not be ended
 *   done               last: nothing of the job is left here
 *
 * The supervisor ends everything of the job when its stdin ends, when no line came for the time that
 * --lost-after says, and on SIGTERM, SIGINT and SIGHUP.
 *
 * A rank that mpirun, horovodrun or torchrun starts is `ringup-job rank -- CMD`. It connects to the
 * supervisor of its host at /tmp/ringup-job-ID-ADDRESS/socket, which only the same user can reach, and
 * sends "join RANK WORLD LOCAL" with the ends of two pipes, its stdout and stderr. The supervisor answers with
 * "set", "default" and "dir" lines and "go", and before them with "input" or "terminal" and a descriptor, where
 * stdin is for this rank. At the end it sends "exit STATUS".
 *
 * mpirun and horovodrun reach other hosts by ssh. A process that starts ranks has the supervisor's folder
 * first in its PATH, and what is called ssh there is ringup-job. It sends "spawn HOST COMMAND" to the
 * supervisor, and gets "exit STATUS" at the command's end. ringup gives that host the command as a task.
 * So hosts need no way to each other but the launcher's own, and all that runs is the supervisors' child.
 */
#ifndef JOB_PROTOCOL_H
#define JOB_PROTOCOL_H

#define PROTOCOL_VERSION 2
#define PROTOCOL_BEAT_SECONDS 1
/* From SIGTERM to SIGKILL where a host or ringup is lost and nobody asked for a grace: all is over 10 seconds after the cut. */
#define PROTOCOL_LOST_GRACE_SECONDS 1
#define PROTOCOL_LINE_BYTES_MAX (1024 * 1024) /* of one line of ringup's: a word, a variable */
#define PROTOCOL_PIECE_BYTES_MAX (32 * 1024)  /* of the text of one o, e, O or E line, unescaped */
#define PROTOCOL_INPUT_BYTES_MAX (256 * 1024)
#define PROTOCOL_CPU_MSEC_MAX 1000000000

/* Every process of a job has this in its environment, and is found by it at the end. */
#define JOB_VARIABLE "RINGUP_JOB_ID"
#define JOB_SOCKET_PREFIX "/tmp/ringup-job-"
#define JOB_SOCKET_FOLDER "/tmp/ringup-job-%s-%s" /* id, address of the host */
#define JOB_SOCKET_ANY "/tmp/ringup-job-*/socket"
#define JOB_SOCKET_PATTERN "/tmp/ringup-job-%s-*"

#endif

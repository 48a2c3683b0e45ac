/* SPDX-License-Identifier: MIT */
/*
 * hostile_shell - the /bin/sh of a base image that nobody should trust: as the shell of a RUN it tries to reach the
 * machine, `/bin/sh -c PATH`. It prints a line for each attempt, "NAME: refused (why)" or "NAME: ALLOWED (what)".
 * PATH is a file of the machine's. The last line is "all was tried: COUNT". It changes nothing there: what it may open for writing it does not write to.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static int attempts;
static const char *found; /* the first file that could be opened for writing */

static void say(const char *name, int allowed, const char *what)
{
	attempts++;
	printf("%s: %s (%s)\n", name, allowed ? "ALLOWED" : "refused", what);
}

/* A call that must fail by EPERM: the profile says so, whatever the kernel can do. */
static void call(const char *name, long result)
{
	say(name, result >= 0 || errno != EPERM, result >= 0 ? "done" : strerror(errno));
}

static void open_to_write(const char *path)
{
	int fd = open(path, O_WRONLY);

	say(path, fd >= 0, fd >= 0 ? "open for writing" : strerror(errno));
	close(fd);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
	int fd;

	if (type != FTW_F || !S_ISREG(st->st_mode) || at->level > 5)
		return 0;
	fd = open(path, O_WRONLY | O_NONBLOCK);
	if (fd < 0)
		return 0;
	close(fd);
	found = strdup(path);
	return 1;
}

/* Every file below a folder: none may be open for writing. */
static void write_below(const char *folder)
{
	char name[100];

	found = NULL;
	nftw(folder, visit, 20, FTW_PHYS | FTW_MOUNT);
	snprintf(name, sizeof(name), "files of %s", folder);
	say(name, found != NULL, found ? found : "none can be written");
}

/* What is masked is empty. */
static void read_one(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, &byte, 1);

	say(path, length > 0, length > 0 ? "has content" : "is empty");
	close(fd);
}

static void list_one(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	say(path, count > 0, count ? "has entries" : "is empty");
	if (folder)
		closedir(folder);
}

/* Docker lets a step make device nodes, and the device cgroup keeps it from opening them. */
static void open_device(const char *name, mode_t type, unsigned int major, unsigned int minor)
{
	int fd = -1;

	unlink("/tmp/node");
	if (mknod("/tmp/node", type | 0600, makedev(major, minor)) == 0)
		fd = open("/tmp/node", O_RDONLY | O_NONBLOCK);
	say(name, fd >= 0 || (errno != EPERM && errno != EACCES),
	    fd >= 0 ? "open" : strerror(errno));
	close(fd);
	unlink("/tmp/node");
}

/* A disk of the machine, if it has one. */
static void open_disk(void)
{
	DIR *folder = opendir("/sys/dev/block");
	unsigned int major = 8, minor = 0;
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (sscanf(entry->d_name, "%u:%u", &major, &minor) == 2 && major != 7 && major != 1)
			break;
	open_device("a disk", S_IFBLK, major, minor);
	if (folder)
		closedir(folder);
}

static int leave(void *arg)
{
	(void)arg;
	_exit(0);
}

static void make_namespaces(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int fd = open("/proc/self/ns/uts", O_RDONLY);

	call("setns", setns(fd, CLONE_NEWUTS));
	close(fd);
	call("unshare of a user namespace", unshare(CLONE_NEWUSER));
	call("unshare of a mount namespace", unshare(CLONE_NEWNS));
	call("clone of a user namespace",
	     clone(leave, stack + sizeof(stack), CLONE_NEWUSER | SIGCHLD, NULL));
	/* its flags lie in memory, where no filter sees them: it is as if the kernel did not have it */
	say("clone3", syscall(SYS_clone3, NULL, 0) >= 0 || errno != ENOSYS, strerror(errno));
}

static void trace_others(void)
{
	int traced = 0;

	for (pid_t pid = 1; pid < 40000; pid++)
		traced += pid != getpid() && ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
	say("ptrace of another process", traced > 0, traced ? "traced" : "there is none");
}

static void push_input(void)
{
	int fds[] = {0, 1, 2, open("/dev/tty", O_RDWR)}, pushed = 0;
	char byte = ' ';

	for (int i = 0; i < 4; i++)
		pushed += ioctl(fds[i], TIOCSTI, &byte) == 0;
	say("TIOCSTI", pushed > 0, pushed ? "typed" : strerror(errno));
}

/* Looks for the machine's file behind links of /proc, and after the old way out of a chroot. */
static void read_host_file(const char *path)
{
	static const char *const roots[] = {"", "/proc/1/root", "/proc/self/root",
					    "/proc/1/cwd/../../../../../..",
					    "/proc/self/fd/../../../.."};
	char name[5000];
	int count = 0;

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		snprintf(name, sizeof(name), "%s%s", roots[i], path);
		count += access(name, F_OK) == 0;
	}
	say("a file of the machine", count > 0, path);
	mkdir("/tmp/jail", 0700);
	count = 0;
	if (chroot("/tmp/jail") == 0) {
		for (int i = 0; i < 100; i++)
			if (chdir("..") < 0)
				break;
		count = access(path + 1, F_OK) == 0;
		if (chroot(".") < 0)
			count = -1;
	}
	say("the way out of a chroot", count > 0, path);
}

static void call_the_kernel(void)
{
	union bpf_attr program = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER};
	struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(event)};
	long handle[20] = {0};

	call("mount", mount("tmpfs", "/tmp", "tmpfs", 0, NULL));
	call("umount", umount2("/proc/sys", MNT_DETACH));
	call("remount", mount(NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND, NULL));
	call("pivot_root", syscall(SYS_pivot_root, "/", "/tmp"));
	call("open_tree", syscall(SYS_open_tree, -100, "/", 1));
	call("add_key", syscall(SYS_add_key, "user", "ringup", "x", 1, -3));
	call("keyctl", syscall(SYS_keyctl, 0, -3, 0));
	call("request_key", syscall(SYS_request_key, "user", "ringup", NULL, -3));
	call("open_by_handle_at", syscall(SYS_open_by_handle_at, 3, handle, 0));
	call("bpf", syscall(SYS_bpf, BPF_PROG_LOAD, &program, sizeof(program)));
	call("perf_event_open", syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
	call("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0));
	call("init_module", syscall(SYS_init_module, NULL, 0, ""));
	call("userfaultfd", syscall(SYS_userfaultfd, 0));
	call("io_uring_setup", syscall(SYS_io_uring_setup, 1, NULL));
	call("swapon", syscall(SYS_swapon, "/nothing", 0));
	call("acct", syscall(SYS_acct, NULL));
	call("syslog", syscall(SYS_syslog, 10, NULL, 0));
	call("clock_settime", syscall(SYS_clock_settime, 99, NULL));
	call("sethostname", syscall(SYS_sethostname, "x", -1));
	call("move_pages", syscall(SYS_move_pages, 0, 0, NULL, NULL, NULL, 0));
	call("socket of AF_ALG", socket(AF_ALG, SOCK_SEQPACKET, 0));
	call("socket of AF_VSOCK", socket(AF_VSOCK, SOCK_STREAM, 0));
	call("socket of AF_PACKET", socket(AF_PACKET, SOCK_RAW, 0));
}

static void show_status(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[200];

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "Cap", 3) == 0 || strncmp(line, "Seccomp:", 8) == 0)
			fputs(line, stdout);
	if (file)
		fclose(file);
	file = fopen("/proc/self/uid_map", "r");
	if (file && fgets(line, sizeof(line), file))
		printf("ids: %s", line);
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	mkdir("/tmp", 0777);
	open_to_write("/proc/sys/kernel/core_pattern");
	open_to_write("/proc/sys/net/ipv4/ip_forward");
	open_to_write("/proc/sysrq-trigger");
	write_below("/proc/sys");
	write_below("/proc/irq");
	write_below("/proc/fs");
	write_below("/sys/kernel");
	write_below("/sys/module");
	write_below("/sys/fs/cgroup");
	read_one("/proc/kcore");
	read_one("/proc/keys");
	read_one("/proc/timer_list");
	read_one("/proc/interrupts");
	list_one("/sys/firmware");
	list_one("/proc/acpi");
	list_one("/sys/devices/virtual/powercap");
	open_disk();
	open_device("/dev/mem", S_IFCHR, 1, 1);
	open_device("/dev/kmsg", S_IFCHR, 1, 11);
	open_device("/dev/fuse", S_IFCHR, 10, 229);
	read_one("/base-mem");
	read_one("/base-kmsg");
	make_namespaces();
	call_the_kernel();
	trace_others();
	push_input();
	show_status();
	if (argc > 2)
		read_host_file(argv[2]);
	printf("all was tried: %d\n", attempts);
	return 0;
}

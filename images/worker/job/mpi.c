/* SPDX-License-Identifier: MIT */
/*
 * A program of another MPI than the mpirun that started it: each rank is then a world of its own, and does all of the work
 * ("all of ranks are zero", Open MPI issue 10799; StarCluster issue 533). Nothing fails, so the libraries that the ranks
 * have loaded are looked at while they run.
 */
#define _GNU_SOURCE 1
#include "job/host.h"
#include "job/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_FIRST_USEC 1000000 /* after the job began; then five times as late each time */
#define LOOK_LAST_USEC 300000000

enum mpi {
	MPI_UNKNOWN,
	MPI_OPEN,
	MPI_MPICH,
};

static const char *const mpi_names[] = {"", "Open MPI", "MPICH"};

/* Whose mpirun started the rank: by the variables that it sets. */
static enum mpi mpi_of_launcher(pid_t pid)
{
	struct text environment = process_environment(pid);
	enum mpi mpi = MPI_UNKNOWN;

	for (size_t i = 0; i < environment.length && mpi != MPI_OPEN;
	     i += strlen(environment.bytes + i) + 1) {
		if (strncmp(environment.bytes + i, "OMPI_COMM_WORLD_RANK=", 21) == 0)
			mpi = MPI_OPEN;
		else if (strncmp(environment.bytes + i, "PMI_RANK=", 9) == 0)
			mpi = MPI_MPICH;
	}
	text_release(&environment);
	return mpi;
}

/*
 * Whose library a file is. libmpi.so.12 is the ABI that MPICH, Intel MPI and MVAPICH share, and that of Open MPI 1, which
 * has libopen-pal beside it as all of Open MPI has.
 */
static enum mpi mpi_of_file(const char *name)
{
	if (strncmp(name, "libopen-pal.so", 14) == 0)
		return MPI_OPEN;
	if (strncmp(name, "libmpich.so", 11) == 0 || strcmp(name, "libmpi.so.12") == 0 ||
	    strncmp(name, "libmpi.so.12.", 13) == 0)
		return MPI_MPICH;
	return MPI_UNKNOWN;
}

/* The MPI whose library the process has loaded. */
static enum mpi mpi_of_process(pid_t pid)
{
	char path[64], line[4096];
	enum mpi mpi = MPI_UNKNOWN;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && mpi != MPI_OPEN && fgets(line, sizeof(line), maps)) {
		const char *slash = strrchr(line, '/');
		enum mpi own;

		line[strcspn(line, "\n")] = '\0';
		own = slash ? mpi_of_file(slash + 1) : MPI_UNKNOWN;
		if (own != MPI_UNKNOWN)
			mpi = own;
	}
	if (maps)
		fclose(maps);
	return mpi;
}

static void mpi_say(struct host *host, const struct process *rank, enum mpi started,
		    enum mpi loaded)
{
	text_addf(
		&host->out,
		"e %s ringup: this rank has loaded %s, and the mpirun of %s started it: neither knows the other, so each rank is a world of its own and does all of the work; build the program for %s, or put %s's mpirun first in PATH (--env PATH=...)\n",
		rank->label, mpi_names[loaded], mpi_names[started], mpi_names[started],
		mpi_names[loaded]);
	host->mpi_said = true;
}

void host_look_at_mpi(struct host *host, int64_t now)
{
	struct job_processes all;

	if (!host->look_usec || now < host->look_usec || host->mpi_said)
		return;
	host->look_usec = host->went_usec + 5 * (host->look_usec - host->went_usec);
	if (host->look_usec - host->went_usec > LOOK_LAST_USEC)
		host->look_usec = 0;
	all = host_processes(host);
	for (size_t i = 0; i < host->count && !host->mpi_said; i++) {
		const struct process *rank = &host->processes[i];
		bool runs = rank->joined && rank->label[0] != '?' && rank->pid > 0;
		enum mpi started = runs ? mpi_of_launcher(rank->pid) : MPI_UNKNOWN;

		for (size_t k = 0; k < all.count && started && !host->mpi_said; k++) {
			enum mpi loaded = process_descends(all.list[k].pid, rank->pid)
						  ? mpi_of_process(all.list[k].pid)
						  : MPI_UNKNOWN;

			if (loaded && loaded != started)
				mpi_say(host, rank, started, loaded);
		}
	}
	free(all.list);
}

void host_begin_to_look(struct host *host)
{
	host->went_usec = job_clock_usec();
	host->look_usec = host->went_usec + LOOK_FIRST_USEC;
}

/* SPDX-License-Identifier: MIT */
/*
 * copy.h - one file to many hosts, or one file of many hosts here.
 *
 * The bytes stream over the host's one connection. Both ends make a SHA-256 of them meanwhile; the file gets its
 * name only when these agree. An interrupted copy leaves PATH.HOST.ringup-part there, or PATH.ringup-part here, and the
 * next one goes on behind it if that is the beginning of the same file. Hosts that share a folder each write their own.
 */
#ifndef DEPLOYER_COPY_COPY_H
#define DEPLOYER_COPY_COPY_H

#include "deployer/fleet.h"

struct copy {
	const char *here;  /* file on this machine */
	const char *there; /* path on the hosts */
	int limit_s;	   /* for one host */
};

struct copy_done {
	const char *path; /* that the file has now, here or there */
	uint64_t bytes_total, bytes_moved;
	bool was_there; /* nothing had to be moved */
};

/*
 * Sends copy->here to every active member. done has one entry for each member; its path is in the member's arena. A member
 * whose copy fails, or whose sum differs, has failed, with the cause in member->err.
 */
void copy_to_hosts(struct fleet *fleet, const struct copy *copy, struct copy_done *done);

/*
 * Fetches copy->there of every active member to copy->here: a file, or with `apart` to HERE.NAME for each host
 * NAME. Failures are as above.
 */
void copy_from_hosts(struct fleet *fleet, const struct copy *copy, bool apart,
		     struct copy_done *done);

/*
 * Folders, with all that is in them: modes, times, and symbolic links as links; owners are those of the login. A folder that is
 * at the target already gets what is new or differs, by the SHA-256 of each file, so an interrupted copy goes on with the files
 * that are not there. PATH.HOST.ringup-part beside a folder that the copy made says until its end that it is no folder to
 * copy into. Nothing is removed. The sums are compared again at the end. Other kinds of files are an error, here before
 * anything is sent. A host cannot write beside the folder, whatever its archive names.
 */
int copy_tree_to_hosts(struct fleet *fleet, const struct copy *copy, struct copy_done *done,
		       struct error *err);
void copy_tree_from_hosts(struct fleet *fleet, const struct copy *copy, bool apart,
			  struct copy_done *done);

/*
 * Where something called `name` goes, by what the host's script says of `there` in path_ends=: "" there itself, "name" or
 * "slash" in that folder. A path itself is never printed: a name may have line breaks.
 */
const char *copy_place(const char *there, const char *name, const char *ends, struct arena *arena);

/* Leaves the choice of `transport: auto` to the size of what moves; a connection that is open already is given up for it. */
void copy_choose_transport(struct member *member, uint64_t bytes);

#endif

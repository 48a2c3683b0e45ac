/* SPDX-License-Identifier: MIT */
/* ringup-job: runs a host's part of a training job (protocol.h). ringup starts it; people need not. */
#include "job/agent.h"
#include "job/guard.h"
#include "job/host.h"
#include "job/rank.h"
#include "job/sweep.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRACE_SECONDS 4
#define LOST_SECONDS 8
#define ADDRESS_BYTES_MAX 45 /* of an address of IPv6 */

static const char usage[] =
	"usage: ringup-job host --id ID [--address A] [--ports N] [--grace S] [--lost-after S]\n"
	"       ringup-job rank --id ID [--address A] -- CMD...\n"
	"       ringup-job guard [--grace S] -- CMD...\n"
	"       ringup-job sweep --id ID [--grace S]\n"
	"       ringup-job --version\n"
	"'host' is the supervisor of a job on one host: it reads what to do from stdin, and ends everything\n"
	"of the job when stdin ends. 'rank' is how mpirun, horovodrun and torchrun start a rank of a job.\n"
	"'guard' runs a command that ends with its stdin. 'sweep' ends what is left of a job whose supervisor was\n"
	"killed.\n";

static int job_misuse(const char *why)
{
	fprintf(stderr, "ringup-job: %s\n%s", why, usage);
	return 2;
}

/* An id becomes part of a path. */
static bool is_id(const char *id)
{
	size_t length = id ? strlen(id) : 0;

	return length > 0 && length <= 40 &&
	       strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static bool job_read_options(int count, char **words, struct options *options)
{
	static const struct option names[] = {{"id", required_argument, NULL, 'i'},
					      {"address", required_argument, NULL, 'a'},
					      {"ports", required_argument, NULL, 'p'},
					      {"grace", required_argument, NULL, 'g'},
					      {"lost-after", required_argument, NULL, 'l'},
					      {0}};
	bool right = true;
	int option;

	*options = (struct options){
		.address = "", .grace_seconds = GRACE_SECONDS, .lost_seconds = LOST_SECONDS};
	while ((option = getopt_long(count, words, "+", names, NULL)) != -1) {
		if (option == 'i')
			options->id = optarg;
		else if (option == 'a')
			options->address = optarg;
		else if (option == 'p')
			right &= text_number(optarg, 0, 10000, &options->ports);
		else if (option == 'g')
			right &= options->grace_said =
				text_number(optarg, 0, 3600, &options->grace_seconds);
		else if (option == 'l')
			right &= text_number(optarg, 1, 86400, &options->lost_seconds);
		else
			right = false;
	}
	return right;
}

int main(int count, char **words)
{
	const char *slash = strrchr(words[0], '/');
	struct options options;

	if (strcmp(slash ? slash + 1 : words[0], AGENT_NAME) == 0)
		return agent_run(words + 1);
	if (count == 2 && strcmp(words[1], "--version") == 0)
		return puts("ringup-job 1") < 0;
	if (count < 2)
		return job_misuse("'host' or 'rank' is needed");
	if (!job_read_options(count - 1, words + 1, &options))
		return job_misuse("an option is not known, or its number is out of its range");
	if (strcmp(words[1], "guard") == 0)
		return words[1 + optind] ? guard_run(options.grace_seconds, words + 1 + optind)
					 : job_misuse("a command is needed");
	if (!is_id(options.id))
		return job_misuse("--id takes small letters, digits and '-', 40 at most");
	if (strlen(options.address) > ADDRESS_BYTES_MAX || strchr(options.address, '/'))
		return job_misuse("--address takes an address");
	if (strcmp(words[1], "host") == 0)
		return optind == count - 1 ? host_run(&options) : job_misuse("too many words");
	if (strcmp(words[1], "sweep") == 0)
		return optind == count - 1 ? sweep_run(options.id, options.grace_seconds)
					   : job_misuse("too many words");
	if (strcmp(words[1], "rank") == 0)
		return words[1 + optind] ? rank_run(options.id, options.address, words + 1 + optind)
					 : job_misuse("a command is needed");
	return job_misuse("'host' or 'rank' is needed");
}

/* SPDX-License-Identifier: MIT */
#include "deployer/export/kube_operator.h"
#include "deployer/export/node.h"

#define MPI_KEY "/root/.ssh/id_rsa"
#define MPI_HOSTS "/etc/mpi/hostfile" /* "NAME slots=N", for MPICH "NAME:N" */

/*
 * The limits that Kubeflow's jobs have in common. `least` pods are what Volcano waits for, where it is not all of them: the launcher
 * of an MPIJob comes after its workers, so a gang with it would never be whole (kubeflow/mpi-operator, issue 608). 0: all.
 */
void kube_add_policy(const struct kube *k, int pods, int least)
{
	bool is_volcano = *kube_value(k, "gang");

	kube_line(k, 2, "runPolicy:");
	kube_line(k, 4,
		  "cleanPodPolicy: Running # what still runs when the job has ended is ended too");
	if (k->wish->retries && pods > 1)
		kube_line(
			k, 4,
			"backoffLimit: %d # the operator counts the restarts of all %d pods together",
			k->wish->retries * pods, pods);
	else
		kube_line(k, 4, "backoffLimit: %d", k->wish->retries);
	if (k->wish->job.timeout_s)
		kube_line(k, 4, "activeDeadlineSeconds: %d", k->wish->job.timeout_s);
	if (*kube_value(k, "keep"))
		kube_line(k, 4, "ttlSecondsAfterFinished: %s", kube_value(k, "keep"));
	if (!is_volcano || (!least && !*kube_value(k, "queue") && !*kube_value(k, "priority")))
		return;
	kube_line(k, 4, "schedulingPolicy: # for an operator that was started with Volcano");
	if (least)
		kube_line(k, 6, "minAvailable: %d # the launcher comes when these are ready",
			  least);
	kube_pair(k, 6, "queue", kube_value(k, "queue"));
	kube_pair(k, 6, "priorityClass", kube_value(k, "priority"));
}

void kube_begin_replicas(const struct kube *k, const char *role, int count)
{
	kube_line(k, 4, "%s:", role);
	kube_line(k, 6, "replicas: %d", count);
	kube_line(k, 6, "restartPolicy: %s", k->wish->retries ? "OnFailure" : "Never");
}

/* A report of ringup's worker is one text, which no tag may break. */
bool kube_has_tags(const struct export_wish *wish)
{
	enum launcher_place place = wish->job.launcher->place;
	bool shares_log =
		place == PLACE_NODE || (place == PLACE_MPI ? wish->world : wish->per_node) > 1;

	return wish->is_followed && !wish->is_worker && shares_log;
}

/*
 * mpirun finds the workers' sshd by the job's own key, which the operator makes: it is their host key too, so that
 * the launcher knows them. The workers' logins get the environment of their container (images/entry/ringup-login).
 */
static const char kube_mpi_worker[] = "umask 077\n"
				      "mkdir -p -m 755 /run/sshd\n"
				      "cp " MPI_KEY " /root/.ssh/authorized_keys /run/sshd\n"
				      "/usr/local/bin/ringup-login --save /run/ringup $$\n"
				      "exec /usr/sbin/sshd -D -e -f /dev/null \\\n"
				      "  -o HostKey=/run/sshd/id_rsa \\\n"
				      "  -o AuthorizedKeysFile=/run/sshd/authorized_keys \\\n"
				      "  -o PasswordAuthentication=no \\\n"
				      "  -o KbdInteractiveAuthentication=no \\\n"
				      "  -o ForceCommand=/usr/local/bin/ringup-login\n";

/*
 * The operator makes the launcher when the workers are ready. That of a job that Kueue has held is made before them
 * (kubeflow/mpi-operator, issue 615). What is no matter of time, as another host key, is left to mpirun to say.
 */
#define KUBE_MPI_WAIT                                                                                            \
	"printf '* %s\\n' \"$(cat " MPI_KEY ".pub)\" >/etc/ssh/ssh_known_hosts\n"                                \
	"for host in $(sed 's/[ :].*//' " MPI_HOSTS "); do\n"                                                    \
	"  until said=$(ssh -o BatchMode=yes -o ConnectTimeout=5 \"$host\" true 2>&1) ||\n"                      \
	"    case $said in *refused* | *resolve* | *'imed out'* | *route* | *reset* | *closed*) false ;; esac\n" \
	"  do sleep 1; done\n"                                                                                   \
	"done\n"

static const char kube_mpi_launcher[] = KUBE_MPI_WAIT "exec \"$@\"\n";

/* The ranks of ringup's worker share a secret; mpirun hands it on by its name. */
static const char kube_mpi_secret[] =
	KUBE_MPI_WAIT "RINGUP_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \\n')\n"
		      "export RINGUP_SECRET\n"
		      "exec \"$@\"\n";

int kube_write_mpi(const struct kube *k, struct error *err)
{
	struct export_wish wish = *k->wish;
	const struct launcher_node node = {.nodes = wish.nodes,
					   .per_node = wish.per_node,
					   .world = wish.world,
					   .tags = kube_has_tags(&wish),
					   .hostfile = MPI_HOSTS};
	struct words command = WORDS_INIT(wish.arena), env = WORDS_INIT(wish.arena),
		     own = WORDS_INIT(wish.arena);

	if (wish.is_worker)
		words_add_all(&own, WORDS("-x", "RINGUP_SECRET"));
	words_add_all(&own, wish.job.command);
	wish.job.command = own.list;
	words_add_all(&command,
		      WORDS("/bin/sh", "-c", wish.is_worker ? kube_mpi_secret : kube_mpi_launcher,
			    "launcher"));
	if (export_node(&wish, &node, &command, &env, err) < 0)
		return -1;
	kube_begin(k, "kubeflow.org/v2beta1", "MPIJob");
	kube_line(k, 0, "spec:");
	kube_line(k, 2, "slotsPerWorker: %d", wish.per_node);
	kube_line(k, 2, "launcherCreationPolicy: WaitForWorkersReady");
	kube_add_policy(k, 1, k->wish->nodes);
	kube_line(k, 2, "mpiReplicaSpecs:");
	kube_begin_replicas(k, "Launcher", 1);
	kube_add_template(k, 6,
			  &(struct kube_pod){.container = "launcher",
					     .command = command.list,
					     .env = env.list});
	kube_begin_replicas(k, "Worker", wish.nodes);
	kube_add_template(k, 6,
			  &(struct kube_pod){.container = "worker",
					     .command = WORDS("/bin/sh", "-c",
							      export_text(&wish, kube_mpi_worker)),
					     .env = WORDS(NULL),
					     .gpus = wish.gpus_per_node,
					     .is_rank = true,
					     .is_sshd = true});
	return 0;
}

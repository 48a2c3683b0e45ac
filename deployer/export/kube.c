/* SPDX-License-Identifier: MIT */
#include "deployer/export/kube.h"
#include "deployer/export/kube_values.h"
#include "deployer/export/node.h"
#include "deployer/export/yaml_out.h"
#include "deployer/launcher/launcher.h"

#include <ctype.h>
#include <string.h>

const char *kube_value(const struct kube *k, const char *name)
{
	return export_value(k->exporter, k->wish, name);
}

void kube_line(const struct kube *k, int indent, const char *format, ...)
{
	va_list args;

	str_addf(k->out, "%*s", indent, "");
	va_start(args, format);
	str_vaddf(k->out, format, args);
	va_end(args);
	str_add(k->out, "\n");
}

void kube_pair(const struct kube *k, int indent, const char *key, const char *text)
{
	if (*text)
		yaml_add_pair(k->out, indent, key, text);
}

void kube_item(const struct kube *k, int indent, const char *key, const char *text)
{
	str_addf(k->out, "%*s- ", indent, "");
	kube_pair(&(const struct kube){.out = k->out}, 0, key, text);
}

/* Adds the pairs of --set label or annotation. */
static void kube_add_given(const struct kube *k, int indent, const char *setting)
{
	const char *const *pairs = export_values(k->exporter, k->wish, setting);

	for (; *pairs; pairs++) {
		size_t key = strcspn(*pairs, "=");

		yaml_add_pair(k->out, indent, arena_strndup(k->wish->arena, *pairs, key),
			      *pairs + key + 1);
	}
}

void kube_begin(const struct kube *k, const char *version, const char *kind)
{
	bool is_volcano = strcmp(kube_value(k, "gang"), "volcano") == 0;

	kube_pair(k, 0, "apiVersion", version);
	kube_pair(k, 0, "kind", kind);
	kube_line(k, 0, "metadata:");
	kube_pair(k, 2, "name", k->name);
	kube_pair(k, 2, "namespace", kube_value(k, "namespace"));
	kube_line(k, 2, "labels:");
	kube_pair(k, 4, KUBE_PART_OF, export_dns_name(k->wish->cluster->name, k->wish->arena));
	if (!is_volcano && strcmp(kind, "Service") != 0)
		kube_pair(k, 4, KUBE_QUEUE, kube_value(k, "queue"));
	kube_add_given(k, 4, "label");
	if (!export_is_set(k->wish, "annotation"))
		return;
	kube_line(k, 2, "annotations:");
	kube_add_given(k, 4, "annotation");
}

/* "a=b" as a pair. */
static void kube_add_env(const struct kube *k, int indent, const char *const *pairs)
{
	for (; *pairs; pairs++) {
		size_t length = strcspn(*pairs, "=");

		if (strncmp(*pairs, "NODE_RANK=", length + 1) == 0)
			continue; /* kube_add_index */
		kube_item(k, indent, "name", arena_strndup(k->wish->arena, *pairs, length));
		str_addf(k->out, "%*s  value: ", indent, "");
		yaml_add_text(k->out, *pairs + length + 1, indent + 4);
		str_add(k->out, "\n");
	}
}

static void kube_add_index(const struct kube *k, int indent)
{
	kube_line(k, indent, "- name: NODE_RANK");
	kube_line(k, indent, "  valueFrom:");
	kube_line(k, indent, "    fieldRef:");
	kube_line(
		k, indent,
		"      fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']");
}

#define KUBE_CAPABILITIES "NVIDIA_DRIVER_CAPABILITIES" /* NVIDIA container toolkit */

/* What of NVIDIA's driver comes with the GPUs, as container.capabilities says; nothing where the job says it itself. */
static const char *const *kube_capabilities(const struct kube *k, const struct kube_pod *pod,
					    const char *const *env)
{
	struct words names = WORDS_INIT(k->wish->arena), pairs = WORDS_INIT(k->wish->arena);

	words_add_all(&names, k->wish->cluster->container.capabilities);
	for (; *env; env++)
		if (starts_with(*env, KUBE_CAPABILITIES "="))
			return words_list(&pairs);
	if (pod->gpus && names.count)
		words_addf(&pairs, KUBE_CAPABILITIES "=%s", words_join(&names, ","));
	return words_list(&pairs);
}

static void kube_add_environment(const struct kube *k, int indent, const struct kube_pod *pod)
{
	const char *const *shared = export_env(k->wish);
	const char *const *capabilities = kube_capabilities(k, pod, shared);
	/* a TFJob's pod is a rank */
	int ranks = k->wish->job.launcher->place == PLACE_ROLES ? 1 : k->wish->per_node;
	const char *const *defaults =
		pod->is_rank ? export_defaults(k->wish, export_threads(k->wish, ranks))
			     : WORDS(NULL);
	bool has_user = *kube_value(k, "user");

	if (*kube_value(k, "env-secret")) {
		kube_line(k, indent, "envFrom:");
		kube_line(k, indent + 2, "- secretRef:");
		kube_pair(k, indent + 6, "name", kube_value(k, "env-secret"));
	}
	if (!*shared && !*pod->env && !*capabilities && !*defaults && !has_user &&
	    !pod->has_index && !pod->secret)
		return;
	kube_line(k, indent, "env:");
	if (pod->has_index)
		kube_add_index(k, indent + 2);
	if (has_user) /* which the image need not know, and then it has no folder of its own */
		kube_add_env(k, indent + 2, WORDS("HOME=/tmp"));
	kube_add_env(k, indent + 2, capabilities);
	kube_add_env(k, indent + 2, shared);
	kube_add_env(k, indent + 2, defaults);
	kube_add_env(k, indent + 2, export_own_env(k->wish, pod->env));
	if (!pod->secret)
		return;
	kube_line(k, indent + 2, "- name: RINGUP_SECRET");
	kube_line(k, indent + 2, "  valueFrom:");
	kube_line(k, indent + 2, "    secretKeyRef:");
	kube_pair(k, indent + 8, "name", pod->secret);
	kube_line(k, indent + 2, "      key: secret");
}

/*
 * An sshd changes its user and its root. That of the RHEL family is built with Linux' audit, and ends a login that it
 * may not write down there; Debian's and Ubuntu's need no more than the three.
 */
static const char *kube_sshd_capabilities(const struct export_wish *wish)
{
	const struct choice *os = wish->plan ? plan_choice(wish->plan, "os") : NULL;

	if (os && (starts_with(os->version, "debian") || starts_with(os->version, "ubuntu")))
		return "SETGID, SETUID, SYS_CHROOT";
	return "AUDIT_WRITE, SETGID, SETUID, SYS_CHROOT";
}

/* Who names a resource wants it, whether or not a probe has seen InfiniBand. */
static bool kube_has_rdma(const struct kube *k, const struct kube_pod *pod)
{
	return pod->is_rank &&
	       (export_has_rdma(k->wish) || export_is_set(k->wish, "rdma-resource"));
}

/* As strict as the job allows; RDMA pins memory. */
static void kube_add_security(const struct kube *k, int indent, const struct kube_pod *pod)
{
	bool has_rdma = kube_has_rdma(k, pod);
	const char *user = kube_value(k, "user");

	kube_line(k, indent, "securityContext:");
	if (k->wish->cluster->container.privileged) {
		kube_line(k, indent + 2, "privileged: true # as container.privileged says");
		return;
	}
	kube_line(k, indent + 2, "allowPrivilegeEscalation: false");
	if (*user) {
		if (user[strspn(user, "0")])
			kube_line(k, indent + 2, "runAsNonRoot: true");
		kube_line(k, indent + 2, "runAsUser: %s", user);
	}
	kube_line(k, indent + 2, "capabilities:");
	kube_line(k, indent + 4, "drop: [ALL]");
	if (pod->is_sshd || has_rdma)
		/* Kubernetes sets no ambient capabilities: who is not root has none of these in effect */
		kube_line(
			k, indent + 4, "add: [%s%s%s]%s", has_rdma ? "IPC_LOCK" : "",
			has_rdma && pod->is_sshd ? ", " : "",
			pod->is_sshd ? kube_sshd_capabilities(k->wish) : "",
			*user ? " # root's alone: for another user the nodes' limit of memlock counts"
			      : "");
	kube_line(k, indent + 2, "seccompProfile: {type: RuntimeDefault}");
}

/* "8g" of Docker is "8Gi" here, and "1.5g" is "1.5Gi". */
static const char *kube_size(const char *text, struct arena *arena)
{
	int digits = (int)strspn(text, "0123456789.");
	uint64_t bytes;

	if (!parse_bytes(text, &bytes) && strchr("bB", text[digits]))
		return arena_printf(arena, "%.*s", digits, text);
	if (!parse_bytes(text, &bytes))
		return arena_printf(arena, "%.*s%ci", digits, text,
				    toupper((unsigned char)text[digits]));
	if (bytes % GIB == 0)
		return arena_printf(arena, "%lluGi", (unsigned long long)(bytes / GIB));
	if (bytes % MIB == 0)
		return arena_printf(arena, "%lluMi", (unsigned long long)(bytes / MIB));
	return arena_printf(arena, "%llu", (unsigned long long)bytes);
}

#define KUBE_CLAIM "gpus" /* what a pod calls its claim */

/* Devices are counted in limits; a request is the same then. */
static void kube_add_resources(const struct kube *k, int indent, const char *key,
			       const struct kube_pod *pod)
{
	const struct cluster_container *container = &k->wish->cluster->container;
	const char *cpu = pod->is_rank ? kube_value(k, "cpu") : "";
	const char *memory = pod->is_rank ? kube_value(k, "memory") : "";
	const char *most = pod->is_rank ? container->cpus : "";
	const char *rdma = kube_value(k, "rdma-resource");
	size_t rdma_name = strcspn(rdma, "=");
	bool has_rdma = kube_has_rdma(k, pod);
	bool has_claim = pod->gpus && *kube_value(k, "claim");
	int gpus = has_claim ? 0 : pod->gpus;

	if (pod->is_rank && !*memory && *container->memory)
		memory = kube_size(container->memory, k->wish->arena);
	/* what a pod asks for it may use */
	if (*most && kube_cpus(cpu) > kube_cpus(most))
		most = cpu;
	if (!*cpu && !*memory && !*most && !pod->gpus && !has_rdma)
		return;
	kube_line(k, indent, "%s:", key);
	if (has_claim) {
		kube_line(k, indent + 2, "claims:");
		kube_item(k, indent + 4, "name", KUBE_CLAIM);
	}
	if (*cpu || *memory)
		kube_line(k, indent + 2, "requests:");
	kube_pair(k, indent + 4, "cpu", cpu);
	kube_pair(k, indent + 4, "memory", memory);
	if (gpus || has_rdma || *memory || *most)
		kube_line(k, indent + 2, "limits:");
	kube_pair(k, indent + 4, "cpu", most);
	kube_pair(k, indent + 4, "memory", memory);
	if (gpus)
		kube_line(k, indent + 4, "%s: %d", kube_value(k, "gpu-resource"), gpus);
	if (has_rdma)
		kube_line(k, indent + 4, "%.*s: %s", (int)rdma_name, rdma,
			  rdma[rdma_name] ? rdma + rdma_name + 1 : "1");
}

static void kube_add_mounts(const struct kube *k, int indent, const struct kube_pod *pod)
{
	const char *const *volumes = k->wish->cluster->container.volumes;

	if (!pod->is_rank)
		return;
	kube_line(k, indent, "volumeMounts:");
	kube_line(k, indent + 2, "- name: shm");
	kube_line(k, indent + 2, "  mountPath: /dev/shm");
	for (int i = 0; volumes[i]; i++) {
		const struct export_volume volume = export_volume(volumes[i], k->wish->arena);

		kube_line(k, indent + 2, "- name: volume-%d", i);
		kube_pair(k, indent + 4, "mountPath", volume.target);
		if (volume.is_read_only)
			kube_line(k, indent + 4, "readOnly: true");
	}
}

static void kube_add_volumes(const struct kube *k, int indent, const struct kube_pod *pod)
{
	const struct cluster_container *container = &k->wish->cluster->container;

	if (!pod->is_rank)
		return;
	kube_line(k, indent, "volumes:");
	kube_line(k, indent + 2,
		  "- name: shm # NCCL and data loaders share memory; it counts as the pod's");
	kube_line(k, indent + 2, "  emptyDir:");
	kube_line(k, indent + 2, "    medium: Memory");
	kube_pair(k, indent + 6, "sizeLimit", kube_size(container->shm_size, k->wish->arena));
	for (int i = 0; container->volumes[i]; i++) {
		const struct export_volume volume =
			export_volume(container->volumes[i], k->wish->arena);

		kube_line(k, indent + 2, "- name: volume-%d", i);
		kube_line(k, indent + 4, volume.is_name ? "persistentVolumeClaim:" : "hostPath:");
		kube_pair(k, indent + 6, volume.is_name ? "claimName" : "path", volume.source);
	}
}

/* The value of GPU feature discovery's label for a product: blanks become '-'. */
static const char *kube_product(const char *product, struct arena *arena)
{
	char *label = arena_strdup(arena, product);

	for (char *c = label; *c; c++)
		if (*c == ' ')
			*c = '-';
	return label;
}

/* Several products are one set of values of an affinity; a selector has one value. */
static void kube_add_products(const struct kube *k, int indent, const char *const *products)
{
	kube_line(k, indent, "affinity:");
	kube_line(k, indent + 2, "nodeAffinity:");
	kube_line(k, indent + 4, "requiredDuringSchedulingIgnoredDuringExecution:");
	kube_line(k, indent + 6, "nodeSelectorTerms:");
	kube_line(k, indent + 8, "- matchExpressions:");
	kube_line(k, indent + 12, "- key: nvidia.com/gpu.product");
	kube_line(k, indent + 12, "  operator: In");
	kube_line(k, indent + 12, "  values:");
	for (; *products; products++)
		yaml_add_list(k->out, WORDS(kube_product(*products, k->wish->arena)), indent + 16);
}

/* Labels that a node must have, as LABEL or LABEL=VALUE. */
static void kube_add_selector(const struct kube *k, int indent, const char *product)
{
	const char *const *labels = export_values(k->exporter, k->wish, "node");
	/* an image of two processors runs on both */
	bool has_arch = k->wish->plan && !k->wish->plan->other;

	if (has_arch || *product || *labels)
		kube_line(k, indent, "nodeSelector:");
	if (has_arch)
		kube_pair(k, indent + 2, "kubernetes.io/arch",
			  arch_of_image(plan_arch(k->wish->plan)));
	kube_pair(k, indent + 2, "nvidia.com/gpu.product", product);
	for (; *labels; labels++) {
		size_t length = strcspn(*labels, "=");

		kube_pair(k, indent + 2, arena_strndup(k->wish->arena, *labels, length),
			  (*labels)[length] ? *labels + length + 1 : "true");
	}
}

/* "KEY", or "KEY=VALUE" of one value alone, and ":EFFECT" of one effect alone. */
static void kube_add_toleration(const struct kube *k, int indent, const char *taint)
{
	size_t key = strcspn(taint, "=:"), length = strcspn(taint, ":");

	kube_item(k, indent, "key", arena_strndup(k->wish->arena, taint, key));
	if (key < length)
		kube_pair(k, indent + 2, "value",
			  arena_strndup(k->wish->arena, taint + key + 1, length - key - 1));
	else
		kube_line(k, indent, "  operator: Exists");
	if (taint[length])
		kube_pair(k, indent + 2, "effect", taint + length + 1);
}

/* Those that are given, and, unless an empty one is, the taint that nodes with GPUs usually have. */
static void kube_add_tolerations(const struct kube *k, int indent, const struct kube_pod *pod)
{
	const char *const *given = export_values(k->exporter, k->wish, "tolerate");
	struct words taints = WORDS_INIT(k->wish->arena);

	if (pod->gpus && *given)
		words_add(&taints, KUBE_GPU);
	for (; *given && export_is_set(k->wish, "tolerate"); given++)
		if (!pod->gpus || strcmp(*given, KUBE_GPU) != 0)
			words_add(&taints, *given);
	if (taints.count)
		kube_line(k, indent, "tolerations:");
	for (size_t i = 0; i < taints.count; i++)
		kube_add_toleration(k, indent + 2, taints.list[i]);
}

/* Nodes like those that the stack was resolved for: the processor, and the GPUs that the probe saw. */
static void kube_add_nodes(const struct kube *k, int indent, const struct kube_pod *pod)
{
	const char *const *products = export_products(k->wish);
	bool has_product = pod->gpus && *products && !*kube_value(k, "claim") &&
			   strcmp(kube_value(k, "gpu-resource"), KUBE_GPU) == 0;

	kube_add_selector(k, indent,
			  has_product && !products[1] ? kube_product(*products, k->wish->arena)
						      : "");
	if (has_product && products[1])
		kube_add_products(k, indent, products);
	kube_add_tolerations(k, indent, pod);
}

static void kube_add_container(const struct kube *k, int indent, const struct kube_pod *pod)
{
	kube_line(k, indent, "containers:");
	kube_item(k, indent + 2, "name", pod->container);
	kube_pair(k, indent + 4, "image", k->wish->image);
	kube_line(k, indent + 4, "command:");
	yaml_add_list(k->out, pod->command, indent + 6);
	if (pod->is_rank || !pod->is_sshd)
		kube_pair(k, indent + 4, "workingDir", k->wish->job.workdir);
	kube_add_environment(k, indent + 4, pod);
	if (pod->is_sshd) {
		kube_line(k, indent + 4, "readinessProbe: # mpirun starts when all of them listen");
		kube_line(k, indent + 6, "tcpSocket: {port: 22}");
	}
	kube_add_resources(k, indent + 4, "resources", pod);
	kube_add_security(k, indent + 4, pod);
	kube_add_mounts(k, indent + 4, pod);
}

void kube_add_trainer(const struct kube *k, int indent, const struct kube_pod *pod)
{
	kube_pair(k, indent, "image", k->wish->image);
	kube_line(k, indent, "command:");
	yaml_add_list(k->out, pod->command, indent + 2);
	kube_add_environment(k, indent, pod);
	kube_add_resources(k, indent, "resourcesPerNode", pod);
}

static void kube_add_metadata(const struct kube *k, int indent, const struct kube_pod *pod)
{
	bool has_labels = export_is_set(k->wish, "label");
	bool has_annotations = pod->in_group || export_is_set(k->wish, "annotation");

	if (has_labels || has_annotations)
		kube_line(k, indent, "metadata:");
	if (has_labels)
		kube_line(k, indent + 2, "labels:");
	kube_add_given(k, indent + 4, "label");
	if (!has_annotations)
		return;
	kube_line(k, indent + 2, "annotations:");
	if (pod->in_group)
		kube_pair(k, indent + 4, KUBE_GROUP, k->name);
	kube_add_given(k, indent + 4, "annotation");
}

void kube_add_template(const struct kube *k, int indent, const struct kube_pod *pod)
{
	const char *pull = kube_value(k, "pull-secret");

	kube_line(k, indent, "template:");
	kube_add_metadata(k, indent + 2, pod);
	kube_line(k, indent + 2, "spec:");
	if (pod->restart)
		kube_pair(k, indent + 4, "restartPolicy", pod->restart);
	if (pod->subdomain)
		kube_pair(k, indent + 4, "subdomain", pod->subdomain);
	if (pod->in_group)
		kube_line(k, indent + 4, "schedulerName: volcano");
	if (k->wish->job.grace_s > 0)
		kube_line(k, indent + 4,
			  "terminationGracePeriodSeconds: %d # the job's grace, and a little more",
			  k->wish->job.grace_s + NODE_GRACE_MORE_S);
	if (*kube_value(k, "group"))
		kube_line(k, indent + 4, "securityContext: {fsGroup: %s, runAsGroup: %s}",
			  kube_value(k, "group"), kube_value(k, "group"));
	kube_pair(k, indent + 4, "priorityClassName", kube_value(k, "priority"));
	kube_pair(k, indent + 4, "serviceAccountName", kube_value(k, "service-account"));
	if (!*kube_value(k, "service-account"))
		kube_line(k, indent + 4, "automountServiceAccountToken: false");
	kube_line(k, indent + 4, "enableServiceLinks: false");
	if (*pull) {
		kube_line(k, indent + 4, "imagePullSecrets:");
		kube_item(k, indent + 6, "name", pull);
	}
	if (pod->gpus && *kube_value(k, "claim")) {
		kube_line(k, indent + 4, "resourceClaims: # resource.k8s.io, Kubernetes 1.34");
		kube_item(k, indent + 6, "name", KUBE_CLAIM);
		kube_pair(k, indent + 8, "resourceClaimTemplateName", kube_value(k, "claim"));
	}
	kube_add_nodes(k, indent + 4, pod);
	kube_add_container(k, indent + 4, pod);
	kube_add_volumes(k, indent + 4, pod);
}

void kube_add_service(const struct kube *k, const char *label)
{
	kube_begin(k, "v1", "Service");
	kube_line(k, 0, "spec: # no address of its own: it gives each pod a name");
	kube_line(k, 2, "clusterIP: None");
	kube_line(k, 2, "publishNotReadyAddresses: true");
	kube_line(k, 2, "selector:");
	kube_pair(k, 4, label, k->name);
	kube_line(k, 0, "---");
}

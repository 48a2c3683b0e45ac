#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stand-in for Kubernetes, for one job on one Docker Engine: kubelet.py MANIFEST [SECRET=TEXT...]

It makes pods of the manifest as the API's reference says, each a real container with a network of its own, and does for
an MPIJob what the operator does (mpi-operator, pkg/controller/mpi_job_controller.go): the key as a read-only mount at
/root/.ssh that all may write, as those of Secrets are, the hostfile at /etc/mpi, and its variables. It prints each pod's
output behind the pod's name, and ends with the status of the first pod that fails, or of the launcher.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import yaml

SPACE = "default"


def run(*words, **options):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, universal_newlines=True, **options).stdout.strip()


def expand(text, env):
    """$(NAME), and $$ for $ (kubernetes/third_party/forked/golang/expansion)."""
    return re.sub(r"\$(?:\$|\(([^)]*)\))", lambda m: env.get(m[1], m[0]) if m[1] is not None else "$", text)


def environment(container, index, secrets, more):
    env = {}
    for entry in container.get("env", []) + more:
        source = entry.get("valueFrom", {})
        if "fieldRef" in source:
            assert "job-completion-index" in source["fieldRef"]["fieldPath"]
            env[entry["name"]] = str(index)
        elif "secretKeyRef" in source:
            env[entry["name"]] = secrets[source["secretKeyRef"]["name"]]
        else:
            env[entry["name"]] = expand(entry.get("value", ""), env)
    return env


def security(container):
    context = container["securityContext"]
    assert context["allowPrivilegeEscalation"] is False
    words = ["--security-opt", "no-new-privileges"]
    for name in context["capabilities"].get("drop", []):
        words += ["--cap-drop", name]
    for name in context["capabilities"].get("add", []):
        words += ["--cap-add", name]
    if "runAsUser" in context:
        words += ["--user", str(context["runAsUser"])]
    return words


class Network:
    """A bridge, and a virtual cable from each pod to it."""

    def __init__(self, net):
        self.net, self.bridge, self.pods = net, f"rk{os.getpid() % 100000}", []
        run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "link", "set", self.bridge, "up")

    def address(self, number):
        return f"{self.net}.{number + 1}"

    def attach(self, pid, number):
        inside, outside = f"{self.bridge}i{number}", f"{self.bridge}o{number}"
        enter = ("nsenter", "--net", "-t", str(pid))
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", inside)
        run("ip", "link", "set", outside, "master", self.bridge, "up")
        run("ip", "link", "set", inside, "netns", str(pid))
        run(*enter, "ip", "link", "set", inside, "name", "eth0")
        run(*enter, "ip", "address", "add", f"{self.address(number)}/24", "dev", "eth0")
        run(*enter, "ip", "link", "set", "eth0", "up")

    def remove(self):
        subprocess.run(["ip", "link", "delete", self.bridge], check=False)


class Pod:
    def __init__(self, name, template, index, more=None, mounts=()):
        self.name, self.index, self.mounts = name, index, list(mounts)
        self.container = template["spec"]["containers"][0]
        self.volumes = template["spec"].get("volumes", [])
        self.more = [{"name": k, "value": v} for k, v in (more or {}).items()]

    def sandbox(self, hosts):
        words = ["docker", "run", "-d", "--name", f"{self.name}.net", "--hostname", self.name, "--network", "none"]
        for host, address in hosts:
            words += ["--add-host", f"{host}:{address}"]
        run(*words, "--entrypoint", "sleep", self.container["image"], "600")
        return run("docker", "inspect", "--format", "{{.State.Pid}}", f"{self.name}.net")

    def start(self, secrets):
        env = environment(self.container, self.index, secrets, self.more)
        words = ["docker", "run", "-d", "--name", self.name, "--network", f"container:{self.name}.net", *security(self.container)]
        for name, value in env.items():
            words += ["--env", f"{name}={value}"]
        for volume in self.volumes:
            if volume.get("emptyDir", {}).get("medium") == "Memory":
                words += ["--tmpfs", "/dev/shm:rw,size=67108864"]
        for mount in self.mounts:
            words += ["--volume", mount]
        if "workingDir" in self.container:
            words += ["--workdir", self.container["workingDir"]]
        command = [expand(word, env) for word in self.container["command"]]
        run(*words, "--entrypoint", command[0], self.container["image"], *command[1:])

    def status(self):
        running, code = run("docker", "inspect", "--format", "{{.State.Running}} {{.State.ExitCode}}", self.name).split()
        return None if running == "true" else int(code)

    def remove(self):
        done = subprocess.run(["docker", "logs", self.name], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)
        for line in done.stdout.splitlines():
            print(f"{self.name}: {line}")
        subprocess.run(["docker", "rm", "-f", self.name, f"{self.name}.net"], check=False, stdout=subprocess.DEVNULL)


def job_pods(job, _folder):
    name, spec = job["metadata"]["name"], job["spec"]
    assert spec["completionMode"] == "Indexed"
    pods = [Pod(f"{name}-{i}", spec["template"], i) for i in range(spec["completions"])]
    return pods, [[f"{p.name}.{spec['template']['spec']['subdomain']}"] for p in pods], None


def set_pods(jobset, _folder):
    """The names of jobset.x-k8s.io: NAME-REPLICATED-JOB-INDEX.NAME."""
    name, part = jobset["metadata"]["name"], jobset["spec"]["replicatedJobs"][0]
    spec = part["template"]["spec"]
    pods = [Pod(f"{name}-{part['name']}-0-{i}", spec["template"], i) for i in range(spec["completions"])]
    return pods, [[f"{p.name}.{name}"] for p in pods], None


def mpi_pods(job, folder):
    name, spec = job["metadata"]["name"], job["spec"]
    count = spec["mpiReplicaSpecs"]["Worker"]["replicas"]
    data = os.path.join(folder, "ssh", "..2026_01_01")
    os.makedirs(data)
    run("ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-m", "PEM", "-N", "", "-f", os.path.join(data, "id_rsa"))
    with open(os.path.join(data, "id_rsa.pub"), encoding="utf-8") as file:
        public = " ".join(file.read().split()[:2]) + "\n"  # without a comment, as the operator writes it
    for kind in ("id_rsa.pub", "authorized_keys"):
        with open(os.path.join(data, kind), "w", encoding="utf-8") as file:
            file.write(public)
    os.symlink("..2026_01_01", os.path.join(folder, "ssh", "..data"))
    for kind in ("id_rsa", "id_rsa.pub", "authorized_keys"):
        os.chmod(os.path.join(data, kind), 0o600)
        os.symlink(f"..data/{kind}", os.path.join(folder, "ssh", kind))
    os.chmod(os.path.join(folder, "ssh"), 0o1777)
    names = [f"{name}-worker-{i}.{name}-worker.{SPACE}.svc" for i in range(count)]
    os.makedirs(os.path.join(folder, "mpi"))
    with open(os.path.join(folder, "mpi", "hostfile"), "w", encoding="utf-8") as file:
        file.writelines(f"{n} slots={spec['slotsPerWorker']}\n" for n in names)
    keys = f"{folder}/ssh:/root/.ssh:ro"
    pods = [Pod(f"{name}-worker-{i}", spec["mpiReplicaSpecs"]["Worker"]["template"], i, {"K_MPI_JOB_ROLE": "worker"}, [keys])
            for i in range(count)]
    more = {"K_MPI_JOB_ROLE": "launcher", "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
            "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile", "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
            "OMPI_MCA_orte_set_default_slots": str(spec["slotsPerWorker"]), "NVIDIA_VISIBLE_DEVICES": "",
            "NVIDIA_DRIVER_CAPABILITIES": ""}
    launcher = Pod(f"{name}-launcher", spec["mpiReplicaSpecs"]["Launcher"]["template"], 0, more,
                   [keys, f"{folder}/mpi:/etc/mpi:ro"])
    return pods + [launcher], [[n] for n in names] + [[]], launcher


def wait(pods, launcher):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ended = [launcher.status()] if launcher else [p.status() for p in pods]
        failed = [s for s in ended if s]
        if failed or None not in ended:
            return failed[0] if failed else 0
        time.sleep(0.2)
    print("kubelet: the job does not end")
    return 124


MAKERS = {"Job": job_pods, "JobSet": set_pods, "MPIJob": mpi_pods}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = [d for d in yaml.safe_load_all(file) if d["kind"] in MAKERS][0]
    secrets = dict(pair.split("=", 1) for pair in sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        pods, names, launcher = MAKERS[job["kind"]](job, folder)
        network = Network("10.97.3")
        hosts = [(n, network.address(i)) for i, own in enumerate(names) for n in own]
        status = 1
        try:
            for number, pod in enumerate(pods):
                network.attach(pod.sandbox(hosts), number)
            for pod in pods:
                pod.start(secrets)
            status = wait(pods, launcher)
        finally:
            for pod in pods:
                pod.remove()
            network.remove()
    return status


sys.exit(main())

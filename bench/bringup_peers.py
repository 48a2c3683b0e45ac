# SPDX-License-Identifier: MIT
"""For bringup.sh: from what `ringup --json up --dry-run` (plan.json) would do on a lab's hosts, the same for Ansible and for a shell
script: hosts.json is the inventory for bringup.yml, and theirs/HOST.sh runs on a host with theirs/HOST.tar on standard input."""

import json
import os
import shlex
import tarfile

HERE = os.getcwd()
SCRIPT = """set -e
umask 077
mkdir -p /var/lib/ringup/theirs && tar -xpf - -C /var/lib/ringup/theirs
trap 'rm -rf /var/lib/ringup/theirs/login' EXIT
mkdir -p /etc/docker/certs.d/{registry} && install -m 644 /var/lib/ringup/theirs/ca.crt /etc/docker/certs.d/{registry}/ca.crt
docker image inspect {image} >/dev/null 2>&1 || docker --config /var/lib/ringup/theirs/login pull --quiet {image}
[ "$(docker container inspect --format '{{{{.State.Running}}}} {{{{.Config.Image}}}}' theirs 2>/dev/null)" = 'true {image}' ] || {{
	docker rm -f theirs >/dev/null 2>&1 || true
	{run}
	echo started
}}
timeout 20 sh -c 'until {check}; do sleep 0.1; done'
"""


def copy_members(source, target, prefix):
    with tarfile.open(source) as given:
        for member in given:
            if member.name.startswith(prefix):
                target.addfile(member, given.extractfile(member))


def main():
    with open(".ringup/lab/state.json", encoding="utf-8") as file:
        state = json.load(file)
    with open("plan.json", encoding="utf-8") as file:
        starts = [shlex.split(line)[-1] for line in json.load(file)["commands"] if "docker run" in line]
    login, ca = HERE + "/.ringup/auth.json", HERE + "/.ringup/lab/registry/ca.pem"
    hosts = {}
    for host, start in zip(state["hosts"], starts, strict=True):
        name = host["name"]
        assert f"RINGUP_HOST={name}" in start, start
        run = start.replace("docker run", "docker run --restart unless-stopped").replace("ringup-lab", "theirs").replace("/var/lib/ringup/lab", "/var/lib/ringup/theirs")
        image = shlex.split(run)[-1]
        peers = [other["name"] for other in state["hosts"] if other["name"] != name]
        words = {
            "run": run,
            "image": image,
            "registry": image.split("/", maxsplit=1)[0],
            "check": f"docker exec theirs ssh -F /etc/ringup/ssh/ssh_config {name} true",
            "meet": f"docker exec theirs sh -c 'for peer in {' '.join(peers)}; do ssh -n $peer true || exit 1; done'",
        }
        parcel = f"{HERE}/theirs/{name}-ssh.tar"
        with tarfile.open(parcel, "w") as target:
            copy_members(f".ringup/keys/{name}.tar", target, "ssh/")
        with tarfile.open(f"theirs/{name}.tar", "w") as target:
            copy_members(parcel, target, "ssh/")
            target.add(ca, "ca.crt")
            target.add(login, "login/config.json")
        with open(f"theirs/{name}.sh", "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(**words))
        with open(f"theirs/{name}.meet", "w", encoding="utf-8") as file:
            file.write(words["meet"])
        with open(f"theirs/{name}.address", "w", encoding="utf-8") as file:
            file.write(host["address"])
        hosts[name] = words | {"ansible_host": host["address"], "ansible_user": "root", "parcel": parcel, "ca": ca, "login": login,
                               "ansible_python_interpreter": "/usr/bin/python3"}
    with open("hosts.json", "w", encoding="utf-8") as file:
        json.dump({"all": {"hosts": hosts}}, file)


main()

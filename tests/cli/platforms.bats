#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A cluster of two processors: one lock, two images, and an index of both in a real registry. No machine here is aarch64, so
# images for it have no steps, or are put where 'build --on' puts them.

load helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	"$BATS_TEST_DIRNAME/../free_port.py" >port
	mkdir data
	printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' \
		"$PWD/data" "$(cat port)" >registry.yml
	docker-registry serve registry.yml >registry.log 2>&1 3>&- 4>&- &
	echo $! >registry.pid
	timeout 20 bash -c "until curl -s http://127.0.0.1:$(cat port)/v2/ >/dev/null; do sleep 0.1; done"
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/registry.pid")"
}

setup() {
	common_setup
	unset RINGUP_CATALOG
	A=127.0.0.1:$(cat "$BATS_FILE_TMPDIR/port")
	ours=$(uname -m)
	[ "$ours" = x86_64 ] && other=aarch64 || other=x86_64
}

# The image of a platform as skopeo takes it, a foreign client that chooses by the index.
foreign() { # ARCHITECTURE
	skopeo --override-os linux --override-arch "$1" inspect --tls-verify=false --config "docker://$ref" | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["os"], d["architecture"], d["config"]["Labels"].get("org.ringup.stack.arch"))'
}

@test "images without steps are made for both processors, and each client takes its own from the index" {
	mkdir src && echo hello >src/a
	cat >cluster.yaml <<-END
		name: two$BATS_TEST_NUMBER
		hosts: [a]
		registry: {address: "$A"}
		stack: []
		image: {base: scratch, platforms: [linux/amd64, linux/arm64], files: [{from: ./src, to: /workspace}]}
	END
	apart ringup --json push
	says 0
	ref=$(python3 -c 'import json; print(json.load(open("../out"))["image"])')
	skopeo inspect --tls-verify=false --raw "docker://$ref" >index.json
	python3 - <<-'END'
		import json
		d = json.load(open("index.json"))
		assert d["mediaType"] == "application/vnd.oci.image.index.v1+json", d
		assert [m["platform"] for m in d["manifests"]] == [{"architecture": a, "os": "linux"} for a in ("amd64", "arm64")], d
		assert len({m["digest"] for m in d["manifests"]}) == 2
	END
	[ "sha256:$(sha256sum <index.json | cut -d' ' -f1)" = "${ref#*@}" ]
	[ "$(foreign amd64)" = 'linux amd64 None' ]
	[ "$(foreign arm64)" = 'linux arm64 aarch64' ]
	for arch in amd64 arm64; do
		ringup pull --platform "linux/$arch" "$ref" "oci:image-$arch"
		digest=$(python3 -c 'import json, sys; print(next(m["digest"] for m in json.load(open("index.json"))["manifests"] if m["platform"]["architecture"] == sys.argv[1]))' "$arch")
		[ -e "image-$arch/blobs/${digest/://}" ]
		# its bill of materials and provenance refer to the image, and not to the index
		ringup inspect "${ref%@*}@$digest" >../inspect
		grep -q spdx ../inspect
	done
	apart ringup push
	says 0
	grep -q 'is there already' ../out
	touch ringup.lock # nothing of a stack is in it
	echo more >src/b
	apart ringup push
	says 0
	! grep -qF "${ref#*@}" ../out
}

@test "a base of an index: each image begins with its own of the two" {
	cat >cluster.yaml <<-END
		name: two$BATS_TEST_NUMBER
		hosts: [a]
		registry: {address: "$A"}
		stack: []
		image: {base: scratch, platforms: [linux/amd64, linux/arm64]}
	END
	apart ringup --json push
	ref=$(python3 -c 'import json; print(json.load(open("../out"))["image"])')
	ringup pull --platform all "$ref" oci:both
	# a worker of this machine cannot go into the other's image
	sed -i 's/base: scratch/base: "oci:both"/' cluster.yaml
	apart ringup push
	says 2 image.platforms worker 'not aarch64'
	sed -i 's/\[linux.*\]/[linux\/arm64]/' cluster.yaml
	apart ringup push
	says 2 image.platforms worker 'not aarch64'
}

# kept NAME ARCHITECTURE: an image where builds put theirs, also those of 'build --on'
kept() {
	python3 - "$1" "$2" "$HOME/.cache/ringup/native/layout" <<-'END'
		import hashlib, json, os, sys
		name, arch, layout = sys.argv[1:]
		os.makedirs(layout + "/blobs/sha256", mode=0o700, exist_ok=True)
		def put(media, data):
		    data = json.dumps(data).encode()
		    digest = hashlib.sha256(data).hexdigest()
		    open(f"{layout}/blobs/sha256/{digest}", "wb").write(data)
		    return {"mediaType": media, "digest": "sha256:" + digest, "size": len(data)}
		oci = "application/vnd.oci.image."
		config = put(oci + "config.v1+json", {"os": "linux", "architecture": arch, "config": {"Labels": {}}, "rootfs": {"type": "layers", "diff_ids": []}})
		entry = put(oci + "manifest.v1+json", {"schemaVersion": 2, "mediaType": oci + "manifest.v1+json", "config": config, "layers": []})
		entry["annotations"] = {"org.opencontainers.image.ref.name": name}
		index = {"schemaVersion": 2, "manifests": []}
		if os.path.exists(layout + "/index.json"):
		    index = json.load(open(layout + "/index.json"))
		index["manifests"].append(entry)
		json.dump(index, open(layout + "/index.json", "w"))
		open(layout + "/oci-layout", "w").write('{"imageLayoutVersion":"1.0.0"}')
	END
	chmod -R go-rwx "$HOME/.cache"
}

# image ARCH: the name that the image has in the store
image() {
	ringup --json recipe --arch "$1" 2>/dev/null | python3 -c 'import json, sys; print(f"ringup/{sys.argv[1]}:" + json.load(sys.stdin)["hash"][7:19])' "$name"
}

@test "one lock for both; the image that this machine cannot build is asked of a host that can" {
	cat >cluster.yaml <<-END
		name: two$BATS_TEST_NUMBER
		hosts: [{address: one, arch: amd64}, {address: g01, arch: arm64}, {address: g02, arch: arm64}]
		registry: {address: "$A"}
		stack: [openmpi, python, os==debian12]
		accelerator: cpu
		image: {platforms: [linux/amd64, linux/arm64]}
	END
	name=two$BATS_TEST_NUMBER
	apart ringup resolve
	says 0 'the other stack of the same versions'
	grep -qE '^arch +x86_64, aarch64' ../out
	python3 - <<-'END'
		import json
		d = json.load(open("ringup.lock"))
		other = d["other"]
		assert "arch" not in d and other["arch"] == "aarch64"
		for name in ("os", "openmpi", "python"):
		    assert d["stack"][name]["version"] == other["stack"][name]["version"], name
	END
	cp ringup.lock before
	apart ringup resolve
	cmp ringup.lock before
	[ "$(image x86_64)" != "$(image aarch64)" ]
	apart ringup build --dry-run
	says 0
	# this machine's image is there; the other one is missing
	kept "$(image "$ours")" amd64
	apart ringup push
	case $ours in
	x86_64) says 1 "the image is for $other" 'build --on HOST' 'such hosts are g01, g02' ;;
	*) says 1 "the image is for $other" 'build --on HOST' 'such hosts are one' ;;
	esac
	apart ringup build
	says 0 "this is the image for $ours" "makes that for $other on a host"
	# with both, nothing is built, and the registry has an index
	kept "$(image "$other")" arm64
	apart ringup --json push
	says 0
	ref=$(python3 -c 'import json; print(json.load(open("../out"))["image"])')
	skopeo inspect --tls-verify=false --raw "docker://$ref" >index.json
	python3 -c 'import json; assert [m["platform"]["architecture"] for m in json.load(open("index.json"))["manifests"]] == ["amd64", "arm64"]'
	# the same index as a layout
	apart ringup build -o oci:both:it
	says 0
	digest=$(python3 -c 'import json; m, = json.load(open("both/index.json"))["manifests"]; print(m["digest"])')
	[ "$digest" = "${ref#*@}" ]
	skopeo --override-arch arm64 inspect --config oci:both:it >../config
	grep -q '"architecture": *"arm64"' ../config
	apart ringup build -o docker-archive:one.tar
	says 0 'an archive holds one image' "$ours"
	# what is pinned for the other processor stays, and is its recipe's
	python3 - <<-'END'
		import json
		d = json.load(open("ringup.lock"))
		d["other"]["pinned"] = {"at": "2026-11-22T13:00:00Z", "packages": {"openssh-server": "1:9.2p1-2+deb12u3"}, "images": {}}
		json.dump(d, open("ringup.lock", "w"))
	END
	apart ringup resolve
	says 0
	grep -q '"pinned"' ringup.lock
	ringup recipe --arch aarch64 >../recipe
	grep -qF 'openssh-server=1:9.2p1-2+deb12u3' ../recipe
	ringup recipe --arch x86_64 >../recipe
	! grep -qF openssh-server= ../recipe
	# one of the two alone
	apart ringup recipe --arch aarch64
	grep -q '^# arch aarch64$' ../out
	apart ringup resolve --no-lock --arch aarch64
	! grep -q x86_64 ../out
}

@test "versions that only one processor has are refused with the difference" {
	cat >cluster.yaml <<-END
		name: two
		hosts: [{address: one, arch: amd64}, {address: g01, arch: arm64}]
		stack: [mxnet]
		accelerator: cpu
	END
	apart ringup resolve
	says 3 'for aarch64' mxnet
	[ ! -e ringup.lock ]
	# a lock of one processor, and then a cluster of both
	sed -i -e 's/mxnet/openmpi, os==debian12/' -e '2s/.*/hosts: [a]/' cluster.yaml
	ringup resolve
	sed -i '2s/.*/hosts: [{address: one, arch: amd64}, {address: g01, arch: arm64}]/' cluster.yaml
	apart ringup recipe
	says 3 "ringup.lock is locked to a stack" "both" "resolve"
	ringup resolve
	sed -i '2s/.*/hosts: [{address: one, arch: sparc}]/' cluster.yaml
	apart ringup resolve
	says 2 "'arch' is amd64 or arm64"
}

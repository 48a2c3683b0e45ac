#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# recipe: the Dockerfile on stdout, the whole context in a folder, JSON.

load helper
setup() {
	common_setup
	cat >cluster.yaml <<-'END'
		name: lab
		hosts: ["node[01-02]"]
		stack: ["openmpi==4.1.*"]
		mirrors: {apt: "http://mirror.lan/debian"}
		image:
		  base: "registry.lan:5000/base/debian:12"
		  apt: [git]
		  pip: [numpy]
		  files: [{from: src, to: /workspace}]
		  env: {A: "b c"}
	END
	mkdir -p src/deep
	echo 'print(1)' >src/train.py
	printf '#!/bin/sh\n' >src/deep/run.sh
	chmod 755 src/deep/run.sh
}

@test "the Dockerfile" {
	apart ringup recipe
	says 0
	golden recipe
	[ ! -e ringup.lock ]
	! grep -q mirror.lan ../out
}

@test "requirements of the command line win over the file's" {
	apart ringup recipe openmpi==5.0.1
	says 0
	grep -q 'openmpi-bin=5.0.1' ../out
}

@test "-o writes the whole context" {
	ringup recipe >../dockerfile
	apart ringup recipe -o context
	says 0
	cmp context/Dockerfile ../dockerfile
	diff -r src context/files/0
	[ "$(stat -c %a context/files/0/deep/run.sh)" = 755 ]
	[ "$(stat -c %a context/files/0/train.py)" = 644 ]
	diff -r "$ROOT/images/worker" context/worker
	for file in "$ROOT"/images/entry/*; do
		cmp "$file" "context/entry/${file##*/}"
		[ "$(stat -c %a "context/entry/${file##*/}")" = 755 ]
	done
}

@test "-o twice is the same, and -o '' is refused" {
	ringup recipe -o one
	ringup recipe -o two
	diff -r one two
	ringup recipe -o one
	diff -r one two
	apart ringup recipe -o ''
	says 2
	echo x >in-the-way
	apart ringup recipe -o in-the-way
	says 1 in-the-way
}

@test "the context's modes do not follow the umask" {
	(umask 077 && ringup recipe -o context)
	[ "$(stat -c %a context context/worker context/files/0/deep | tr '\n' ' ')" = '755 755 755 ' ]
}

@test "what COPY names is in the context" {
	ringup recipe -o context
	sed -n 's/^COPY \([^-].*\) .*/\1/p' context/Dockerfile >../copied
	[ -s ../copied ]
	while read -r path; do
		[ -e "context/$path" ] || { echo "no $path"; false; }
	done <../copied
}

@test "JSON holds the Dockerfile, its hash and the files" {
	ringup recipe >../dockerfile
	apart ringup --json recipe
	says 0
	json 'd["dockerfile"] == open("../dockerfile").read()'
	json 'd["hash"].startswith("sha256:") and len(d["hash"]) == 71'
	json '"files/0/train.py" in d["files"] and "worker/main.c" in d["files"]'
	json 'd["base"] == "registry.lan:5000/base/debian:12" and d["os"] == "debian12"'
}

hash() {
	ringup --json recipe "$@" | python3 -c 'import json, sys; print(json.load(sys.stdin)["hash"])'
}

@test "the hash: every byte counts, mirrors do not" {
	first=$(hash)
	[ "$(hash)" = "$first" ]
	touch -d '2001-01-01' src/train.py
	[ "$(hash)" = "$first" ]
	sed -i 's/mirror.lan/other.lan/' cluster.yaml
	[ "$(hash)" = "$first" ]
	chmod 755 src/train.py
	second=$(hash)
	[ "$second" != "$first" ]
	echo '#' >>src/train.py
	[ "$(hash)" != "$second" ]
	third=$(hash)
	touch src/.hidden
	[ "$(hash)" != "$third" ]
	[ "$(hash 'openmpi<5,!=4.1.10')" != "$(hash)" ]
}

@test "a file that is missing: exit 2 with its name" {
	rm -r src
	apart ringup recipe
	says 2 src image.files
	[ ! -s ../out ]
}

@test "what would change the Dockerfile's meaning is refused" {
	sed -i 's/A: "b c"/A: "x\\nRUN evil"/' cluster.yaml
	apart ringup recipe
	says 2 'image.env'
	sed -i 's/A: .*}/A: b}/; s/apt: \[git\]/apt: ["$(id)"]/' cluster.yaml
	apart ringup recipe
	says 2 'image.apt'
}

@test "image.yum on RPM systems, image.apt on Debian's; the wrong one alone is refused" {
	unset RINGUP_CATALOG # the real one
	sed -i -e '/base:/d' -e 's/apt: \[git\]/yum: [ImageMagick, python3-PyYAML-5.4.1-6.el9.x86_64]/' cluster.yaml
	for form in dockerfile script; do
		apart ringup recipe --format $form openmpi==5.0.8 os==rockylinux9
		says 0
		grep -qE '^\s+ImageMagick python3-PyYAML-5\.4\.1-6\.el9\.x86_64$' ../out
	done
	apart ringup recipe openmpi==4.1.4 os==debian12
	says 2 image.yum debian12 image.apt
	sed -i 's/yum: /apt: [vim]\n  &/' cluster.yaml
	apart ringup recipe openmpi==4.1.4 os==debian12
	says 0
	grep -qE '^\s+vim$' ../out
	! grep -F ImageMagick ../out
	sed -i '/yum: /d' cluster.yaml
	apart ringup recipe openmpi==5.0.8 os==rockylinux9
	says 2 image.apt rockylinux9 image.yum
}

@test "a Python that the OpenSSL of the OS is too old for is refused, whatever the OS is called" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	for os in ubuntu14.04 ubuntu16.04 ubuntu17.04 debian9 centos7 ubi7 amzn2; do
		apart ringup recipe "os==$os" python==3.12
		says 3 "os==$os" python==3.12 'OpenSSL 1.1.1'
	done
	for os in ubuntu22.04 debian12 rockylinux10 azurelinux3; do
		apart ringup recipe "os==$os" python==3.6
		says 3 "os==$os" python==3.6 'OpenSSL 3'
	done
}

@test "frameworks need no repository of NVIDIA for the OS: their wheels bring CUDA" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	for os in rocky10 almalinux10 rhel9 rhel10 amzn2 azurelinux3 sles15; do
		for words in torch tensorflow jax 'torch gpu==H100' openmpi; do
			# shellcheck disable=SC2086 # several requests
			apart ringup recipe $words "os==$os"
			says 0
			case $os in
			amzn2) ! grep 'step nvidia' ../out ;;
			esac
		done
	done
	for os in rocky10 almalinux10 rhel10 sles15; do
		for words in cuda nccl cudnn 'torch deepspeed'; do
			# shellcheck disable=SC2086 # several requests
			apart ringup recipe $words "os==$os"
			says 0
			grep -qE 'step nvidia .*/(rhel10/x86_64 CDF6BA43.pub [0-9a-f]{64}|sles15/x86_64 D42D0685.pub [0-9A-F]{40}) cuda' ../out
		done
	done
	apart ringup recipe cuda os==azurelinux3
	says 0
	grep -qF 'azl3/x86_64 D42D0685.pub 610C7B14E068A878070DA4E99CD0A493D42D0685' ../out
	apart ringup recipe cuda os==amzn2
	says 3 'neither packages nor images'
	apart ringup recipe --format script torch os==rocky10
	says 0
	! grep -E 'cuda-(libraries|toolkit)-|LD_LIBRARY_PATH' ../out
}

@test "a key that nothing is known of: nothing comes from its repository, and the refusal says what to ask for" {
	mkdir catalog
	printf 'name,fingerprint,sha256,instead,note,certainty,source\nCDF6BA43.pub,,,os==rockylinux9,,documented,pypi\n' >catalog/key.csv
	unset RINGUP_CATALOG
	echo 'hosts: [a]' >cluster.yaml
	apart ringup --catalog catalog recipe torch os==rocky10
	says 0
	! grep 'step nvidia' ../out
	for words in cuda nccl 'torch deepspeed'; do
		# shellcheck disable=SC2086 # several requests
		apart ringup --catalog catalog resolve --no-lock $words os==rocky10
		says 3 fingerprint 'os==rockylinux9'
	done
	apart ringup --catalog catalog recipe --allow cuda-os cuda os==rocky10
	says 1 fingerprint 'os==rockylinux9'
}

@test "an older DeepSpeed gets the NumPy that it can import, in place of the one that is there" {
	unset RINGUP_CATALOG # the real one
	apart ringup recipe torch==2.3.0 deepspeed==0.14.2 os==ubuntu22.04
	says 0
	grep -qF "pip list --format=freeze | grep -vE '^(numpy)==' >/tmp/stays.txt" ../out
	grep -qF "/opt/wheels-beside/*.whl 'numpy<2'; " ../out
	apart ringup recipe torch==2.3.0 deepspeed==0.14.4 os==ubuntu22.04
	says 0
	grep -qF 'pip list --format=freeze >/tmp/stays.txt' ../out
	! grep -F 'numpy<2' ../out
}

@test "a newer cuDNN and NCCL in the place of those of torch: one step, which torch's metadata admits" {
	local how
	unset RINGUP_CATALOG # the real one
	for how in torch==2.9.1 torch==2.9.1+cu126; do
		apart ringup recipe $how cudnn==9.16.0.29 nccl==2.28.9 os==ubuntu24.04
		says 0
		[ "$(grep -cE '^ +.nvidia-(cudnn|nccl)-cu12==(9.16.0.29|2.28.9) --hash=' ../out)" = 2 ]
		grep -qF 's/^(Requires-Dist: nvidia-(cudnn|nccl)-cu[0-9]+ ?\(?)==/\1>=/' ../out
		grep -qF '"9.16.0.29".split(".")' ../out
		! grep -E 'cudnn.*(tar.xz|conf.d)|NCCL .* from its source' ../out
	done
	apart ringup recipe torch==2.9.1 os==ubuntu24.04
	! grep -F 'Requires-Dist' ../out
}

# Each was compiled so, with Gloo: what GCC 13 and 14 say without it is in recipes/horovod.
@test "Horovod with GCC 12, 13 and 14: Gloo, and what each compiler lacks" {
	local os
	unset RINGUP_CATALOG # the real one
	for os in debian12 ubuntu24.04 debian13; do
		apart ringup recipe horovod torch==2.9.1 os==$os
		says 0
		grep -qF 'HOROVOD_WITH_GLOO=1' ../out
		[ "$(grep -cF "CXXFLAGS='-include cstdint -include stdexcept'" ../out)" = "$([ $os = debian12 ]; echo $?)" ]
		[ "$(grep -cF 's/const size_type count_;/size_type count_;/' ../out)" = "$([ $os != debian13 ]; echo $?)" ]
	done
}

@test "Megatron Core below 0.16 gets the NumPy that it asks for, in place of the one that is there" {
	unset RINGUP_CATALOG # the real one
	apart ringup recipe torch==2.8.0 megatron-core==0.14.0 gpu==H100
	says 0
	grep -qF "pip list --format=freeze | grep -vE '^(numpy)==' >/tmp/stays.txt" ../out
	grep -qF "megatron-core==0.14.0 'numpy<2'" ../out
	apart ringup recipe torch==2.8.0 megatron-core==0.16.0 gpu==H100
	says 0
	! grep -F 'numpy<2' ../out
}

@test "the newest frameworks have a recipe, with the libraries that their wheels bring" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	for words in torch 'torch gpu==H100' 'torch gpu==B200' tensorflow 'horovod torch' 'horovod tensorflow'; do
		# shellcheck disable=SC2086 # several requests
		apart ringup recipe $words
		says 0
	done
	apart ringup recipe torch==2.14.1
	says 0
	grep -qF 'org.ringup.stack.nccl="2.30.7"' ../out # as the wheel's metadata on PyPI says
	grep -qF 'nvidia-nccl-cu13==2.30.7 --hash' ../out
	! grep -E 'libnccl2=|libcudnn9|cudnn-linux' ../out
	apart ringup --json resolve --no-lock torch==2.14.1
	says 0
	jq -e '.stack.cudnn | .version == "9.24.0.43" and .wheel == "torch" and (has("download") | not)' ../out
	apart ringup resolve --no-lock torch==2.14.1 nccl==2.28.3-1
	says 0 'torch 2.14.1 loads the NCCL 2.30.7 that its wheel brings'
	apart ringup recipe torch==2.14.1 nccl==2.28.3-1
	says 0
	grep -qF 'libnccl2=2.28.3-1+cuda13.0' ../out
}

@test "cuda-compat: only for GPUs that can use it" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	apart ringup recipe cuda==12.4.1 gpu==RTX3090 os==rockylinux9
	says 0
	grep -qF "rpm -qa 'cuda-compat-*' | xargs -r rpm -e" ../out # NVIDIA's image has it
	apart ringup recipe cuda==12.4.1 gpu==RTX3090 os==debian12
	says 0
	! grep -F cuda-compat- ../out
	apart ringup recipe cuda==12.4.1 gpu==A100 os==debian12
	says 0
	grep -qE ' cuda-compat-12-4$' ../out
	apart ringup recipe cuda==12.4.1 gpu==A100 os==rockylinux9
	says 0
	! grep -F cuda-compat- ../out
	# a base of one's own may have it, and the CUDA of a wheel looks for it too
	printf 'hosts: [a]\nimage: {base: "nvidia/cuda:12.4.1-runtime-ubuntu22.04"}\n' >cluster.yaml
	apart ringup recipe torch==2.6.0 'gpu==RTX 4090' driver==535.54.03
	says 0
	grep -qF "'cuda-compat-*' | xargs -r dpkg --purge" ../out
	apart ringup recipe torch==2.6.0 gpu==A100
	says 0
	! grep -F 'cuda-compat-*' ../out
}

@test "a wheel that brings CUDA: the OS's own image, and a Dockerfile of at most 100 lines" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	for os in ubuntu18.04 ubuntu20.04 ubuntu24.04 debian12 rockylinux9 oraclelinux9 amzn2023 azurelinux3 sles15; do
		apart ringup recipe torch gpu==H100 os==$os
		says 0
		[ "$(grep -vc '^#\|^$' ../out)" -le 100 ]
	done
	apart ringup recipe torch==2.15.0 os==ubuntu24.04
	says 0
	grep -qxF 'FROM docker.io/library/ubuntu:24.04 AS stack' ../out
	! grep -E 'cuda-(libraries|toolkit|compat)-' ../out
	grep -qF 'cuda-cudart-dev-13-2 cuda-driver-dev-13-2' ../out # for Open MPI, in the build stage
	[ "$(sed '/ AS build$/,$d' ../out | grep -c 'step nvidia')" -eq 0 ]
	apart ringup resolve --no-lock torch==2.15.0 cuda==13.3
	says 0 'torch 2.15.0 loads the CUDA 13.2 that its wheel brings, and not CUDA 13.3'
	grep -qF docker.io/ ../out
}

@test "Horovod beside a wheel that brings CUDA: the toolkit is in the build stage alone" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	apart ringup recipe horovod==0.28.1 torch==2.15.0 gpu==H100 os==ubuntu24.04
	says 0
	! sed '/ AS build$/,$d' ../out | grep -E 'cuda-|step nvidia'
	sed '1,/ AS build$/d' ../out | grep -qF cuda-toolkit-13-2
	apart ringup recipe horovod==0.28.1 tensorflow==2.15.1 gpu==A100 os==ubuntu22.04
	says 0
	grep -qxF 'FROM docker.io/library/ubuntu:22.04 AS stack' ../out
	# whoever names CUDA gets it, and so does a driver that needs the libraries of a newer one
	for cuda in cuda==13.2.2 'CUDA == 13.2.2'; do
		apart ringup recipe horovod==0.28.1 torch==2.15.0 "$cuda" os==ubuntu24.04
		says 0
		grep -qF cuda-libraries-13-2 ../out
	done
	apart ringup recipe horovod==0.28.1 torch==2.6.0+cu124 driver==470.57.02 gpu==A100
	says 0
	sed '/ AS build$/,$d' ../out | grep -F 'FROM docker.io/nvidia/cuda:12.4.1-runtime'
	# and what is built by nvcc or compiles at run time beside torch, a base of one's own, and a bare host
	for beside in flash-attn deepspeed; do
		apart ringup recipe horovod==0.28.1 torch==2.15.0 "$beside" os==ubuntu24.04
		says 0
		sed '/ AS build$/,$d' ../out | grep -F 'cuda-libraries-13-2'
	done
	apart ringup recipe --format script horovod==0.28.1 torch==2.15.0 gpu==H100 os==ubuntu24.04
	says 0
	grep -F 'cuda-libraries-13-2' ../out
	echo 'image: {base: "docker.io/library/ubuntu:24.04"}' >>cluster.yaml
	apart ringup recipe horovod==0.28.1 torch==2.15.0 gpu==H100
	says 0
	sed '/ AS build$/,$d' ../out | grep -F 'cuda-libraries-13-2'
}

@test "a small image says what it does without" {
	unset RINGUP_CATALOG # the real one
	printf 'hosts: [a]\nimage: {size: small}\n' >cluster.yaml
	apart ringup recipe torch==2.15.0
	says 0
	grep -qF '# image.size: small: without a C compiler torch.compile and Triton fail' ../out
}

@test "what an OS calls its packages: RPMs of headers end in -devel; pip leaves Debian's own packages be" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	apart ringup recipe torch==2.15.0 os==rockylinux9
	says 0
	grep -qF 'cuda-cudart-devel-13-2 cuda-driver-devel-13-2' ../out
	! grep -E -- '-dev-[0-9]|--ignore-installed' ../out
	apart ringup recipe tensorflow==2.19.1 os==ubuntu24.04
	says 0
	grep -qF -- '--ignore-installed --no-deps --require-hashes' ../out
	for gpus in 'gpu==RTX4090' 'gpu==RTX4090 gpu==H100'; do
		# shellcheck disable=SC2086 # several requests
		ringup recipe cuda==12.4.1 os==debian12 $gpus >../out
		! grep -F cuda-compat ../out
	done
	apart ringup recipe jax horovod
	says 3 'Horovod has no operations for JAX' '--allow horovod-jax'
	apart ringup recipe --allow horovod-jax jax horovod
	says 1 'no recipe: Horovod has no operations for JAX'
}

@test "another framework leaves what is compiled before it as it is" {
	unset RINGUP_CATALOG # the real one
	printf 'hosts: [a]\naccelerator: cpu\n' >cluster.yaml
	for torch in 2.1.2 2.2.0; do
		ringup recipe torch==$torch openmpi==4.1.6 os==ubuntu22.04 2>/dev/null | grep -v '^#' | sed '/^FROM stack$/,$d' >../$torch
		grep -qF 'make -j' ../$torch
	done
	cmp ../2.1.2 ../2.2.0
	apart ringup recipe tensorflow==2.13.1 horovod==0.28.1 os==ubuntu22.04 openmpi==4.1.6
	says 0
	[ "$(grep -n 'make -j' ../out | cut -d: -f1)" -lt "$(grep -n ' AS frameworks$' ../out | cut -d: -f1)" ]
	grep -qxF 'FROM build AS extensions' ../out
	grep -qF 'HOROVOD_WITH_GLOO=1' ../out
	# nothing of the worker stands before what is compiled against frameworks
	! sed '/ AS worker$/,$d' ../out | grep -E 'worker/|/out'
	grep -qxF 'COPY --from=worker /out/ /usr/local/bin/' ../out
}

@test "image.size: the compiler that torch.compile needs, or none" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	ringup recipe torch==2.15.0 os==ubuntu24.04 2>/dev/null | sed '/ AS build$/,$d' >../stack
	grep -qE ' gcc g\+\+' ../stack
	echo 'image: {size: small}' >>cluster.yaml
	ringup recipe torch==2.15.0 os==ubuntu24.04 2>/dev/null | sed '/ AS build$/,$d' >../stack
	! grep -F 'g++' ../stack
	echo 'image: {size: tiny}' >cluster.yaml
	apart ringup recipe
	says 2 "'size'" full
}

@test "a CPU stack takes the CPU wheel, from PyTorch's index or mirrors.pytorch only" {
	unset RINGUP_CATALOG # the real one
	printf 'hosts: [a]\naccelerator: cpu\nmirrors: {pytorch: "http://mirror.lan/whl"}\n' >cluster.yaml
	apart ringup recipe torch==2.9.1 os==ubuntu24.04
	says 0
	grep -qF 'index="${PYTORCH_MIRROR:-https://download.pytorch.org/whl}/cpu"' ../out
	grep -qF "'torch==2.9.1 --hash=sha256:7417d8c5" ../out
	grep -qF -- '--no-deps --require-hashes --index-url "$index"' ../out
	grep -qF -- "--index-url \"\$index\" 'torch==2.9.1'" ../out
	! grep -E 'nvidia-|extra-index-url|mirror.lan' ../out
	apart ringup resolve --no-lock torch==2.9.1 os==ubuntu24.04
	says 0
	grep -qF 'https://download.pytorch.org/whl/cpu' ../out
	# a wheel of another Python or processor has another checksum
	for other in 'torch==2.9.1 os==debian12' 'torch==2.9.1 os==ubuntu24.04 --arch aarch64'; do
		# shellcheck disable=SC2086 # words
		apart ringup recipe $other
		says 0
		grep -qF -- '--index-url "${PYTORCH_MIRROR:-https://download.pytorch.org/whl}/cpu"' ../out
		! grep -F -- '--hash=sha256:7417d8c5' ../out
	done
}

@test "a checksum that is none does not come into a recipe" {
	cp -r "$ROOT/recipes/catalog" catalog
	sed -i "s/^\(2.9.1,,torch,cpu,cp312,\)[^,]*/\1\$(reboot)/" catalog/index_wheel.csv
	printf 'hosts: [a]\naccelerator: cpu\n' >cluster.yaml
	RINGUP_CATALOG=$PWD/catalog apart ringup recipe torch==2.9.1 os==ubuntu24.04
	says 2 'index_wheel.csv:' "'\$(reboot)' is no SHA-256 checksum"
}

@test "build.ca: the authorities of the build, which the image does not keep" {
	unset RINGUP_CATALOG # the real one
	printf 'hosts: [a]\nbuild: {ca: own.pem}\n' >cluster.yaml
	apart ringup recipe os==rockylinux9 openmpi==5.0.8
	says 2 build.ca own.pem
	echo certificate >own.pem
	apart ringup recipe os==rockylinux9 openmpi==5.0.8
	says 2 build.ca own.pem 'no certificate'
	printf '%s\n' '-----BEGIN CERTIFICATE-----' x '-----END CERTIFICATE-----' >own.pem
	apart ringup recipe -o context
	says 2 build.ca own.pem 'no certificate'
	openssl req -x509 -newkey rsa:2048 -nodes -keyout own.key -out own.pem -subj /CN=own -days 2 2>/dev/null
	for os in rockylinux9 azurelinux3 debian12; do
		ringup recipe -o context os==$os openmpi==5.0.8
		cmp own.pem context/build-ca.crt
		grep -qxF 'ARG PIP_CERT=/usr/local/share/build-ca.crt' context/Dockerfile
		grep -qxF 'ARG CURL_CA_BUNDLE=/usr/local/share/build-ca.crt' context/Dockerfile
		grep -qF 'rm /usr/local/bin/step /usr/local/share/build-ca.crt' context/Dockerfile
		grep -qE 'sslcacert=|CaInfo' context/step
	done
	echo 'hosts: [a]' >cluster.yaml
	ringup recipe -o context os==debian12 openmpi==5.0.8
	[ ! -e context/build-ca.crt ]
	echo mine >context/build-ca.crt # nothing that ringup wrote
	ringup recipe -o context os==debian12 openmpi==5.0.8
	[ -s context/build-ca.crt ]
}

@test "a recipe with requests warns of what resolve warns of" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	apart ringup resolve --no-lock torch==2.13.0 nccl==2.27.7-1 os==ubi9
	says 0 libibverbs 'torch 2.13.0 loads the NCCL'
	grep '^warning:' ../err | sort >../resolve
	apart ringup recipe torch==2.13.0 nccl==2.27.7-1 os==ubi9
	says 0 libibverbs 'torch 2.13.0 loads the NCCL'
	grep '^warning:' ../err | sort | cmp - ../resolve
}

@test "resolve names the image that the recipe begins with" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	for words in 'torch os==ubuntu24.04' 'cuda==12.4.1 os==rockylinux9' 'openmpi==5.0.8 os==amzn2023' 'torch==2.7.1 os==debian12'; do
		# shellcheck disable=SC2086 # several requests
		ringup recipe $words 2>/dev/null >../out
		image=$(sed -n 's/^FROM \([^ ]*\) AS stack$/\1/p' ../out)
		# shellcheck disable=SC2086
		[ "$(ringup resolve --no-lock $words 2>/dev/null | awk '$1 == "image" { print $2 }')" = "$image" ]
		# shellcheck disable=SC2086
		[ "$(ringup --json resolve --no-lock $words 2>/dev/null | jq -r .image)" = "$image" ]
	done
	printf 'hosts: [a]\nimage: {base: "docker.io/library/debian:12"}\n' >cluster.yaml
	ringup resolve --no-lock torch os==debian12 2>/dev/null | grep -E '^image +docker.io/library/debian:12 '
}

@test "packages that NVIDIA has for no such OS have no recipe, and no place in a file is blamed" {
	unset RINGUP_CATALOG
	rm -f cluster.yaml
	apart ringup recipe --allow cuda-os cuda==12.1 os==amzn2
	says 1 'no recipe: NVIDIA has no repository of packages for amzn2'
	! grep -q 'nothing is known as' ../err
}

@test "a conflict has no recipe" {
	apart ringup recipe 'openmpi>=6'
	says 3 'openmpi>=6'
	[ ! -s ../out ]
}

@test "--format script: the same stack as a bash script for a bare host" {
	unset RINGUP_CATALOG # the real one
	apart ringup recipe --format script openmpi==4.1.4 os==debian12
	says 0
	shellcheck ../out
	[ "$(head -n 1 ../out)" = '#!/usr/bin/env bash' ]
	grep -qF 'openmpi-bin=4.1.4' ../out
	grep -qF "export A='b c'" ../out
	# what only an image can have
	! grep -E '^(FROM|COPY|RUN|ENV|LABEL) |ssh_host|/etc/shadow|ringup-entry|machine-id' ../out
	! grep -qF mirror.lan ../out
}

# stack_wheels REQ...: a folder with what the script of that stack says of compiled wheels, and its Horovod step.
stack_wheels() {
	ringup recipe --format script "$@" >../script
	sed -n '/^wheels=/,/^}/p' ../script
	sed -n '/^# Horovod .* against/,/^)/p' ../script | sed -n '/\[\[ ! -d \$wheels/s/; export.*/; echo compiles/p'
}

@test "--format script: what was compiled stays under the stack's name, and a host that finds it compiles nothing" {
	local stack=(horovod==0.28.1 torch==1.13.1 os==ubuntu22.04) key
	unset RINGUP_CATALOG # the real one
	stack_wheels "${stack[@]}" >../wheels.sh
	key=$(sed -n 's|^wheels=.*/||p' ../wheels.sh)
	[[ "$key" =~ ^[0-9a-f]{16}$ ]]
	stack_wheels "${stack[@]}" | cmp - ../wheels.sh
	stack_wheels "${stack[@]}" python==3.8 2>/dev/null | grep '^wheels=' >../other
	! grep -qF "$key" ../other
	# the first host
	export RINGUP_WHEELS=$PWD/wheels
	[ "$(bash -eu ../wheels.sh)" = compiles ]
	bash -eu -c '. ../wheels.sh >/dev/null; mkdir -p "$new_wheels"; echo one >"$new_wheels/horovod-1.whl"; keep_wheels ""'
	[ "$(cat "wheels/$key/horovod-1.whl")" = one ]
	# the others, also one that had begun before the first one ended
	[ -z "$(bash -eu ../wheels.sh)" ]
	bash -eu -c 'compiles() { sed "/exit 0/d" ../wheels.sh; }; . <(compiles); mkdir "$new_wheels"; echo two >"$new_wheels/horovod-1.whl"; keep_wheels ""'
	[ "$(cat "wheels/$key/horovod-1.whl")" = one ]
	[ "$(ls wheels)" = "$key" ]
}

@test "--format script -o DIR: the script, and what it wants beside it" {
	unset RINGUP_CATALOG
	apart ringup recipe --format script -o host openmpi==4.1.4 os==debian12
	says 0
	[ -x host/install.sh ] && [ ! -e host/Dockerfile ] && [ ! -e host/entry ]
	diff -r src host/files/0
	cmp "$ROOT/images/worker/build.sh" host/worker/build.sh
	grep -qF 'cp -R "$here/files/0/." /workspace' host/install.sh
	ringup recipe --format script openmpi==4.1.4 os==debian12 | cmp - host/install.sh
	ringup recipe --format script -o host openmpi==4.1.4 os==debian12
	# a Dockerfile that is somebody's stays
	echo FROM scratch >host/Dockerfile
	apart ringup recipe --format script -o host openmpi==4.1.4 os==debian12
	says 2 host/Dockerfile
	[ "$(cat host/Dockerfile)" = 'FROM scratch' ]
}

@test "--format script: not as root, or on another OS, it changes nothing" {
	unset RINGUP_CATALOG
	sed -i '/apt: \[git\]/d' cluster.yaml
	ringup recipe --format script openmpi==4.1.4 os==rockylinux9 >../script
	# the checks alone, should this be run by root on that very OS
	sed '/^# sources are fetched/,$d' ../script >../checks
	apart bash ../checks
	[ "$status" -eq 1 ]
	grep -qE 'run this as root|the stack is for rockylinux9' ../err
}

@test "--format: what is no format" {
	apart ringup recipe --format yaml
	says 2 '--format' yaml
	apart ringup --json recipe --format dockerfile
	says 0
	unset RINGUP_CATALOG
	apart ringup --json recipe --format script openmpi==4.1.4 os==debian12
	says 0
	json 'd["os"] == "debian12" and d["script"].startswith("#!/usr/bin/env bash")'
}

@test "image.apt and image.yum leave out an OS that has none of their packages" {
	unset RINGUP_CATALOG # the real one
	printf 'hosts: [a]\nstack: ["torch==2.6.0+cu126", "python==3.11"]\nimage: {apt: [git]}\n' >cluster.yaml
	apart ringup resolve
	says 0
	grep -qE '^os +debian12 ' ../out
	apart ringup recipe
	says 0
	grep -qx ' *git' ../out || grep -qE '[ \]git( |$)' ../out
	# the lock has the requests of the person alone
	! grep -F 'os!=' ringup.lock | grep -F requests
	rm ringup.lock
	sed -i 's/apt/yum/' cluster.yaml
	apart ringup resolve
	says 0
	grep -qE '^os +rockylinux9 ' ../out
	# an OS that somebody names stays
	printf 'hosts: [a]\nstack: ["python==3.11", "os==rockylinux9"]\nimage: {apt: [git]}\n' >cluster.yaml
	rm ringup.lock
	apart ringup recipe
	says 2 'rockylinux9 has dnf: name its packages in image.yum'
}

@test "JAX with a CUDA that a request names gets the runtime that the warning says" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	apart ringup recipe jax==0.4.35 cuda==12.6 os==ubuntu22.04
	says 0 'JAX 0.4.35 loads the CUDA 12.3 that its wheel brings, and not CUDA 12.6'
	grep -F "'jax[cuda12]==0.4.35' 'nvidia-cuda-runtime-cu12==12.3.*'" ../out
	# torch has fixed it
	apart ringup recipe jax==0.4.35 torch==2.6.0 cuda==12.6 os==ubuntu22.04
	says 0
	! grep -F 'nvidia-cuda-runtime-cu12==12.3' ../out
}

@test "a compiler beside the OS's own is gcc and g++ for torch.compile" {
	unset RINGUP_CATALOG # the real one
	echo 'hosts: [a]' >cluster.yaml
	apart ringup recipe torch==2.5.1 os==rockylinux8
	says 0
	grep -A 2 -F 'export PATH="/opt/rh/gcc-toolset-14/root/usr/bin:$PATH" CC=gcc CXX=g++; \' ../out | grep -F '"$PATH" "$CC" >/usr/local/bin/gcc' >line
	apart ringup recipe torch==2.5.1 os==rockylinux9
	says 0
	! grep -F '/usr/local/bin/g++' ../out
	# what the lines make: the compiler of that folder, with its words
	mkdir -p bin other
	printf '#!/bin/sh\necho "other $*"\n' >other/gcc
	sed "s,/usr/local/bin/gcc.*,$PWD/bin/gcc," line >make-it
	PATH=$PWD/other:$PATH CC=gcc sh make-it
	chmod +x bin/gcc other/gcc
	[ "$(PATH=$PWD/bin:$PATH gcc -c 'a b.c')" = 'other -c a b.c' ]
}

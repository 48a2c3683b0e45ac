#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ringup catalog refresh against upstreams that stand in for PyPI and the others, and the age of the catalog.

load ../cli/helper
setup() {
	common_setup
	up=$PWD/upstream
	mkdir "$up"
	cp -r "$ROOT/tests/golden/catalog" catalog
	echo 'pypi,Python Package Index,https://pypi.org/,documented' >>catalog/sources.csv
	python3 "$ROOT/tests/standin/upstream.py" serve "$up" 3>&- &
	server=$!
	until [ -e "$up/address" ]; do
		kill -0 "$server"
		sleep 0.05
	done
	url=$(cat "$up/address")
	cat >cluster.yaml <<-END
		hosts: [127.0.0.1]
		mirrors: {pip: "$url/simple", pytorch: "$url/whl/", downloads: "$url", docker: "$url"}
	END
	export RINGUP_CATALOG=$PWD/catalog RINGUP_TODAY=2026-11-23
}
teardown() {
	kill "$server"
	wait "$server" || true
}

wheel() { python3 "$ROOT/tests/standin/upstream.py" wheel "$up" "$@"; }

# table NAME COLUMNS ROW...: a table of the catalog.
table() {
	printf '%s\n' "version,os,$2,run_packages,build_packages,note,certainty,source" "${@:3}" >"catalog/$1.csv"
}

torch_table() {
	table torch python,cuda,cuda_tested,cudnn,cudnn_tested,nccl_bundled,brings,glibc,sm,ptx,pip,index,on_pypi,manylinux \
		'2.14.0,,>=3.10;<3.12,>=13.0;<14,==13.0.*,>=9.24;<10,==9.24.0.43,2.30.7,cudnn==9.24.0.43;nccl==2.30.7,>=2.28,7.5;9.0,12.0,torch==2.14.0,https://download.pytorch.org/whl/cu130,yes,manylinux_2_28,,,,documented,test'
}

torch_wheels() { # VERSION TOOLKIT CUDNN NCCL
	for python in cp310 cp311; do
		wheel torch "$1" "$python-$python-manylinux_2_28_x86_64" \
			"cuda-toolkit[cudart]==$2; platform_system == \"Linux\"" \
			"nvidia-cudnn-cu13==$3; platform_system == \"Linux\"" \
			"nvidia-nccl-cu13==$4; platform_system == \"Linux\""
	done
}

@test "a new version becomes a row: METADATA comes out of the wheel by ranges" {
	torch_table
	torch_wheels 2.14.0 13.0.2 9.24.0.43 2.30.7
	torch_wheels 2.15.0 13.2.2 9.26.0.51 2.31.2
	wheel torch 2.16.0rc1 cp310-cp310-manylinux_2_28_x86_64
	apart ringup catalog refresh torch
	says 0
	grep -q '^torch  *2.15.0  *new row ' ../out
	! grep -q 2.16.0 ../out
	# the certainty and the note tell what upstream did not say
	diff - <(tail -n 1 catalog/torch.csv) <<-'END'
		2.15.0,,>=3.10;<3.12,>=13.2;<14,==13.2.*,>=9.26;<10,==9.26.0.51,2.31.2,cuda==13.2;cudnn==9.26.0.51;nccl==2.31.2,>=2.28,7.5;9.0,12.0,torch==2.15.0,https://download.pytorch.org/whl/cu132,yes,manylinux_2_28,,,default on PyPI; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels; sm ptx as of 2.14.0,inferred,pypi
	END
	grep -q '^torch,2026-11-23,' catalog/updated.csv
	# no wheel is read as a whole
	! grep '\.whl $' "$up/log"
	apart ringup catalog refresh torch
	says 0
	grep -qx 'nothing is new' ../out
}

@test "builds of torch that PyPI has not come from PyTorch's own index, a web page" {
	torch_table
	# this row lacks what it brings
	cat >>catalog/torch.csv <<-'END'
		2.14.0,,>=3.10;<3.12,>=12.6;<13,==12.6.*,>=9.10;<10,==9.10.2.21,,,>=2.28,5.0;9.0,,torch==2.14.0+cu126,https://download.pytorch.org/whl/cu126,,manylinux_2_28,,,,documented,test
	END
	torch_wheels 2.14.0 13.0.2 9.24.0.43 2.30.7
	# cu130 is PyPI's own build, and has its row; aarch64, Windows, the CPU and other builds do not count
	torch_wheels 2.14.0+cu130 13.0.2 9.24.0.43 2.30.7
	for version in 2.14.0 2.14.1; do
		for python in cp310 cp311; do
			wheel torch "$version+cu126" "$python-$python-manylinux_2_28_x86_64" \
				'nvidia-cuda-runtime-cu12==12.6.77; platform_system == "Linux" and platform_machine == "x86_64"' \
				'nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux" and platform_machine == "x86_64"' \
				'nvidia-nccl-cu12==2.30.7; platform_system == "Linux" and platform_machine == "x86_64"'
		done
	done
	wheel torch 2.14.1+cu126 cp312-cp312-win_amd64
	wheel torch 2.14.1+cu128 cp310-cp310-manylinux_2_28_aarch64
	wheel torch 2.14.1+cpu cp310-cp310-manylinux_2_28_x86_64
	wheel torch 2.14.1+cu126.with.pypi.cudnn cp310-cp310-manylinux_2_28_x86_64
	touch "$up/beside"
	apart ringup catalog refresh torch
	says 0
	diff - <(tail -n 2 catalog/torch.csv) <<-'END'
		2.14.0,,>=3.10;<3.12,>=12.6;<13,==12.6.*,>=9.10;<10,==9.10.2.21,2.30.7,cuda==12.6;cudnn==9.10.2.21;nccl==2.30.7,>=2.28,5.0;9.0,,torch==2.14.0+cu126,https://download.pytorch.org/whl/cu126,,manylinux_2_28,,,,documented,test;pytorch-index
		2.14.1,,>=3.10;<3.12,>=12.6;<13,==12.6.*,>=9.10;<10,==9.10.2.21,2.30.7,cuda==12.6;cudnn==9.10.2.21;nccl==2.30.7,>=2.28,5.0;9.0,,torch==2.14.1+cu126,https://download.pytorch.org/whl/cu126,,manylinux_2_28,,,wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels; sm as of 2.14.0,inferred,pytorch-index
	END
	grep -q '^pytorch-index,' catalog/sources.csv
	! grep '\.whl ' "$up/log"
	apart ringup catalog refresh torch
	says 0
	grep -qx 'nothing is new' ../out
}

# sum_of FILE: the checksum that the index's page has.
sum_of() { sha256sum "$up/files/$1" | cut -d' ' -f1; }

@test "checksums of the wheels of PyTorch's index: of one Python each, of releases that are rows" {
	torch_table
	table index_wheel component,built,flavor,sha256 "2.14.0,,torch,cpu,cp311,$(printf '0%.0s' {1..64}),,,,documented,test"
	torch_wheels 2.14.0 13.0.2 9.24.0.43 2.30.7
	for file in 2.14.0+cpu,cp310-cp310-manylinux_2_28_x86_64 2.14.0+cpu,cp311-cp311-manylinux_2_28_x86_64 \
		2.14.0+cpu,cp313-cp313t-manylinux_2_28_x86_64 2.14.0+cpu,cp310-cp310-manylinux_2_28_aarch64 \
		2.14.0+cpu,cp310-cp310-win_amd64 2.14.0+rocm7.0,cp310-cp310-manylinux_2_28_x86_64 \
		1.13.1+cpu,cp310-cp310-linux_x86_64 2.16.0+cpu,cp310-cp310-manylinux_2_28_x86_64; do
		wheel torch "${file%,*}" "${file#*,}"
	done
	apart ringup catalog refresh torch
	[ "$(grep -c . catalog/index_wheel.csv)" = 3 ]
	[ "$(tail -n 1 catalog/index_wheel.csv)" = "2.14.0,,torch,cpu,cp310,$(sum_of torch-2.14.0+cpu-cp310-cp310-manylinux_2_28_x86_64.whl),,,,documented,pytorch-index" ]
	# a checksum that is another one is not taken over
	says 1 '1 thing is to be looked at'
	grep -q '^index_wheel .* look at this  sha256: the row says 0000' ../out
	grep -q "^2.14.0,,torch,cpu,cp311,0000" catalog/index_wheel.csv
}

@test "PyTorch's index does not answer: PyPI's rows are written all the same" {
	torch_table
	torch_wheels 2.14.0 13.0.2 9.24.0.43 2.30.7
	torch_wheels 2.15.0 13.2.2 9.26.0.51 2.31.2
	echo '/whl/torch/ 404' >"$up/broken"
	apart ringup catalog refresh torch
	says 1
	grep -q 'whl/torch/' ../err
	grep -q '^2.15.0,' catalog/torch.csv
}

@test "JAX: what its plugins for CUDA ask for, one row for each" {
	table jax python,cuda,cuda_tested,cudnn,nccl,brings,glibc,sm,ptx,pip,pip_cpu,index,manylinux \
		'0.11.0,,>=3.12;<3.13,>=12.1;<13,==12.9.*,>=9.8;<10.0,>=2.18.1;<3,cuda==12.9;nccl==2.31.2,>=2.27,5.2;9.0,12.0,jax[cuda12]==0.11.0,jax==0.11.0,,manylinux_2_27,,,,documented,test' \
		'0.11.0,,>=3.12;<3.13,>=13.0;<14,==13.0.*,>=9.12;<10.0,>=2.27.7;<3,cuda==13.0;nccl==2.31.2,>=2.27,7.5;9.0,12.0,jax[cuda13]==0.11.0,jax==0.11.0,,manylinux_2_27,,,,documented,test'
	for version in 0.10.0 0.11.0 0.12.0 0.12.1rc1; do
		wheel jax "$version" py3-none-any
		for major in 12 13; do
			wheel "jax-cuda$major-plugin" "$version" cp312-cp312-manylinux_2_27_x86_64 "jax-cuda$major-pjrt==$version" \
				"nvidia-cuda-runtime$([ $major = 13 ] || echo -cu12)>=$major.$((13 - major)); extra == \"with-cuda\"" \
				"nvidia-cudnn-cu$major<10.0,>=9.$((4 * major - 40)); extra == \"with-cuda\"" \
				"nvidia-nccl-cu$major>=2.$((9 * major - 90)).1; extra == \"with-cuda\""
		done
	done
	# a plugin without its jax is no release
	wheel jax-cuda13-plugin 0.13.0 cp312-cp312-manylinux_2_27_x86_64
	apart ringup catalog refresh jax
	says 0
	diff - <(grep '^0.1[02]' catalog/jax.csv) <<-'END'
		0.12.0,,==3.12.*,>=12.1;<13,==12.9.*,>=9.8;<10.0,>=2.18.1;<3,cuda==12.9;nccl==2.31.2,>=2.27,5.2;9.0,12.0,jax[cuda12]==0.12.0,jax==0.12.0,,manylinux_2_27,,,cuda_tested brings sm ptx as of 0.11.0,inferred,pypi
		0.12.0,,==3.12.*,>=13.0;<14,==13.0.*,>=9.12;<10.0,>=2.27.1;<3,cuda==13.0;nccl==2.31.2,>=2.27,7.5;9.0,12.0,jax[cuda13]==0.12.0,jax==0.12.0,,manylinux_2_27,,,cuda_tested brings sm ptx as of 0.11.0,inferred,pypi
	END
	grep -q '^jax,2026-11-23,' catalog/updated.csv
	apart ringup catalog refresh jax
	says 0
	grep -qx 'nothing is new' ../out
}

@test "METADATA beside the wheel is taken where the index has it" {
	torch_table
	torch_wheels 2.15.0 13.2.2 9.26.0.51 2.31.2
	touch "$up/beside"
	apart ringup catalog refresh torch
	says 0
	grep -q '^2.15.0,.*nccl==2.31.2' catalog/torch.csv
	! grep '\.whl ' "$up/log"
}

@test "--check writes nothing, and says by its status that something is new" {
	torch_table
	torch_wheels 2.15.0 13.2.2 9.26.0.51 2.31.2
	rm catalog/openmpi.csv
	cp -r catalog before
	apart ringup catalog refresh --check
	says 1 '1 row is new' "run 'ringup catalog refresh'"
	grep -q '^torch  *2.15.0  *new row ' ../out
	diff -r before catalog
	apart ringup --json catalog refresh --check torch
	says 1
	json 'd["written"] is False and d["changes"][0]["version"] == "2.15.0" and d["changes"][0]["news"] == "new"'
	json 'd["changes"][0]["url"].startswith("http://127.0.0.1")'
}

@test "what contradicts a row is not written until somebody looks" {
	torch_table
	torch_wheels 2.14.0 13.0.2 9.24.0.44 2.30.7
	cp catalog/torch.csv before
	apart ringup catalog refresh torch
	says 1 '1 thing is to be looked at' "'look at this'"
	grep -q '^torch  *2.14.0  *look at this  *brings: the row says cudnn==9.24.0.43;nccl==2.30.7; upstream says cuda==13.[0-9];cudnn==9.24.0.44' ../out
	diff before catalog/torch.csv
	printf '%s\n' id,component,versions,column,upstream,note,certainty,source \
		'a,torch,2.14.0,brings,cuda==13.0;cudnn==9.24.0.44;nccl==2.30.7,the wheel says so and brings the other,documented,test' \
		>catalog/reviewed.csv
	apart ringup catalog refresh torch
	says 0
	grep -qx 'nothing is new' ../out
}

@test "an upstream that does not answer is named, and the others are refreshed" {
	torch_table
	table horovod python,pip,released,download,sha256 '0.28.0,,>=3.6,horovod==0.28.0,2023-05,,,,,,documented,test'
	torch_wheels 2.15.0 13.2.2 9.26.0.51 2.31.2
	tar -czf "$up/files/horovod-0.28.1.tar.gz" cluster.yaml
	echo '/simple/torch/ 403' >"$up/broken"
	apart ringup catalog refresh torch horovod
	says 1 "torch: $url/simple/torch/ answered HTTP 403" 'name a mirror' '1 component could not be compared'
	grep -q '^0.28.1,,>=3.6,horovod==0.28.1,2026-10,http.*horovod-0.28.1.tar.gz,[0-9a-f]\{64\},' catalog/horovod.csv
	! grep -q '^torch,' catalog/updated.csv
	! grep -q 2.15.0 catalog/torch.csv
}

@test "a server without ranges is an error, and no wheel is fetched as a whole" {
	torch_table
	torch_wheels 2.15.0 13.2.2 9.26.0.51 2.31.2
	truncate -s 20M "$up/files/torch-2.15.0-cp310-cp310-manylinux_2_28_x86_64.whl"
	touch "$up/no-ranges"
	apart ringup catalog refresh torch
	says 1 'answers with more than'
	! grep -q 2.15.0 catalog/torch.csv
}

@test "NVIDIA's wheels become rows of wheel.csv, cudnn.csv and nccl.csv" {
	table wheel component,built,pip,sha256 \
		'13.0.2,,cuda,13,nvidia-cuda-runtime==13.0.96;nvidia-cublas==13.1.0.3,a;b,,,,documented,test' \
		'2.28.3-1,,nccl,13,nvidia-nccl-cu13==2.28.3,c,,,,documented,test'
	table nccl kind,built,cuda,download,sha256,released '2.28.3,,pip,13,>=13;<14,,,,,,,documented,test'
	wheel cuda-toolkit 13.5.0 py2.py3-none-any 'nvidia-cuda-runtime==13.5.37.*; extra == "all"' \
		'nvidia-cublas==13.10.0.20.*; (sys_platform == "linux") and extra == "all"'
	wheel nvidia-cuda-runtime 13.5.37 py3-none-manylinux_2_17_x86_64
	wheel nvidia-cuda-runtime 13.5.40 py3-none-manylinux_2_17_x86_64
	wheel nvidia-cublas 13.10.0.20 py3-none-manylinux_2_17_x86_64
	wheel nvidia-nccl-cu13 2.31.2 py3-none-manylinux_2_17_x86_64
	wheel nvidia-nccl-cu13 2.31.3 py3-none-manylinux_2_17_aarch64
	apart ringup catalog refresh wheel nccl
	says 0
	sum() { sha256sum "$up/files/$1-py3-none-manylinux_2_17_x86_64.whl" | cut -d' ' -f1; }
	grep -qx "13.5.0,,cuda,13,nvidia-cuda-runtime==13.5.37;nvidia-cublas==13.10.0.20,$(sum nvidia_cuda_runtime-13.5.37);$(
		sum nvidia_cublas-13.10.0.20),,,the packages that cuda-toolkit==13.5.0 names; x86_64,documented,pypi" catalog/wheel.csv
	grep -qx "2.31.2-1,,nccl,13,nvidia-nccl-cu13==2.31.2,$(sum nvidia_nccl_cu13-2.31.2),,,x86_64,documented,pypi" catalog/wheel.csv
	grep -qx '2.31.2-1,,pip,13,>=13;<14,,,2026-10,,,nvidia-nccl-cu13==2.31.2,documented,pypi' catalog/nccl.csv
	! grep -q 2.31.3 catalog/*.csv
}

@test "without a catalog of one's own the rows go to the user's folder" {
	torch_table
	torch_wheels 2.15.0 13.2.2 9.26.0.51 2.31.2
	mkdir -p share/recipes
	mv catalog share/recipes/
	cp -r "$ROOT/images" "$ROOT/deployer" share/
	unset RINGUP_CATALOG
	export RINGUP_SHARE=$PWD/share XDG_DATA_HOME=$PWD/data
	apart ringup catalog refresh torch
	says 0
	[ "$(wc -l <data/ringup/catalog/torch.csv)" -eq 2 ]
	! grep -q 2.15.0 share/recipes/catalog/torch.csv
	apart ringup matrix torch
	says 0
	grep -q '^2.15.0 ' ../out
}

@test "a component without an upstream, and another word than refresh, are refused" {
	apart ringup catalog refresh gpu
	says 2 "'gpu' cannot be refreshed from an upstream" torch
	apart ringup catalog update
	says 2 "there is no 'catalog update'"
}

@test "a catalog that passes 120 days says how old it is, once" {
	printf '%s\n' name,date,certainty,source 'torch,2026-07-01,documented,test' 'nccl,2026-05-01,documented,test' >catalog/updated.csv
	RINGUP_TODAY=2026-10-29 apart ringup matrix
	says 0
	[ ! -s ../err ]
	RINGUP_TODAY=2026-10-30 apart ringup resolve --no-lock openmpi
	says 0 'the catalog is 121 days old (2026-07-01)' "'ringup catalog refresh'"
	[ "$(grep -c 'days old' ../err)" -eq 1 ]
	RINGUP_TODAY=2026-01-01 apart ringup matrix
	says 0
	[ ! -s ../err ]
}

@test "Open MPI's releases come from its own list, with checksums" {
	table openmpi kind,released,download,sha256,download_gz,sha256_gz,soname \
		'5.0.10,,source,2026-02,https://download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.10.tar.bz2,0acecc4fc218e5debdbcb8a41d182c6b0f1d29393015ed763b2a91d5d7374cc6,,,libmpi.so.40,,,,documented,test' \
		'4.1.4,debian12,package,,,,,,,openmpi-bin=4.1.4-3+b1,libopenmpi-dev=4.1.4-3+b1,,documented,test'
	cp -r "$ROOT/tests/golden/upstream/." "$up/"
	apart ringup catalog refresh openmpi
	says 0
	[ "$(sed -n 2p catalog/openmpi.csv)" = "5.0.11,,source,2026-09,https://download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.11.tar.bz2,e668a3c4acd50c41dc204c8a6dd98a611e0f26af89cf677577fa9be8a2698003,,,libmpi.so.40,,,soname as of 5.0.10,inferred,openmpi-releases" ]
	[ "$(wc -l <catalog/openmpi.csv)" -eq 4 ]
	grep -q '^openmpi-releases,' catalog/sources.csv
	sed -i 's/"sha256": "0acecc4f/"sha256": "1acecc4f/' "$up/www.open-mpi.org/software/ompi/v5.0/downloads/releases.json"
	apart ringup catalog refresh openmpi
	says 1 '1 thing is to be looked at'
	grep -q 'look at this  *sha256: the row says 0acecc4f' ../out
}

@test "the tags of nvidia/cuda become rows, and what has gone is to be looked at" {
	table image cuda,flavor,cudnn,status,first_listed \
		'12.2.0-base-debian12,debian12,12.2.0,base,,gone,2023-07-01,,,,documented,test' \
		'12.4.1-devel-debian12,debian12,12.4.1,devel,,listed,2024-04-01,,,,documented,test' \
		'12.5.1-devel-debian12,debian12,12.5.1,devel,,eol,2024-07-01,,,,documented,test' \
		'12.6.3-devel-debian12,debian12,12.6.3,devel,,listed,2024-12-01,,,,documented,test'
	printf '%s\n' latest 12.6.3-devel-debian12 12.5.1-devel-debian12 13.5.0-cudnn-runtime-debian12 12.4.1-cudnn8-devel-debian12 \
		13.5.0-base-debian12 13.5.0-base-plan9 13.5.0rc1-base-debian12 12.2.0-devel-debian12 13.5.0-debian12 \
		13.5.0-cudnnx-base-debian12 13.5.0-tensorrt-base-debian12 >"$up/tags"
	apart ringup catalog refresh image
	says 1 '1 thing is to be looked at'
	grep -q '^image  *12.4.1-devel-debian12  *look at this  *status: the row says listed; upstream says gone' ../out
	diff <(grep 'docker-hub-cuda$' catalog/image.csv) - <<-'END'
		12.4.1-cudnn8-devel-debian12,debian12,12.4.1,devel,==8.*,listed,,,,seen on Docker Hub in 2026-11,documented,docker-hub-cuda
		13.5.0-base-debian12,debian12,13.5.0,base,,listed,,,,seen on Docker Hub in 2026-11,documented,docker-hub-cuda
		13.5.0-cudnn-runtime-debian12,debian12,13.5.0,runtime,==9.*,listed,,,,seen on Docker Hub in 2026-11,documented,docker-hub-cuda
	END
}

@test "a patch release of CUDA has the facts of the one before it; a new series is for a person" {
	table cuda released,driver,driver_minor,gcc,sm,compat \
		'12.9.1,,2025-06,>=575.57.08,>=525.60.13,>=6;<15,>=5.0;<=12.1,yes,,,,documented,test' \
		'13.4.0,,2026-08,>=615,>=580.65.06,>=6;<16,>=7.5;<=12.1,yes,,,by hand,documented,test'
	for version in 12.3.0 12.9.2.0 13.4.0 13.4.1 13.5.0; do
		wheel cuda-toolkit "$version" py2.py3-none-any
	done
	apart ringup catalog refresh cuda
	says 1 '1 thing is to be looked at'
	grep -q '^cuda  *13.5.0  *look at this  *a new series of CUDA' ../out
	diff <(grep 'pypi$' catalog/cuda.csv) - <<-'END'
		12.9.2,,2026-10,>=575.57.08,>=525.60.13,>=6;<15,>=5.0;<=12.1,yes,,,driver driver_minor gcc sm compat as of 12.9.1,inferred,pypi
		13.4.1,,2026-10,>=615,>=580.65.06,>=6;<16,>=7.5;<=12.1,yes,,,by hand; driver driver_minor gcc sm compat as of 13.4.0,inferred,pypi
	END
}

# The catalog has an OS with each kind of package manager, and the rows that NVIDIA's repositories are compared with.
repositories() {
	local repos=developer.download.nvidia.com/compute/cuda/repos
	cp -r "$ROOT/tests/golden/upstream/." "$up/"
	gzip "$up/$repos/debian12/x86_64/Packages" "$up/$repos/rhel9/x86_64/repodata/primary.xml"
	rm catalog/{gcc,glibc,openmpi,python}.csv
	echo 'dnf,rpm,yum,dnf install,NAME-VERSION,/var/cache/dnf,libgomp,libquadmath,,documented,test' >>catalog/package_manager.csv
	table os id,family,codename,package_manager,repository,base,components,locale,eol \
		"debian12,,debian,debian,bookworm,apt,$repos/debian12/x86_64,,main,C.UTF-8,2028-06,,,,documented,test" \
		"debian10,,debian,debian,buster,apt,$repos/debian10/x86_64,,main,C.UTF-8,2024-06,,,,documented,test" \
		"rockylinux9,,rocky,redhat,,dnf,$repos/rhel9/x86_64,,,C.UTF-8,2032-05,,,,documented,test" \
		"almalinux9,,almalinux,redhat,,dnf,$repos/rhel9/x86_64,,,C.UTF-8,2032-05,,,,documented,test"
	table cudnn kind,built,cuda,sm \
		'9.14.0.64,,apt,13,>=13;<14,>=7.5,libcudnn9-cuda-13=9.14.0.64-1,libcudnn9-dev-cuda-13=9.14.0.64-1;libcudnn9-headers-cuda-13=9.14.0.64-1,,documented,test' \
		'9.14.0.64,,rpm,13,>=13;<14,>=7.5,libcudnn9-cuda-13-9.14.0.64-1,libcudnn9-devel-cuda-13-9.14.0.64-1,,documented,test'
	table nccl kind,built,cuda \
		'2.28.3-1,,apt,13.0,>=13;<14,libnccl2=2.28.3-1+cuda13.0,libnccl-dev=2.28.3-1+cuda13.0,,documented,test' \
		'2.28.3-1,,rpm,13.0,>=13;<14,libnccl-2.28.3-1+cuda13.0,libnccl-devel-2.28.3-1+cuda13.0,,documented,test'
}

@test "NVIDIA's apt and rpm repositories give rows of cudnn.csv and nccl.csv" {
	repositories
	apart ringup catalog refresh cudnn nccl
	says 0
	diff <(grep -h 'nvidia-repositories$' catalog/cudnn.csv catalog/nccl.csv) - <<-'END'
		9.28.1.4,,apt,13,>=13;<14,>=7.5,libcudnn9-cuda-13=9.28.1.4-1,libcudnn9-dev-cuda-13=9.28.1.4-1;libcudnn9-headers-cuda-13=9.28.1.4-1,sm as of 9.14.0.64,inferred,nvidia-repositories
		9.28.1.4,,rpm,13,>=13;<14,>=7.5,libcudnn9-cuda-13-9.28.1.4-1,libcudnn9-devel-cuda-13-9.28.1.4-1,sm as of 9.14.0.64,inferred,nvidia-repositories
		2.32.3-1,,apt,13.4,>=13;<14,libnccl2=2.32.3-1+cuda13.4,libnccl-dev=2.32.3-1+cuda13.4,,documented,nvidia-repositories
		2.32.3-1,,rpm,13.4,>=13;<14,libnccl-2.32.3-1+cuda13.4,libnccl-devel-2.32.3-1+cuda13.4,,documented,nvidia-repositories
	END
	# each list is read once in a run, and an OS past its end of life is not asked
	[ "$(grep -c 'debian12/x86_64/Packages.gz' "$up/log")" -eq 1 ]
	! grep debian10 "$up/log"
	apart ringup catalog refresh cudnn nccl
	says 0
	grep -qx 'nothing is new' ../out
}

@test "NVIDIA's documents of archives give rows of cudnn.csv, with checksums" {
	cp -r "$ROOT/tests/golden/upstream/." "$up/"
	table cudnn kind,built,cuda,sm,download,sha256 \
		'9.14.0.64,,tar,13,>=13;<14,>=7.5,https://developer.download.nvidia.com/a.tar.xz,aa,,,,documented,test' \
		'9.28.1.4,,manifest,13,>=13;<14,>=7.5,,,,,,documented,test' \
		'9.28.1.4,,tar,12,>=12;<13,>=7.5,,,,,,documented,test'
	apart ringup catalog refresh cudnn
	says 0
	grep -h 'nvidia-redist' catalog/cudnn.csv >../rows
	url=https://developer.download.nvidia.com/compute/cudnn/redist/cudnn/linux-x86_64/cudnn-linux-x86_64-9.28.1.4
	diff ../rows - <<-END
		9.28.1.4,,tar,12,>=12;<13,>=7.5,${url}_cuda12-archive.tar.xz,$(printf '1%.0s' {1..64}),,,,documented,test;nvidia-redist
		9.28.1.4,,tar,13,>=13;<14,>=7.5,${url}_cuda13-archive.tar.xz,$(printf '3%.0s' {1..64}),,,NVIDIA's archive; sm as of 9.14.0.64,inferred,nvidia-redist
	END
	grep -q redistrib_9.14.0.json "$up/log" # asked for, and not there
	sed -i 's/"1111/"5111/' "$up/developer.download.nvidia.com/compute/cudnn/redist/redistrib_9.28.1.json"
	apart ringup catalog refresh cudnn
	says 1 'to be looked at'
	grep -q '^cudnn  *9.28.1.4  *look at this  *sha256' ../out
	echo '[]' >"$up/developer.download.nvidia.com/compute/cudnn/redist/redistrib_9.28.1.json"
	apart ringup catalog refresh cudnn
	says 1 'redistrib_9.28.1.json has no "cudnn"'
}

@test "a damaged repository is named, and the other one is read" {
	repositories
	repos=$up/developer.download.nvidia.com/compute/cuda/repos
	echo '<metadata><package><name>libnccl' | gzip >"$repos/rhel9/x86_64/repodata/primary.xml.gz"
	apart ringup catalog refresh nccl
	says 1 'rhel9/x86_64/repodata/primary.xml.gz: line ' 'is it the index of an rpm repository?' 'what did answer is taken'
	grep -q '^2.32.3-1,,apt,' catalog/nccl.csv
	echo '<!DOCTYPE a [<!ENTITY b "bbbbbbbb">]><metadata>&b;</metadata>' | gzip >"$repos/rhel9/x86_64/repodata/primary.xml.gz"
	apart ringup catalog refresh nccl
	says 1 'rhel9/x86_64/repodata/primary.xml.gz: line 1'
	printf 'no gzip' >"$repos/debian12/x86_64/Packages.gz"
	apart ringup catalog refresh nccl
	says 1 'debian12/x86_64/Packages.gz: gzip data ends too early'
}

@test "a wheel for aarch64 that its table lacks is for a person" {
	torch_table
	torch_wheels 2.14.0 13.0.2 9.24.0.43 2.30.7
	sed -n '1p;s/2\.14\.0/2.13.0/gp' catalog/torch.csv >catalog/torch.aarch64.csv
	for version in 2.12.0 2.13.0 2.14.0; do
		wheel torch "$version" cp310-cp310-manylinux_2_28_aarch64
	done
	apart ringup catalog refresh torch
	says 1 '1 thing is to be looked at'
	grep -q '^torch.aarch64  *2.14.0  *look at this .*wheel for aarch64' ../out
	! grep -q 'torch.aarch64  *2.1[23].0' ../out
	[ "$(wc -l <catalog/torch.aarch64.csv)" -eq 2 ]
	# with its row nothing is left
	sed -n 's/2\.13\.0/2.14.0/gp' catalog/torch.aarch64.csv >>catalog/torch.aarch64.csv
	apart ringup catalog refresh torch
	says 0
}

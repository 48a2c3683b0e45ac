# Cluster image for ubuntu22.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# tensorflow 2.16.1 - the only one that 'tensorflow==2.16.1' admits; pip wheel pulls CUDA/cuDNN/NCCL as nvidia-* wheels; built and tested with CUDA 12.3: the rest of the major is inferred; its PTX does not load on compute capability 12.0 (CUDA_ERROR_INVALID_PTX) [tensorflow-101746;tensorflow-install-source;common-knowledge;pypi]
# cuda 12.3.2 - the newest that works; the wheel of TensorFlow 2.16.1 brings it; nothing of it is installed beside; TensorFlow 2.16.1 needs CUDA >=12.3,<13; what TensorFlow 2.16.1 was tested with; cuDNN 8.9.7.29 (built for CUDA 12) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;tensorflow-101746;tensorflow-install-source;pypi;spack-cudnn;onnxruntime-24189]
# cudnn 8.9.7.29 - the wheel of TensorFlow 2.16.1 brings it; nothing of it is installed beside [tensorflow-101746;tensorflow-install-source;common-knowledge;pypi]
# nccl 2.19.3 - the wheel of TensorFlow 2.16.1 brings it; nothing of it is installed beside [tensorflow-101746;tensorflow-install-source;common-knowledge;pypi]
# os ubuntu22.04 - the only one that 'os==ubuntu22.04' admits; Ubuntu 22.04 jammy [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.35 - the newest that works; for ubuntu22.04; TensorFlow 2.16.1 needs glibc >=2.17; comes with the OS [common-knowledge;tensorflow-101746;tensorflow-install-source;pypi]
# gcc 11.4.0 - the newest that works; for ubuntu22.04; CUDA 12.3.2 needs gcc >=6,<13; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.10 - the newest that works; for ubuntu22.04; TensorFlow 2.16.1 needs Python >=3.9,<3.13; the OS's own interpreter [common-knowledge;tensorflow-101746;tensorflow-install-source;pypi]
# openmpi 4.1.6 - the only one that 'openmpi==4.1.6' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.3.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/library/ubuntu:22.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3 python3-dev python3-pip libibverbs1 ibverbs-providers \
      ibverbs-utils librdmacm1
# the container toolkit brings the driver's libraries in; CUDA comes with a framework's wheel
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# python, python3 and pip are this Python's
RUN set -eu; for name in python python3; do ln -sf "$(command -v python3)" "/usr/local/bin/$name"; done; \
    for name in pip pip3; do printf '#!/bin/sh\nexec python3 -m pip "$@"\n' >"/usr/local/bin/$name"; chmod 755 "/usr/local/bin/$name"; done

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step apt-get install -y --no-install-recommends \
      libc6-dev gcc g++ ca-certificates curl bzip2 xz-utils make perl file
# NVIDIA's repository, for this stage only
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
# CUDA's headers and the stub of the driver's library, for Open MPI
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-cudart-dev-12-3 cuda-driver-dev-12-3
# Open MPI 4.1.6 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.6.tar.bz2" -o /tmp/openmpi-4.1.6.tar.bz2; \
    echo "f740994485516deb63b5311af122c265179f5328a0d857a567b85db00b11e415  /tmp/openmpi-4.1.6.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.6.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-12.3/targets/x86_64-linux; \
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
# TensorFlow 2.16.1 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'absl-py==2.1.0 --hash=sha256:526a04eadab8b4ee719ce68f204172ead1027549089702d99b9059f129ff1308' \
      'astunparse==1.6.3 --hash=sha256:c2652417f2c8b5bb325c885ae329bdf3f86424075c4fd1a128674bc6fba4b8e8' \
      'certifi==2024.8.30 --hash=sha256:922820b53db7a7257ffbda3f597266d435245903d80737e34f8a45ff3e3230d8' \
      'charset-normalizer==3.3.2 --hash=sha256:3e4d1f6587322d2788836a99c69062fbb091331ec940e02d12d179c1d53e25fc --hash=sha256:8465322196c8b4d7ab6d1e049e4c5cb460d0394da4a27d23cc242fbf0034b6b5' \
      'flatbuffers==24.3.25 --hash=sha256:8dbdec58f935f3765e4f7f3cf635ac3a77f83568138d6a2311f524ec96364812' \
      'gast==0.6.0 --hash=sha256:52b182313f7330389f72b069ba00f174cfe2a06411099547288839c6cbafbd54' \
      'google-pasta==0.2.0 --hash=sha256:b32482794a366b5366a32c92a9a9201b107821889935a02b3e51f6b432ea84ed' \
      'grpcio==1.66.1 --hash=sha256:b7ffb8ea674d68de4cac6f57d2498fef477cef582f1fa849e9f844863af50083' \
      'h5py==3.11.0 --hash=sha256:77b19a40788e3e362b54af4dcf9e6fde59ca016db2c61360aa30b47c7b7cef00' \
      'idna==3.8 --hash=sha256:050b4e5baadcd44d760cedbd2b8e639f2ff89bbc7a5730fcc662954303377aac' \
      'keras==3.5.0 --hash=sha256:d37a3c623935713473ceb25241b52bce9d1e0ff5b36e5d0f6f47ed55f8500c9a' \
      'libclang==18.1.1 --hash=sha256:c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b' \
      'markdown==3.7 --hash=sha256:7eb6df5690b81a1d7942992c97fad2938e956e79df20cbc6186e9c3a77b1c803' \
      'markdown-it-py==3.0.0 --hash=sha256:355216845c60bd96232cd8d8c40e8f9765cc86f46880e43a8fd22dc1a1a8cab1' \
      'markupsafe==2.1.5 --hash=sha256:2174c595a0d73a3080ca3257b40096db99799265e1c27cc5a610743acd86d62f' \
      'mdurl==0.1.2 --hash=sha256:84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8' \
      'ml-dtypes==0.3.2 --hash=sha256:961134ea44c7b8ca63eda902a44b58cd8bd670e21d62e255c81fba0a8e70d9b7' \
      'namex==0.0.8 --hash=sha256:7ddb6c2bb0e753a311b7590f84f6da659dd0c05e65cb89d519d54c0a250c0487' \
      'numpy==1.26.4 --hash=sha256:ffa75af20b44f8dba823498024771d5ac50620e6915abac414251bd971b4529f' \
      'nvidia-cublas-cu12==12.3.4.1 --hash=sha256:9b25b27bd5a5be1cc7e83a7b8004258daa338800798e22986e5b67ee06f0859d' \
      'nvidia-cuda-cupti-cu12==12.3.101 --hash=sha256:7b984288af7db1faa1e6f1803db075d4350116b72a98d4be0e88d604dc812c0e' \
      'nvidia-cuda-nvcc-cu12==12.3.107 --hash=sha256:a3344b94f5e89023fa17e0bbf8fb0dd26d5ef6f4091a5aab08f215e4999eac62' \
      'nvidia-cuda-nvrtc-cu12==12.3.107 --hash=sha256:4db66788a37a234304a0b3203744f9a6c665f48bde65f69a096ae3b5799b5b1d' \
      'nvidia-cuda-runtime-cu12==12.3.101 --hash=sha256:04604679ddca6acb96c76a7a9306282cddc16981f92e148e2dfe227078883cda' \
      'nvidia-cudnn-cu12==8.9.7.29 --hash=sha256:adf4f59ed7a1341103822ed8df6e144f4d47ea8b10d9bf0ea0047ba738fd7b02' \
      'nvidia-cufft-cu12==11.0.12.1 --hash=sha256:3b2c85d24d7dcc578720fdf39e2823950b5857e85164c3c1dc97184a8a8e0398' \
      'nvidia-curand-cu12==10.3.4.107 --hash=sha256:d798db82ae445cf1d8bf6af9ca3bd6bb6cc87753c229a441cf8d2597b09332e5' \
      'nvidia-cusolver-cu12==11.5.4.101 --hash=sha256:783a3279553feaf8e47af12cab1fa769ffd5e644ea876db3dc2252f35f9bf256' \
      'nvidia-cusparse-cu12==12.2.0.103 --hash=sha256:fe9e17daf406c98c28fbc8bcf785ecd4db301bf02ce626de6aa1046de66f84bd' \
      'nvidia-nccl-cu12==2.19.3 --hash=sha256:a9734707a2c96443331c1e48c717024aa6678a0e2a4cb66b2c364d18cee6b48d' \
      'nvidia-nvjitlink-cu12==12.3.101 --hash=sha256:64335a8088e2b9d196ae8665430bc6a2b7e6ef2eb877a9c735c804bd4ff6467c' \
      'opt-einsum==3.3.0 --hash=sha256:2455e59e3947d3c275477df7f5205b30635e266fe6dc300e3d9f9646bfcea147' \
      'optree==0.12.1 --hash=sha256:efffa3814ab8e3aaf7bf88495e4b6d263de9689d6f02dfa4490f8f64736806ac' \
      'packaging==24.1 --hash=sha256:5b8f2217dbdbd2f7f384c41c628544e6d52f2d0f53c6d0c3ea61aa5d1d7ff124' \
      'protobuf==4.25.4 --hash=sha256:3319e073562e2515c6ddc643eb92ce20809f5d8f10fead3332f71c63be6a7040 --hash=sha256:bfbebc1c8e4793cfd58589acfb8a1026be0003e852b9da7db5a4285bde996978' \
      'pygments==2.18.0 --hash=sha256:b8e6aca0523f3ab76fee51799c488e38782ac06eafcf95e7ba832985c8e7b13a' \
      'requests==2.32.3 --hash=sha256:70761cfe03c773ceb22aa2f671b4757976145175cdfca038c02654d061d6dcc6' \
      'rich==13.8.0 --hash=sha256:2e85306a063b9492dffc86278197a60cbece75bcb766022f3436f567cae11bdc' \
      'setuptools==74.1.2 --hash=sha256:5f4c08aa4d3ebcb57a50c33b1b07e94315d7fc7230f7115e47fc99776c8ce308' \
      'six==1.16.0 --hash=sha256:8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254' \
      'tensorboard==2.16.2 --hash=sha256:9f2b4e7dad86667615c0e5cd072f1ea8403fc032a299f0072d6f74855775cc45' \
      'tensorboard-data-server==0.7.2 --hash=sha256:7e0610d205889588983836ec05dc098e80f97b7e7bbff7e994ebb78f578d0ddb' \
      'tensorflow==2.16.1 --hash=sha256:1e96047657c64459a36a0cc211a3d003df96c7be3f95a84f7b705715f5697270' \
      'tensorflow-io-gcs-filesystem==0.37.1 --hash=sha256:9679b36e3a80921876f31685ab6f7270f3411a4cc51bc2847e80d0e4b5291e27' \
      'termcolor==2.4.0 --hash=sha256:9297c0df9c99445c2412e832e882a7884038a25617c60cea2ad69488d4040d63' \
      'typing-extensions==4.12.2 --hash=sha256:04e5ca0351e0f3f85c6853954072df659d0d13fac324d0072316b67d7794700d' \
      'urllib3==2.2.2 --hash=sha256:a448b2f64d686155468037e1ace9f2d2199776e17f0a46610480d311f73e3472' \
      'werkzeug==3.0.4 --hash=sha256:02c9eb92b7d6c06f31a782811505d2157837cea66aaede3e217c7c27c039476c' \
      'wheel==0.44.0 --hash=sha256:2376a90c98cc337d18623527a97c31797bd02bad0033d41547043a1cbfbe448f' \
      'wrapt==1.16.0 --hash=sha256:6906c4100a8fcbf2fa735f6059214bb13b97f75b1a61777fcf6432121ef12ef1 --hash=sha256:ac83a914ebaf589b69f7d0a1277602ff494e21f4c2f743313414378f8f50a4cf' \
      >/tmp/tensorflow.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/tensorflow.txt
# all programs find the NCCL that comes with tensorflow
RUN python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf && step ldconfig
# TensorFlow 2.16.1 finds CUDA by the loader's cache: its libraries have no path to it
RUN python3 -c 'import glob, nvidia; print(*glob.glob(nvidia.__path__[0] + "/*/lib"), sep=chr(10))' \
      >/etc/ld.so.conf.d/tensorflow-cuda.conf && step ldconfig
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.10".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ctypes as c, nvidia.cudnn as m; a, b, d = map(int, "8.9.7.29".split(".")[:3]); f = c.CDLL(m.__path__[0] + "/lib/libcudnn.so.8").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.19.3".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.6; \
    python3 -c 'import tensorflow; v = tensorflow.__version__; print("TensorFlow", v); assert v.startswith("2.16.1".split("+")[0])'; \
    python3 -c 'import ctypes; [ctypes.CDLL(f"lib{n}") for n in ("cudart.so.12", "cublas.so.12", "cufft.so.11", "cudnn.so.8")]'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.tensorflow="2.16.1" org.ringup.stack.cuda="12.3.2" org.ringup.stack.cudnn="8.9.7.29" org.ringup.stack.nccl="2.19.3" \
      org.ringup.stack.os="ubuntu22.04" org.ringup.stack.glibc="2.35" org.ringup.stack.gcc="11.4.0" org.ringup.stack.python="3.10" \
      org.ringup.stack.openmpi="4.1.6" org.ringup.stack.driver="525.60.13"
CMD ["/usr/local/bin/ringup-entry"]

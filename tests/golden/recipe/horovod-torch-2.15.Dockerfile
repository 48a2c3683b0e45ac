# Cluster image for debian12, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 2.15.0 - the only one that 'torch==2.15.0' admits; Horovod 0.28.1 needs torch >=1.5.0; default on PyPI; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels; the compute capabilities are those of 2.14.0 [pypi;public-pins;horovod-tags]
# horovod 0.28.1 - the only one that 'horovod==0.28.1' admits; TensorFlow from 2.10 needs g++ 8 or newer (C++17); HOROVOD_GPU_OPERATIONS and the flags per operation exclude each other; NCCL: alltoall needs >=2.7.0; no Open MPI 5: inferred from the flags of its launcher [horovod-tags;pypi]
# cuda 13.2.2 - the newest that works; torch 2.15.0 needs CUDA >=13.2,<14; what torch 2.15.0 was tested with; cuDNN 9.26.0.51 (built for CUDA 13) needs CUDA >=13,<14; the driver minimum is the runfile's; the release notes name the branch only; driver driver_minor gcc sm compat as of 13.2.1 [pypi;public-pins]
# cudnn 9.26.0.51 - the wheel of torch 2.15.0 brings it; nothing of it is installed beside [pypi;public-pins]
# nccl 2.30.7 - the wheel of torch 2.15.0 brings it; nothing of it is installed beside [pypi;public-pins]
# os debian12 - the only one that 'os==debian12' admits; Debian 12 bookworm; long-term support to 2028-06 [debian-bookworm;debian-releases;cuda-repo-management-1;common-knowledge]
# glibc 2.36 - the newest that works; for debian12; torch 2.15.0 needs glibc >=2.28; comes with the base root filesystem [debian-bookworm;pypi;public-pins]
# gcc 12.2.0 - the newest that works; for debian12; Horovod 0.28.1 needs gcc >=5; CUDA 13.2.2 needs gcc >=6,<16; compiles the worker in the build stage [debian-bookworm;horovod-tags;pypi]
# python 3.11.2 - the newest that works; for debian12; torch 2.15.0 needs Python >=3.11,<3.16; Horovod 0.28.1 needs Python >=3.6; Debian's own interpreter [debian-bookworm;pypi;public-pins;horovod-tags]
# openmpi 4.1.8 - the newest that works; Horovod 0.28.1 needs Open MPI >=1.10,<5; what Horovod 0.28.1 was tested with; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [spack-openmpi;openmpi-tags;common-knowledge;horovod-tags;pypi]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.2.2; any newer one does too [pypi]
# ---- the stack: what the build and the image both need
FROM docker.io/library/debian:12 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3=3.11.2-1+b1 libibverbs1 ibverbs-providers ibverbs-utils \
      librdmacm1 libc6-dev gcc=4:12.2.0-3 gcc-12=12.2.0-14+deb12u1 g++=4:12.2.0-3 g++-12=12.2.0-14+deb12u1 python3-pip=23.0.1+dfsg-1 \
      python3-dev=3.11.2-1+b1
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
      libc6-dev gcc=4:12.2.0-3 gcc-12=12.2.0-14+deb12u1 g++=4:12.2.0-3 g++-12=12.2.0-14+deb12u1 ca-certificates curl bzip2 xz-utils make \
      perl file
# NVIDIA's repository, for this stage only
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
# the toolkit, and headers of NVIDIA's libraries
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-toolkit-13-2=13.2.2-1
# what NVIDIA's images set
RUN set -eu; [ -e /usr/local/cuda ] || ln -s cuda-13.2 /usr/local/cuda; \
    echo /usr/local/cuda-13.2/lib64 >/etc/ld.so.conf.d/cuda-13-2.conf; ldconfig
ENV PATH=/usr/local/cuda/bin:$PATH
# Open MPI 4.1.8 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.8.tar.bz2" -o /tmp/openmpi-4.1.8.tar.bz2; \
    echo "466f68e3132a1dc02710cc2011fafced8336d98359fa2dae4dddcfd5719f12a9  /tmp/openmpi-4.1.8.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.8.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda; \
    make -j"$(nproc)" install; \
    echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /; \
    step
ENV PATH=/opt/openmpi/bin:$PATH

# ---- the image without what is built against the frameworks
FROM stack AS frameworks
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
# Open MPI as it was built
COPY --from=build /opt/openmpi/ /opt/openmpi/
RUN echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf && step ldconfig
ENV PATH=/opt/openmpi/bin:$PATH
# torch 2.15.0 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'cuda-bindings==13.5.0 --hash=sha256:08b7e8d674c3266facb00453a7e34ea7d3ea965c2f594bb728f269f45f39fbe2' \
      'cuda-pathfinder==1.9.0 --hash=sha256:622df7440f7702f36b7a02a1699aa0b084fe04034d9939188fee9b16d0c36366' \
      'cuda-toolkit==13.2.2 --hash=sha256:d12edc1aad1356236a2ee10c0d794b1aff5d3e79bfeca54867c3bb8e5afd87b0' \
      'filelock==4.2.11 --hash=sha256:020e229e4bb9d410fc799c07ddf45fa217cba970278f40b30751d94f309b69e2' \
      'fsspec==2026.9.0 --hash=sha256:8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f' \
      'jinja2==3.1.6 --hash=sha256:85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67' \
      'markupsafe==3.0.4 --hash=sha256:6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808' \
      'mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c' \
      'networkx==3.6.1 --hash=sha256:d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762' \
      'numpy==2.4.6 --hash=sha256:89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93' \
      'nvidia-cublas==13.4.1.3 --hash=sha256:a5917cb642cfb07f4a0231ee16aec7e2e0357d8cb8b1b78a0c9c68dba3e6afc7' \
      'nvidia-cuda-cccl==13.3.5.0.6 --hash=sha256:d5230098fa2df5021e1a00c0c4eee41797671a91119d31e892463e5ccf3ee326' \
      'nvidia-cuda-cupti==13.2.86 --hash=sha256:8fa29f15dd8336181f961764d9d95236fc6b931dd0c8fcf8cd70aab0c310b586' \
      'nvidia-cuda-nvrtc==13.2.86 --hash=sha256:8111c5130e967b78222ea2124145f8efe9ce201b752b2579a2513100a53be1c5' \
      'nvidia-cuda-runtime==13.2.86 --hash=sha256:3498247680dfddce31bad102af7e3e26fc795342a3cac64722bb0fa95e7f60f0' \
      'nvidia-cudnn-cu13==9.26.0.51 --hash=sha256:9c976d539786698c71d6bcdbe2053b7485fae062ff7e1215d2f2ff67b1a2149a' \
      'nvidia-cufft==12.2.0.57 --hash=sha256:34da27fadf3979b0b042c43823f0530be8408b86df31ee0108e1ca0b621d4ef6' \
      'nvidia-cufile==1.17.1.22 --hash=sha256:87feaf8c3ad20d3d03a01933181801ff6892bace5c8f0b1e4b48f319d3e62d36' \
      'nvidia-cusolver==12.2.0.11 --hash=sha256:fab5778f6769947389a1a6abc07e635576825a08c0ffc68c3ae7f1392c794b42' \
      'nvidia-cusparse==12.7.10.12 --hash=sha256:25907c75e4db1581685f06f61cc6cdecc04611765516a52373e0a18ebd69fa00' \
      'nvidia-cusparselt-cu13==0.8.1 --hash=sha256:786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0' \
      'nvidia-nccl-cu13==2.30.7 --hash=sha256:cefa7fdb9710efd0f39c5f1be1d61ff6fc9a996c451265bd7fbdcf9455ed4b50' \
      'nvidia-nvjitlink==13.5.37 --hash=sha256:280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb' \
      'nvidia-nvshmem-cu13==3.7.2 --hash=sha256:b9a4f843c62b5dded8ad33fd6d220e007dcd39f06cee549292f5ba14ce4c235c' \
      'nvidia-nvtx==13.2.86 --hash=sha256:968ce72baee2a01791c7d3254000eac81f24677b0b91c62d21b449a1f309c245' \
      'setuptools==80.10.2 --hash=sha256:95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173' \
      'sympy==1.14.0 --hash=sha256:e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5' \
      'torch==2.15.0 --hash=sha256:48c2d861134c0b5697c7602cb5ffa68f62a2989fdcd1717e593356f67996ca1e' \
      'triton==3.9.0 --hash=sha256:1622118a038b0c6e16fa4a0305da62c8b3c15904ee1cc4d4e65846a25969e41e' \
      'typing-extensions==4.16.0 --hash=sha256:481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8' \
      >/tmp/torch.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/torch.txt
# all programs find the NCCL that comes with torch
RUN python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf && step ldconfig

# ---- compiles what is built against the frameworks
FROM build AS extensions
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY --from=frameworks /usr/local/lib/ /usr/local/lib/
# CMake 3.25.2, for Horovod, which asks for >=3.13 and whose files CMake 4 refuses
RUN set -eu; echo 'cmake==3.25.2 --hash=sha256:f9587645cea5298d5eb20649f58a83cc53c9efa7d57b0716449a39f366a74986' >/tmp/cmake.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/cmake.txt
# Horovod 0.28.1 against this stack's frameworks and libraries; the stub of libcuda.so.1 is there for this step only
RUN set -eu; export CC=gcc CXX=g++ PYTHONHASHSEED=0 HOROVOD_WITH_MPI=1 HOROVOD_WITH_GLOO=1 \
      HOROVOD_WITHOUT_TENSORFLOW=1 HOROVOD_WITH_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1 \
      HOROVOD_GPU_OPERATIONS=NCCL HOROVOD_NCCL_LINK=SHARED HOROVOD_CUDA_HOME=/usr/local/cuda HOROVOD_NCCL_HOME=/opt/nccl; \
    printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:94411f22c3985acaec6f83c6df553f2dbe17b698cc7f8ae751ff2237d96b9e3c' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==3.12 --hash=sha256:a076f3f489b39b43ed13563a1dafe42447445bec2e294154ec5c57fcdda4c85e' \
      'pyparsing==3.3.3 --hash=sha256:ece8c00a69cf01b45d0b1dedabb469c90d8caf996d4fda40f147627a122849a4' \
      'pyyaml==6.0.1 --hash=sha256:d2b04aac4d386b172d5b9692e2d2da8de7bfb6c387fa4f801fbf6fb2e6ba4673' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/tools.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/tools.txt; \
    echo 'horovod==0.28.1 --hash=sha256:92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0' >/tmp/horovod.txt; \
    nccl="$(python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")')"; mkdir -p /opt/nccl/lib; ln -sfn "$nccl/../include" /opt/nccl/include; \
    ln -sfn "$nccl/libnccl.so.2" /opt/nccl/lib/libnccl.so; \
    ln -sf libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig /usr/local/cuda/lib64/stubs; \
    python3 -m pip download --no-cache-dir --no-deps --no-binary horovod --no-build-isolation --require-hashes -r /tmp/horovod.txt -d /tmp; \
    mkdir /tmp/horovod; tar -xf /tmp/horovod-0.28.1.tar.gz -C /tmp/horovod --strip-components=1 --no-same-owner; \
    cd /tmp/horovod; sed -i 's/CMAKE_CXX_STANDARD 14/CMAKE_CXX_STANDARD 20/' CMakeLists.txt horovod/torch/CMakeLists.txt; python3 setup.py bdist_wheel -d /wheels; cd /; \
    rm -f /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig; \
    step

# ---- the worker, beside them
FROM build AS worker
ARG SOURCE_DATE_EPOCH=1704067200
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM frameworks
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
# Horovod as it was built, and what it imports
COPY --from=extensions /wheels/ /opt/wheels/
RUN set -eu; printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:94411f22c3985acaec6f83c6df553f2dbe17b698cc7f8ae751ff2237d96b9e3c' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==3.12 --hash=sha256:a076f3f489b39b43ed13563a1dafe42447445bec2e294154ec5c57fcdda4c85e' \
      'pyparsing==3.3.3 --hash=sha256:ece8c00a69cf01b45d0b1dedabb469c90d8caf996d4fda40f147627a122849a4' \
      'pyyaml==6.0.1 --hash=sha256:d2b04aac4d386b172d5b9692e2d2da8de7bfb6c387fa4f801fbf6fb2e6ba4673' \
      >/tmp/needs.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/needs.txt; \
    step python3 -m pip install --no-cache-dir --no-deps /opt/wheels/horovod-*.whl; \
    rm -r /opt/wheels; step
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=worker /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# libcuda's stub, for the checks
COPY --from=build /usr/local/cuda-13.2/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.11".split(".")[:2])), sys.version'; \
    pip --version; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod.torch'; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.30.7".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.8; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.15.0")'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import torch; a, b, d = map(int, "9.26.0.51".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="2.15.0" org.ringup.stack.horovod="0.28.1" org.ringup.stack.cuda="13.2.2" org.ringup.stack.cudnn="9.26.0.51" \
      org.ringup.stack.nccl="2.30.7" org.ringup.stack.os="debian12" org.ringup.stack.glibc="2.36" org.ringup.stack.gcc="12.2.0" \
      org.ringup.stack.python="3.11.2" org.ringup.stack.openmpi="4.1.8" org.ringup.stack.driver="580.65.06"
CMD ["/usr/local/bin/ringup-entry"]

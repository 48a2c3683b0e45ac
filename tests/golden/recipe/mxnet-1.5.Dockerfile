# Cluster image for ubuntu18.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# mxnet 1.5.1.post0 - the newest that 'mxnet==1.5.1.post0' admits; Horovod 0.18.2 needs MXNet >=1.4.1; NCCL 2 is linked statically; machine code from compute capability 3.0 [horovod-install;common-knowledge;horovod-tags;pypi]
# horovod 0.18.2 - the only one that 'horovod==0.18.2' admits; g++ of 4.9 or newer for torch; its ABI must be the TensorFlow wheel's; CMake only for Gloo; NCCL: torch wants >=2.2 on RoCE/IB; no Open MPI 5: inferred from the flags of its launcher [horovod-tags;pypi]
# cuda 10.1.243 - the newest that works; MXNet 1.5.1.post0 needs CUDA ==10.1.*; what MXNet 1.5.1.post0 was tested with; cuDNN 7.6.5.32 (built for CUDA 10.1) needs CUDA ==10.1.*; NCCL 2.8.3-1 (built for CUDA 10.1) needs CUDA ==10.1.* [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;horovod-install]
# cudnn 7.6.5.32 - the newest that works; MXNet 1.5.1.post0 needs cuDNN ==7.*; its builds for CUDA 10.1; first image 2019-11-26 [nvidia-container-images;common-knowledge;horovod-install]
# nccl 2.8.3-1 - the newest that works; Horovod 0.18.2 needs NCCL >=2.0; its builds for CUDA 10.1; first image 2021-01-14 [nvidia-container-images;horovod-tags;pypi]
# os ubuntu18.04 - the only one that 'os==ubuntu18.04' admits; Ubuntu 18.04 bionic; extended support: ESM 2028 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.27 - the newest that works; for ubuntu18.04; MXNet 1.5.1.post0 needs glibc >=2.17; comes with the OS [cuda-10.1-installation-guide;horovod-install;common-knowledge]
# gcc 7.5.0 - the newest that works; for ubuntu18.04; Horovod 0.18.2 needs gcc >=4.8.5; CUDA 10.1.243 needs gcc >=4.4.7,<9; the OS's own [common-knowledge;horovod-tags;pypi;cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images]
# python 3.6 - the newest that works; for ubuntu18.04; MXNet 1.5.1.post0 needs Python ==2.7.* or >=3.5,<3.8; Horovod 0.18.2 needs Python ==2.7.* or >=3.4; what Horovod 0.18.2 was tested with; the OS's own interpreter [common-knowledge;horovod-install;horovod-tags;pypi]
# openmpi 4.0.2 - the only one that 'openmpi==4.0.2' admits; Horovod 0.18.2 needs Open MPI >=1.10,<5; what Horovod 0.18.2 was tested with; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge;horovod-tags;pypi]
# driver 418.39 - the oldest known driver that runs CUDA 10.1.243; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/library/ubuntu:18.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3 python3-dev python3-pip libgomp1 libibverbs1 ibverbs-providers \
      ibverbs-utils librdmacm1 libquadmath0
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu1804/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda && \
    step nvidia developer.download.nvidia.com/compute/machine-learning/repos/ubuntu1804/x86_64 7fa2af80.pub AE09FE4BBD223A84B2CCFCE3F60F4B3D7FA2AF80 ml
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-libraries-10-1=10.1.243-1 libcudnn7=7.6.5.32-1+cuda10.1 libnccl2=2.8.3-1+cuda10.1 libcublas10=10.2.1.243-1 cuda-compat-10-1
# what NVIDIA's images set; the loader finds the libraries by its own list
RUN set -eu; [ -e /usr/local/cuda ] || ln -s cuda-10.1 /usr/local/cuda; \
    echo /usr/local/cuda-10.1/lib64 >/etc/ld.so.conf.d/cuda-10-1.conf; step ldconfig
ENV PATH=/usr/local/cuda/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==21.3.1 --hash=sha256:deaf32dcd9ab821e359cd8330786bcd077604b5c5730c0b096eda46f95c24a2d' \
      'setuptools==59.6.0 --hash=sha256:4ce92f1e1f8f01233ee9952c04f6b81d1e02939d6e1b488428154974a4d0783e' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/pip.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/pip.txt
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
# the toolkit, and headers of NVIDIA's libraries
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-toolkit-10-1=10.1.243-1 libcudnn7-dev=7.6.5.32-1+cuda10.1 libnccl-dev=2.8.3-1+cuda10.1 libcublas-dev=10.2.1.243-1
# Open MPI 4.0.2 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.0/openmpi-4.0.2.tar.bz2" -o /tmp/openmpi-4.0.2.tar.bz2; \
    echo "900bf751be72eccf06de9d186f7b1c4b5c2fa9fa66458e53b77778dffdfe4057  /tmp/openmpi-4.0.2.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.0.2.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
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
# MXNet 1.5.1.post0 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'certifi==2019.11.28 --hash=sha256:017c25db2a153ce562900032d5bc68e9f191e44e9a0f762f373977de9df1fbb3' \
      'chardet==3.0.4 --hash=sha256:fc323ffcaeaed0e0a02bf4d117757b98aed530d9ed4531e3e15460124c106691' \
      'graphviz==0.8.4 --hash=sha256:7caa53f0b0be42c5f2eaa3f3d71dcc863b15bacceb5d531c2ad7519e1980ff82' \
      'idna==2.9 --hash=sha256:a068a21ceac8a4d63dbfd964670474107f541babbd2250d61922f029858365fa' \
      'mxnet-cu101==1.5.1.post0 --hash=sha256:5eb6f1ba3ad76f39cfb980848065b65af509dcd7b48a2cb3c62a622baf961022' \
      'numpy==1.18.2 --hash=sha256:6d205249a0293e62bbb3898c4c2e1ff8a22f98375a34775a259a0523111a8f6c' \
      'requests==2.23.0 --hash=sha256:43999036bfa82904b6af1d99e4882b560e5e2c68e5c4b0aa03b655f3d7d73fee' \
      'setuptools==59.6.0 --hash=sha256:4ce92f1e1f8f01233ee9952c04f6b81d1e02939d6e1b488428154974a4d0783e' \
      'urllib3==1.25.8 --hash=sha256:2f3db8b19923a873b3e5256dc9c2dedfa883e33d87c690d9c7913e1f40673cdc' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/mxnet.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/mxnet.txt

# ---- compiles what is built against the frameworks
FROM build AS extensions
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY --from=frameworks /usr/local/lib/ /usr/local/lib/
# Horovod 0.18.2 against this stack's frameworks and libraries; the stub of libcuda.so.1 is there for this step only
RUN set -eu; export CC=gcc CXX=g++ PYTHONHASHSEED=0 HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1 \
      HOROVOD_WITHOUT_TENSORFLOW=1 HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITH_MXNET=1 \
      HOROVOD_GPU_ALLREDUCE=NCCL HOROVOD_GPU_BROADCAST=NCCL HOROVOD_NCCL_LINK=SHARED HOROVOD_CUDA_HOME=/usr/local/cuda; \
    printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:6975a3fac6bc83c4a65c9f9fcab9e47019a11d3d2cf7f3c0d03431bf145a941e' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==2.21 --hash=sha256:8ee45429555515e1f6b185e78100aea234072576aa43ab53aefcae078162fca9' \
      'pyparsing==3.0.7 --hash=sha256:a6c06a88f252e6c322f65faf8f418b16213b51bdfaece0524c1c1bc30c63c484' \
      'pyyaml==6.0.1 --hash=sha256:afd7e57eddb1a54f0f1a974bc4391af8bcce0b444685d936840f125cf046d5bd' \
      'six==1.17.0 --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/tools.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/tools.txt; \
    echo 'horovod==0.18.2 --hash=sha256:a8c9c48976a41ff04ed3d69eb92c59ff444cc414dd45ef047750eab25c03e803' >/tmp/horovod.txt; \
    ln -sf libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig /usr/local/cuda/lib64/stubs; \
    python3 -m pip download --no-cache-dir --no-deps --no-binary horovod --no-build-isolation --require-hashes -r /tmp/horovod.txt -d /tmp; \
    mkdir /tmp/horovod; tar -xf /tmp/horovod-0.18.2.tar.gz -C /tmp/horovod --strip-components=1 --no-same-owner; \
    cd /tmp/horovod; python3 setup.py bdist_wheel -d /wheels; cd /; \
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
      'cffi==1.15.1 --hash=sha256:6975a3fac6bc83c4a65c9f9fcab9e47019a11d3d2cf7f3c0d03431bf145a941e' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==2.21 --hash=sha256:8ee45429555515e1f6b185e78100aea234072576aa43ab53aefcae078162fca9' \
      'pyparsing==3.0.7 --hash=sha256:a6c06a88f252e6c322f65faf8f418b16213b51bdfaece0524c1c1bc30c63c484' \
      'pyyaml==6.0.1 --hash=sha256:afd7e57eddb1a54f0f1a974bc4391af8bcce0b444685d936840f125cf046d5bd' \
      'six==1.17.0 --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274' \
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
COPY --from=build /usr/local/cuda-10.1/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.6".split(".")[:2])), sys.version'; \
    pip --version; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod.mxnet'; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "7.6.5.32".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.7").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.8.3-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.0.2; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import mxnet'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.mxnet="1.5.1.post0" org.ringup.stack.horovod="0.18.2" org.ringup.stack.cuda="10.1.243" \
      org.ringup.stack.cudnn="7.6.5.32" org.ringup.stack.nccl="2.8.3-1" org.ringup.stack.os="ubuntu18.04" org.ringup.stack.glibc="2.27" \
      org.ringup.stack.gcc="7.5.0" org.ringup.stack.python="3.6" org.ringup.stack.openmpi="4.0.2" org.ringup.stack.driver="418.39"
CMD ["/usr/local/bin/ringup-entry"]

# Cluster image for ubuntu18.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# tensorflow 1.14.0 - the only one that 'tensorflow==1.14.0' admits; Horovod 0.18.1 needs TensorFlow >=1.1.0; what Horovod 0.18.1 was tested with; system CUDA/cuDNN needed on LD_LIBRARY_PATH; manylinux1 by its tag; some wheels need glibc 2.23 [tensorflow-install-source;common-knowledge;horovod-tags;pypi]
# torch 1.1.0 - the newest that 'torch==1.1.0' admits; Horovod 0.18.1 needs torch >=0.4.0; compute capabilities as 1.7.1 with the 3.5 that went after 1.3.0; cuDNN: the newest of its day [pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;horovod-tags;pypi]
# horovod 0.18.1 - the only one that 'horovod==0.18.1' admits; g++ of 4.9 or newer for torch; its ABI must be the TensorFlow wheel's; CMake only for Gloo; NCCL: torch wants >=2.2 on RoCE/IB; no Open MPI 5: inferred from the flags of its launcher [horovod-tags;pypi]
# cuda 10.0.130 - the newest that works; TensorFlow 1.14.0 needs CUDA ==10.0.*; what TensorFlow 1.14.0 was tested with; torch 1.1.0 needs CUDA ==10.0.*; what torch 1.1.0 was tested with; cuDNN 7.4.2.24 (built for CUDA 10.0) needs CUDA ==10.0.*; NCCL 2.6.4-1 (built for CUDA 10.0) needs CUDA ==10.0.* [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;tensorflow-install-source;pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# cudnn 7.4.2.24 - the newest that works; TensorFlow 1.14.0 needs cuDNN >=7.4,<8; what TensorFlow 1.14.0 was tested with; torch 1.1.0 needs cuDNN ==7.*; its builds for CUDA 10.0; first image 2019-01-30 [nvidia-container-images;common-knowledge;tensorflow-install-source;pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# nccl 2.6.4-1 - the newest that works; Horovod 0.18.1 needs NCCL >=2.0; its builds for CUDA 10.0; first image 2020-09-09 [nvidia-container-images;horovod-tags;pypi]
# os ubuntu18.04 - the only one that 'os==ubuntu18.04' admits; Ubuntu 18.04 bionic; extended support: ESM 2028 [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.27 - the newest that works; for ubuntu18.04; TensorFlow 1.14.0 needs glibc >=2.17; torch 1.1.0 needs glibc >=2.17; comes with the OS [cuda-10.1-installation-guide;tensorflow-install-source;common-knowledge;pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# gcc 4.8.5 - the newest that works; for ubuntu18.04; Horovod 0.18.1 needs gcc >=4.8.5; CUDA 10.0.130 needs gcc >=4.4.7,<8; beside the OS's own [common-knowledge;horovod-tags;pypi;cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images]
# python 3.6 - the newest that works; for ubuntu18.04; TensorFlow 1.14.0 needs Python ==2.7.* or >=3.3,<3.8; torch 1.1.0 needs Python ==2.7.* or >=3.5,<3.8; Horovod 0.18.1 needs Python ==2.7.* or >=3.4; what Horovod 0.18.1 was tested with; the OS's own interpreter [common-knowledge;tensorflow-install-source;pytorch-24205;pytorch-4841;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;horovod-tags;pypi]
# openmpi 4.0.7 - the newest that works; Horovod 0.18.1 needs Open MPI >=1.10,<5; what Horovod 0.18.1 was tested with; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge;horovod-tags;pypi]
# driver 410.48 - the oldest known driver that runs CUDA 10.0.130; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
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
      ibverbs-utils librdmacm1
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu1804/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda && \
    step nvidia developer.download.nvidia.com/compute/machine-learning/repos/ubuntu1804/x86_64 7fa2af80.pub AE09FE4BBD223A84B2CCFCE3F60F4B3D7FA2AF80 ml
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-libraries-10-0=10.0.130-1 libcudnn7=7.4.2.24-1+cuda10.0 libnccl2=2.6.4-1+cuda10.0 cuda-compat-10-0
# what NVIDIA's images set; the loader finds the libraries by its own list
RUN set -eu; [ -e /usr/local/cuda ] || ln -s cuda-10.0 /usr/local/cuda; \
    echo /usr/local/cuda-10.0/lib64 >/etc/ld.so.conf.d/cuda-10-0.conf; step ldconfig
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
      libc6-dev gcc-4.8 g++-4.8 gcc g++ ca-certificates curl bzip2 xz-utils make perl file
# the toolkit, and headers of NVIDIA's libraries
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-toolkit-10-0=10.0.130-1 libcudnn7-dev=7.4.2.24-1+cuda10.0 libnccl-dev=2.6.4-1+cuda10.0
# Open MPI 4.0.7 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc-4.8 CXX=g++-4.8 USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.0/openmpi-4.0.7.tar.bz2" -o /tmp/openmpi-4.0.7.tar.bz2; \
    echo "7d3ecc8389161eb721982c855f89c25dca289001577a01a439ae97ce872be997  /tmp/openmpi-4.0.7.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.0.7.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
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
# torch 1.1.0 by pip, from this index only, and NumPy, which it imports
RUN set -eu; step python3 -m pip install --no-cache-dir numpy==1.16.6; step python3 -m pip install --no-cache-dir --no-deps --index-url https://download.pytorch.org/whl/cu100 'torch==1.1.0'
# TensorFlow 1.14.0 by pip
RUN set -eu; step python3 -m pip install --no-cache-dir 'tensorflow-gpu==1.14.0' gast==0.2.2 h5py==2.10.0

# ---- compiles what is built against the frameworks
FROM build AS extensions
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY --from=frameworks /usr/local/lib/ /usr/local/lib/
# Horovod 0.18.1 against this stack's frameworks and libraries; the stub of libcuda.so.1 is there for this step only
RUN set -eu; export PYTHONHASHSEED=0 HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1 \
      HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITH_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1 \
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
    echo 'horovod==0.18.1 --hash=sha256:26a7751b090caabeba27808786b106cc672bc0aef3e7993361e99479c08beeb3' >/tmp/horovod.txt; \
    ln -sf libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig /usr/local/cuda/lib64/stubs; \
    python3 -m pip download --no-cache-dir --no-deps --no-binary horovod --no-build-isolation --require-hashes -r /tmp/horovod.txt -d /tmp; \
    mkdir /tmp/horovod; tar -xf /tmp/horovod-0.18.1.tar.gz -C /tmp/horovod --strip-components=1 --no-same-owner; \
    cd /tmp/horovod; python3 setup.py bdist_wheel -d /wheels; cd /; \
    rm -f /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig; \
    step

# ---- the worker, beside them
FROM build AS worker
ARG SOURCE_DATE_EPOCH=1704067200
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc-4.8 CXX=g++-4.8; sh /src/worker/build.sh /out

# ---- the image
FROM frameworks
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
# what XLA compiles with at run time
COPY --from=build /usr/local/cuda-10.0/bin/ptxas /usr/local/cuda-10.0/bin/ptxas
COPY --from=build /usr/local/cuda-10.0/nvvm/libdevice/ /usr/local/cuda-10.0/nvvm/libdevice/
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
COPY --from=build /usr/local/cuda-10.0/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.6".split(".")[:2])), sys.version'; \
    pip --version; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod.tensorflow'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod.torch'; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "7.4.2.24".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.7").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.6.4-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.0.7; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import tensorflow; v = tensorflow.__version__; print("TensorFlow", v); assert v.startswith("1.14.0".split("+")[0])'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("1.1.0")'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import torch; assert torch.version.cuda.split(".")[:2] == "10.0.130".split(".")[:2]'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.tensorflow="1.14.0" org.ringup.stack.torch="1.1.0" org.ringup.stack.horovod="0.18.1" \
      org.ringup.stack.cuda="10.0.130" org.ringup.stack.cudnn="7.4.2.24" org.ringup.stack.nccl="2.6.4-1" org.ringup.stack.os="ubuntu18.04" \
      org.ringup.stack.glibc="2.27" org.ringup.stack.gcc="4.8.5" org.ringup.stack.python="3.6" org.ringup.stack.openmpi="4.0.7" \
      org.ringup.stack.driver="410.48"
CMD ["/usr/local/bin/ringup-entry"]

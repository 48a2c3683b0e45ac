# Cluster image for ubuntu20.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# tensorflow 2.8.4 - the only one that 'tensorflow==2.8.4' admits; Horovod 0.24.3 needs TensorFlow >=1.15.0; what Horovod 0.24.3 was tested with; system CUDA/cuDNN needed on LD_LIBRARY_PATH; built and tested with CUDA 11.2: the rest of the major is inferred; the facts of 2.8.0; Python from the wheels on PyPI [tensorflow-install-source;common-knowledge;pypi;horovod-tags]
# torch 1.11.0 - the newest that 'torch==1.11.0' admits; Horovod 0.24.3 needs torch >=1.2.0; NCCL as in the wheel of CUDA 10.2 [pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;pytorch-builder;torch-wheels-nccl;horovod-tags;pypi]
# horovod 0.24.3 - the only one that 'horovod==0.24.3' admits; HOROVOD_GPU_OPERATIONS and the flags per operation exclude each other; NCCL: alltoall needs >=2.7.0; no Open MPI 5: inferred from the flags of its launcher [horovod-tags;pypi]
# cuda 11.5.2 - the newest that works; TensorFlow 2.8.4 needs CUDA >=11.2,<12; torch 1.11.0 needs CUDA >=11.5,<12; what torch 1.11.0 was tested with; cuDNN 8.3.2.44 (built for CUDA 11.5) needs CUDA >=11,<12; NCCL 2.11.4-1 (built for CUDA 11.5) needs CUDA >=11,<12 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;tensorflow-install-source;pypi;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pytorch-builder;torch-wheels-nccl;spack-cudnn;nvidia-tensorflow-116;nvidia-container-images]
# cudnn 8.3.2.44 - the newest that works; TensorFlow 2.8.4 needs cuDNN >=8.1,<9; torch 1.11.0 needs cuDNN >=8.3,<9; what torch 1.11.0 was tested with; its builds for CUDA 11.5; NVIDIA's archive [spack-cudnn;common-knowledge;nvidia-tensorflow-116;tensorflow-install-source;pypi;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pytorch-builder;torch-wheels-nccl]
# nccl 2.11.4-1 - the newest that works; Horovod 0.24.3 needs NCCL >=2.0; its builds for CUDA 11.5; first image 2022-01-07 [nvidia-container-images;horovod-tags;pypi]
# os ubuntu20.04 - the newest that works; Ubuntu 20.04 focal; extended support: ESM 2030; few packages in the machine-learning repository [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.31 - the newest that works; for ubuntu20.04; TensorFlow 2.8.4 needs glibc >=2.12; torch 1.11.0 needs glibc >=2.17; comes with the OS [common-knowledge;tensorflow-install-source;pypi;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pytorch-builder;torch-wheels-nccl]
# gcc 9.4.0 - the newest that works; for ubuntu20.04; Horovod 0.24.3 needs gcc >=5; CUDA 11.5.2 needs gcc >=6,<12; the OS's own [common-knowledge;horovod-tags;pypi;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.8 - the newest that works; for ubuntu20.04; TensorFlow 2.8.4 needs Python >=3.7,<3.11; torch 1.11.0 needs Python >=3.7,<3.11; Horovod 0.24.3 needs Python >=3.6; what Horovod 0.24.3 was tested with; the OS's own interpreter [common-knowledge;tensorflow-install-source;pypi;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;pytorch-builder;torch-wheels-nccl;horovod-tags]
# openmpi 4.1.2 - the only one that 'openmpi==4.1.2' admits; Horovod 0.24.3 needs Open MPI >=1.10,<5; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge;horovod-tags;pypi]
# driver 450.80.02 - the oldest known driver that runs CUDA 11.5.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- NVIDIA's image with the toolkit, of the same CUDA: the build stage takes it from here
FROM docker.io/nvidia/cuda:11.5.2-devel-ubuntu20.04 AS toolkit

# ---- the stack: what the build and the image both need
FROM docker.io/nvidia/cuda:11.5.2-runtime-ubuntu20.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# NVIDIA's image has an old key for its repository, and holds its libraries back from updates
RUN rm -f /etc/apt/sources.list.d/cuda*.list /etc/apt/sources.list.d/nvidia-ml.list; apt-mark showhold | xargs -r apt-mark unhold
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3 python3-dev python3-pip libibverbs1 ibverbs-providers \
      ibverbs-utils librdmacm1
# the cuDNN that NVIDIA's image may bring is not the one of this stack
RUN dpkg-query --show --showformat '${Package}\n' 'libcudnn*' | xargs -r dpkg --purge
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2004/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libnccl2=2.11.4-1+cuda11.5
# cuDNN 8.3.2.44 from NVIDIA's archive
RUN set -eu; \
    step apt-get install -y --no-install-recommends ca-certificates curl xz-utils; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/developer.download.nvidia.com/compute/redist/cudnn/v8.3.2/local_installers/11.5/cudnn-linux-x86_64-8.3.2.44_cuda11.5-archive.tar.xz" -o /tmp/cudnn-linux-x86_64-8.3.2.44_cuda11.5-archive.tar.xz; \
    echo "5500953c08c5e5d1dddcfda234f9efbddcdbe43a53b26dc0a82c723fa170c457  /tmp/cudnn-linux-x86_64-8.3.2.44_cuda11.5-archive.tar.xz" | sha256sum -c -; \
    mkdir /tmp/cudnn; tar -xf /tmp/cudnn-linux-x86_64-8.3.2.44_cuda11.5-archive.tar.xz -C /tmp/cudnn --strip-components=1 --no-same-owner --exclude='*.a'; \
    mkdir -p /opt/cudnn/lib; cp -a /tmp/cudnn/lib*/. /opt/cudnn/lib/; \
    echo /opt/cudnn/lib >/etc/ld.so.conf.d/cudnn.conf; ldconfig; \
    step
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==24.0 --hash=sha256:ba0d021a166865d2265246961bec0152ff124de910c5cc39f1156ce3fa7c69dc' \
      'setuptools==65.7.0 --hash=sha256:8ab4f1dbf2b4a65f7eec5ad0c620e84c34111a68d3349833494b9088212214dd' \
      'wheel==0.42.0 --hash=sha256:177f9c9b0d45c47873b619f5b650346d632cdc35fb5e4d25058e09c9e581433d' \
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
# nvcc, headers and libcuda's stub: in this stage only
COPY --from=toolkit /usr/local/cuda-11.5/ /usr/local/cuda-11.5/
ENV LIBRARY_PATH=/usr/local/cuda/lib64/stubs
# headers of NVIDIA's libraries
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libnccl-dev=2.11.4-1+cuda11.5
# Open MPI 4.1.2 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.2.tar.bz2" -o /tmp/openmpi-4.1.2.tar.bz2; \
    echo "9b78c7cf7fc32131c5cf43dd2ab9740149d9d87cadb2e2189f02685749a6b527  /tmp/openmpi-4.1.2.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.2.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
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
# torch 1.11.0 by pip, from this index only, and what it imports from PyPI
RUN set -eu; step python3 -m pip install --no-cache-dir --no-deps --index-url https://download.pytorch.org/whl/cu115 'torch==1.11.0+cu115'; \
    step python3 -m pip install --no-cache-dir typing_extensions==4.5.0 'numpy<2'
# TensorFlow 2.8.4 by pip
RUN set -eu; step python3 -m pip install --no-cache-dir 'tensorflow==2.8.4' protobuf==3.19.6 'numpy<1.24' 'wrapt<1.15'

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
# Horovod 0.24.3 against this stack's frameworks and libraries; the stub of libcuda.so.1 is there for this step only
RUN set -eu; export CC=gcc CXX=g++ PYTHONHASHSEED=0 HOROVOD_WITH_MPI=1 HOROVOD_WITH_GLOO=1 \
      HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITH_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1 \
      HOROVOD_GPU_OPERATIONS=NCCL HOROVOD_NCCL_LINK=SHARED HOROVOD_CUDA_HOME=/usr/local/cuda; \
    printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:4f2c9f67e9821cad2e5f480bc8d83b8742896f1242dba247911072d4fa94c192' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==2.23 --hash=sha256:e5c6e8d3fbad53479cab09ac03729e0a9faf2bee3db8208a550daf5af81a5934' \
      'pyparsing==3.1.4 --hash=sha256:a6a7ee4235a3f944aa1fa2249307708f893fe5717dc603503c6c7969c070fb7c' \
      'pyyaml==6.0.1 --hash=sha256:7e07cbde391ba96ab58e532ff4803f79c4129397514e1413a7dc761ccd755735' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/tools.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/tools.txt; \
    echo 'horovod==0.24.3 --hash=sha256:af24e4b1ed9adaa0db98f6375c023d438f65f116aa80ad5e7a321780362b3e7f' >/tmp/horovod.txt; \
    ln -sf libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig /usr/local/cuda/lib64/stubs; \
    python3 -m pip download --no-cache-dir --no-deps --no-binary horovod --no-build-isolation --require-hashes -r /tmp/horovod.txt -d /tmp; \
    mkdir /tmp/horovod; tar -xf /tmp/horovod-0.24.3.tar.gz -C /tmp/horovod --strip-components=1 --no-same-owner; \
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
# what XLA compiles with at run time
COPY --from=build /usr/local/cuda-11.5/bin/ptxas /usr/local/cuda-11.5/bin/ptxas
COPY --from=build /usr/local/cuda-11.5/nvvm/libdevice/ /usr/local/cuda-11.5/nvvm/libdevice/
# Horovod as it was built, and what it imports
COPY --from=extensions /wheels/ /opt/wheels/
RUN set -eu; printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:4f2c9f67e9821cad2e5f480bc8d83b8742896f1242dba247911072d4fa94c192' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==2.23 --hash=sha256:e5c6e8d3fbad53479cab09ac03729e0a9faf2bee3db8208a550daf5af81a5934' \
      'pyparsing==3.1.4 --hash=sha256:a6a7ee4235a3f944aa1fa2249307708f893fe5717dc603503c6c7969c070fb7c' \
      'pyyaml==6.0.1 --hash=sha256:7e07cbde391ba96ab58e532ff4803f79c4129397514e1413a7dc761ccd755735' \
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
COPY --from=build /usr/local/cuda-11.5/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.8".split(".")[:2])), sys.version'; \
    pip --version; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod.tensorflow'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod.torch'; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "8.3.2.44".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.8").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.11.4-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.2; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import tensorflow; v = tensorflow.__version__; print("TensorFlow", v); assert v.startswith("2.8.4".split("+")[0])'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("1.11.0")'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.tensorflow="2.8.4" org.ringup.stack.torch="1.11.0" org.ringup.stack.horovod="0.24.3" org.ringup.stack.cuda="11.5.2" \
      org.ringup.stack.cudnn="8.3.2.44" org.ringup.stack.nccl="2.11.4-1" org.ringup.stack.os="ubuntu20.04" org.ringup.stack.glibc="2.31" \
      org.ringup.stack.gcc="9.4.0" org.ringup.stack.python="3.8" org.ringup.stack.openmpi="4.1.2" org.ringup.stack.driver="450.80.02"
CMD ["/usr/local/bin/ringup-entry"]

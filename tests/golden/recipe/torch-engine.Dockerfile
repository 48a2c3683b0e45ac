# Cluster image for rockylinux9, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 2.13.0 - the best of several that 'torch==2.13.0' admits; Transformer Engine 2.20.2 needs torch >=2.6; Megatron Core 0.19.2 needs torch >=2.6.0; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels; the compute capabilities are those of +cu130 [colabtools-6053;public-pins;pypi;transformer-engine;pytorch-141868]
# transformer-engine 2.20.2 - the newest that 'transformer-engine==2.20.2' admits; its part for torch is compiled here; FP8 wants compute capability 8.9 or newer; imports what torch has from 2.6 on [pypi;transformer-engine;pytorch-141868]
# megatron-core 0.19.2 - the only one that 'megatron-core==0.19.2' admits [pypi]
# cuda 12.9.2 - the newest that works; driver 535.104.05 runs it by minor-version compatibility (>=525.60.13); A100 80GB has compute capability 8.0 (>=5.0;<=12.1); torch 2.13.0 needs CUDA >=12.9,<13; what torch 2.13.0 was tested with; Transformer Engine 2.20.2 needs CUDA >=12.1,<13; cuDNN 9.20.0.48 (built for CUDA 12) needs CUDA >=12,<13; drivers copied from the patch release before it [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-3016;common-knowledge;gpu-capability-tables;colabtools-6053;public-pins;pypi;transformer-engine;pytorch-141868;pytorch-cudnn-init;immich-23110;spack-cudnn]
# cudnn 9.20.0.48 - the wheel of torch 2.13.0 brings it; nothing of it is installed beside [colabtools-6053;public-pins]
# nccl 2.29.7 - the wheel of torch 2.13.0 brings it; nothing of it is installed beside [colabtools-6053;public-pins]
# os rockylinux9 - the only one that 'os==rockylinux9' admits; Rocky Linux 9 [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.34 - the newest that works; for rockylinux9; torch 2.13.0 needs glibc >=2.28; Transformer Engine 2.20.2 needs glibc >=2.28; Megatron Core 0.19.2 needs glibc >=2.24; comes with the OS [common-knowledge;colabtools-6053;public-pins;pypi;transformer-engine;pytorch-141868]
# gcc 11.5.0 - the newest that works; for rockylinux9; CUDA 12.9.2 needs gcc >=6,<15; the OS's own; 11.2 at 9.0 [common-knowledge;cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-3016]
# python 3.12 - the newest that works; for rockylinux9; torch 2.13.0 needs Python >=3.10,<3.15; Transformer Engine 2.20.2 needs Python >=3.10; Megatron Core 0.19.2 needs Python >=3.12,<3.14; beside the OS's own [common-knowledge;colabtools-6053;public-pins;pypi;transformer-engine;pytorch-141868]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 535.104.05 - it is there: the stack is made to fit it [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-3016;common-knowledge]
# gpu A100 80GB - A100 80GB: compute capability 8.0 [spack-cuda;gpu-capability-tables;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/rockylinux/rockylinux:9 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG PYTORCH_MIRROR=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      ca-certificates openssh-server openssh-clients iproute procps-ng python3.12 python3.12-devel python3.12-pip libibverbs \
      libibverbs-utils librdmacm glibc-devel gcc gcc-c++
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64 D42D0685.pub 610C7B14E068A878070DA4E99CD0A493D42D0685 cuda
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      cuda-libraries-12-9-12.9.2-1 cuda-compat-12-9
# what NVIDIA's images set; the loader finds the libraries by its own list
RUN set -eu; [ -e /usr/local/cuda ] || ln -s cuda-12.9 /usr/local/cuda; \
    echo /usr/local/cuda-12.9/lib64 >/etc/ld.so.conf.d/cuda-12-9.conf; step ldconfig
ENV PATH=/usr/local/cuda/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# python, python3 and pip are this Python's
RUN set -eu; for name in python python3; do ln -sf "$(command -v python3.12)" "/usr/local/bin/$name"; done; \
    for name in pip pip3; do printf '#!/bin/sh\nexec python3.12 -m pip "$@"\n' >"/usr/local/bin/$name"; chmod 755 "/usr/local/bin/$name"; done

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG PYTORCH_MIRROR=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      glibc-devel gcc gcc-c++ ca-certificates tar xz bzip2 diffutils findutils make perl which file
# the toolkit, and headers of NVIDIA's libraries
RUN step dnf install -y --allowerasing --setopt=install_weak_deps=False \
      cuda-toolkit-12-9-12.9.2-1
# Open MPI 5.0.8 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.8.tar.bz2" -o /tmp/openmpi-5.0.8.tar.bz2; \
    echo "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449  /tmp/openmpi-5.0.8.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.8.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda --with-cuda-libdir=/usr/local/cuda/lib64/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm; \
    make -j"$(nproc)" install; \
    echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /; \
    step
ENV PATH=/opt/openmpi/bin:$PATH

# ---- the image without what is built against the frameworks
FROM stack AS frameworks
ARG PIP_INDEX_URL=
ARG PYTORCH_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# Open MPI as it was built
COPY --from=build /opt/openmpi/ /opt/openmpi/
RUN echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf && step ldconfig
ENV PATH=/opt/openmpi/bin:$PATH
# torch 2.13.0 by pip, from this index only
RUN step python3.12 -m pip install --no-cache-dir --index-url "${PYTORCH_MIRROR:-https://download.pytorch.org/whl}/cu129" 'torch==2.13.0+cu129' 'numpy<3'
# all programs find the NCCL that comes with torch
RUN python3.12 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf && step ldconfig
# for torch, by pip; torch, NumPy and all else that is there stay as they are
RUN set -eu; python3.12 -m pip list --format=freeze >/tmp/stays.txt; \
    step python3.12 -m pip install --no-cache-dir -c /tmp/stays.txt 'transformer-engine[core-cu12]==2.20.2' megatron-core==0.19.2

# ---- compiles what is built against the frameworks
FROM build AS extensions
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG PYTORCH_MIRROR=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY --from=frameworks /usr/local/lib/ /usr/local/lib/
COPY --from=frameworks /usr/local/lib64/ /usr/local/lib64/
# transformer-engine-torch==2.20.2 against this torch
RUN set -eu; export CC=gcc CXX=g++ PYTHONHASHSEED=0 FLASH_ATTENTION_FORCE_BUILD=TRUE NVTE_PYTORCH_FORCE_BUILD=TRUE CUDA_HOME=/usr/local/cuda TORCH_CUDA_ARCH_LIST='8.0' FLASH_ATTN_CUDA_ARCHS='80' NVTE_CUDA_ARCHS='80'; \
    CPATH="$(python3.12 -c 'import nvidia.cudnn as c, nvidia.nccl as n; print(c.__path__[0] + "/include:" + n.__path__[0] + "/include")')"; export CPATH; \
    step python3.12 -m pip install --no-cache-dir wheel==0.45.1 packaging==25.0 ninja==1.13.0 psutil==7.0.0; \
    python3.12 -c 'import setuptools' 2>/dev/null || step python3.12 -m pip install --no-cache-dir setuptools==75.3.2; \
    printf '%s\n' \
      'transformer-engine-torch==2.20.2 --hash=sha256:4c40ced8a6261649e689076f198d4feaf02277b1ba18931a66eccdaceb33c43e' \
      >/tmp/sdists.txt; \
    python3.12 -m pip download --no-cache-dir --no-deps --no-binary :all: --no-build-isolation --require-hashes -r /tmp/sdists.txt -d /tmp/sdists; \
    python3.12 -m pip wheel --no-cache-dir --no-deps --no-build-isolation -w /wheels-beside /tmp/sdists/*; \
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
ARG PYTORCH_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# what was built against torch, and what it imports; what is there stays as it is
COPY --from=extensions /wheels-beside/ /opt/wheels-beside/
RUN set -eu; python3.12 -m pip list --format=freeze >/tmp/stays.txt; \
    step python3.12 -m pip install --no-cache-dir -c /tmp/stays.txt /opt/wheels-beside/*.whl; \
    rm -r /opt/wheels-beside; step
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=worker /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# libcuda's stub, for the checks
COPY --from=build /usr/local/cuda-12.9/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.12".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3.12 -c 'import ctypes as c; a, b, d = map(int, "2.29.7".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3.12 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.13.0")'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3.12 -c 'import torch; a, b, d = map(int, "9.20.0.48".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    python3.12 -m pip list --format=freeze | tr _ - | sed 's/+.*//' >/tmp/there.txt; if printf '%s\n' transformer-engine==2.20.2 megatron-core==0.19.2 | grep -ixvF -f /tmp/there.txt; then exit 1; fi; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3.12 -c 'import torch, megatron.core'; \
    mkdir -p /usr/share/ringup; rpm -qa --queryformat '%{NAME} %{EVR} %{ARCH}\n' >/tmp/rpm-packages; \
    LC_ALL=C sort -o /usr/share/ringup/rpm-packages /tmp/rpm-packages; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="2.13.0" org.ringup.stack.transformer-engine="2.20.2" org.ringup.stack.megatron-core="0.19.2" \
      org.ringup.stack.cuda="12.9.2" org.ringup.stack.cudnn="9.20.0.48" org.ringup.stack.nccl="2.29.7" org.ringup.stack.os="rockylinux9" \
      org.ringup.stack.glibc="2.34" org.ringup.stack.gcc="11.5.0" org.ringup.stack.python="3.12" org.ringup.stack.openmpi="5.0.8" \
      org.ringup.stack.driver="535.104.05" org.ringup.stack.gpu="A100 80GB"
CMD ["/usr/local/bin/ringup-entry"]

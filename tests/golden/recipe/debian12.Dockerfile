# Cluster image for debian12, cpu
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# os debian12 - the newest that works; Debian 12 bookworm [test]
# glibc 2.36 - the newest that works; for debian12; comes with the base [test]
# gcc 12.2.0 - the newest that works; for debian12; compiles the worker [test]
# python 3.11.2 - the only one that 'python>=3.11' admits; for debian12; Debian's own [test]
# openmpi 4.1.10 - the newest that 'openmpi==4.1.*' admits; for debian12; a later build [other]
# ---- the stack: what the build and the image both need
FROM registry.lan:5000/base/debian:12 AS stack
ENV LANG=C.UTF-8
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DEBIAN_FRONTEND=noninteractive
ARG SOURCE_DATE_EPOCH=1704067200
ARG PYTHONHASHSEED=0
ARG PIP_BREAK_SYSTEM_PACKAGES=1
# packages of the OS
RUN set -eu; export APT_CONFIG=/tmp/apt.conf; \
    echo 'Acquire::Retries "3"; Acquire::Languages "none";' >/tmp/apt.conf; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in bookworm bookworm-updates; do echo "deb $APT_MIRROR $suite main"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security bookworm-security main" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} bookworm-security main" >>/tmp/apt.list;; \
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
      python3=3.11.2 \
      openmpi-bin=4.1.10; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow

# ---- build stage: compiles what has no package; only its results are taken
FROM registry.lan:5000/base/debian:12 AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DEBIAN_FRONTEND=noninteractive
ARG SOURCE_DATE_EPOCH=1704067200
ARG PYTHONHASHSEED=0
ARG PIP_BREAK_SYSTEM_PACKAGES=1
# the compiler, and headers
RUN set -eu; export APT_CONFIG=/tmp/apt.conf; \
    echo 'Acquire::Retries "3"; Acquire::Languages "none";' >/tmp/apt.conf; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in bookworm bookworm-updates; do echo "deb $APT_MIRROR $suite main"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security bookworm-security main" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} bookworm-security main" >>/tmp/apt.list;; \
      esac; \
      echo 'Dir::Etc::SourceList "/tmp/apt.list"; Dir::Etc::SourceParts "/dev/null"; Acquire::Check-Valid-Until "false";' >>/tmp/apt.conf; \
    fi; \
    apt-get update; \
    apt-get install -y --no-install-recommends \
      libc6-dev \
      gcc=12.2.0 \
      gcc-12=12.2.0-14 \
      libopenmpi-dev=4.1.10; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM stack
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DEBIAN_FRONTEND=noninteractive
ARG SOURCE_DATE_EPOCH=1704067200
ARG PYTHONHASHSEED=0
ARG PIP_BREAK_SYSTEM_PACKAGES=1
# image.apt of the cluster file
RUN set -eu; export APT_CONFIG=/tmp/apt.conf; \
    echo 'Acquire::Retries "3"; Acquire::Languages "none";' >/tmp/apt.conf; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in bookworm bookworm-updates; do echo "deb $APT_MIRROR $suite main"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security bookworm-security main" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} bookworm-security main" >>/tmp/apt.list;; \
      esac; \
      echo 'Dir::Etc::SourceList "/tmp/apt.list"; Dir::Etc::SourceParts "/dev/null"; Acquire::Check-Valid-Until "false";' >>/tmp/apt.conf; \
    fi; \
    apt-get update; \
    apt-get install -y --no-install-recommends \
      git \
      vim=2:9.0; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
RUN set -eu; export APT_CONFIG=/tmp/apt.conf; \
    echo 'Acquire::Retries "3"; Acquire::Languages "none";' >/tmp/apt.conf; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in bookworm bookworm-updates; do echo "deb $APT_MIRROR $suite main"; done >/tmp/apt.list; \
      case $APT_MIRROR in \
        */debian) echo "deb $APT_MIRROR-security bookworm-security main" >>/tmp/apt.list;; \
        */debian/2*) echo "deb ${APT_MIRROR%/debian/*}/debian-security/${APT_MIRROR##*/debian/} bookworm-security main" >>/tmp/apt.list;; \
      esac; \
      echo 'Dir::Etc::SourceList "/tmp/apt.list"; Dir::Etc::SourceParts "/dev/null"; Acquire::Check-Valid-Until "false";' >>/tmp/apt.conf; \
    fi; \
    apt-get update; \
    apt-get install -y --no-install-recommends \
      python3-pip=23.0.1+dfsg-1; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
# image.pip of the cluster file; the versions of the stack stay as they are
RUN set -eu; python3 -m pip freeze | sed -nE '/^(tensorflow|tensorflow-gpu|torch|jax|jaxlib|mxnet[-a-z0-9]*|horovod|numpy|protobuf|nvidia-[-a-z0-9]*)==/p' >/tmp/stack.txt; \
    python3 -m pip install --no-cache-dir -c /tmp/stack.txt numpy 'torch>=2,<3'; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then \
      echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ssl'; \
    mpirun --version | grep -F 4.1.10; \
    rm -rf /tmp/* /var/tmp/* /root/.cache /root/.gnupg /var/cache/ldconfig/* /var/cache/man/* /etc/*- /etc/ssh/ssh_host_* \
      /var/lib/dbus/machine-id /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old; \
    find /var/log -type f -delete; [ ! -s /etc/machine-id ] || : >/etc/machine-id; \
    sed -i -E "s/^([^:]*:[^:]*:)[0-9]+:/\1$((SOURCE_DATE_EPOCH / 86400)):/" /etc/shadow
COPY files/0 /workspace/train.py
ENV PLAIN="b"
ENV SPACES="a b"
ENV QUOTES="say \"hi\""
ENV DOLLAR="\$HOME \\ x"
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.os="debian12" \
      org.ringup.stack.glibc="2.36" \
      org.ringup.stack.gcc="12.2.0" \
      org.ringup.stack.python="3.11.2" \
      org.ringup.stack.openmpi="4.1.10"
CMD ["/usr/local/bin/ringup-entry"]

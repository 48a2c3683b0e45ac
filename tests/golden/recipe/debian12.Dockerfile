# Cluster image for debian12, cpu
# Made by ringup; ringup.lock names the catalog that it comes from.
#
# os debian12 - the newest that works; Debian 12 bookworm [test]
# glibc 2.36 - the newest that works; for debian12; comes with the base [test]
# gcc 12.2.0 - the newest that works; for debian12; compiles the worker [test]
# python 3.11.2 - the only one that 'python>=3.11' admits; for debian12; Debian's own [test]
# openmpi 4.1.10 - the newest that 'openmpi==4.1.*' admits; for debian12; a later build [other]
# ---- the stack: what the build and the image both need
FROM registry.lan:5000/base/debian:12 AS stack
ENV LANG=C.UTF-8
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
RUN set -eu; export DEBIAN_FRONTEND=noninteractive; opts='-o Acquire::Retries=3'; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in bookworm bookworm-updates; do echo "deb $APT_MIRROR $suite main"; done >/tmp/apt.list; \
      case $APT_MIRROR in */debian) \
        echo "deb $APT_MIRROR-security bookworm-security main" >>/tmp/apt.list;; esac; \
      opts="$opts -o Dir::Etc::SourceList=/tmp/apt.list -o Dir::Etc::SourceParts=/dev/null -o Acquire::Check-Valid-Until=false"; \
    fi; \
    apt-get $opts update; \
    apt-get $opts install -y --no-install-recommends \
      ca-certificates \
      openssh-server \
      openssh-client \
      iproute2 \
      procps \
      python3=3.11.2 \
      openmpi-bin=4.1.10; \
    rm -f /etc/ssh/ssh_host_*; \
    rm -rf /tmp/apt.list /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old; find /var/log -type f -delete

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
RUN set -eu; export DEBIAN_FRONTEND=noninteractive; opts='-o Acquire::Retries=3'; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in bookworm bookworm-updates; do echo "deb $APT_MIRROR $suite main"; done >/tmp/apt.list; \
      case $APT_MIRROR in */debian) \
        echo "deb $APT_MIRROR-security bookworm-security main" >>/tmp/apt.list;; esac; \
      opts="$opts -o Dir::Etc::SourceList=/tmp/apt.list -o Dir::Etc::SourceParts=/dev/null -o Acquire::Check-Valid-Until=false"; \
    fi; \
    apt-get $opts update; \
    apt-get $opts install -y --no-install-recommends \
      libc6-dev \
      gcc=12.2.0 \
      gcc-12=12.2.0-14 \
      libopenmpi-dev=4.1.10; \
    rm -rf /tmp/apt.list /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old; find /var/log -type f -delete
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM stack
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
RUN set -eu; export DEBIAN_FRONTEND=noninteractive; opts='-o Acquire::Retries=3'; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in bookworm bookworm-updates; do echo "deb $APT_MIRROR $suite main"; done >/tmp/apt.list; \
      case $APT_MIRROR in */debian) \
        echo "deb $APT_MIRROR-security bookworm-security main" >>/tmp/apt.list;; esac; \
      opts="$opts -o Dir::Etc::SourceList=/tmp/apt.list -o Dir::Etc::SourceParts=/dev/null -o Acquire::Check-Valid-Until=false"; \
    fi; \
    apt-get $opts update; \
    apt-get $opts install -y --no-install-recommends \
      git \
      vim=2:9.0; \
    rm -rf /tmp/apt.list /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old; find /var/log -type f -delete
RUN set -eu; export DEBIAN_FRONTEND=noninteractive; opts='-o Acquire::Retries=3'; \
    if [ -n "$APT_MIRROR" ]; then \
      for suite in bookworm bookworm-updates; do echo "deb $APT_MIRROR $suite main"; done >/tmp/apt.list; \
      case $APT_MIRROR in */debian) \
        echo "deb $APT_MIRROR-security bookworm-security main" >>/tmp/apt.list;; esac; \
      opts="$opts -o Dir::Etc::SourceList=/tmp/apt.list -o Dir::Etc::SourceParts=/dev/null -o Acquire::Check-Valid-Until=false"; \
    fi; \
    apt-get $opts update; \
    apt-get $opts install -y --no-install-recommends \
      python3-pip; \
    rm -rf /tmp/apt.list /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old; find /var/log -type f -delete
RUN PIP_INDEX_URL="${PIP_INDEX_URL:-https://pypi.org/simple}" PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir numpy 'torch>=2,<3'
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then \
      echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN sshd=$(command -v sshd) && test -x "$sshd" && \
    allreduce --version && \
    python3 -c 'import ssl' && \
    mpirun --version | grep -F 4.1.10
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

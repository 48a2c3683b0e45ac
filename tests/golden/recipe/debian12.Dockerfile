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
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3=3.11.2 openmpi-bin=4.1.10

# ---- build stage: compiles what has no package; only its results are taken
FROM registry.lan:5000/base/debian:12 AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# the compiler, and headers
RUN step apt-get install -y --no-install-recommends \
      libc6-dev gcc=12.2.0 gcc-12=12.2.0-14 libopenmpi-dev=4.1.10
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM stack
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200

# image.apt of the cluster file
RUN step apt-get install -y --no-install-recommends \
      git vim=2:9.0
RUN step apt-get install -y --no-install-recommends \
      python3-pip=23.0.1+dfsg-1
# image.pip of the cluster file; the versions of the stack stay as they are
RUN set -eu; python3 -m pip freeze | sed -nE '/^(tensorflow|tensorflow-gpu|torch|jax|jaxlib|mxnet[-a-z0-9]*|horovod|numpy|protobuf|nvidia-[-a-z0-9]*)==/p' >/tmp/stack.txt; \
    step python3 -m pip install --no-cache-dir -c /tmp/stack.txt numpy 'torch>=2,<3'
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ssl'; \
    mpirun --version | grep -F 4.1.10; \
    step; rm /usr/local/bin/step
COPY files/0 /workspace/train.py
ENV PLAIN="b"
ENV SPACES="a b"
ENV QUOTES="say \"hi\""
ENV DOLLAR="\$HOME \\ x"
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.os="debian12" org.ringup.stack.glibc="2.36" org.ringup.stack.gcc="12.2.0" org.ringup.stack.python="3.11.2" \
      org.ringup.stack.openmpi="4.1.10"
CMD ["/usr/local/bin/ringup-entry"]

# Cluster image for debian12, cpu
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# jax 0.10.2 - the newest that 'jax==0.10.2' admits; the newest cuDNN and NCCL of its day; compute capabilities as the build file of 2025 has them [pypi;jax-bazelrc;jax-installation]
# os debian12 - the only one that 'os==debian12' admits; Debian 12 bookworm; long-term support to 2028-06 [debian-bookworm;debian-releases;cuda-repo-management-1;common-knowledge]
# glibc 2.36 - the newest that works; for debian12; JAX 0.10.2 needs glibc >=2.27; comes with the base root filesystem [debian-bookworm;pypi;jax-bazelrc;jax-installation]
# gcc 12.2.0 - the newest that works; for debian12; compiles the worker in the build stage [debian-bookworm]
# python 3.11.2 - the newest that works; for debian12; JAX 0.10.2 needs Python >=3.11,<3.15; Debian's own interpreter [debian-bookworm;pypi;jax-bazelrc;jax-installation]
# openmpi 4.1.4 - the newest that 'openmpi==4.1.4' admits; for debian12; Debian's build; mpirun over SSH and TCP [debian-bookworm]
# ---- the stack: what the build and the image both need
FROM ringup-base:debian12-HASH AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3=3.11.2-1+b1 openmpi-bin=4.1.4-3+b1 python3-pip=23.0.1+dfsg-1 \
      python3-dev=3.11.2-1+b1
# python, python3 and pip are this Python's
RUN set -eu; for name in python python3; do ln -sf "$(command -v python3)" "/usr/local/bin/$name"; done; \
    for name in pip pip3; do printf '#!/bin/sh\nexec python3 -m pip "$@"\n' >"/usr/local/bin/$name"; chmod 755 "/usr/local/bin/$name"; done

# ---- build stage: compiles what has no package; only its results are taken
FROM ringup-base:debian12-HASH AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# the compiler, and headers
RUN step apt-get install -y --no-install-recommends \
      libc6-dev gcc=4:12.2.0-3 gcc-12=12.2.0-14+deb12u1 libopenmpi-dev=4.1.4-3+b1 openmpi-bin=4.1.4-3+b1 g++=4:12.2.0-3 \
      g++-12=12.2.0-14+deb12u1
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM stack
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
# JAX 0.10.2 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'jax==0.10.2 --hash=sha256:724d73c4678d8b06f6a6ab4db1b8a2fea8cd4f1e2c2564f99601634ec7b8d1c6' \
      'jaxlib==0.10.2 --hash=sha256:1faca3c5d4662cb4a6130a68105d68bb520764817e165d6eebfd6786c0d1f30f' \
      'ml-dtypes==0.6.0 --hash=sha256:6c8e39b53e90afda8ce52859c93de4dba3e02b76d85dcf091cc469f9184c6dae' \
      'numpy==2.4.6 --hash=sha256:89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93' \
      'opt-einsum==3.4.0 --hash=sha256:69bb92469f86a1565195ece4ac0323943e83477171b91d24c35afe028a90d7cd' \
      'scipy==1.17.1 --hash=sha256:43af8d1f3bea642559019edfe64e9b11192a8978efbd1539d7bc2aaa23d92de4' \
      'setuptools==80.10.2 --hash=sha256:95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173' \
      >/tmp/jax.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/jax.txt
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.11".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    mpirun --version | grep -F 4.1.4; \
    JAX_PLATFORMS=cpu python3 -c 'import jax, jaxlib; v = jax.__version__; print("JAX", v, "jaxlib", jaxlib.__version__); assert v == "0.10.2"; assert int(jax.jit(lambda x: x + 1)(1)) == 2'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.jax="0.10.2" org.ringup.stack.os="debian12" org.ringup.stack.glibc="2.36" org.ringup.stack.gcc="12.2.0" \
      org.ringup.stack.python="3.11.2" org.ringup.stack.openmpi="4.1.4"
CMD ["/usr/local/bin/ringup-entry"]

# Cluster image for debian12, cpu
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# arch aarch64
# torch 2.1.2 - the only one that 'torch==2.1.2' admits; for CPUs only: PyTorch's index has CUDA for aarch64 from 2.6.0 on and PyPI from 2.11.0 on [pypi;pytorch-160162]
# os debian12 - the only one that 'os==debian12' admits; Debian 12 bookworm; long-term support to 2028-06 [nvidia-driver-guide;nvidia-container-images;common-knowledge]
# glibc 2.36 - the newest that works; for debian12; torch 2.1.2 needs glibc >=2.17; comes with the base root filesystem [debian-bookworm;pypi;pytorch-160162]
# gcc 12.2.0 - the newest that works; for debian12; compiles the worker in the build stage [debian-bookworm]
# python 3.11.2 - the newest that works; for debian12; torch 2.1.2 needs Python >=3.8,<3.12; Debian's own interpreter [debian-bookworm;pypi;pytorch-160162]
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
      ca-certificates openssh-server openssh-client iproute2 procps python3=3.11.2-1+b1 openmpi-bin=4.1.4-3+b1 libc6-dev gcc=4:12.2.0-3 \
      gcc-12=12.2.0-14+deb12u1 g++=4:12.2.0-3 g++-12=12.2.0-14+deb12u1 python3-pip=23.0.1+dfsg-1 python3-dev=3.11.2-1+b1
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
# torch 2.1.2 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'filelock==3.15.1 --hash=sha256:71b3102950e91dfc1bb4209b64be4dc8854f40e5f534428d8684f953ac847fac' \
      'fsspec==2024.6.0 --hash=sha256:58d7122eb8a1a46f7f13453187bfea4972d66bf01618d37366521b1998034cee' \
      'jinja2==3.1.4 --hash=sha256:bc5dd2abb727a5319567b7a813e6a2e7318c39f4f487cfe6c89c6f9c7d25197d' \
      'markupsafe==2.1.5 --hash=sha256:6ec585f69cec0aa07d945b20805be741395e28ac1627333b1c5b0105962ffced' \
      'mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c' \
      'networkx==3.3 --hash=sha256:28575580c6ebdaf4505b22c6256a2b9de86b316dc63ba9e93abde3d78dfdbcf2' \
      'numpy==1.26.4 --hash=sha256:7ab55401287bfec946ced39700c053796e7cc0e3acbef09993a9ad2adba6ca6e' \
      'setuptools==70.0.0 --hash=sha256:54faa7f2e8d2d11bcd2c07bed282eef1046b5c080d1c32add737d7b5817b1ad4' \
      'sympy==1.12.1 --hash=sha256:9b2cbc7f1a640289430e13d2a56f02f867a1da0190f2f99d8968c2f74da0e515' \
      'torch==2.1.2 --hash=sha256:8f32ce591616a30304f37a7d5ea80b69ca9e1b94bba7f308184bf616fdaea155' \
      'typing-extensions==4.12.2 --hash=sha256:04e5ca0351e0f3f85c6853954072df659d0d13fac324d0072316b67d7794700d' \
      >/tmp/torch.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/torch.txt
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
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.1.2")'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.arch="aarch64" org.ringup.stack.torch="2.1.2" org.ringup.stack.os="debian12" org.ringup.stack.glibc="2.36" \
      org.ringup.stack.gcc="12.2.0" org.ringup.stack.python="3.11.2" org.ringup.stack.openmpi="4.1.4"
CMD ["/usr/local/bin/ringup-entry"]

# Cluster image for debian12, cpu
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# torch 2.13.0 - the newest that 'torch==2.13.0' admits; torchvision 0.28.0 needs torch ==2.13.0; default on PyPI; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels; the compute capabilities are assumed from 2.9 to 2.11 [pytorch-cudnn-init;public-pins;pytorch-test-infra;common-knowledge;pypi]
# torchvision 0.28.0 - the only one that 'torchvision==0.28.0' admits [pypi]
# os debian12 - the only one that 'os==debian12' admits; Debian 12 bookworm; long-term support to 2028-06 [debian-bookworm;debian-releases;cuda-repo-management-1;common-knowledge]
# glibc 2.36 - the newest that works; for debian12; torch 2.13.0 needs glibc >=2.28; torchvision 0.28.0 needs glibc >=2.28; comes with the base root filesystem [debian-bookworm;pytorch-cudnn-init;public-pins;pytorch-test-infra;common-knowledge;pypi]
# gcc 12.2.0 - the newest that works; for debian12; compiles the worker in the build stage [debian-bookworm]
# python 3.11.2 - the newest that works; for debian12; torch 2.13.0 needs Python >=3.10,<3.15; torchvision 0.28.0 needs Python >=3.10,<3.15; Debian's own interpreter [debian-bookworm;pytorch-cudnn-init;public-pins;pytorch-test-infra;common-knowledge;pypi]
# openmpi 4.1.4 - the newest that 'openmpi==4.1.4' admits; for debian12; Debian's build; mpirun over SSH and TCP [debian-bookworm]
# ---- the stack: what the build and the image both need
FROM ringup-base:debian12-HASH AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG PYTORCH_MIRROR=
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
ARG PYTORCH_MIRROR=
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
ARG PYTORCH_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# torch 2.13.0 by pip, from this index only, with this checksum; then what it imports
RUN set -eu; index="${PYTORCH_MIRROR:-https://download.pytorch.org/whl}/cpu"; \
    echo 'torch==2.13.0 --hash=sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b' >/tmp/torch.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes --index-url "$index" -r /tmp/torch.txt; \
    step python3 -m pip install --no-cache-dir --index-url "$index" 'torch==2.13.0' 'numpy<3'
# for the CUDA of this torch
RUN step python3 -m pip install --no-cache-dir --no-deps --index-url "${PYTORCH_MIRROR:-https://download.pytorch.org/whl}/cpu" torchvision==0.28.0
# for torch, by pip; torch, NumPy and all else that is there stay as they are
RUN set -eu; python3 -m pip list --format=freeze >/tmp/stays.txt; \
    step python3 -m pip install --no-cache-dir -c /tmp/stays.txt torchvision==0.28.0
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
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.13.0")'; \
    python3 -m pip list --format=freeze | tr _ - | sed 's/+.*//' >/tmp/there.txt; if printf '%s\n' torchvision==0.28.0 | grep -ixvF -f /tmp/there.txt; then exit 1; fi; \
    python3 -c 'import torch, torchvision'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.torch="2.13.0" org.ringup.stack.torchvision="0.28.0" org.ringup.stack.os="debian12" org.ringup.stack.glibc="2.36" \
      org.ringup.stack.gcc="12.2.0" org.ringup.stack.python="3.11.2" org.ringup.stack.openmpi="4.1.4"
CMD ["/usr/local/bin/ringup-entry"]

# Cluster image for debian12, cpu
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# tensorflow 2.13.1 - the only one that 'tensorflow==2.13.1' admits; Horovod 0.28.1 needs TensorFlow >=1.15.0; system CUDA/cuDNN needed on LD_LIBRARY_PATH; built and tested with CUDA 11.8: the rest of the major is inferred; the facts of 2.13.0; Python from the wheels on PyPI [tensorflow-install-source;common-knowledge;pypi;horovod-tags]
# torch 2.0.1 - the newest that 'torch==2.0.1' admits; Horovod 0.28.1 needs torch >=1.5.0; what Horovod 0.28.1 was tested with; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels [kohya-ss-1096;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;common-knowledge;horovod-tags;pypi]
# horovod 0.28.1 - the only one that 'horovod==0.28.1' admits; TensorFlow from 2.10 needs g++ 8 or newer (C++17); HOROVOD_GPU_OPERATIONS and the flags per operation exclude each other; NCCL: alltoall needs >=2.7.0; no Open MPI 5: inferred from the flags of its launcher [horovod-tags;pypi]
# os debian12 - the only one that 'os==debian12' admits; Debian 12 bookworm; long-term support to 2028-06 [debian-bookworm;debian-releases;cuda-repo-management-1;common-knowledge]
# glibc 2.36 - the newest that works; for debian12; TensorFlow 2.13.1 needs glibc >=2.17; torch 2.0.1 needs glibc >=2.17; comes with the base root filesystem [debian-bookworm;tensorflow-install-source;common-knowledge;pypi;kohya-ss-1096;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities]
# gcc 12.2.0 - the newest that works; for debian12; Horovod 0.28.1 needs gcc >=5; compiles the worker in the build stage [debian-bookworm;horovod-tags;pypi]
# python 3.11.2 - the newest that works; for debian12; TensorFlow 2.13.1 needs Python >=3.8,<3.12; torch 2.0.1 needs Python >=3.8,<3.12; Horovod 0.28.1 needs Python >=3.6; Debian's own interpreter [debian-bookworm;tensorflow-install-source;common-knowledge;pypi;kohya-ss-1096;pytorch-cudnn-init;pytorch-test-infra;pytorch-previous-versions;pytorch-compute-capabilities;horovod-tags]
# openmpi 4.1.4 - the newest that 'openmpi==4.1.4' admits; for debian12; Horovod 0.28.1 needs Open MPI >=1.10,<5; what Horovod 0.28.1 was tested with; Debian's build; mpirun over SSH and TCP [debian-bookworm;horovod-tags;pypi]
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
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG PYTORCH_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step apt-get install -y --no-install-recommends \
      libc6-dev gcc=4:12.2.0-3 gcc-12=12.2.0-14+deb12u1 libopenmpi-dev=4.1.4-3+b1 openmpi-bin=4.1.4-3+b1 g++=4:12.2.0-3 \
      g++-12=12.2.0-14+deb12u1 ca-certificates curl bzip2 xz-utils make perl file

# ---- the image without what is built against the frameworks
FROM stack AS frameworks
ARG PIP_INDEX_URL=
ARG PYTORCH_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# torch 2.0.1 by pip, from this index only
RUN step python3 -m pip install --no-cache-dir --index-url "${PYTORCH_MIRROR:-https://download.pytorch.org/whl}/cpu" 'torch==2.0.1' 'numpy<2'
# TensorFlow 2.13.1 by pip
RUN set -eu; step python3 -m pip install --no-cache-dir 'tensorflow==2.13.1'

# ---- compiles what is built against the frameworks
FROM build AS extensions
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG PYTORCH_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY --from=frameworks /usr/local/lib/ /usr/local/lib/
# CMake 3.25.2, for Horovod, which asks for >=3.13 and whose files CMake 4 refuses
RUN set -eu; echo 'cmake==3.25.2 --hash=sha256:f9587645cea5298d5eb20649f58a83cc53c9efa7d57b0716449a39f366a74986' >/tmp/cmake.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/cmake.txt
# Horovod 0.28.1 against this stack's frameworks and libraries
RUN set -eu; export CC=gcc CXX=g++ PYTHONHASHSEED=0 HOROVOD_WITH_MPI=1 HOROVOD_WITH_GLOO=1 \
      HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITH_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1; \
    printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:94411f22c3985acaec6f83c6df553f2dbe17b698cc7f8ae751ff2237d96b9e3c' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==3.12 --hash=sha256:a076f3f489b39b43ed13563a1dafe42447445bec2e294154ec5c57fcdda4c85e' \
      'pyparsing==3.3.3 --hash=sha256:ece8c00a69cf01b45d0b1dedabb469c90d8caf996d4fda40f147627a122849a4' \
      'pyyaml==6.0.1 --hash=sha256:d2b04aac4d386b172d5b9692e2d2da8de7bfb6c387fa4f801fbf6fb2e6ba4673' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/tools.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/tools.txt; \
    echo 'horovod==0.28.1 --hash=sha256:92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0' >/tmp/horovod.txt; \
    python3 -m pip download --no-cache-dir --no-deps --no-binary horovod --no-build-isolation --require-hashes -r /tmp/horovod.txt -d /tmp; \
    mkdir /tmp/horovod; tar -xf /tmp/horovod-0.28.1.tar.gz -C /tmp/horovod --strip-components=1 --no-same-owner; \
    cd /tmp/horovod; python3 setup.py bdist_wheel -d /wheels; cd /; \
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
# Horovod as it was built, and what it imports
COPY --from=extensions /wheels/ /opt/wheels/
RUN set -eu; printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:94411f22c3985acaec6f83c6df553f2dbe17b698cc7f8ae751ff2237d96b9e3c' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==3.12 --hash=sha256:a076f3f489b39b43ed13563a1dafe42447445bec2e294154ec5c57fcdda4c85e' \
      'pyparsing==3.3.3 --hash=sha256:ece8c00a69cf01b45d0b1dedabb469c90d8caf996d4fda40f147627a122849a4' \
      'pyyaml==6.0.1 --hash=sha256:d2b04aac4d386b172d5b9692e2d2da8de7bfb6c387fa4f801fbf6fb2e6ba4673' \
      >/tmp/needs.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/needs.txt; \
    step python3 -m pip install --no-cache-dir --no-deps /opt/wheels/horovod-*.whl; \
    rm -r /opt/wheels; step
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=worker /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.11".split(".")[:2])), sys.version'; \
    pip --version; \
    python3 -c 'import horovod'; \
    python3 -c 'import horovod.tensorflow'; \
    python3 -c 'import horovod.torch'; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    mpirun --version | grep -F 4.1.4; \
    python3 -c 'import tensorflow; v = tensorflow.__version__; print("TensorFlow", v); assert v.startswith("2.13.1".split("+")[0])'; \
    python3 -c 'import torch; v = torch.__version__; print("torch", v, torch.version.cuda); assert v.startswith("2.0.1")'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.tensorflow="2.13.1" org.ringup.stack.torch="2.0.1" org.ringup.stack.horovod="0.28.1" org.ringup.stack.os="debian12" \
      org.ringup.stack.glibc="2.36" org.ringup.stack.gcc="12.2.0" org.ringup.stack.python="3.11.2" org.ringup.stack.openmpi="4.1.4"
CMD ["/usr/local/bin/ringup-entry"]

# Cluster image for debian12, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# cuda 12.6.3 - the only one that 'cuda==12.6.3' admits; cuDNN 9.10.2.21 (built for CUDA 12) needs CUDA >=12,<13; NCCL 2.23.4-1 (built for CUDA 12.6) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;nvidia-container-images;cudnn-support-matrix-9.0]
# cudnn 9.10.2.21 - the newest that 'cudnn==9.10.2.21' admits; its builds for CUDA 12; first image 2025-06-24 [nvidia-container-images;common-knowledge;cudnn-support-matrix-9.0]
# nccl 2.23.4-1 - the newest that 'nccl==2.23.4-1' admits; its builds for CUDA 12.6; first image 2024-10-14 [nvidia-container-images]
# os debian12 - the only one that 'os==debian12' admits; Debian 12 bookworm; long-term support to 2028-06 [debian-bookworm;debian-releases;cuda-repo-management-1;common-knowledge]
# glibc 2.36 - the newest that works; for debian12; comes with the base root filesystem [debian-bookworm]
# gcc 12.2.0 - the newest that works; for debian12; CUDA 12.6.3 needs gcc >=6,<14; compiles the worker in the build stage [debian-bookworm;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# python 3.11.2 - the newest that works; for debian12; Debian's own interpreter [debian-bookworm]
# openmpi 4.1.4 - the newest that 'openmpi==4.1.4' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.6.3; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
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
      ca-certificates openssh-server openssh-client iproute2 procps python3=3.11.2-1+b1 openmpi-bin=4.1.4-3+b1 libibverbs1 \
      ibverbs-providers ibverbs-utils librdmacm1 python3-pip=23.0.1+dfsg-1
# CUDA 12.6.3, cuDNN 9.10.2.21 and NCCL 2.23.4-1 from NVIDIA's wheels: only files with these checksums
RUN set -eu; printf '%s\n' \
      'nvidia-cuda-runtime-cu12==12.6.77 --hash=sha256:ba3b56a4f896141e25e19ab287cd71e52a6a0f4b29d0d31609f60e3b4d5219b7' \
      'nvidia-cuda-nvrtc-cu12==12.6.85 --hash=sha256:800927308ccc5dd6246d3f61f7fcef2ed7ec4e59e199090d360d3293f78bd5a2' \
      'nvidia-cublas-cu12==12.6.4.1 --hash=sha256:08ed2686e9875d01b58e3cb379c6896df8e76c75e0d4a7f7dace3d7b6d9ef8eb' \
      'nvidia-cudnn-cu12==9.10.2.21 --hash=sha256:949452be657fa16687d0930933f032835951ef0892b37d2d53824d1a84dc97a8' \
      'nvidia-nccl-cu12==2.23.4 --hash=sha256:b097258d9aab2fa9f686e33c6fe40ae57b27df60cedbd15d139701bb5509e0c1' \
      >/tmp/wheels.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes -r /tmp/wheels.txt; \
    find /usr/local/lib/python3*/dist-packages/nvidia -name lib -type d | sort >/etc/ld.so.conf.d/nvidia-wheels.conf; ldconfig; \
    step
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step apt-get install -y --no-install-recommends \
      libc6-dev gcc=4:12.2.0-3 gcc-12=12.2.0-14+deb12u1 libopenmpi-dev=4.1.4-3+b1 openmpi-bin=4.1.4-3+b1
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM stack
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200

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
    python3 -c 'import ctypes as c; a, b, d = map(int, "9.10.2.21".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.23.4-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.4; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.cuda="12.6.3" org.ringup.stack.cudnn="9.10.2.21" org.ringup.stack.nccl="2.23.4-1" org.ringup.stack.os="debian12" \
      org.ringup.stack.glibc="2.36" org.ringup.stack.gcc="12.2.0" org.ringup.stack.python="3.11.2" org.ringup.stack.openmpi="4.1.4" \
      org.ringup.stack.driver="525.60.13"
CMD ["/usr/local/bin/ringup-entry"]

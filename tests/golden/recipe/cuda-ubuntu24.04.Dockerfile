# Cluster image for ubuntu24.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# cuda 12.8.1 - the only one that 'cuda==12.8.1' admits; cuDNN 9.8.0.87 (built for CUDA 12) needs CUDA >=12,<13; NCCL 2.25.1-1 (built for CUDA 12.8) needs CUDA >=12,<13 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;nvidia-container-images;cudnn-support-matrix-9.0]
# cudnn 9.8.0.87 - the newest that 'cudnn==9.8.0.87' admits; its builds for CUDA 12; first image 2025-03-13 [nvidia-container-images;common-knowledge;cudnn-support-matrix-9.0]
# nccl 2.25.1-1 - the newest that 'nccl==2.25.1-1' admits; its builds for CUDA 12.8; first image 2025-01-27 [nvidia-container-images]
# os ubuntu24.04 - the only one that 'os==ubuntu24.04' admits; Ubuntu 24.04 noble; without libtinfo5: the nsight packages of CUDA up to 12.4 do not install [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.39 - the newest that works; for ubuntu24.04; comes with the OS [common-knowledge]
# gcc 13.3.0 - the newest that works; for ubuntu24.04; CUDA 12.8.1 needs gcc >=6,<15; the OS's own; 13.2.0 at the release [common-knowledge;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.12 - the newest that works; for ubuntu24.04; the OS's own interpreter [common-knowledge]
# openmpi 5.0.7 - the only one that 'openmpi==5.0.7' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 525.60.13 - the oldest known driver that runs CUDA 12.8.1; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- NVIDIA's image with the toolkit, of the same CUDA: the build stage takes it from here
FROM docker.io/nvidia/cuda:12.8.1-devel-ubuntu24.04 AS toolkit

# ---- the stack: what the build and the image both need
FROM docker.io/nvidia/cuda:12.8.1-cudnn-runtime-ubuntu24.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# NVIDIA's image has an old key for its repository, and holds its libraries back from updates
RUN rm -f /etc/apt/sources.list.d/cuda*.list /etc/apt/sources.list.d/nvidia-ml.list; apt-mark showhold | xargs -r apt-mark unhold
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3 python3-dev python3-pip libibverbs1 ibverbs-providers \
      ibverbs-utils librdmacm1
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libcudnn9-cuda-12=9.8.0.87-1 libnccl2=2.25.1-1+cuda12.8

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step apt-get install -y --no-install-recommends \
      libc6-dev gcc g++ ca-certificates curl bzip2 xz-utils make perl file
# nvcc, headers and libcuda's stub: in this stage only
COPY --from=toolkit /usr/local/cuda-12.8/ /usr/local/cuda-12.8/
ENV LIBRARY_PATH=/usr/local/cuda/lib64/stubs
# headers of NVIDIA's libraries
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libcudnn9-dev-cuda-12=9.8.0.87-1 libcudnn9-headers-cuda-12=9.8.0.87-1 libnccl-dev=2.25.1-1+cuda12.8
# Open MPI 5.0.7 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.7.tar.bz2" -o /tmp/openmpi-5.0.7.tar.bz2; \
    echo "119f2009936a403334d0df3c0d74d5595a32d99497f9b1d41e90019fee2fc2dd  /tmp/openmpi-5.0.7.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.7.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda --with-cuda-libdir=/usr/local/cuda/lib64/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm; \
    make -j"$(nproc)" install; \
    echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /; \
    step
ENV PATH=/opt/openmpi/bin:$PATH
# the all-reduce worker
COPY worker/ /src/worker/
RUN export CC=gcc CXX=g++; sh /src/worker/build.sh /out

# ---- the image
FROM stack
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
# Open MPI as it was built
COPY --from=build /opt/openmpi/ /opt/openmpi/
RUN echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf && step ldconfig
ENV PATH=/opt/openmpi/bin:$PATH
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
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
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "9.8.0.87".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.25.1-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.7; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.cuda="12.8.1" org.ringup.stack.cudnn="9.8.0.87" org.ringup.stack.nccl="2.25.1-1" org.ringup.stack.os="ubuntu24.04" \
      org.ringup.stack.glibc="2.39" org.ringup.stack.gcc="13.3.0" org.ringup.stack.python="3.12" org.ringup.stack.openmpi="5.0.7" \
      org.ringup.stack.driver="525.60.13"
CMD ["/usr/local/bin/ringup-entry"]

# Cluster image for ubuntu24.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# jax 0.12.0.1 - the newest that 'jax==0.12.0.1' admits; the newest cuDNN and NCCL of its day; compute capabilities as the build file of 2025 has them [pypi;jax-bazelrc;jax-installation]
# cuda 13.0.3 - the newest that works; H100 SXM5 has compute capability 9.0 (>=7.5;<=12.1); the wheel of JAX 0.12.0.1 brings it; nothing of it is installed beside; JAX 0.12.0.1 needs CUDA >=13.0,<14; what JAX 0.12.0.1 was tested with; drivers copied from the patch release before it [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge;gpu-capability-tables;pypi;jax-bazelrc;jax-installation]
# cudnn 9.27.0.42 - the wheel of JAX 0.12.0.1 brings it; nothing of it is installed beside [pypi;jax-bazelrc;jax-installation]
# nccl 2.32.3 - the wheel of JAX 0.12.0.1 brings it; nothing of it is installed beside [pypi;jax-bazelrc;jax-installation]
# os ubuntu24.04 - the only one that 'os==ubuntu24.04' admits; Ubuntu 24.04 noble; without libtinfo5: the nsight packages of CUDA up to 12.4 do not install [nvidia-container-images;cuda-repo-management-1;common-knowledge]
# glibc 2.39 - the newest that works; for ubuntu24.04; JAX 0.12.0.1 needs glibc >=2.27; comes with the OS [common-knowledge;pypi;jax-bazelrc;jax-installation]
# gcc 13.3.0 - the newest that works; for ubuntu24.04; CUDA 13.0.3 needs gcc >=6,<16; the OS's own; 13.2.0 at the release [common-knowledge;cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility]
# python 3.12 - the newest that works; for ubuntu24.04; JAX 0.12.0.1 needs Python >=3.12,<3.16; the OS's own interpreter [common-knowledge;pypi;jax-bazelrc;jax-installation]
# openmpi 5.0.8 - the only one that 'openmpi==5.0.8' admits; mpirun is prterun (PRRTE): MCA parameters of plm and rmaps are renamed; openib is gone: UCX or OFI [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
# driver 580.65.06 - the oldest known driver that runs CUDA 13.0.3 and knows the GPUs; any newer one does too [cuda-compatibility;spack-cuda;ratharog-table;rules-ml-toolchain;cog-cuda-compatibility;common-knowledge]
# gpu H100 SXM5 - H100 SXM5: compute capability 9.0 [spack-cuda;gpu-capability-tables;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/library/ubuntu:24.04 AS stack
ENV LANG=C.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# packages of the OS
RUN step apt-get install -y --no-install-recommends \
      ca-certificates openssh-server openssh-client iproute2 procps python3 python3-dev python3-pip libibverbs1 ibverbs-providers \
      ibverbs-utils librdmacm1
# the container toolkit brings the driver's libraries in; CUDA comes with a framework's wheel
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# python, python3 and pip are this Python's
RUN set -eu; for name in python python3; do ln -sf "$(command -v python3)" "/usr/local/bin/$name"; done; \
    for name in pip pip3; do printf '#!/bin/sh\nexec python3 -m pip "$@"\n' >"/usr/local/bin/$name"; chmod 755 "/usr/local/bin/$name"; done

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
# NVIDIA's repository, for this stage only
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
# CUDA's headers and the stub of the driver's library, for Open MPI
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      cuda-cudart-dev-13-0 cuda-driver-dev-13-0
# Open MPI 5.0.8 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.8.tar.bz2" -o /tmp/openmpi-5.0.8.tar.bz2; \
    echo "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449  /tmp/openmpi-5.0.8.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-5.0.8.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda-13.0/targets/x86_64-linux --with-cuda-libdir=/usr/local/cuda-13.0/targets/x86_64-linux/lib/stubs --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm; \
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
# JAX 0.12.0.1 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'jax==0.12.0.1 --hash=sha256:e9dfd256ba090259b10f97f0755d4fc92535b8cb38c0a40df6488a8c8a7dd8ae' \
      'jax-cuda13-pjrt==0.12.0.1 --hash=sha256:5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90' \
      'jax-cuda13-plugin==0.12.0.1 --hash=sha256:6028faf179e7aa7cc64100ed3c7c7b1b11346f5aa05d5e9e33e8fe60c5289fa1' \
      'jaxlib==0.12.0.1 --hash=sha256:78318e9ac79c92972f81c77090f557bdb4a5a49821751c6ee3f6a9c66a948842' \
      'ml-dtypes==0.6.0 --hash=sha256:3b4a480aa8fd54a1805b8ac10f3f91763926a74f73c0c364c10f9231854f4170' \
      'numpy==2.5.5 --hash=sha256:704d819265e5d1064d932968e9ee85fff2103ccc78c05b878c06943ba27b8507' \
      'nvidia-cublas==13.10.0.20 --hash=sha256:dcc6d63884c53d07e267ce7e6feac17b2538cebaafec5db865736c3e28e4dc84' \
      'nvidia-cuda-cccl==13.3.5.0.6 --hash=sha256:d5230098fa2df5021e1a00c0c4eee41797671a91119d31e892463e5ccf3ee326' \
      'nvidia-cuda-crt==13.5.37 --hash=sha256:e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29' \
      'nvidia-cuda-cupti==13.5.25 --hash=sha256:9dcca41c12a734192b14e7128ae116bc9ce1b9da686e2ebf48ae7a4415f76650' \
      'nvidia-cuda-nvcc==13.5.37 --hash=sha256:f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7' \
      'nvidia-cuda-nvrtc==13.5.37 --hash=sha256:86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc' \
      'nvidia-cuda-runtime==13.0.96 --hash=sha256:7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548' \
      'nvidia-cudnn-cu13==9.27.0.42 --hash=sha256:9677e76f21862eb5da7ee5ed69d544738b2d8b5c3ce7e5ec125c5592e6cdbdc8' \
      'nvidia-cufft==12.5.0.14 --hash=sha256:b8be26837a5abad2b5b74f3e92dd29f622a42934b355be0961a48712cbba23ad' \
      'nvidia-cusolver==12.4.1.2 --hash=sha256:b3b8e02fd2f2df869369af075dc3a179d43f6f7b85e94632a7dce556697be044' \
      'nvidia-cusparse==12.9.4.2 --hash=sha256:072667e58c851a318738f5527a12eb225cbf058803f2ea451c722d8cf8edddec' \
      'nvidia-nccl-cu13==2.32.3 --hash=sha256:1459723080ac889d73a26edfa3e04383a7928ab31ac8f0ec43b3ea9548b04ff3' \
      'nvidia-nvjitlink==13.5.37 --hash=sha256:280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb' \
      'nvidia-nvshmem-cu13==3.8.0 --hash=sha256:81a4d1f666543e6d34df6d2ff940c7da1435e34e186aab6f3c2b48861b64ef38' \
      'nvidia-nvvm==13.5.37 --hash=sha256:c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070' \
      'opt-einsum==3.4.0 --hash=sha256:69bb92469f86a1565195ece4ac0323943e83477171b91d24c35afe028a90d7cd' \
      'scipy==1.18.1 --hash=sha256:f55fa87b6c612ecd6b058f167c53231b1d14e412efe361d3d6e38b3631c73218' \
      'setuptools==80.10.2 --hash=sha256:95b30ddfb717250edb492926c92b5221f7ef3fbcc2b07579bcd4a27da21d0173' \
      >/tmp/jax.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/jax.txt
# all programs find the NCCL that comes with jax
RUN python3 -c 'import nvidia.nccl as n; print(n.__path__[0] + "/lib")' >/etc/ld.so.conf.d/nccl.conf && step ldconfig
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=build /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.12".split(".")[:2])), sys.version'; \
    pip --version; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ctypes as c, nvidia.cudnn as m; a, b, d = map(int, "9.27.0.42".split(".")[:3]); f = c.CDLL(m.__path__[0] + "/lib/libcudnn.so.9").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    python3 -c 'import ctypes as c; a, b, d = map(int, "2.32.3".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 5.0.8; \
    JAX_PLATFORMS=cpu python3 -c 'import jax, jaxlib; v = jax.__version__; print("JAX", v, "jaxlib", jaxlib.__version__); assert v == "0.12.0.1"; assert int(jax.jit(lambda x: x + 1)(1)) == 2'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.jax="0.12.0.1" org.ringup.stack.cuda="13.0.3" org.ringup.stack.cudnn="9.27.0.42" org.ringup.stack.nccl="2.32.3" \
      org.ringup.stack.os="ubuntu24.04" org.ringup.stack.glibc="2.39" org.ringup.stack.gcc="13.3.0" org.ringup.stack.python="3.12" \
      org.ringup.stack.openmpi="5.0.8" org.ringup.stack.driver="580.65.06" org.ringup.stack.gpu="H100 SXM5"
CMD ["/usr/local/bin/ringup-entry"]

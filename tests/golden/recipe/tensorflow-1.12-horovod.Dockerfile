# Cluster image for centos7, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# tensorflow 1.12.0 - the only one that 'tensorflow==1.12.0' admits; Horovod 0.19.5 needs TensorFlow >=1.1.0; system CUDA/cuDNN needed on LD_LIBRARY_PATH; manylinux1 by its tag; some wheels need glibc 2.23 [tensorflow-install-source;common-knowledge;tensorflow-docs-33;horovod-tags;pypi]
# horovod 0.19.5 - the newest that works; g++ of 4.9 or newer for torch; its ABI must be the TensorFlow wheel's; CMake only for Gloo; NCCL: torch wants >=2.2 on RoCE/IB; no Open MPI 5: inferred from the flags of its launcher [horovod-tags;pypi]
# cuda 9.0.176 - the newest that works; driver 418.87 runs it (>=384.81); Tesla V100 SXM2 has compute capability 7.0 (>=3.0;<=7.0); TensorFlow 1.12.0 needs CUDA ==9.0.*; what TensorFlow 1.12.0 was tested with; cuDNN 7.6.5.32 (built for CUDA 9.0) needs CUDA ==9.0.*; NCCL 2.5.6-1 (built for CUDA 9.0) needs CUDA ==9.0.* [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge;gpu-capability-tables;tensorflow-install-source;tensorflow-docs-33;cudnn-support-matrix-7.6;public-dockerfiles]
# cudnn 7.6.5.32 - the newest that works; TensorFlow 1.12.0 needs cuDNN >=7.2,<8; what TensorFlow 1.12.0 was tested with; its builds for CUDA 9.0; first image 2021-08-04 [nvidia-container-images;common-knowledge;cudnn-support-matrix-7.6;tensorflow-install-source;tensorflow-docs-33]
# nccl 2.5.6-1 - the best of several that 'nccl==2.5.6-1' admits; Horovod 0.19.5 needs NCCL >=2.0; its builds for CUDA 9.0; repo rpm nvidia-machine-learning-repo-rhel7-1.0.0-1.x86_64 [public-dockerfiles;horovod-tags;pypi]
# os centos7 - the only one that 'os==centos7' admits; CentOS 7; SCLo and EPEL: vault.centos.org and archives.fedoraproject.org [nvidia-container-images;cuda-repo-management-1;nvidia-container-toolkit-574;docker-images-277;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.17 - the newest that works; for centos7; TensorFlow 1.12.0 needs glibc >=2.17; comes with the OS [cuda-10.1-installation-guide;tensorflow-install-source;common-knowledge;tensorflow-docs-33]
# gcc 4.8.5 - the newest that works; for centos7; Horovod 0.19.5 needs gcc >=4.8.5; CUDA 9.0.176 needs gcc >=4.4.7,<7; the OS's own [cuda-10.1-installation-guide;horovod-tags;pypi;cuda-release-notes;cuda-compatibility;spack-cuda;nvidia-container-images;common-knowledge]
# python 3.6 - the best of several that 'python==3.6' admits; for centos7; TensorFlow 1.12.0 needs Python ==2.7.* or >=3.3,<3.7; Horovod 0.19.5 needs Python ==2.7.* or >=3.4; what Horovod 0.19.5 was tested with; the OS's own interpreter; since CentOS 7.7 [common-knowledge;tensorflow-install-source;tensorflow-docs-33;horovod-tags;pypi]
# openmpi 4.0.2 - the only one that 'openmpi==4.0.2' admits; Horovod 0.19.5 needs Open MPI >=1.10,<5; what Horovod 0.19.5 was tested with; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge;horovod-tags;pypi]
# driver 418.87 - it is there: the stack is made to fit it [cuda-release-notes;cuda-compatibility;spack-cuda;cuda-10.1-installation-guide;nvidia-container-images;common-knowledge]
# gpu Tesla V100 SXM2 - Tesla V100 SXM2: compute capability 7.0 [spack-cuda;gpu-capability-tables;common-knowledge]
# ---- the stack: what the build and the image both need
FROM docker.io/library/centos:7 AS stack
ENV LANG=en_US.UTF-8 PIP_BREAK_SYSTEM_PACKAGES=1
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY step /usr/local/bin/step
# CentOS left its mirrors; its packages are in the vault
RUN sed -i -e 's/^mirrorlist=/#&/' -e 's|^#* *baseurl=http://mirror\.centos\.org/[^/]*/[^/]*/|baseurl=https://vault.centos.org/7.9.2009/|' /etc/yum.repos.d/CentOS-*.repo
# packages of the OS
RUN step yum install -y --setopt=skip_missing_names_on_install=False \
      ca-certificates openssh-server openssh-clients iproute procps-ng python3 python3-devel python3-pip libgomp libibverbs \
      libibverbs-utils librdmacm
# NVIDIA's repository, and the packages that come from it
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/rhel7/x86_64 D42D0685.pub 610C7B14E068A878070DA4E99CD0A493D42D0685 cuda && \
    step nvidia developer.download.nvidia.com/compute/machine-learning/repos/rhel7/x86_64 7fa2af80.pub AE09FE4BBD223A84B2CCFCE3F60F4B3D7FA2AF80 ml
RUN step yum install -y --setopt=skip_missing_names_on_install=False \
      cuda-libraries-9-0-9.0.176-1 libcudnn7-7.6.5.32-1.cuda9.0 libnccl-2.5.6-1+cuda9.0
# what NVIDIA's images set; the loader finds the libraries by its own list
RUN set -eu; [ -e /usr/local/cuda ] || ln -s cuda-9.0 /usr/local/cuda; \
    echo /usr/local/cuda-9.0/lib64 >/etc/ld.so.conf.d/cuda-9-0.conf; step ldconfig
ENV PATH=/usr/local/cuda/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==21.3.1 --hash=sha256:deaf32dcd9ab821e359cd8330786bcd077604b5c5730c0b096eda46f95c24a2d' \
      'setuptools==59.6.0 --hash=sha256:4ce92f1e1f8f01233ee9952c04f6b81d1e02939d6e1b488428154974a4d0783e' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/pip.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/pip.txt
# python, python3 and pip are this Python's
RUN set -eu; for name in python python3; do ln -sf "$(command -v python3)" "/usr/local/bin/$name"; done; \
    for name in pip pip3; do printf '#!/bin/sh\nexec python3 -m pip "$@"\n' >"/usr/local/bin/$name"; chmod 755 "/usr/local/bin/$name"; done

# ---- build stage: compiles what has no package; only its results are taken
FROM stack AS build
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
# the compiler, and headers
RUN step yum install -y --setopt=skip_missing_names_on_install=False \
      glibc-devel gcc gcc-c++ ca-certificates curl tar xz bzip2 make perl which file
# the toolkit, and headers of NVIDIA's libraries
RUN step yum install -y --setopt=skip_missing_names_on_install=False \
      cuda-toolkit-9-0-9.0.176-1 libcudnn7-devel-7.6.5.32-1.cuda9.0 libnccl-devel-2.5.6-1+cuda9.0
# Open MPI 4.0.2 from its tarball; no user and no host of the build is written into it; without UCX: between
# hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.0/openmpi-4.0.2.tar.bz2" -o /tmp/openmpi-4.0.2.tar.bz2; \
    echo "900bf751be72eccf06de9d186f7b1c4b5c2fa9fa66458e53b77778dffdfe4057  /tmp/openmpi-4.0.2.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.0.2.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared --with-cuda=/usr/local/cuda; \
    make -j"$(nproc)" install; \
    echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf; ldconfig; cd /; \
    step
ENV PATH=/opt/openmpi/bin:$PATH

# ---- the image without what is built against the frameworks
FROM stack AS frameworks
ARG PIP_INDEX_URL=
ARG SOURCE_DATE_EPOCH=1704067200
# Open MPI as it was built
COPY --from=build /opt/openmpi/ /opt/openmpi/
RUN echo /opt/openmpi/lib >/etc/ld.so.conf.d/openmpi.conf && step ldconfig
ENV PATH=/opt/openmpi/bin:$PATH
# TensorFlow 1.12.0 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'absl-py==1.4.0 --hash=sha256:0d3fe606adfa4f7db64792dd4c7aee4ee0c38ab75dfd353b7a83ed3e957fcb47' \
      'astor==0.8.1 --hash=sha256:070a54e890cefb5b3739d19f30f5a5ec840ffc9c50ffa7d23cc9fc1a38ebbfc5' \
      'dataclasses==0.8 --hash=sha256:0201d89fa866f68c8ebd9d08ee6ff50c0b255f8ec63a71c16fda7af82bb887bf' \
      'gast==0.2.2 --hash=sha256:fe939df4583692f0512161ec1c880e0a10e71e6a232da045ab8edd3756fbadf0' \
      'grpcio==1.48.2 --hash=sha256:47ace91631176efa575c7a34d5004286288f1af1e9de2ff380d1433f241aeed4' \
      'h5py==2.10.0 --hash=sha256:d3c59549f90a891691991c17f8e58c8544060fdf3ccdea267100fa5f561ff62f' \
      'importlib-metadata==4.8.3 --hash=sha256:65a9576a5b2d58ca44d133c42a241905cc45e34d2c06fd5ba2bafa221e5d7b5e' \
      'keras-applications==1.0.8 --hash=sha256:df4323692b8c1174af821bf906f1e442e63fa7589bf0f1230a0b6bdc5a810c95' \
      'keras-preprocessing==1.1.2 --hash=sha256:7b82029b130ff61cc99b55f3bd27427df4838576838c5b2f65940e4fcec99a7b' \
      'markdown==3.3.7 --hash=sha256:f5da449a6e1c989a4cea2631aa8ee67caa5a2ef855d551c88f9e309f4634c621' \
      'numpy==1.19.5 --hash=sha256:8b5e972b43c8fc27d56550b4120fe6257fdc15f9301914380b27f74856299fea --hash=sha256:a4646724fba402aa7504cd48b4b50e783296b5e10a524c7a6da62e4a8ac9698d' \
      'protobuf==3.19.6 --hash=sha256:14082457dc02be946f60b15aad35e9f5c69e738f80ebbc0900a19bc83734a5a4 --hash=sha256:90b0d02163c4e67279ddb6dc25e063db0130fc299aefabb5d481053509fae5c8' \
      'setuptools==59.6.0 --hash=sha256:4ce92f1e1f8f01233ee9952c04f6b81d1e02939d6e1b488428154974a4d0783e' \
      'six==1.17.0 --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274' \
      'tensorboard==1.12.2 --hash=sha256:6f194519f41762bfdf5eb410ccf33226d1c252caf5ad8893288648bfbcf4d135' \
      'tensorflow-gpu==1.12.0 --hash=sha256:6e9e6b73cc6dc6b82a8e09f9688a8806f44dbe02c4e92cb9c36efea30a7cd47e' \
      'termcolor==1.1.0 --hash=sha256:1d6d69ce66211143803fbc56652b41d73b4a400a2891d7bf7a1cdf4c02de613b' \
      'typing-extensions==4.1.1 --hash=sha256:21c85e0fe4b9a155d0799430b0ad741cdce7e359660ccbd8b530613e8df88ce2' \
      'werkzeug==2.0.3 --hash=sha256:1421ebfc7648a39a5c58c601b154165d05cf47a3cd0ccb70857cbdacf6c8f2b8' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      'zipp==3.6.0 --hash=sha256:9fe5ea21568a0a70e50f273397638d39b03353731e6cbbb3fd8502a33fec40bc' \
      >/tmp/tensorflow.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/tensorflow.txt

# ---- compiles what is built against the frameworks
FROM build AS extensions
# for the build only: mirrors, and what makes two builds of this file the same
ARG YUM_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY --from=frameworks /usr/local/lib/ /usr/local/lib/
COPY --from=frameworks /usr/local/lib64/ /usr/local/lib64/
# Horovod 0.19.5 against this stack's frameworks and libraries; the stub of libcuda.so.1 is there for this step only
RUN set -eu; export CC=gcc CXX=g++ PYTHONHASHSEED=0 HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1 \
      HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1 \
      HOROVOD_GPU_ALLREDUCE=NCCL HOROVOD_GPU_BROADCAST=NCCL HOROVOD_NCCL_LINK=SHARED HOROVOD_CUDA_HOME=/usr/local/cuda; \
    printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:6975a3fac6bc83c4a65c9f9fcab9e47019a11d3d2cf7f3c0d03431bf145a941e' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==2.21 --hash=sha256:8ee45429555515e1f6b185e78100aea234072576aa43ab53aefcae078162fca9' \
      'pyparsing==3.0.7 --hash=sha256:a6c06a88f252e6c322f65faf8f418b16213b51bdfaece0524c1c1bc30c63c484' \
      'pyyaml==6.0.1 --hash=sha256:afd7e57eddb1a54f0f1a974bc4391af8bcce0b444685d936840f125cf046d5bd' \
      'six==1.17.0 --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/tools.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/tools.txt; \
    echo 'horovod==0.19.5 --hash=sha256:428d9ba5ff277467be77e4e707d40b915f7d9e6920a2645f647fcb2cea59c366' >/tmp/horovod.txt; \
    ln -sf libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig /usr/local/cuda/lib64/stubs; \
    python3 -m pip download --no-cache-dir --no-deps --no-binary horovod --no-build-isolation --require-hashes -r /tmp/horovod.txt -d /tmp; \
    mkdir /tmp/horovod; tar -xf /tmp/horovod-0.19.5.tar.gz -C /tmp/horovod --strip-components=1 --no-same-owner; \
    cd /tmp/horovod; python3 setup.py bdist_wheel -d /wheels; cd /; \
    rm -f /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig; \
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
ARG SOURCE_DATE_EPOCH=1704067200
# what XLA compiles with at run time
COPY --from=build /usr/local/cuda-9.0/bin/ptxas /usr/local/cuda-9.0/bin/ptxas
COPY --from=build /usr/local/cuda-9.0/nvvm/libdevice/ /usr/local/cuda-9.0/nvvm/libdevice/
# Horovod as it was built, and what it imports
COPY --from=extensions /wheels/ /opt/wheels/
RUN set -eu; printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:6975a3fac6bc83c4a65c9f9fcab9e47019a11d3d2cf7f3c0d03431bf145a941e' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==2.21 --hash=sha256:8ee45429555515e1f6b185e78100aea234072576aa43ab53aefcae078162fca9' \
      'pyparsing==3.0.7 --hash=sha256:a6c06a88f252e6c322f65faf8f418b16213b51bdfaece0524c1c1bc30c63c484' \
      'pyyaml==6.0.1 --hash=sha256:afd7e57eddb1a54f0f1a974bc4391af8bcce0b444685d936840f125cf046d5bd' \
      'six==1.17.0 --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274' \
      >/tmp/needs.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/needs.txt; \
    step python3 -m pip install --no-cache-dir --no-deps /opt/wheels/horovod-*.whl; \
    rm -r /opt/wheels; step
# ssh between workers: names, ports, keys and known_hosts come from the mounted folder
RUN if [ -d /etc/ssh/ssh_config.d ]; then echo 'Include /etc/ringup/ssh/ssh_config' >/etc/ssh/ssh_config.d/ringup.conf; \
    else ln -sf /etc/ringup/ssh/ssh_config /etc/ssh/ssh_config; fi
COPY --from=worker /out/ /usr/local/bin/
COPY entry/ /usr/local/bin/
# libcuda's stub, for the checks
COPY --from=build /usr/local/cuda-9.0/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.6".split(".")[:2])), sys.version'; \
    pip --version; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod.tensorflow'; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "7.6.5.32".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.7").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.5.6-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.0.2; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import tensorflow; v = tensorflow.__version__; print("TensorFlow", v); assert v.startswith("1.12.0".split("+")[0])'; \
    mkdir -p /usr/share/ringup; rpm -qa --queryformat '%{NAME} %{EVR} %{ARCH}\n' >/tmp/rpm-packages; \
    LC_ALL=C sort -o /usr/share/ringup/rpm-packages /tmp/rpm-packages; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.tensorflow="1.12.0" org.ringup.stack.horovod="0.19.5" org.ringup.stack.cuda="9.0.176" \
      org.ringup.stack.cudnn="7.6.5.32" org.ringup.stack.nccl="2.5.6-1" org.ringup.stack.os="centos7" org.ringup.stack.glibc="2.17" \
      org.ringup.stack.gcc="4.8.5" org.ringup.stack.python="3.6" org.ringup.stack.openmpi="4.0.2" org.ringup.stack.driver="418.87" \
      org.ringup.stack.gpu="Tesla V100 SXM2"
CMD ["/usr/local/bin/ringup-entry"]

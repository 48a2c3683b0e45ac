# Cluster image for ubuntu20.04, cuda
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# tensorflow 2.11.1 - the only one that 'tensorflow==2.11.1' admits; Horovod 0.27.0 needs TensorFlow >=1.15.0; what Horovod 0.27.0 was tested with; system CUDA/cuDNN needed on LD_LIBRARY_PATH; built and tested with CUDA 11.2: the rest of the major is inferred; the facts of 2.11.0; Python from the wheels on PyPI [tensorflow-install-source;common-knowledge;pypi;horovod-tags]
# horovod 0.27.0 - the only one that 'horovod==0.27.0' admits; TensorFlow from 2.10 needs g++ 8 or newer (C++17); HOROVOD_GPU_OPERATIONS and the flags per operation exclude each other; NCCL: alltoall needs >=2.7.0; no Open MPI 5: inferred from the flags of its launcher [horovod-tags;pypi]
# cuda 11.2.2 - the newest that works; TensorFlow 2.11.1 needs CUDA >=11.2,<12; what TensorFlow 2.11.1 was tested with; cuDNN 8.1.1.33 (built for CUDA 11.2) needs CUDA >=11,<12; NCCL 2.8.4-1 (built for CUDA 11.2) needs CUDA >=11,<12 [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge;tensorflow-install-source;pypi;nvidia-container-images;nvidia-tensorflow-116]
# cudnn 8.1.1.33 - the newest that works; TensorFlow 2.11.1 needs cuDNN >=8.1,<9; what TensorFlow 2.11.1 was tested with; its builds for CUDA 11.2; first image 2021-03-08 [nvidia-container-images;common-knowledge;nvidia-tensorflow-116;tensorflow-install-source;pypi]
# nccl 2.8.4-1 - the newest that works; Horovod 0.27.0 needs NCCL >=2.0; its builds for CUDA 11.2; first image 2021-02-12 [nvidia-container-images;horovod-tags;pypi]
# os ubuntu20.04 - the only one that 'os==ubuntu20.04' admits; Ubuntu 20.04 focal; extended support: ESM 2030; few packages in the machine-learning repository [nvidia-container-images;cuda-repo-management-1;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.31 - the newest that works; for ubuntu20.04; TensorFlow 2.11.1 needs glibc >=2.17; comes with the OS [common-knowledge;tensorflow-install-source;pypi]
# gcc 9.4.0 - the newest that works; for ubuntu20.04; Horovod 0.27.0 needs gcc >=5; CUDA 11.2.2 needs gcc >=5,<11; the OS's own [common-knowledge;horovod-tags;pypi;cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table]
# python 3.8 - the newest that 'python==3.8' admits; for ubuntu20.04; TensorFlow 2.11.1 needs Python >=3.8,<3.11; Horovod 0.27.0 needs Python >=3.6; what Horovod 0.27.0 was tested with; the OS's own interpreter [common-knowledge;tensorflow-install-source;pypi;horovod-tags]
# openmpi 4.1.4 - the newest that 'openmpi==4.1.4' admits; Horovod 0.27.0 needs Open MPI >=1.10,<5; what Horovod 0.27.0 was tested with; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge;horovod-tags;pypi]
# driver 450.80.02 - the oldest known driver that runs CUDA 11.2.2; any newer one does too [cuda-release-notes;cuda-compatibility;spack-cuda;ratharog-table;common-knowledge]
# ---- NVIDIA's image with the toolkit, of the same CUDA: the build stage takes it from here
FROM docker.io/nvidia/cuda:11.2.2-devel-ubuntu20.04 AS toolkit

# ---- the stack: what the build and the image both need
FROM docker.io/nvidia/cuda:11.2.2-cudnn8-runtime-ubuntu20.04 AS stack
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
RUN step nvidia developer.download.nvidia.com/compute/cuda/repos/ubuntu2004/x86_64 3bf863cc.pub EB693B3035CD5710E231E123A4B469963BF863CC cuda
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libcudnn8=8.1.1.33-1+cuda11.2 libnccl2=2.8.4-1+cuda11.2
# this Python's pip is too old for the wheels and indexes of today
RUN set -eu; printf '%s\n' \
      'pip==24.0 --hash=sha256:ba0d021a166865d2265246961bec0152ff124de910c5cc39f1156ce3fa7c69dc' \
      'setuptools==65.7.0 --hash=sha256:8ab4f1dbf2b4a65f7eec5ad0c620e84c34111a68d3349833494b9088212214dd' \
      'wheel==0.42.0 --hash=sha256:177f9c9b0d45c47873b619f5b650346d632cdc35fb5e4d25058e09c9e581433d' \
      >/tmp/pip.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/pip.txt
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
# nvcc, headers and libcuda's stub: in this stage only
COPY --from=toolkit /usr/local/cuda-11.2/ /usr/local/cuda-11.2/
ENV LIBRARY_PATH=/usr/local/cuda/lib64/stubs
# headers of NVIDIA's libraries
RUN step apt-get install -y --no-install-recommends --allow-downgrades --allow-change-held-packages \
      libcudnn8-dev=8.1.1.33-1+cuda11.2 libnccl-dev=2.8.4-1+cuda11.2
# Open MPI 4.1.4 from its tarball; no user and no host of the build is written into it; without UCX, which a
# request `ucx` adds: between hosts it goes by TCP, and NCCL uses InfiniBand and RoCE by itself
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.1/openmpi-4.1.4.tar.bz2" -o /tmp/openmpi-4.1.4.tar.bz2; \
    echo "92912e175fd1234368c8730c03f4996fe5942e7479bb1d10059405e7f2b3930d  /tmp/openmpi-4.1.4.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.1.4.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
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
# TensorFlow 2.11.1 and all that it imports, by pip: only files with these checksums
RUN set -eu; printf '%s\n' \
      'absl-py==2.0.0 --hash=sha256:9a28abb62774ae4e8edbe2dd4c49ffcd45a6a848952a5eccc6a49f3f0fc1e2f3' \
      'astunparse==1.6.3 --hash=sha256:c2652417f2c8b5bb325c885ae329bdf3f86424075c4fd1a128674bc6fba4b8e8' \
      'cachetools==5.3.1 --hash=sha256:95ef631eeaea14ba2e36f06437f36463aac3a096799e876ee55e5cdccb102590' \
      'certifi==2023.7.22 --hash=sha256:92d6037539857d8206b8f6ae472e8b77db8058fec5937a1ef3f54304089edbb9' \
      'charset-normalizer==3.2.0 --hash=sha256:89f1b185a01fe560bc8ae5f619e924407efca2191b56ce749ec84982fc59a32a --hash=sha256:8e098148dd37b4ce3baca71fb394c81dc5d9c7728c95df695d2dca218edf40e6' \
      'flatbuffers==23.5.26 --hash=sha256:c0ff356da363087b915fde4b8b45bdda73432fc17cddb3c8157472eab1422ad1' \
      'gast==0.4.0 --hash=sha256:b7adcdd5adbebf1adf17378da5ba3f543684dbec47b1cda1f3997e573cd542c4' \
      'google-auth==2.23.0 --hash=sha256:2cec41407bd1e207f5b802638e32bb837df968bb5c05f413d0fa526fac4cf7a7' \
      'google-auth-oauthlib==0.4.6 --hash=sha256:3f2a6e802eebbb6fb736a370fbf3b055edcb6b52878bf2f26330b5e041316c73' \
      'google-pasta==0.2.0 --hash=sha256:b32482794a366b5366a32c92a9a9201b107821889935a02b3e51f6b432ea84ed' \
      'grpcio==1.58.0 --hash=sha256:d81c2b2b24c32139dd2536972f1060678c6b9fbd106842a9fcdecf07b233eccd' \
      'h5py==3.9.0 --hash=sha256:dbf5225543ca35ce9f61c950b73899a82be7ba60d58340e76d0bd42bf659235a' \
      'idna==3.4 --hash=sha256:90b77e79eaa3eba6de819a0c442c0b4ceefc341a7a2ab77d7562bf49f425c5c2' \
      'importlib-metadata==6.8.0 --hash=sha256:3ebb78df84a805d7698245025b975d9d67053cd94c79245ba4b3eb694abe68bb' \
      'keras==2.11.0 --hash=sha256:38c6fff0ea9a8b06a2717736565c92a73c8cd9b1c239e7125ccb188b7848f65e' \
      'libclang==16.0.6 --hash=sha256:9dcdc730939788b8b69ffd6d5d75fe5366e3ee007f1e36a99799ec0b0c001492' \
      'markdown==3.4.4 --hash=sha256:a4c1b65c0957b4bd9e7d86ddc7b3c9868fb9670660f6f99f6d1bca8954d5a941' \
      'markupsafe==2.1.3 --hash=sha256:8c41976a29d078bb235fea9b2ecd3da465df42a562910f9022f1a03107bd02be' \
      'numpy==1.23.5 --hash=sha256:d208a0f8729f3fb790ed18a003f3a57895b989b40ea4dce4717e9cf4af62c6bb' \
      'oauthlib==3.2.2 --hash=sha256:8139f29aac13e25d502680e9e19963e83f16838d48a0d71c287fe40e7067fbca' \
      'opt-einsum==3.3.0 --hash=sha256:2455e59e3947d3c275477df7f5205b30635e266fe6dc300e3d9f9646bfcea147' \
      'packaging==23.1 --hash=sha256:994793af429502c4ea2ebf6bf664629d07c1a9fe974af92966e4b8d2df7edc61' \
      'protobuf==3.19.6 --hash=sha256:14082457dc02be946f60b15aad35e9f5c69e738f80ebbc0900a19bc83734a5a4 --hash=sha256:7a552af4dc34793803f4e735aabe97ffc45962dfd3a237bdde242bff5a3de684' \
      'pyasn1==0.5.0 --hash=sha256:87a2121042a1ac9358cabcaf1d07680ff97ee6404333bacca15f76aa8ad01a57' \
      'pyasn1-modules==0.3.0 --hash=sha256:d3ccd6ed470d9ffbc716be08bd90efbd44d0734bc9303818f7336070984a162d' \
      'requests==2.31.0 --hash=sha256:58cd2187c01e70e6e26505bca751777aa9f2ee0b7f4300988b709f44e013003f' \
      'requests-oauthlib==1.3.1 --hash=sha256:2577c501a2fb8d05a304c09d090d6e47c306fef15809d102b327cf8364bddab5' \
      'rsa==4.9 --hash=sha256:90260d9058e514786967344d0ef75fa8727eed8a7d2e43ce9f4bcf1b536174f7' \
      'setuptools==65.7.0 --hash=sha256:8ab4f1dbf2b4a65f7eec5ad0c620e84c34111a68d3349833494b9088212214dd' \
      'six==1.16.0 --hash=sha256:8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254' \
      'tensorboard==2.11.2 --hash=sha256:cbaa2210c375f3af1509f8571360a19ccc3ded1d9641533414874b5deca47e89' \
      'tensorboard-data-server==0.6.1 --hash=sha256:809fe9887682d35c1f7d1f54f0f40f98bb1f771b14265b453ca051e2ce58fca7 --hash=sha256:d8237580755e58eff68d1f3abefb5b1e39ae5c8b127cc40920f9c4fb33f4b98a' \
      'tensorboard-plugin-wit==1.8.1 --hash=sha256:ff26bdd583d155aa951ee3b152b3d0cffae8005dc697f72b44a8e8c2a77a8cbe' \
      'tensorflow==2.11.1 --hash=sha256:76cd4279cb500074a8ab28af116af7f060f0b015651bef552769d51e55d6fd5c' \
      'tensorflow-estimator==2.11.0 --hash=sha256:ea3b64acfff3d9a244f06178c9bdedcbdd3f125b67d0888dba8229498d06468b' \
      'tensorflow-io-gcs-filesystem==0.34.0 --hash=sha256:027a07553367187f918a99661f63ae0506b91b77a70bee9c7ccaf3920bf7cfe7' \
      'termcolor==2.3.0 --hash=sha256:3afb05607b89aed0ffe25202399ee0867ad4d3cb4180d98aaf8eefa6a5f7d475' \
      'typing-extensions==4.8.0 --hash=sha256:8f92fc8806f9a6b641eaa5318da32b44d401efaac0f6678c9bc448ba3605faa0' \
      'urllib3==1.26.16 --hash=sha256:8d36afa7616d8ab714608411b4a3b13e58f463aee519024578e062e141dce20f' \
      'werkzeug==2.3.7 --hash=sha256:effc12dba7f3bd72e605ce49807bbe692bd729c3bb122a3b91747a6ae77df528' \
      'wheel==0.42.0 --hash=sha256:177f9c9b0d45c47873b619f5b650346d632cdc35fb5e4d25058e09c9e581433d' \
      'wrapt==1.14.1 --hash=sha256:ef3f72c9666bba2bab70d2a8b79f2c6d2c1a42a7f7e2b0ec83bb2f9e383950af' \
      'zipp==3.17.0 --hash=sha256:0e923e726174922dce09c53c59ad483ff7bbb8e572e00c7f7c46b88556409f31' \
      >/tmp/tensorflow.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/tensorflow.txt

# ---- compiles what is built against the frameworks
FROM build AS extensions
# for the build only: mirrors, and what makes two builds of this file the same
ARG APT_MIRROR=
ARG PIP_INDEX_URL=
ARG DOWNLOADS_MIRROR=
ARG SOURCE_DATE_EPOCH=1704067200
COPY --from=frameworks /usr/local/lib/ /usr/local/lib/
# CMake 3.25.2, for Horovod, which asks for >=3.13 and whose files CMake 4 refuses
RUN set -eu; echo 'cmake==3.25.2 --hash=sha256:f9587645cea5298d5eb20649f58a83cc53c9efa7d57b0716449a39f366a74986' >/tmp/cmake.txt; \
    step python3 -m pip install --no-cache-dir --no-deps --require-hashes -r /tmp/cmake.txt
# Horovod 0.27.0 against this stack's frameworks and libraries; the stub of libcuda.so.1 is there for this step only
RUN set -eu; export CC=gcc CXX=g++ PYTHONHASHSEED=0 HOROVOD_WITH_MPI=1 HOROVOD_WITH_GLOO=1 \
      HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1 \
      HOROVOD_GPU_OPERATIONS=NCCL HOROVOD_NCCL_LINK=SHARED HOROVOD_CUDA_HOME=/usr/local/cuda; \
    printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:4f2c9f67e9821cad2e5f480bc8d83b8742896f1242dba247911072d4fa94c192' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==2.23 --hash=sha256:e5c6e8d3fbad53479cab09ac03729e0a9faf2bee3db8208a550daf5af81a5934' \
      'pyparsing==3.1.4 --hash=sha256:a6a7ee4235a3f944aa1fa2249307708f893fe5717dc603503c6c7969c070fb7c' \
      'pyyaml==6.0.1 --hash=sha256:7e07cbde391ba96ab58e532ff4803f79c4129397514e1413a7dc761ccd755735' \
      'wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a' \
      >/tmp/tools.txt; \
    step python3 -m pip install --no-cache-dir --ignore-installed --no-deps --require-hashes -r /tmp/tools.txt; \
    echo 'horovod==0.27.0 --hash=sha256:8a76a98266579de46a1b1cde53d5ec115fc163ffdaa65a8f771aee936e804b33' >/tmp/horovod.txt; \
    ln -sf libcuda.so /usr/local/cuda/lib64/stubs/libcuda.so.1; ldconfig /usr/local/cuda/lib64/stubs; \
    python3 -m pip download --no-cache-dir --no-deps --no-binary horovod --no-build-isolation --require-hashes -r /tmp/horovod.txt -d /tmp; \
    mkdir /tmp/horovod; tar -xf /tmp/horovod-0.27.0.tar.gz -C /tmp/horovod --strip-components=1 --no-same-owner; \
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
COPY --from=build /usr/local/cuda-11.2/bin/ptxas /usr/local/cuda-11.2/bin/ptxas
COPY --from=build /usr/local/cuda-11.2/nvvm/libdevice/ /usr/local/cuda-11.2/nvvm/libdevice/
# Horovod as it was built, and what it imports
COPY --from=extensions /wheels/ /opt/wheels/
RUN set -eu; printf '%s\n' \
      'cffi==1.15.1 --hash=sha256:4f2c9f67e9821cad2e5f480bc8d83b8742896f1242dba247911072d4fa94c192' \
      'cloudpickle==2.2.1 --hash=sha256:61f594d1f4c295fa5cd9014ceb3a1fc4a70b0de1164b94fbc2d854ccba056f9f' \
      'packaging==21.3 --hash=sha256:ef103e05f519cdc783ae24ea4e2e0f508a9c99b2d4969652eed6a2e1ea5bd522' \
      'psutil==5.9.8 --hash=sha256:d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4' \
      'pycparser==2.23 --hash=sha256:e5c6e8d3fbad53479cab09ac03729e0a9faf2bee3db8208a550daf5af81a5934' \
      'pyparsing==3.1.4 --hash=sha256:a6a7ee4235a3f944aa1fa2249307708f893fe5717dc603503c6c7969c070fb7c' \
      'pyyaml==6.0.1 --hash=sha256:7e07cbde391ba96ab58e532ff4803f79c4129397514e1413a7dc761ccd755735' \
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
COPY --from=build /usr/local/cuda-11.2/targets/x86_64-linux/lib/stubs/libcuda.so /tmp/stub/libcuda.so.1
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    python -c 'import ssl, sys; assert sys.version_info[:2] == tuple(map(int, "3.8".split(".")[:2])), sys.version'; \
    pip --version; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import horovod.tensorflow'; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "8.1.1.33".split("-")[0].split(".")[:3]); f = c.CDLL("libcudnn.so.8").cudnnGetVersion; f.restype = c.c_size_t; n = f(); print("cuDNN", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import ctypes as c; a, b, d = map(int, "2.8.4-1".split("-")[0].split(".")[:3]); v = c.c_int(); c.CDLL("libnccl.so.2").ncclGetVersion(c.byref(v)); n = v.value; print("NCCL", n); assert n in (a * 1000 + b * 100 + d, a * 10000 + b * 100 + d)'; \
    mpirun --version | grep -F 4.1.4; \
    LD_LIBRARY_PATH="/tmp/stub:${LD_LIBRARY_PATH:-}" python3 -c 'import tensorflow; v = tensorflow.__version__; print("TensorFlow", v); assert v.startswith("2.11.1".split("+")[0])'; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.tensorflow="2.11.1" org.ringup.stack.horovod="0.27.0" org.ringup.stack.cuda="11.2.2" \
      org.ringup.stack.cudnn="8.1.1.33" org.ringup.stack.nccl="2.8.4-1" org.ringup.stack.os="ubuntu20.04" org.ringup.stack.glibc="2.31" \
      org.ringup.stack.gcc="9.4.0" org.ringup.stack.python="3.8" org.ringup.stack.openmpi="4.1.4" org.ringup.stack.driver="450.80.02"
CMD ["/usr/local/bin/ringup-entry"]

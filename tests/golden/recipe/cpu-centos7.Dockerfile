# Cluster image for centos7, cpu
# Made by ringup; ringup.lock names the catalog that it comes from.
# The OS's packages stand without versions: 'ringup resolve --pin' asks its archives for them.
#
# os centos7 - the only one that 'os==centos7' admits; CentOS 7; SCLo and EPEL: vault.centos.org and archives.fedoraproject.org [nvidia-container-images;cuda-repo-management-1;nvidia-container-toolkit-574;docker-images-277;cuda-repo-management-4;data-safe-haven-1193;common-knowledge]
# glibc 2.17 - the newest that works; for centos7; comes with the OS [cuda-10.1-installation-guide]
# gcc 4.8.5 - the newest that works; for centos7; the OS's own [cuda-10.1-installation-guide]
# python 3.6 - the newest that works; for centos7; the OS's own interpreter; since CentOS 7.7 [common-knowledge]
# openmpi 4.0.2 - the only one that 'openmpi==4.0.2' admits; openib is deprecated and off on InfiniBand: UCX; or -mca btl ^openib [easybuild;spack-openmpi;openmpi-tags;common-knowledge]
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
      ca-certificates openssh-server openssh-clients iproute procps-ng python3 python3-devel python3-pip

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
# Open MPI 4.0.2 from its tarball; no user and no host of the build is written into it
RUN set -eu; export CC=gcc CXX=g++ USER=root HOSTNAME=ringup; \
    curl -fsSL --retry 3 "${DOWNLOADS_MIRROR:-https:/}/download.open-mpi.org/release/open-mpi/v4.0/openmpi-4.0.2.tar.bz2" -o /tmp/openmpi-4.0.2.tar.bz2; \
    echo "900bf751be72eccf06de9d186f7b1c4b5c2fa9fa66458e53b77778dffdfe4057  /tmp/openmpi-4.0.2.tar.bz2" | sha256sum -c -; \
    mkdir /tmp/openmpi; tar -xf /tmp/openmpi-4.0.2.tar.bz2 -C /tmp/openmpi --strip-components=1 --no-same-owner; \
    cd /tmp/openmpi; ./configure --prefix=/opt/openmpi --enable-orterun-prefix-by-default --disable-mpi-fortran --disable-static --enable-shared; \
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
# smoke checks: what the stack promises starts
RUN set -eu; export PYTHONDONTWRITEBYTECODE=1; \
    test -x "$(command -v sshd)"; \
    allreduce --versions; \
    python3 -c 'import ssl'; \
    mpirun --version | grep -F 4.0.2; \
    mkdir -p /usr/share/ringup; rpm -qa --queryformat '%{NAME} %{EVR} %{ARCH}\n' >/tmp/rpm-packages; \
    LC_ALL=C sort -o /usr/share/ringup/rpm-packages /tmp/rpm-packages; \
    step; rm /usr/local/bin/step
ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LABEL org.ringup.cluster-image=1 \
      org.ringup.stack.os="centos7" org.ringup.stack.glibc="2.17" org.ringup.stack.gcc="4.8.5" org.ringup.stack.python="3.6" \
      org.ringup.stack.openmpi="4.0.2"
CMD ["/usr/local/bin/ringup-entry"]

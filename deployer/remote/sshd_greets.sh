#!/bin/sh
# SPDX-License-Identifier: MIT
# Whether the container's sshd greets: sshd_greets.sh ADDRESS PORT prints "greets=no" when it does not. A stopped one takes
# connections and says nothing. Only bash can connect by itself, and a host without it prints nothing.
command -v bash >/dev/null 2>&1 || exit 0
# shellcheck disable=SC2016 # of the inner shell
bash -c 'exec 3<>"/dev/tcp/$1/$2" && read -r -t 5 line <&3 && [ "${line#SSH-}" != "$line" ]' greets "$1" "$2" 2>/dev/null || echo greets=no

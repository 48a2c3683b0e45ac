#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# apiserver.sh: prints the path of a real kube-apiserver. It is built once from Debian's source (kubernetes 1.20.2, the last
# one there with the server; minutes) and kept in KUBERNETES_CACHE (~/.cache/ringup/kubernetes). Needs root for apt-get.
set -euo pipefail

cache=${KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringup/kubernetes}
program=$cache/kube-apiserver-1.20.2
missing=()
command -v etcd >/dev/null || missing+=(etcd-server)
command -v kubectl >/dev/null || missing+=(kubernetes-client)
[[ -x $program ]] || missing+=(dpkg-dev golang-go golang-github-modern-go-reflect2-dev rsync)
((${#missing[@]} == 0)) || apt-get install -qq -y "${missing[@]}" >&2
if [[ ! -x $program ]]; then
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/build.XXXXXX")
	trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
	cd "$work"
	mkdir -p lists/partial archives/partial
	echo 'deb-src http://deb.debian.org/debian bookworm main' >sources.list
	apt=(-qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::State::lists="$work/lists" -o Dir::Cache="$work")
	apt-get "${apt[@]}" update >&2
	apt-get "${apt[@]}" source --download-only kubernetes >&2
	dpkg-source -x kubernetes_*.dsc source >&2
	# the vendored one crashes when it is built with Go 1.18 or newer
	rm -r source/vendor/github.com/modern-go/reflect2
	cp -r /usr/share/gocode/src/github.com/modern-go/reflect2 source/vendor/github.com/modern-go/
	mkdir -p source/.go/src/k8s.io home
	ln -s ../../.. source/.go/src/k8s.io/kubernetes
	cd source/.go/src/k8s.io/kubernetes
	GOPATH="$work/source/.go" GOCACHE="$work/cache" HOME="$work/home" CGO_ENABLED=0 GOPROXY=off \
		nice -n 19 make WHAT=cmd/kube-apiserver >&2
	cp "$work/source/_output/bin/kube-apiserver" "$program.new"
	mv "$program.new" "$program"
fi
echo "$program"

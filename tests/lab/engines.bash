# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A tiny base and a Dockerfile with all that is awkward in a layer, which the full stack has little of, and what a build engine
# makes of them. Each engine keeps its images in the file's own folder.

source "$BATS_TEST_DIRNAME/../lab/build_helper.bash"

engines_begin() {
	build_folder
	mkdir -p cache/ringup context/files
	make_base
	make_context
}

# A root filesystem of one program: links to it by name, modes, owners, attributes, names, a device, a hole.
make_base() {
	local name
	mkdir -p base/{bin,tmp,etc,awkward/gone/deep,awkward/opaque/below,awkward/replaced}
	cp "$(command -v busybox)" base/bin/busybox
	for name in sh cat chmod chown dd echo head ln mkdir mkfifo mv rm sleep touch; do
		ln -s busybox "base/bin/$name"
	done
	chmod 1777 base/tmp
	printf 'one\n' >base/awkward/linked-1
	ln base/awkward/linked-1 base/awkward/linked-2
	printf 'x\n' | tee base/awkward/{suid,sgid,capable,appended,gone/deep/file,opaque/below/file,replaced/file,moved} >/dev/null
	chmod 4755 base/awkward/suid
	chmod 2755 base/awkward/sgid
	mkdir -m 2775 base/awkward/sgid-folder
	chown 1234:5678 base/awkward/sgid-folder
	setcap cap_net_bind_service+ep base/awkward/capable
	setfattr -n user.note -v kept base/awkward/appended
	printf 'x\n' >'base/awkward/ünïcödé 名前'
	printf 'x\n' >"base/awkward/$(printf 'n%.0s' {1..200})"
	truncate -s 3M base/awkward/hole
	ln -s /nowhere/at/all base/awkward/dangling
	mknod -m 666 base/awkward/null c 1 3
	ln -s awkward base/through
	tar --xattrs --xattrs-include='*' --numeric-owner --format=pax --mtime=@1500000000 -C base -cf cache/ringup/ringup-base-tiny-1.tar .
}

make_context() {
	printf 'print("hello")\n' >context/files/train.py
	printf '#!/bin/sh\necho run\n' >context/files/run.sh
	chmod 755 context/files/run.sh
	ln -s train.py context/files/link.py
	mkdir -p context/files/empty context/files/ünïcode
	printf 'x' >context/files/ünïcode/näme
	cat >context/Dockerfile <<-'END'
		FROM ringup-base-tiny:1
		ARG SOURCE_DATE_EPOCH=1700000000
		ENV A="b c" D=e
		LABEL org.example.note="two words"
		RUN set -eu; cd /awkward; \
		    rm -rf gone; \
		    rm -rf opaque; mkdir opaque; echo new >opaque/file; \
		    rm -rf replaced; echo file >replaced; \
		    mv moved "moved näme"; \
		    echo more >>appended; \
		    echo more >>linked-1; \
		    chmod 600 suid
		RUN set -eu; cd /awkward; \
		    mkdir made; chmod 3770 made; chown 42:43 made; \
		    echo a >made/a; ln made/a made/b; ln -s ../linked-2 made/c; \
		    echo s >made/suid; chown 7:8 made/suid; chmod 6711 made/suid; \
		    mkfifo made/pipe; \
		    dd if=/dev/zero of=made/hole bs=1 count=0 seek=2000000 2>/dev/null; \
		    touch 'made/with "quotes" and \backslash'; \
		    echo x >/through/by-link
		COPY files/ /copied/
		COPY files/run.sh /awkward/replaced-later
		RUN rm /copied/train.py; echo back >/awkward/gone
		WORKDIR /copied
		USER 42:43
		ENTRYPOINT ["/bin/sh", "-c"]
		CMD ["echo ready"]
	END
}

# engine ENGINE [DOCKER_HOST [WORD...]]: the image as lines in ENGINE.tree and its settings in ENGINE.config. What an
# engine mounts over while it runs steps is empty in its image, and is left out.
engine() {
	RINGUP_SHARE=$REPO "$BUILD/tests/lab/engine_build" "$1" context "$WORK/cache/ringup" "$1" "${@:2}" >log 2>&1 3>&- 4>&- || { cat log && false; }
	flatten "$1" | grep -vE '^(etc|etc/(hostname|hosts|resolv.conf|mtab)|dev|dev/(console|pts|shm|mqueue)|proc|sys|run|run/.*) ' >"$1.tree"
	flatten --config "$1" | grep -v io.buildah.version >"$1.config" && sed -i "s/,$//" "$1.config"
}

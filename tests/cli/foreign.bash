# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For tests of what others say: nothing that a terminal obeys may come out.

# harmless [FILE...]: the files, else the outputs of the last apart(), hold no C0 but newline and tab, no DEL, no C1,
# no bidirectional control, and nothing but UTF-8.
harmless() {
	python3 - "${@:-../out}" "${@:-../err}" <<-'END'
		import sys
		bad = {*range(32), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a)} - {9, 10}
		for path in sys.argv[1:]:
		    data = open(path, "rb").read()
		    found = {c for c in data.decode() if ord(c) in bad}
		    assert not found, (path, found, data[:2000])
	END
}

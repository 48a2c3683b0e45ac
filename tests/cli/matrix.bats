#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# matrix: the catalog's tables, the rows that go with a request, and the check of every row.

load helper
setup() { common_setup; }

# own: a catalog of the test's own in catalog/.
own() {
	cp -r "$RINGUP_CATALOG" catalog
	export RINGUP_CATALOG=$PWD/catalog
}

# versions: the first column of the last apart()'s CSV, in one line.
versions() { tail -n +2 ../out | cut -d, -f1 | paste -sd' '; }

@test "the tables" {
	apart ringup matrix
	says 0
	golden matrix
	apart ringup --json matrix
	json '[t["name"] for t in d["tables"]] == ["gcc", "glibc", "openmpi", "os", "package_manager", "python", "sources"]'
	json 'd["tables"][2]["rows"] == 5 and d["tables"][2]["newest"] == "5.0.1"'
}

@test "one table, newest first" {
	apart ringup matrix openmpi
	says 0
	golden matrix-openmpi
}

@test "requests leave the rows that have a stack" {
	apart ringup matrix openmpi os==debian11 --csv
	says 0
	[ "$(versions)" = '4.1.0 3.1.6' ]
	apart ringup matrix python os==debian11 'openmpi>=4' --csv
	[ "$(versions)" = 3.9.2 ]
	apart ringup matrix openmpi 'openmpi==4.1.*' 'python>=3.11' --csv
	[ "$(versions)" = '4.1.10 4.1.4' ]
	apart ringup matrix os openmpi==4.1.0 --csv
	[ "$(versions)" = debian11 ]
}

@test "a request on a column leaves the rows whose cell fits" {
	apart ringup matrix os codename==bookworm --csv
	says 0
	[ "$(versions)" = debian12 ]
	apart ringup matrix openmpi source==other --csv
	[ "$(versions)" = '4.1.10 4.1.4' ]
	apart ringup matrix sources id==other --csv
	[ "$(versions)" = other ]
}

@test "JSON has every column as it is written" {
	apart ringup --json matrix openmpi 'openmpi==4.1.4'
	says 0
	json 'd["component"] == "openmpi" and len(d["rows"]) == 1'
	json 'd["rows"][0]["source"] == "test;other" and d["rows"][0]["run_packages"] == "openmpi-bin=4.1.4"'
	json 'set(d["rows"][0]) == {"version", "os", "run_packages", "build_packages", "note", "certainty", "source"}'
}

@test "CSV is the catalog's dialect: the same rows when it is read again" {
	apart ringup matrix openmpi --csv
	says 0
	cp ../out first
	own
	cp first catalog/openmpi.csv
	apart ringup matrix openmpi --csv
	cmp ../out first
	head -n 1 first | cmp - <(head -n 1 "$ROOT/tests/golden/catalog/openmpi.csv")
}

@test "Markdown, and requirements as people write them" {
	own
	sed -i '1s/run_packages/python,run_packages/; 2,$s/,debian\([0-9]*\),/&>=3.9;<4|==2.7.*,/; $s/,,/,,,/' catalog/openmpi.csv
	sed -i "s/the next line/one | two/" catalog/openmpi.csv
	apart ringup matrix openmpi --markdown --all-columns
	says 0
	golden matrix-markdown
	apart ringup matrix openmpi openmpi==5.0.1 --all-columns
	says 0
	golden matrix-all-columns
	apart ringup matrix openmpi openmpi==5.0.1 --csv
	grep -qF '>=3.9;<4|==2.7.*' ../out
}

@test "no row: exit 3, and what to leave out" {
	apart ringup matrix python 'openmpi>=6'
	says 3 "no row of python fits 'openmpi>=6'" "'ringup matrix openmpi' lists"
	[ ! -s ../out ]
	apart ringup matrix openmpi os==debian11 'python>=3.11'
	says 3 "without 'os==debian11' 4 rows fit; without 'python>=3.11' 2 rows fit"
	apart ringup --json matrix openmpi 'openmpi>=6'
	says 3
	json 'd["rows"] == []'
}

@test "what is not known: exit 2, the nearest name and the list" {
	apart ringup matrix opnmpi
	says 2 "no table 'opnmpi', only: gcc glibc openmpi os package_manager python sources; did you mean 'openmpi'?"
	apart ringup matrix openmpi opnmpi==4
	says 2 "did you mean 'openmpi'?"
	apart ringup matrix sources openmpi
	says 2 "the table sources has no column 'openmpi', only: id title where certainty"
	apart ringup matrix openmpi openmpi=4
	says 2 "openmpi=4"
	apart ringup matrix openmpi --csv --markdown
	says 2 'one of them'
	apart ringup matrix openmpi --check
	says 2 'no words'
	[ ! -s ../out ]
}

@test "a table of one's own has all its columns" {
	own
	printf 'version,os,speed,run_packages,build_packages,note,certainty,source\n1.9,,7,,,,documented,test\n1.10,,8,,,,documented,test\n' >catalog/fabric.csv
	apart ringup matrix fabric
	says 0
	golden matrix-fabric
	apart ringup matrix fabric 'fabric>=1.10' --csv
	[ "$(versions)" = 1.10 ]
}

@test "--check: all is well" {
	apart ringup matrix --check
	says 0
	[ "$(cat ../out)" = '16 rows in 7 files' ]
}

@test "--check: one line for each fault" {
	own
	sed -i '2s/,test$/,nowhere/; 3s/documented/certain/; 4s/debian12/debain12/' catalog/openmpi.csv
	sed -i '$a 4.1.4,debian12,,,,documented,test\n,debian12,,,,documented,test' catalog/openmpi.csv
	printf 'id,when,effect,symptom,fix,note,certainty,source\na,openmpi=4 & infiniband,refuse,,,,documented,test\nb,openmpi,stop,,,,documented,test\n' >catalog/conflicts.csv
	apart ringup matrix --check
	says 1 '7 findings in 20 rows of 8 files'
	sed -i "s|$PWD/||" ../out
	cp /dev/null ../err
	golden matrix-check
	apart ringup --json matrix --check
	says 1
	json 'len(d["findings"]) == 7 and d["findings"][0]["line"] == 2'
}

@test "--check: tables whose rows have names, and rows that name them" {
	own
	printf 'name,fingerprint,sha256,instead,note,certainty,source\nk.pub,12,,,,documented,test\nl.pub,,,,,documented,test\nm.pub,,,os==x,,documented,test\no.pub,,ab,,,documented,test\n' >catalog/key.csv
	printf 'id,component,kind,versions,python,words,note,certainty,source\na,tensorflaw,wth,x,=3,,,documented,test\n' >catalog/companion.csv
	sed -i 's/^apt,apt,apt,apt-get install,NAME=VERSION/apt,,deb,,NAME VERSION/' catalog/package_manager.csv
	sed -i -e 's/,eol,/,eol,ml_key,/' -e '3s/,2026-08,/,2026-08,n.pub,/; 4s/,apt,\(.*\),2028-06,/,apk,\1,2028-06,m.pub,/' catalog/os.csv
	apart ringup matrix --check
	says 1
	sed -i "s|$PWD/||" ../out
	diff - ../out <<-'END'
		catalog/companion.csv:2: python: '=3' is no requirement cell, as in '==2.7.*|>=3.3;<3.7'
		catalog/companion.csv:2: 'tensorflaw' is no component
		catalog/companion.csv:2: kind 'wth' is neither with nor needs
		catalog/companion.csv:2: no words
		catalog/companion.csv:2: versions: 'x' is no requirement cell, as in '==2.7.*|>=3.3;<3.7'
		catalog/key.csv:2: '12' is no fingerprint of 40 digits
		catalog/key.csv:3: '' is no fingerprint of 40 digits
		catalog/key.csv:5: 'ab' is no checksum of 64 digits
		catalog/os.csv:3: ml_key 'n.pub' is not in key.csv
		catalog/os.csv:4: package_manager 'apk' is not in package_manager.csv
		catalog/package_manager.csv:2: no name, kind or install command
		catalog/package_manager.csv:2: exact 'NAME VERSION' is neither NAME=VERSION nor NAME-VERSION
		catalog/package_manager.csv:2: list 'deb' is neither apt nor yum of cluster.yaml
	END
	apart ringup resolve --no-lock os==debian12
	says 2 'os.csv:3' "package_manager.csv has no row with a kind for 'apt'"
}

@test "--check: a file that is no table" {
	own
	echo '1,2,3' >>catalog/openmpi.csv
	apart ringup matrix --check
	says 1 '1 finding'
	grep -qE '/catalog/openmpi.csv:7: 3 cells, the header has 7$' ../out
	sed -i '$d' catalog/openmpi.csv
	sed -i '1s/$/,python/; 2,$s/$/,/; 3s/$/three/' catalog/openmpi.csv
	apart ringup matrix --check
	says 1 '1 finding'
	grep -qE "openmpi.csv:3: python: 'three' is no requirement cell" ../out
	apart ringup matrix openmpi os==debian12
	says 2 'openmpi.csv:3: python'
}

@test "the real catalog: checked, and the tables that people look for" {
	unset RINGUP_CATALOG
	apart ringup matrix --check
	says 0
	for words in tensorflow 'cuda driver==470' 'nccl cuda==11.*' 'torch gpu==V100 driver==535.54.03' \
		'gpu cuda==11.8' 'image cudnn==8.1 os==ubuntu20.04' 'conflicts openmpi==3.1.3'; do
		# shellcheck disable=SC2086 # words
		apart ringup matrix $words --csv
		says 0
		[ "$(wc -l <../out)" -gt 1 ]
	done
	apart ringup --json matrix cuda driver==470
	json 'all(r["version"].split(".")[0] <= "11" or r["version"].startswith(("8", "9")) for r in d["rows"])'
	json '"11.8.0" in [r["version"] for r in d["rows"]]'
}

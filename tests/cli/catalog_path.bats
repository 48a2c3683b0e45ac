#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The catalog's path: --catalog DIR, $RINGUP_CATALOG, the user's own rows, then the installed ones.

load helper
setup() {
	common_setup
	export XDG_DATA_HOME=$PWD/data
	own=$XDG_DATA_HOME/ringup/catalog
	header=version,os,run_packages,build_packages,note,certainty,source
	mkdir -p "$own"
	# the whole catalog of the tests stands in for the installed one
	mkdir -p share/recipes
	cp -r "$RINGUP_CATALOG" share/recipes/catalog
	cp -r "$ROOT/images" "$ROOT/deployer" share/
	export RINGUP_SHARE=$PWD/share
	unset RINGUP_CATALOG
}

# rows FILE [ROW...]: a table of these rows. The first is a header when it begins with "version".
rows() {
	local file=$1
	shift
	mkdir -p "$(dirname "$file")"
	case ${1:-} in version*) ;; *) set -- "$header" "$@" ;; esac
	printf '%s\n' "$@" >"$file"
}

# openmpi VERSION NOTE: a row of Open MPI.
openmpi() { echo "$1,debian12,openmpi-bin=$1,libopenmpi-dev=$1,$2,unsourced,test"; }

# chosen NAME: the version in the last apart()'s table.
chosen() { awk -v name="$1" '$1 == name {print $2}' ../out; }

# fails_in PLACE TEXT...: every command that reads the catalog says "PLACE: ..." and each TEXT, exit 2.
fails_in() {
	for command in 'resolve --no-lock openmpi' 'resolve --no-lock --all openmpi' 'recipe openmpi'; do
		# shellcheck disable=SC2086  # words
		apart ringup $command
		says 2 "error: $1: " "${@:2}" || { echo "command: $command"; return 1; }
		[ ! -s ../out ] || { echo "$command has output"; return 1; }
	done
}

@test "rows of the user's own are added to the installed ones" {
	apart ringup resolve --no-lock openmpi os==debian12
	says 0
	[ "$(chosen openmpi)" = 5.0.1 ]
	rows "$own/openmpi.csv" "$(openmpi 5.0.7 'built here')"
	apart ringup resolve --no-lock --explain openmpi os==debian12
	says 0
	[ "$(chosen openmpi)" = 5.0.7 ]
	grep -q 'built here' ../out
	apart ringup resolve --no-lock openmpi==4.1.4
	says 0
	[ "$(chosen openmpi)" = 4.1.4 ]
}

@test "a row of the same version and OS takes the other's place" {
	rows "$own/openmpi.csv" '5.0.1,debian12,openmpi-bin=mine,libopenmpi-dev=mine,built here,unsourced,test'
	apart ringup resolve --no-lock openmpi==5.0.1
	says 0
	grep -q '^openmpi .*openmpi-bin=mine' ../out
	apart ringup matrix openmpi openmpi==5.0.1 --csv
	says 0
	[ "$(tail -n +2 ../out)" = '5.0.1,debian12,openmpi-bin=mine,libopenmpi-dev=mine,built here,unsourced,test' ]
}

@test "without XDG_DATA_HOME they are in ~/.local/share" {
	unset XDG_DATA_HOME
	rows "$HOME/.local/share/ringup/catalog/openmpi.csv" "$(openmpi 5.0.8 'at home')"
	apart ringup resolve --no-lock openmpi os==debian12
	says 0
	[ "$(chosen openmpi)" = 5.0.8 ]
}

@test "--catalog DIR comes before all others, before and after the command" {
	rows "$own/openmpi.csv" "$(openmpi 5.0.7 'the home one')"
	rows one/openmpi.csv "$(openmpi 5.0.7 'the named one')" "$(openmpi 5.0.6 'the named one')"
	apart ringup --catalog one resolve --no-lock --explain openmpi os==debian12
	says 0
	grep -q 'the named one' ../out
	apart ringup resolve --catalog one --no-lock openmpi==5.0.6
	says 0
	[ "$(chosen openmpi)" = 5.0.6 ]
	apart ringup resolve --no-lock openmpi==5.0.6
	says 3 5.0.6
}

@test "RINGUP_CATALOG comes after --catalog and before the user's own" {
	rows "$own/openmpi.csv" "$(openmpi 5.0.7 'the home one')"
	rows two/openmpi.csv "$(openmpi 5.0.7 'of the environment')"
	rows one/openmpi.csv "$(openmpi 5.0.7 'the named one')"
	RINGUP_CATALOG=$PWD/two apart ringup resolve --no-lock --explain openmpi os==debian12
	says 0
	grep -q 'of the environment' ../out
	RINGUP_CATALOG=$PWD/two apart ringup --catalog one resolve --no-lock --explain openmpi os==debian12
	says 0
	grep -q 'the named one' ../out
	RINGUP_CATALOG='' apart ringup resolve --no-lock --explain openmpi os==debian12
	says 0
	grep -q 'the home one' ../out
}

@test "a folder with os.csv is a whole catalog: nothing behind it counts" {
	rows "$own/openmpi.csv" "$(openmpi 5.0.7 'the home one')"
	cp -r share/recipes/catalog whole
	sed -i '/^5\.0\.1,/d' whole/openmpi.csv
	apart ringup --catalog whole resolve --no-lock openmpi os==debian12
	says 0
	[ "$(chosen openmpi)" = 4.1.10 ]
	RINGUP_CATALOG=$PWD/whole apart ringup resolve --no-lock openmpi os==debian12
	says 0
	[ "$(chosen openmpi)" = 4.1.10 ]
	# rows before it do
	rows one/openmpi.csv "$(openmpi 5.0.6 'the named one')"
	RINGUP_CATALOG=$PWD/whole apart ringup --catalog one resolve --no-lock openmpi os==debian12
	[ "$(chosen openmpi)" = 5.0.6 ]
}

@test "a component that no catalog has yet" {
	rows "$own/driver.csv" version,os,branch,run_packages,build_packages,note,certainty,source \
		999.1,,999,,,mine,unsourced,test
	apart ringup matrix driver --csv
	says 0
	[ "$(tail -n +2 ../out)" = '999.1,,999,,,mine,unsourced,test' ]
}

@test "a folder that is not there: exit 2 with its name" {
	apart ringup --catalog none resolve --no-lock openmpi
	says 2 '--catalog' none
	RINGUP_CATALOG=$PWD/none apart ringup resolve --no-lock openmpi
	says 2 RINGUP_CATALOG "$PWD/none"
	# the user's own need not be there
	rm -r "$own"
	apart ringup resolve --no-lock openmpi
	says 0
}

@test "a file in a folder's place: exit 2 with its name" {
	touch file
	apart ringup --catalog file resolve --no-lock openmpi
	says 2 file
}

@test "a row of the user's own with too many cells: file and line" {
	printf 'hosts: [a]\n' >cluster.yaml
	rows "$own/openmpi.csv" '# mine' "$(openmpi 5.0.7 one)" "$(openmpi 5.0.8 two),more"
	fails_in "$own/openmpi.csv:4" '8 cells, the header has 7'
	apart ringup matrix --check
	says 1 '1 finding'
	grep -qF "$own/openmpi.csv:4: 8 cells" ../out
}

# cuda MINOR GCC SM: a row of CUDA.
cuda() { echo "99.1.2,,,>=999.1,$1,999.1,$2,$3,no,,,,,unsourced,test"; }

@test "a requirement cell of the user's own that is none: file, line and column" {
	local columns
	columns=$(head -n 1 "$ROOT/recipes/catalog/cuda.csv")
	printf 'hosts: [a]\n' >cluster.yaml
	rows "$own/cuda.csv" "$columns" "$(cuda '' '>=9;<20' '>=5.0')" "$(cuda '' '>=9<20' '>=5.0')"
	fails_in "$own/cuda.csv:3" gcc "'>=9<20'"
	apart ringup matrix --check
	says 1
	grep -qF "$own/cuda.csv:3: gcc: '>=9<20'" ../out
}

@test "cells that only the rules on drivers and GPUs read are looked at too" {
	local columns
	columns=$(head -n 1 "$ROOT/recipes/catalog/cuda.csv")
	printf 'hosts: [a]\n' >cluster.yaml
	rows "$own/cuda.csv" "$columns" "$(cuda '' '>=9;<20' '>5.*')"
	fails_in "$own/cuda.csv:2" sm "'>5.*'"
	rows "$own/cuda.csv" "$columns" "$(cuda '>=1.*' '>=9;<20' '>=5.0')"
	fails_in "$own/cuda.csv:2" driver_minor "'>=1.*'"
}

@test "a row of the user's own in a folder that is named: its path as it was given" {
	printf 'hosts: [a]\n' >cluster.yaml
	rows one/openmpi.csv "$(openmpi 5.0.7 one),more"
	apart ringup --catalog one resolve --no-lock openmpi
	says 2 'error: one/openmpi.csv:2: 8 cells'
	RINGUP_CATALOG=one apart ringup resolve --no-lock openmpi
	says 2 'error: one/openmpi.csv:2: 8 cells'
}

@test "a file of the user's own without a header, and one with a column twice" {
	printf 'hosts: [a]\n' >cluster.yaml
	: >"$own/openmpi.csv"
	fails_in "$own/openmpi.csv" 'no header line'
	rows "$own/openmpi.csv" version,os,os 5.0.7,debian12,debian12
	fails_in "$own/openmpi.csv:1" "two columns named 'os'"
}

@test "a column that the table does not have is refused, not dropped" {
	printf 'hosts: [a]\n' >cluster.yaml
	rows "$own/openmpi.csv" version,os,run_pakages,build_packages,note,certainty,source \
		"$(openmpi 5.0.7 mine)"
	fails_in "$own/openmpi.csv:1" run_pakages
}

@test "a table of the user's own without the column 'version' is refused" {
	printf 'hosts: [a]\n' >cluster.yaml
	rows one/openmpi.csv version,os
	printf 'os,run_packages,note\ndebian12,openmpi-bin=mine,mine\n' >one/openmpi.csv
	apart ringup --catalog one resolve --no-lock openmpi
	says 2 'one/openmpi.csv:1' version
}

@test "matrix --check names the user's own file" {
	rows "$own/openmpi.csv" '5.0.7,debian12,openmpi-bin=5.0.7,libopenmpi-dev=5.0.7,mine,unsourced,nowhere'
	apart ringup matrix --check
	says 1 '1 finding'
	grep -qF "$own/openmpi.csv:2: source 'nowhere' is not in sources.csv" ../out
	printf 'id,title,where,certainty\nnowhere,Mine,-,unsourced\n' >"$own/sources.csv"
	apart ringup matrix --check
	says 0
}

@test "--explain names the file of a row that is the user's own" {
	rows "$own/openmpi.csv" "$(openmpi 5.0.7 'built here')"
	apart ringup resolve --no-lock --explain openmpi os==debian12
	says 0
	grep -F "$own/openmpi.csv" ../out
	apart ringup --json resolve --no-lock openmpi os==debian12
	says 0
	json "'$own/openmpi.csv' in str(d['stack']['openmpi'])"
	json "'openmpi.csv' not in str(d['stack']['os'])"
}

@test "the catalog's revision in the lock follows the user's own rows" {
	printf 'hosts: [a]\nstack: [openmpi, "os==debian12"]\n' >cluster.yaml
	ringup resolve
	before=$(grep '"catalog"' ringup.lock)
	rows "$own/gcc.csv" '1.0,debian11,,,mine,unsourced,test'
	ringup resolve
	[ "$(grep '"catalog"' ringup.lock)" != "$before" ]
	rm "$own/gcc.csv"
	ringup resolve
	[ "$(grep '"catalog"' ringup.lock)" = "$before" ]
}

@test "an editor's files and other files in the folder do not count" {
	rows "$own/openmpi.csv" "$(openmpi 5.0.7 mine)"
	echo junk >"$own/.#openmpi.csv"
	echo junk >"$own/openmpi.csv~"
	echo junk >"$own/README"
	apart ringup resolve --no-lock openmpi os==debian12
	says 0
	[ "$(chosen openmpi)" = 5.0.7 ]
}

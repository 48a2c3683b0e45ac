#!/bin/sh
# SPDX-License-Identifier: MIT
# Pulls an image with a temporary login: pull.sh FOLDER PULL_LINE, with the engine's config.json on stdin. An
# empty config.json pulls without a login. The line is the engine record's words, which ringup has quoted.
# FOLDER holds the login and is removed even when the connection breaks.
folder=$1
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' HUP INT TERM
(umask 077 && mkdir -p "$folder" && cat >"$folder/config.json") || exit
[ -s "$folder/config.json" ] || rm -f "$folder/config.json"
sh -c "$2" </dev/null

#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes a tar on stdin into a folder: copy_tree_in.sh PATH. Owners are those of the login.
mkdir -p -- "$1" && exec tar -x -o -p -f - -C "$1"

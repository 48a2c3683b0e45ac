#!/bin/sh
# SPDX-License-Identifier: MIT
# Sends the names of its input, with NUL behind each, as a tar: copy_tree_out.sh PATH.
cd -- "$1" && exec tar -c -f - --hard-dereference --no-recursion --null -T -

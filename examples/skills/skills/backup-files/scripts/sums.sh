#!/bin/sh -e
# Prints the sums of all files below a folder, sorted: sums.sh <folder>
cd "$1"
find . -type f | sort | while read -r f; do cksum "$f"; done

#!/bin/sh
# test.sh <command>: runs the tests of a command. One without tests fails.
cd "$(dirname "$0")" || exit 1
if [ ! -f "tests/$1.sh" ]; then
	echo "FAIL $1: it has no tests"
	exit 1
fi
if sh "tests/$1.sh"; then echo "ok $1"; else echo "FAIL $1"; exit 1; fi

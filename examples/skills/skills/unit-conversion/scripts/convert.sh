#!/bin/sh -e
# Converts millimetres to inches: convert.sh <millimetres>
awk -v x="$1" 'BEGIN { printf "%.4f in\n", x / 25.4 }'

#!/bin/sh
# tool.sh <command> [arguments]: runs a command of the folder commands.
command=$1
if [ ! -f "$(dirname "$0")/commands/$command.sh" ]; then
	echo "there is no command '$command'; there are:" >&2
	for f in "$(dirname "$0")"/commands/*.sh; do basename "$f" .sh >&2; done
	exit 2
fi
shift
exec sh "$(dirname "$0")/commands/$command.sh" "$@"

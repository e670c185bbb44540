#!/bin/sh
# An MCP server with the 200 tools of a small town. It speaks the protocol over its input and
# output, one message a line, and needs a shell and sed. Its tools are in tools.json, what some of
# them answer in answers.txt; all others answer that it is done.
here=$(dirname "$0")
tools=$(tr -d '\n' <"$here/tools.json")
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
	id=$(printf '%s\n' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
	test -n "$id" || continue # a notification
	method=$(printf '%s\n' "$line" | sed -n 's/.*"method":"\([^"]*\)".*/\1/p')
	case $method in
	initialize)
		reply '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"town","version":"1"}}'
		;;
	ping) reply '{}' ;;
	tools/list) reply "$tools" ;;
	tools/call)
		name=$(printf '%s\n' "$line" | sed -n 's/.*"name":"\([a-z_]*\)".*/\1/p')
		answer=$(sed -n "s/^$name //p" "$here/answers.txt")
		reply "{\"content\":[{\"type\":\"text\",\"text\":\"${answer:-Done.}\"}]}"
		;;
	*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"there is no such method"}}\n' "$id" ;;
	esac
done

package executor

import "lyceum/internal/computer"

// BuiltinName is what quests call Lyceum's own agent.
const BuiltinName = "builtin"

// Builtin is Lyceum's own agent: this binary, inside the computer. It asks before it writes a
// file or runs a command, does both through the client, and follows the gateway to whatever
// format its model is asked in. Its tools come by the bridge: a call that is under way when
// Lyceum ends is answered by the next one.
func Builtin() Settings {
	return Settings{
		Name: BuiltinName, Command: []string{computer.Program, "executor"}, Mode: "ask", MCP: MCPStdio,
		Variables: map[string]string{
			"LYCEUM_EXECUTOR_GATEWAY": "{gateway}", "LYCEUM_EXECUTOR_TOKEN": "{token}", "LYCEUM_EXECUTOR_MODEL": "{model}", "LYCEUM_EXECUTOR_DIR": "{settings}",
		},
	}
}

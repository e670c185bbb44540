package stages

import (
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/society/stages/study"
)

// The MCP servers at which an outside agent finds the tools of a study.
const (
	serverMemory   = "memory"
	serverArtifact = "artifact"
	serverBash     = "bash_exec"
)

// commands are the tools of the world for commands that go on by themselves: what our own model
// calls them, and what they are called at the server bash_exec.
var commands = [][2]string{
	{"start", "detach"}, {"await", "await"}, {"open_shell", "create"}, {"read_output", "read"}, {"write_input", "write"}, {"kill", "kill"}, {"processes", "list"},
}

// Servers implements quest.Served.
func (Society) Servers() []string { return []string{serverMemory, serverArtifact, serverBash} }

// Server implements quest.Served: a card's tool is at memory without that word, a command's at
// bash_exec, and all others are at artifact.
func (Society) Server(tool string) (server, name string) {
	if i := slices.IndexFunc(commands, func(c [2]string) bool { return c[0] == tool }); i >= 0 {
		return serverBash, commands[i][1]
	}
	if tool == memoryPromote {
		return serverMemory, "promote_to_global"
	}
	if rest, ok := strings.CutPrefix(tool, serverMemory+"_"); ok {
		return serverMemory, rest
	}
	return serverArtifact, tool
}

// namespaces say where the tools are: our own model has all of them, an outside agent finds them
// at the servers, some under other names than the texts use.
func namespaces(a *agent.Agent) []study.Pair {
	if a.Session == nil {
		return []study.Pair{{Name: "tools", Value: "interact, move_anchor, state, complete; prepare_branch, activate_branch, checkpoint, compare, render_git_graph; submit_outline, submit_paper, answer_point; memory_*"}}
	}
	var words []string
	for _, c := range commands {
		if c[0] == c[1] {
			words = append(words, c[0])
		} else {
			words = append(words, c[0]+" is "+c[1])
		}
	}
	return []study.Pair{
		{Name: serverMemory, Value: "what is called memory_write is write at this server, and so on; memory_promote is promote_to_global"},
		{Name: serverArtifact, Value: "interact, move_anchor, state, complete and all others, by their names"},
		{Name: serverBash, Value: strings.Join(words, ", ")},
	}
}

// commandTools are what our own model calls them.
func commandTools() (out []string) {
	for _, c := range commands {
		out = append(out, c[0])
	}
	return out
}

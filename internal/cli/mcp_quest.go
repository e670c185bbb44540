package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/runtime"

	"github.com/spf13/cobra"
)

// newServer is what flags say of a server for a quest.
type newServer struct {
	set     setting.Server
	headers []string
	timeout time.Duration
}

func (a *app) mcpAddCommand() *cobra.Command {
	n := &newServer{}
	cmd := &cobra.Command{
		Use:   "add <quest> <server>",
		Short: "Give a quest another MCP server, while it runs or rests",
		Long: `Give a quest another MCP server, while it runs or rests. Its agents are asked for what it has
before their next turn. Without --url and --run it is the one that config.yaml has under that name.

  lyceum mcp add primes github --url https://mcp.example.org/github --header Authorization=GITHUB_TOKEN`,
		Args: exactArgs(2, "a quest's name and a server's"),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := a.addedServer(n, args[1])
			if err != nil {
				return err
			}
			order, err := runtime.AddServer(args[1], set)
			if err != nil {
				return usageError{err}
			}
			_, running, err := a.post(cmd.Context(), args[0], order)
			return a.toldOf(args[0], running, err)
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.set.URL, "url", "", "where the server is")
	f.StringVar(&n.set.Run, "run", "", "a line for the shell of the agents' computers that starts it")
	f.StringSliceVar(&n.set.Tools, "tool", nil, "a tool that agents are offered, by the server's own name; may be given again; default all")
	f.StringSliceVar(&n.headers, "header", nil, "a header of each request and the variable that holds its value, as Name=VARIABLE; may be given again")
	f.StringVar(&n.set.Trust, "trust", "", "what you think of the server: trusted or stranger")
	f.DurationVar(&n.timeout, "timeout", 0, "how long a call may take without a sign of progress")
	return a.questArg(cmd)
}

// addedServer is the server that flags or config.yaml say.
func (a *app) addedServer(n *newServer, name string) (setting.Server, error) {
	set := n.set
	if set.URL == "" && set.Run == "" {
		all, err := a.servers()
		if err != nil {
			return set, err
		}
		known, ok := all.Known[name]
		if !ok {
			return set, usagef("config.yaml has no server %.40q under mcp: it has %v; give --url or --run", name, slices.Sorted(maps.Keys(all.Known)))
		}
		return known, nil
	}
	for _, h := range n.headers {
		key, variable, ok := strings.Cut(h, "=")
		if !ok {
			return set, usagef("--header %.80q: want Name=VARIABLE", h)
		}
		if set.Headers == nil {
			set.Headers = map[string]string{}
		}
		set.Headers[key] = variable
	}
	set.Timeout = int64(n.timeout / time.Second)
	return set, nil
}

func (a *app) mcpRemoveCommand() *cobra.Command {
	return a.questArg(&cobra.Command{
		Use:   "remove <quest> <server>",
		Short: "Take an MCP server from a quest, while it runs or rests",
		Args:  exactArgs(2, "a quest's name and a server's"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, running, err := a.post(cmd.Context(), args[0], &event.McpRemoved{Server: args[1]})
			return a.toldOf(args[0], running, err)
		},
	})
}

// toldOf says what became of an order.
func (a *app) toldOf(name string, running bool, err error) error {
	switch {
	case err != nil:
		return err
	case running:
		fmt.Fprintf(a.out, "Told the process that runs %s.\n", name)
	default:
		fmt.Fprintf(a.out, "Recorded. It takes effect when the quest runs: lyceum run %s\n", name)
	}
	return nil
}

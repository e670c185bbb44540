package cli

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/acp/agent"
	"lyceum/internal/model/provider"
	"lyceum/internal/quest"

	"github.com/spf13/cobra"
)

// sessionCost is what a session may cost, if neither its client nor config.yaml says.
const sessionCost quest.USD = 5e9

// unread is how long a client that is gone has to read what was written to it.
const unread = 10 * time.Second

func (a *app) acpCommand() *cobra.Command {
	f := &specFlags{}
	var record string
	cmd := &cobra.Command{
		Use:   "acp",
		Short: "Be an agent for an editor, over the Agent Client Protocol",
		Long: `Speak the Agent Client Protocol, version 1, on standard input and output: an editor starts
this command and talks to it. A session is a quest: what is said is recorded, and can be
audited, replayed and forked as any other. What it may cost is limited: by --max-cost, by
outside_cost in config.yaml, or to $5; the editor can choose another limit for a session.

Agents begin with the files of the session's folder, if that is a git repository. What they
change is shown as diffs, and written only as the editor permits.

Where lyceum serve is up in the same home, quests run there, and go on when the editor is
closed; otherwise they run here, and are paused then. docs/protocols.md has the settings for
editors.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed
			if err := a.open(true); err != nil {
				return err
			}
			opts, err := a.agentOptions(cmd, f)
			if err != nil {
				return err
			}
			tap, done, err := recording(record)
			if err != nil {
				return err
			}
			defer a.sending(cmd.Context(), opts.Say)()
			ag := agent.New(cmd.Context(), a.rt, opts)
			conn := acp.NewConn(cmd.Context(), ag, a.in, a.out, acp.Options{Tap: tap})
			ended := make(chan error, 1)
			go func() { ended <- ag.Serve(conn) }()
			<-conn.Done()
			select {
			case err = <-ended:
			case <-time.After(unread):
				// The client has ended what it says, and does not read: what is left to write
				// is lost, and nothing else.
			}
			return cmp.Or(err, done())
		},
	}
	cmd.Flags().StringVar(&f.society, "society", "", "the rules the agents work by, until the editor chooses")
	cmd.Flags().StringVar(&f.model, "model", "", "the model, until the editor chooses")
	cmd.Flags().BoolVar(&f.noThinking, "no-thinking", false, "models answer without thinking first")
	cmd.Flags().StringVar(&f.quest.cost, "max-cost", "", "how many US dollars a session may cost, such as 2.50, until the editor chooses")
	cmd.Flags().StringVar(&record, "record", "", "write every line of the protocol to this file")
	complete(cmd, "model", modelNames)
	complete(cmd, "society", func(*cobra.Command) []string { return societies().Names() })
	return a.weakLimits(cmd)
}

// agentOptions are what sessions begin with.
func (a *app) agentOptions(cmd *cobra.Command, f *specFlags) (opts agent.Options, err error) {
	opts = agent.Options{
		Believed: a.believed,
		Society:  f.society, Model: cmp.Or(f.model, a.config.Model), NoThinking: f.noThinking, Cost: sessionCost,
		Models: modelNames(cmd), Folders: slices.Collect(maps.Values(a.config.Repos)), Token: os.Getenv(tokenVariable),
		NoKey: func(err error) bool { return strings.Contains(err.Error(), provider.NoKey) },
		Say:   func(line string) { fmt.Fprintln(a.err, printable(line)) },
	}
	if a.config.OutsideCost != nil {
		opts.Cost = quest.USD(*a.config.OutsideCost)
	}
	if f.given("max-cost") {
		if opts.Cost, err = quest.ParseUSD(f.quest.cost); err != nil {
			return opts, usagef("--max-cost: %w", err)
		}
	}
	if f.society != "" && societies().Named(f.society) == nil {
		return opts, usagef("--society: %.40q is none of %s", f.society, strings.Join(societies().Names(), ", "))
	}
	if len(opts.Models) > maxModels {
		opts.Models = opts.Models[:maxModels]
	}
	return opts, nil
}

// maxModels is how many models an editor is given to choose from.
const maxModels = 50

// recording writes the lines of a connection to a file.
func recording(path string) (tap func(acp.Frame), done func() error, err error) {
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, usagef("--record: %w", err)
	}
	return func(fr acp.Frame) {
		way := "< "
		if fr.Sent {
			way = "> "
		}
		line := append([]byte(way), fr.Line...)
		if fr.Fault != "" {
			line = fmt.Appendf(line, " # %s", fr.Fault)
		}
		_, _ = f.Write(append(line, '\n')) // a record that cannot be written is no reason to stop
	}, f.Close, nil
}

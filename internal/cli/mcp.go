package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"lyceum/examples"
	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/config"
	mcpserver "lyceum/internal/mcp/server"
	"lyceum/internal/quest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func (a *app) mcpCommand() *cobra.Command {
	var readOnly bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Speak MCP on standard input and output, for the agents of other programs",
		Long: `Speak MCP (Model Context Protocol) on standard input and output: an editor or an agent starts
this command, and its model makes, runs and reads quests. docs/protocols.md has the settings
of some. If a server of the home is up (lyceum serve), quests run there, and go on when this
ends; otherwise they run here, are paused when standard input ends, and go on with the next
lyceum mcp or lyceum serve.

A quest that has no limit on its cost and is run from here gets one: outside_cost of
config.yaml, else $5. With --read-only nothing can be changed, and nothing is run.

The other way round, agents of Lyceum use servers of other people: login, logout and list are
for those, and add and remove give one to a quest that is there already, or take it away.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.mcp(cmd.Context(), readOnly) },
	}
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "offer only what changes nothing")
	a.weakLimits(cmd)
	cmd.AddCommand(a.mcpLoginCommand(), a.mcpLogoutCommand(), a.mcpListCommand(), a.mcpAddCommand(), a.mcpRemoveCommand())
	return cmd
}

// outsideCost is what work that other programs start may cost, in dollars.
func outsideCost(conf *config.Config) string {
	if conf == nil || conf.OutsideCost == nil {
		return mcpserver.DefaultCost
	}
	return quest.USD(*conf.OutsideCost).String()
}

// maxFrame is how long a line of standard input may be.
const maxFrame = 10 << 20

// mcp serves standard input until it ends, or the command is interrupted.
func (a *app) mcp(ctx context.Context, readOnly bool) error {
	open := func() error { return a.open(true) }
	opts := mcpserver.Options{Access: mcpserver.Own}
	if readOnly {
		open, opts.Access = a.read, mcpserver.Read
	}
	if err := open(); err != nil {
		return err
	}
	opts.Version, opts.Cost, opts.Redact = a.rt.Version, outsideCost(a.config), a.rt.Redact
	home, leave, err := a.mcpHome(ctx, readOnly)
	if err != nil {
		return err
	}
	defer leave()
	s := mcpserver.New(ctx, home, opts)
	defer s.Close()
	err = s.MCP().Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(a.in), Writer: stays{a.out}, MaxLineLength: maxFrame})
	if err == nil || errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("speak MCP: %w", err)
}

// stays is standard output, which others may need after the session.
type stays struct{ io.Writer }

func (stays) Close() error { return nil }

// mcpHome is the home's server, if one is up, and else one in this process, without a listener.
func (a *app) mcpHome(ctx context.Context, readOnly bool) (mcpserver.Home, func(), error) {
	c, err := client.Find(ctx, a.home, a.rt.Version, os.Getenv(tokenVariable))
	switch {
	case err == nil:
		a.compare(c.Server())
		return c, c.Close, nil
	case !errors.Is(err, client.ErrNone):
		return nil, nil, fmt.Errorf("use the server of the home: %w", err)
	}
	token := rand.Text() + rand.Text()
	server := api.New(a.rt, api.Options{Token: token, Examples: examples.Files, Model: a.config.Model, Cost: outsideCost(a.config), Log: log.New(logLines{a}, "", 0)})
	work, stop := a.patient(ctx)
	if !readOnly {
		going, err := server.Keeper().GoOn(work)
		if err != nil {
			fmt.Fprintln(a.err, printable(err.Error()))
		}
		for _, name := range going {
			fmt.Fprintf(a.err, "Going on with quest %s.\n", name)
		}
	}
	return server.Inside("Bearer " + token), func() {
		server.Keeper().Shutdown(work)
		server.Close()
		stop()
	}, nil
}

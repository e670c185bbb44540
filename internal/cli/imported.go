package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	"github.com/spf13/cobra"
)

// allowFlags are the owner's word on what an imported quest may do.
type allowFlags struct {
	network, open, build, buildNetwork, servers bool
	hosts                                       []string
	given                                       func(flag string) bool
}

func (f *allowFlags) add(cmd *cobra.Command) {
	f.given = cmd.Flags().Changed
	const whose = ", if it was imported (=false takes it back)"
	cmd.Flags().BoolVar(&f.network, "allow-network", false, "let the quest's computers reach the public hosts it asks for"+whose)
	cmd.Flags().BoolVar(&f.open, "allow-open-network", false, "give them the open network it asks for, with this machine and its surroundings"+whose)
	cmd.Flags().StringSliceVar(&f.hosts, "allow-host", nil, "let them reach this host too, such as 10.0.0.5:8080, if it was imported (repeat for more)")
	cmd.Flags().BoolVar(&f.build, "build", false, "let an image be built from the Dockerfile it brings, without network"+whose)
	cmd.Flags().BoolVar(&f.servers, "allow-servers", false, "let the MCP servers be used that it names"+whose)
	cmd.Flags().BoolVar(&f.buildNetwork, "build-network", false, "the same, with network"+whose)
}

// any reports whether a word was said.
func (f *allowFlags) any() bool {
	return slices.ContainsFunc([]string{"allow-network", "allow-open-network", "allow-host", "build", "build-network", "allow-servers"}, f.given)
}

// change puts the words that were said into what is allowed already.
func (f *allowFlags) change(a *runtime.Allowance) {
	for _, w := range []struct {
		flag string
		said bool
		to   *bool
	}{
		{"allow-network", f.network, &a.Network}, {"allow-open-network", f.open, &a.OpenNetwork},
		{"build", f.build, &a.Build}, {"build-network", f.buildNetwork, &a.BuildNetwork}, {"allow-servers", f.servers, &a.Servers},
	} {
		if f.given(w.flag) {
			*w.to = w.said
		}
	}
	if f.given("allow-host") {
		a.Hosts = slices.DeleteFunc(slices.Clone(f.hosts), func(h string) bool { return h == "" })
	}
}

// allow records the words that were said about a quest, if any were.
func (a *app) allow(ctx context.Context, name string, f *allowFlags) error {
	if !f.any() {
		return nil
	}
	return a.rt.Allow(ctx, name, f.change)
}

// asksJSON is what a quest asks for, and what an imported one may do.
type asksJSON struct {
	Quest  string `json:"quest"`
	Events uint64 `json:"events"`
	Status string `json:"status"`
	Hash   string `json:"hash"`
	// Imported says that the quest came from elsewhere: Allowed is all that it gets then.
	Imported bool               `json:"imported"`
	Asks     runtime.Asks       `json:"asks"`
	Allowed  *runtime.Allowance `json:"allowed,omitempty"`
	// Withheld says what it asks for and does not get.
	Withheld []string `json:"withheld,omitempty"`
	// Notes are what nobody vouches for.
	Notes []string `json:"notes,omitempty"`
}

func (a *app) asks(ctx context.Context, name string, s *quest.State) (out asksJSON, err error) {
	out = asksJSON{Quest: name, Events: s.Seq, Status: string(s.Status), Hash: s.Hash.String()}
	im, err := a.rt.Imported(ctx, name)
	if err != nil {
		return out, err
	}
	if im != nil {
		out.Imported, out.Allowed = true, &im.Allowed
	}
	if out.Asks, err = a.rt.Asks(ctx, s); err != nil {
		return out, err
	}
	out.Withheld, err = a.rt.Restrictions(ctx, name, s)
	return out, err
}

// printAsks shows what a quest asks for. Everything of it may be a stranger's.
func (a *app) printAsks(q asksJSON) {
	x := q.Asks
	if len(x.Models) > 0 {
		fmt.Fprintf(a.out, "%-10s %s\n", "models", printable(strings.Join(x.Models, ", ")))
	}
	for _, s := range x.Servers {
		fmt.Fprintf(a.out, "%-10s %s: %s\n", "server", printable(s.Name), oneLine(cmp.Or(s.Run, s.URL), 400))
	}
	if x.Computer == "" {
		fmt.Fprintf(a.out, "%-10s none\n", "computers")
		for _, line := range q.Withheld {
			fmt.Fprintln(a.out, printable(line))
		}
		return
	}
	fmt.Fprintf(a.out, "%-10s %s\n", "computers", printable(x.Computer))
	network := x.Network
	if network == "allow" {
		network = oneLine(strings.Join(x.Hosts, ", "), 400)
	}
	fmt.Fprintf(a.out, "%-10s %s\n", "network", network)
	if x.Dockerfile != "" {
		fmt.Fprintf(a.out, "%-10s built from its own Dockerfile:\n", "image")
		for line := range strings.Lines(x.Dockerfile) {
			fmt.Fprintf(a.out, "    | %s\n", strings.TrimRight(printable(line), "\n"))
		}
	}
	for _, line := range q.Withheld {
		fmt.Fprintln(a.out, printable(line))
	}
}

func (a *app) showAsks(ctx context.Context, name string, s *quest.State, asJSON bool) error {
	q, err := a.asks(ctx, name, s)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(q)
	}
	a.printAsks(q)
	return nil
}

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// telling is how much of a run is told, and in which form.
type telling struct {
	form           form
	quiet, verbose bool
	// yes says that a run may cost what it will.
	yes bool
}

// form is what --json asks for.
type form string

const (
	inWords  form = ""
	object   form = "outcome" // one, when the run is over
	streamed form = "stream"  // a line for each event, as it comes, and one for the outcome
)

func (f *form) String() string { return string(*f) }

// Type implements pflag.Value: what help writes behind the flag.
func (f *form) Type() string { return "outcome|stream" }

// Set implements pflag.Value.
func (f *form) Set(s string) error {
	switch s {
	case "true", string(object):
		*f = object
	case "false":
		*f = inWords
	case string(streamed):
		*f = streamed
	default:
		return fmt.Errorf("want --json or --json=%s", streamed)
	}
	return nil
}

func (t *telling) flags(cmd *cobra.Command) {
	cmd.Flags().Var(&t.form, "json", "print the outcome as JSON, as show does, and nothing else; with =stream a line of JSON for each event as it comes, and the outcome last")
	cmd.Flags().Lookup("json").NoOptDefVal = string(object)
	cmd.Flags().BoolVar(&t.quiet, "quiet", false, "print the outcome, and what the quest asks, and nothing else")
	cmd.Flags().BoolVar(&t.verbose, "verbose", false, "print a line for every event")
	exclusive(cmd, "quiet", "verbose", "json")
	complete(cmd, "json", func(*cobra.Command) []string { return []string{string(object), string(streamed)} })
}

// json reports whether a program reads.
func (t *telling) json() bool { return t.form != inWords }

// least is how much an event must matter to get a line.
func (t *telling) least() view.Weight {
	switch {
	case t.quiet:
		return view.News + 1
	case t.verbose:
		return view.Aside
	}
	return view.Detail
}

// stream writes an event as a program reads it.
func (a *app) stream(e event.Event) error {
	line := `{"event":` + string(e.Line()) + "}\n"
	if isTerminal(a.out) {
		line = plain.JSON(line)
	}
	_, err := io.WriteString(a.out, line)
	return err
}

// colours reports whether a terminal that lines go to shows colours.
func colours() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// The colours of lines: what stands for itself has none.
const (
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	normal = "\x1b[0m"
)

// tint is the colour of an event's line: what failed or was refused, what somebody is asked, what
// has come of it all.
func tint(e event.Event, w view.Words) string {
	switch {
	case w.Kind == "error", e.Type == "policy.blocked", e.Type == "quest.failed", slices.Contains(w.Notes, "failed"):
		return red
	case e.Type == "interaction.opened":
		return yellow
	case w.Kind == "answer", w.Kind == "paper":
		return green
	}
	return ""
}

// streamTo writes what was recorded up to an event when the quest was made, for a program that
// reads all of it.
func (a *app) streamTo(ctx context.Context, name string, seq uint64) error {
	if a.telling.form != streamed {
		return nil
	}
	for e, err := range a.rt.Ledger.Read(ctx, name, 1) {
		if err == nil && e.Seq > seq {
			return nil
		}
		if err == nil {
			err = a.stream(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) traceCommand() *cobra.Command {
	var jsonl, follow bool
	var from uint64
	var filter eventFilter
	cmd := &cobra.Command{
		Use:   "trace <quest>",
		Short: "Print every event, one a line",
		Long: `Print every event of a quest, one a line: its seq, > for what came from outside and · for
what the rules made of it, the time, who, what, its hash, and what it says.

  lyceum trace primes --type tool             tool.call, tool.result and what else begins so
  lyceum trace primes --type model.call,vote  several
  lyceum trace lab --agent agent-2 --grep 'sieve|prime'

With --jsonl the lines are those of the ledger, byte for byte, so that their hashes can be
checked. On a terminal, characters that it would obey or not show are written as escapes:
the same JSON in other bytes.`,
		Args: exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := checkName(args[0]); err != nil {
				return err
			}
			if err := filter.check(); err != nil {
				return err
			}
			if err := a.look(); err != nil {
				return err
			}
			events := a.rt.Ledger.Read(ctx, args[0], max(from, 1))
			if follow {
				if s, err := a.rt.Load(ctx, args[0]); err == nil && s.Status != quest.Running && !jsonl {
					fmt.Fprintf(a.err, "Quest %s is %s: what comes later is printed too. Ctrl-C leaves.\n", args[0], s.Status)
				}
				events = a.rt.Ledger.Follow(ctx, args[0], max(from, 1))
			}
			if s, err := a.rt.Load(ctx, args[0]); err == nil && filter.agent != "" && s.Agent(filter.agent) == nil {
				return usagef("--agent: quest %s has no agent %.80q; lyceum show %s lists them", args[0], filter.agent, args[0])
			}
			for e, err := range events {
				if err != nil {
					return err
				}
				line := eventLine(e, jsonl)
				if !filter.takes(e, line) {
					continue
				}
				if jsonl && isTerminal(a.out) {
					line = plain.JSON(line)
				}
				if _, err := io.WriteString(a.out, line); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "print the events as they stand in the ledger, one JSON object a line")
	cmd.Flags().BoolVar(&jsonl, "json", false, "the same as --jsonl")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on printing new events as they come")
	cmd.Flags().Uint64Var(&from, "from", 1, "begin at this seq")
	cmd.Flags().StringSliceVar(&filter.types, "type", nil, "only events of these types, such as tool.call, or all of a kind, such as tool")
	cmd.Flags().StringVar(&filter.agent, "agent", "", "only what this agent did, or what is about it")
	cmd.Flags().StringVar(&filter.grep, "grep", "", "only lines in which this regular expression is found, whatever the case")
	complete(cmd, "type", func(*cobra.Command) []string { return eventTypes() })
	return a.questArg(cmd)
}

// eventFilter is which events are wanted; one that says nothing takes all.
type eventFilter struct {
	types       []string
	agent, grep string
	pattern     *regexp.Regexp
}

// eventTypes are the names that events can have, and the kinds they are of.
func eventTypes() (names []string) {
	for _, t := range event.Types() {
		kind, _, _ := strings.Cut(string(t), ".")
		names = append(names, kind, string(t))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (f *eventFilter) check() (err error) {
	known := eventTypes()
	for _, t := range f.types {
		if slices.Contains(known, t) {
			continue
		}
		if near := plain.Near(t, known); len(near) > 0 {
			return usagef("--type: there are no events %.80q; did you mean %s?", t, strings.Join(near, " or "))
		}
		return usagef("--type: there are no events %.80q: docs/events.md lists them", t)
	}
	if f.grep != "" {
		if f.pattern, err = regexp.Compile("(?i)" + f.grep); err != nil {
			return usagef("--grep: %w", err)
		}
	}
	return nil
}

func (f *eventFilter) takes(e event.Event, line string) bool {
	if len(f.types) > 0 && !slices.ContainsFunc(f.types, func(t string) bool { return string(e.Type) == t || strings.HasPrefix(string(e.Type), t+".") }) {
		return false
	}
	if f.agent != "" && e.Actor != f.agent && !addressed(e.Body, f.agent) {
		return false
	}
	return f.pattern == nil || f.pattern.MatchString(line)
}

// addressed reports whether an event that somebody else caused is about an agent.
func addressed(b event.Body, agent string) bool {
	data, err := json.Marshal(b)
	var about struct{ Agent, To string }
	return err == nil && json.Unmarshal(data, &about) == nil && (about.Agent == agent || about.To == agent)
}

// eventLine is an event as trace prints it.
func eventLine(e event.Event, jsonl bool) string {
	if jsonl {
		return string(e.Line()) + "\n"
	}
	kind := "·"
	if e.Input() {
		kind = ">"
	}
	what := string(e.Type)
	if e.Tool != "" {
		what += " " + e.Tool
	}
	words := new(view.Teller).Tell(e)
	text := words.Text
	if len(words.Notes) > 0 {
		text += " [" + strings.Join(words.Notes, ", ") + "]"
	}
	return fmt.Sprintf("%6d %s %s %-10s %-28s %s %s\n", e.Seq, kind, e.Time.Time().Format("15:04:05.000"), e.Actor, what, e.Hash.String()[:12], text)
}

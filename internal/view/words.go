package view

import (
	"encoding/json"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// coreWords are for what happens in every quest.
var coreWords = dictionary{
	word("", func(t *Teller, e event.Event, b *event.QuestCreated) Words {
		return Words{By: e.Actor, Text: "asks " + t.cut(b.Rules) + ": " + t.text(b.Problem)}
	}),
	word("", func(*Teller, event.Event, *event.QuestStarted) Words { return Words{Text: "started", Weight: News} }),
	word("", func(*Teller, event.Event, *event.QuestResumed) Words { return Words{Text: "resumed", Weight: News} }),
	word("", func(t *Teller, _ event.Event, b *event.QuestPaused) Words {
		return Words{Text: because("paused", t.cut(b.Reason)), Weight: News}
	}),
	word("", func(t *Teller, _ event.Event, b *event.QuestStopped) Words {
		return Words{Text: because("stopped", t.cut(b.Reason)), Weight: News}
	}),
	word(KindFailure, func(t *Teller, _ event.Event, b *event.QuestFailed) Words {
		return Words{Text: because("failed", t.cut(b.Reason)), Weight: News}
	}),
	word(KindAnswer, func(t *Teller, _ event.Event, b *event.QuestFinished) Words {
		return Words{Text: because("finished", t.text(b.Answer)), Weight: News}
	}),
	word("", func(t *Teller, _ event.Event, b *event.QuestForked) Words {
		return Words{Text: fmt.Sprintf("forked from %s after event %d", t.cut(b.From), b.At)}
	}),
	word(KindMessage, func(t *Teller, e event.Event, b *event.UserMessage) Words {
		return Words{By: e.Actor, Text: says(b.To, t.text(b.Text)), Weight: News}
	}),
	word(KindMessage, func(t *Teller, e event.Event, b *event.MessageSent) Words {
		w := Words{By: e.Actor, Text: says(b.To, t.text(b.Text)), Weight: Detail, concerns: b.To}
		if b.Quiet {
			w.Weight = Aside
		}
		return w
	}),
	word(KindTurn, func(t *Teller, e event.Event, b *event.ModelCall) Words {
		return Words{By: e.Actor, Text: fmt.Sprintf("asks %s: turn %d, messages %d to %d", t.cut(b.Model), b.Turn, b.First, b.Last)}
	}),
	word("", answered),
	word(KindTool, func(t *Teller, e event.Event, b *event.ToolCall) Words {
		tool := "a tool that there is not"
		if e.Tool != "" {
			tool = t.cut(e.Tool)
		}
		return Words{By: e.Actor, Text: fmt.Sprintf("uses %s: part %d of answer %d", tool, b.Part, b.Answer)}
	}),
	word("", func(t *Teller, e event.Event, b *event.ToolResult) Words {
		return Words{Text: gave(e, b.Error, t.text(b.Output)), Notes: outcome(b.Error, b.Duration), Weight: Detail}
	}),
	word("", func(t *Teller, e event.Event, b *event.ToolAnswered) Words {
		w := Words{Text: gave(e, b.Error, t.text(b.Output)), Weight: Detail}
		if b.Error {
			w.Notes = []string{"failed"}
		}
		return w
	}),
	word("", func(t *Teller, _ event.Event, b *event.ToolPrepared) Words {
		if b.Error != "" {
			return Words{Text: fmt.Sprintf("call %d is refused: %s", b.Call, t.cut(b.Error))}
		}
		return Words{Text: fmt.Sprintf("call %d is prepared: %d files, %d citations", b.Call, len(b.Files), len(b.Citations))}
	}),
	word(KindBlocked, func(t *Teller, e event.Event, b *event.PolicyBlocked) Words {
		var by []string
		for _, x := range b.By {
			by = append(by, "by "+t.cut(x.Policy)+": "+t.cut(x.Reason))
		}
		return Words{By: e.Actor, Text: "is refused " + t.cut(string(b.Proposal)) + " " + strings.Join(by, "; ")}
	}),
	word("policy failed", func(t *Teller, _ event.Event, b *event.PolicyFailed) Words {
		return Words{Text: "the policy " + t.cut(b.Policy) + " broke down: " + t.cut(b.Reason), Weight: News}
	}),
	word("limit", func(t *Teller, _ event.Event, b *event.BudgetExceeded) Words {
		return Words{Text: fmt.Sprintf("the limit on %s is reached (%s of %s)", t.cut(b.Limit), policy.Amount(b.Limit, b.Used), policy.Amount(b.Limit, b.Max)), Weight: News}
	}),
	word("parked", func(t *Teller, e event.Event, b *event.AgentParked) Words {
		return Words{By: e.Actor, Text: "is parked: " + strings.TrimPrefix(t.cut(b.Reason), e.Actor+" "), Weight: News}
	}),
	word("", func(t *Teller, _ event.Event, b *event.TimerSet) Words {
		return Words{Text: "a timer is set to " + b.At.String() + ": " + t.cut(b.Purpose)}
	}),
	word("", func(_ *Teller, _ event.Event, b *event.TimerFired) Words {
		return Words{Text: fmt.Sprintf("the timer of event %d has fired", b.Call)}
	}),
}

// computerWords are for what happens in agents' computers.
var computerWords = dictionary{
	word("", func(t *Teller, e event.Event, b *event.ComputerStarted) Words {
		return Words{By: e.Actor, Text: "has a computer: " + t.cut(b.Driver) + ", " + t.cut(b.Kernel) + ", " + network(t, b.Network), Weight: News}
	}),
	word("", func(t *Teller, e event.Event, b *event.CliRun) Words {
		args := b.Args
		args.Text = commandLine(args.Text)
		return Words{By: e.Actor, Text: "starts " + t.cut(b.Command) + ": " + t.text(args)}
	}),
	word("", func(t *Teller, _ event.Event, b *event.CliStdout) Words {
		return Words{Text: t.cut(b.Command) + " prints: " + t.text(b.Text)}
	}),
	word("", func(t *Teller, _ event.Event, b *event.CliStderr) Words {
		return Words{Text: t.cut(b.Command) + " complains: " + t.text(b.Text)}
	}),
	word("", func(t *Teller, e event.Event, b *event.CliExit) Words {
		text := fmt.Sprintf("command %s: exit %d", t.cut(b.Command), b.Exit)
		for _, more := range []string{b.Signal, b.End, b.Met} {
			if more != "" {
				text += ", " + t.cut(more)
			}
		}
		return Words{By: e.Actor + "'s", Text: text, Notes: append(outcome(b.Exit != 0, b.Duration), fmt.Sprintf("%d+%d bytes", b.Stdout.Size, b.Stderr.Size)), Weight: Detail}
	}),
	word(KindChange, func(t *Teller, e event.Event, b *event.FileDiff) Words {
		return Words{By: e.Actor + "'s", Text: "files: " + changes(t, b), Weight: Detail}
	}),
	word("connection", func(t *Teller, e event.Event, b *event.NetConnection) Words {
		w := Words{By: e.Actor, Text: fmt.Sprintf("connects to %s:%d (%d bytes out, %d in)", t.cut(b.Host), b.Port, b.Sent, b.Received), Notes: outcome(false, b.Duration), Weight: News}
		if b.Refused != "" {
			w.Text = fmt.Sprintf("may not connect to %s:%d: %s", t.cut(b.Host), b.Port, t.cut(b.Refused))
		}
		return w
	}),
}

func says(to, text string) string {
	if to != "" {
		to = " to " + to
	}
	return "says" + to + ": " + text
}

// answered is what a model said and what it called for. What it thought is left out.
func answered(t *Teller, e event.Event, b *event.ModelResult) Words {
	if b.Error != nil {
		return Words{By: e.Actor, Text: "got no answer, " + t.cut(b.Error.Kind) + ": " + t.cut(b.Error.Text), Notes: outcome(true, b.Duration), Weight: News}
	}
	var parts []string
	for _, p := range b.Parts {
		switch {
		case p.Kind == event.PartText && p.Text != nil:
			parts = append(parts, "says: "+t.text(*p.Text))
		case p.Kind == event.PartToolCall && p.Args != nil:
			parts = append(parts, "calls "+t.cut(p.Name)+" "+t.text(*p.Args))
		case p.Kind == event.PartToolCall:
			parts = append(parts, "calls "+t.cut(p.Name))
		}
	}
	if parts == nil {
		parts = []string{"says nothing"}
	}
	return Words{
		By: e.Actor, Text: strings.Join(parts, " · "), Weight: Detail,
		Notes: []string{fmt.Sprintf("%d+%d tokens", b.Usage.Input, b.Usage.Output), millis(b.Duration)},
	}
}

// gave is what came of a tool.
func gave(e event.Event, failed bool, text string) string {
	tool := e.Tool
	if tool == "" {
		tool = "the call"
	}
	if failed {
		return tool + " failed: " + strings.TrimPrefix(text, "error: ")
	}
	return tool + " gave: " + text
}

func network(t *Teller, n event.ComputerNetwork) string {
	switch {
	case n.Open:
		return "open network"
	case len(n.Allow) > 0:
		return "network: " + t.cut(strings.Join(n.Allow, ", "))
	}
	return "no network"
}

// commandLine is what was run, without the shell around it.
func commandLine(args string) string {
	var list []string
	if json.Unmarshal([]byte(args), &list) != nil {
		return args
	}
	if len(list) == 3 && list[0] == "sh" && list[1] == "-c" {
		return list[2]
	}
	return strings.Join(list, " ")
}

// changes names the first files that changed.
func changes(t *Teller, b *event.FileDiff) string {
	sign := map[string]string{event.Added: "+", event.Changed: "~", event.Removed: "-"}
	var names []string
	for _, c := range b.Changes[:min(len(b.Changes), 3)] {
		names = append(names, sign[c.Kind]+t.cut(c.Path))
	}
	if more := int64(len(b.Changes)-len(names)) + b.More; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	out := strings.Join(names, " ")
	if b.Cause == event.CauseOutside {
		out = "from outside: " + out
	}
	return out
}

// Arguments is what a person wants to see of a tool's arguments: the command, the query,
// the path, or else the beginning of them.
func Arguments(args string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(args), &fields) != nil {
		return line(args)
	}
	for _, name := range []string{"command", "cmd", "query", "expression", "path", "title", "ref", "text"} {
		switch v := fields[name].(type) {
		case string:
			return line(v)
		case []any:
			var words []string
			for _, w := range v {
				if word, ok := w.(string); ok {
					words = append(words, word)
				}
			}
			return line(strings.Join(words, " "))
		}
	}
	return line(args)
}

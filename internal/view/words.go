package view

import (
	"encoding/json"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
)

// coreWords are for what happens in every quest.
var coreWords = dictionary{
	word("", func(t *Teller, e event.Event, b *event.QuestCreated) Words {
		return Words{By: e.Actor, Text: "asks " + t.cut(b.Rules) + ": " + t.text(b.Problem)}
	}),
	word("", func(*Teller, event.Event, *event.QuestStarted) Words { return Words{Text: "started", Weight: News} }),
	word("", func(*Teller, event.Event, *event.QuestResumed) Words { return Words{Text: "resumed", Weight: News} }),
	always(Rested, word("", func(t *Teller, _ event.Event, b *event.QuestPaused) Words {
		return Words{Text: because("paused", t.cut(b.Reason)), Weight: News}
	})),
	always(Rested, word("", func(t *Teller, _ event.Event, b *event.QuestRested) Words {
		return Words{Text: because("paused ("+t.cut(b.Kind)+")", t.cut(b.Reason)), Weight: News}
	})),
	word("", func(t *Teller, e event.Event, b *event.BlobRedacted) Words {
		return Words{By: e.Actor, Text: because("has redacted "+Several(int64(len(b.Blobs)), "blob"), t.cut(b.Why)), Weight: News}
	}),
	always(Limited, word("limit", func(_ *Teller, e event.Event, b *event.BudgetRaised) Words {
		return Words{By: e.Actor, Text: "sets other limits: " + limitWords(b.Limits), Weight: News}
	})),
	word("mode", func(t *Teller, e event.Event, b *event.ModeSet) Words {
		return Words{By: e.Actor, Text: "sets the mode " + t.cut(b.Mode), Weight: News}
	}),
	always(Failed, word("outage", func(t *Teller, _ event.Event, b *event.ProviderLost) Words {
		return Words{Text: fmt.Sprintf("%s is away, and those who asked it wait, for up to %s: %s", t.cut(b.Provider), quest.Duration(b.Patience), t.cut(b.Reason)), Weight: News}
	})),
	always(Failed, word("outage", func(t *Teller, _ event.Event, b *event.EmbedderFailed) Words {
		return Words{Text: fmt.Sprintf("there are no vectors of %s for %s, which goes on by words alone: %s", t.cut(b.Embedder), t.cut(b.For), t.cut(b.Text)), Weight: News}
	})),
	always(Moved, word("outage", func(t *Teller, _ event.Event, b *event.ProviderBack) Words {
		return Words{Text: t.cut(b.Provider) + " is back", Weight: News}
	})),
	always(Rested, word("", func(t *Teller, _ event.Event, b *event.QuestStopped) Words {
		return Words{Text: because("stopped", t.cut(b.Reason)), Weight: News}
	})),
	always(Failed, word(KindFailure, func(t *Teller, _ event.Event, b *event.QuestFailed) Words {
		return Words{Text: because("failed", t.cut(b.Reason)), Weight: News}
	})).onLanes("failed"),
	always(Answered, word(KindAnswer, func(t *Teller, _ event.Event, b *event.QuestFinished) Words {
		return Words{Text: because("finished", t.prose(b.Answer)), Weight: News}
	})).onLanes("answer"),
	word("", func(t *Teller, _ event.Event, b *event.QuestForked) Words {
		return Words{Text: fmt.Sprintf("forked from %s after event %d", t.cut(b.From), b.At)}
	}),
	word(KindMessage, func(t *Teller, e event.Event, b *event.UserMessage) Words {
		if b.Document != nil {
			return Words{By: e.Actor, Text: "writes " + t.cut(b.Document.Name) + ": " + t.text(b.Text), Weight: News}
		}
		return Words{By: e.Actor, Text: says(b.To, t.with(b.Text, b.Attachments)), Weight: News}
	}).onLanes("message"),
	word(KindMessage, func(t *Teller, e event.Event, b *event.MessageSent) Words {
		w := Words{By: e.Actor, Text: says(b.To, t.text(b.Text)), Weight: Detail, concerns: b.To}
		if b.Quiet {
			w.Weight = Aside
		}
		return w
	}),
	word("", func(t *Teller, e event.Event, b *event.StandingShown) Words {
		return Words{By: e.Actor, Text: "is told where it stands: " + t.text(b.Text), Weight: Aside}
	}),
	word("", func(t *Teller, e event.Event, b *event.GuidanceShown) Words {
		switch {
		case b.LeftOut:
			return Words{By: e.Actor, Text: "is told that the rules of " + t.cut(b.Rule) + " are left out", Weight: Detail}
		case b.Rule != "":
			return Words{By: e.Actor, Text: "is told the rules of " + t.cut(b.Rule), Weight: Detail}
		}
		return Words{By: e.Actor, Text: "is told which skills fit: " + t.text(b.Text), Weight: Aside}
	}),
	word(KindTurn, func(t *Teller, e event.Event, b *event.ModelCall) Words {
		if b.Compact != nil {
			return Words{By: e.Actor, Text: fmt.Sprintf("asks %s for a summary of messages %d to %d, which leave its window", t.cut(b.Model), b.First, b.Last)}
		}
		return Words{By: e.Actor, Text: fmt.Sprintf("asks %s: turn %d, messages %d to %d", t.cut(b.Model), b.Turn, b.First, b.Last)}
	}),
	matters(mayFail(word("", answered), func(b *event.ModelResult) bool { return b.Error != nil }), func(b *event.ModelResult) Interest {
		if b.Error != nil {
			return Interest{What: Failed}
		}
		return Interest{}
	}),
	word(KindTool, func(t *Teller, e event.Event, b *event.ToolCall) Words {
		tool := "a tool that there is not"
		if e.Tool != "" {
			tool = t.cut(e.Tool)
		}
		return Words{By: e.Actor, Text: fmt.Sprintf("uses %s: part %d of answer %d", tool, b.Part, b.Answer)}
	}),
	mayFail(word("", func(t *Teller, e event.Event, b *event.ToolResult) Words {
		return Words{Text: gave(e, b.Error, t.with(b.Output, b.Attachments)), Notes: outcome(b.Error, b.Duration), Weight: Detail}
	}), func(b *event.ToolResult) bool { return b.Error }),
	mayFail(word("", func(t *Teller, e event.Event, b *event.ToolAnswered) Words {
		w := Words{Text: gave(e, b.Error, t.with(b.Output, b.Attachments)), Weight: Detail}
		if b.Error {
			w.Notes = []string{"failed"}
		}
		return w
	}), func(b *event.ToolAnswered) bool { return b.Error }),
	word("", func(t *Teller, _ event.Event, b *event.ToolPrepared) Words {
		if b.Error != "" {
			return Words{Text: fmt.Sprintf("call %d is refused: %s", b.Call, t.cut(b.Error))}
		}
		return Words{Text: fmt.Sprintf("call %d is prepared: %s, %s", b.Call, Several(int64(len(b.Files)), "file"), Several(int64(len(b.Citations)), "citation"))}
	}),
	always(Refused, word(KindBlocked, func(t *Teller, e event.Event, b *event.PolicyBlocked) Words {
		var by []string
		for _, x := range b.By {
			by = append(by, "by "+t.cut(x.Policy)+": "+t.cut(x.Reason))
		}
		return Words{By: e.Actor, Text: "is refused " + t.cut(string(b.Proposal)) + " " + strings.Join(by, "; ")}
	})).onLanes("refused"),
	word(KindBlocked, func(t *Teller, e event.Event, b *event.ToolSkipped) Words {
		if b.Reason == event.SkippedPrompt {
			return Words{By: e.Actor, Text: "a call is not run: its prompt is over"}
		}
		return Words{By: e.Actor, Text: "a call is not run: the quest is " + t.cut(b.Reason)}
	}),
	always(Failed, word("policy failed", func(t *Teller, _ event.Event, b *event.PolicyFailed) Words {
		return Words{Text: "the policy " + t.cut(b.Policy) + " broke down: " + t.cut(b.Reason), Weight: News}
	})),
	always(Limited, word("limit", func(t *Teller, _ event.Event, b *event.BudgetExceeded) Words {
		o := policy.Over{Limit: b.Limit, Max: b.Max, Used: b.Used, Next: b.Next}
		return Words{Text: fmt.Sprintf("the limit on %s is reached (%s)", t.cut(b.Limit), t.cut(Reached(&o))), Weight: News}
	})).onLanes("refused"),
	always(Parked, word("parked", func(t *Teller, e event.Event, b *event.AgentParked) Words {
		return Words{By: e.Actor, Text: "is parked: " + strings.TrimPrefix(t.cut(b.Reason), e.Actor+" "), Weight: News}
	})),
	word(KindTool, func(t *Teller, e event.Event, b *event.ToolProposed) Words {
		return Words{By: e.Actor, Text: "wants to use " + t.cut(b.Name) + ": " + t.text(b.Args), Weight: Detail}
	}),
	word(KindTurn, func(t *Teller, e event.Event, b *event.GatewayAsked) Words {
		if b.Server != "" {
			return Words{By: e.Actor, Text: fmt.Sprintf("the server %s, which works on call %d, wants %s asked: %s", t.cut(b.Server), b.For, t.cut(b.Model), t.cut(b.Text)), Weight: Detail}
		}
		return Words{By: e.Actor, Text: fmt.Sprintf("wants to ask %s by the gateway, in the format %s: %d bytes", t.cut(b.Model), t.cut(b.Wire), b.Size), Weight: Detail}
	}),
	word(KindTurn, func(t *Teller, e event.Event, b *event.GatewayCall) Words {
		return Words{By: e.Actor, Text: "asks " + t.cut(b.Model) + " by the gateway"}
	}),
	word("", received),
	word("prepare", func(t *Teller, _ event.Event, b *event.PrepareCall) Words {
		return Words{Text: "the home that agents begin with is prepared: " + t.cut(b.Command), Weight: News}
	}),
	word("prepare", func(t *Teller, _ event.Event, b *event.PrepareResult) Words {
		if b.Failed() {
			return Words{Text: strings.TrimSuffix(fmt.Sprintf("the preparation failed with exit code %d: %s", b.Exit, t.cut(b.Error)), ": "), Notes: []string{"failed"}, Weight: News}
		}
		return Words{Text: "the home that agents begin with is prepared", Weight: News}
	}),
	word("note", func(t *Teller, e event.Event, b *event.RelationSet) Words {
		return Words{By: e.Actor, Text: "notes " + t.cut(b.Kind) + " " + t.cut(b.ID) + ", " + t.cut(b.Status) + ": " + t.cut(b.Description), Weight: Detail}
	}),
	word("note", func(t *Teller, e event.Event, b *event.RelationRemoved) Words {
		return Words{By: e.Actor, Text: "takes the note " + t.cut(b.ID) + " away", Weight: Detail}
	}),
	word("tools", func(t *Teller, e event.Event, b *event.CatalogueCall) Words {
		if b.For == 0 {
			return Words{By: e.Actor, Text: "gets tools that fit its task", Weight: Detail}
		}
		return Words{By: e.Actor, Text: "looks for tools: " + t.text(b.Intent), Weight: Detail}
	}),
	word("tools", func(t *Teller, e event.Event, b *event.ToolsShown) Words {
		if b.Call != 0 {
			return foundTools(t, e, b)
		}
		var names []string
		for _, s := range b.Shown {
			names = append(names, t.cut(s.Name))
		}
		return Words{By: e.Actor, Text: fmt.Sprintf("now has %s: %s", Several(int64(len(names)), "tool"), strings.Join(names, ", ")), Weight: Detail}
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpCall) Words {
		if len(b.Take) > 0 {
			return Words{By: e.Actor, Text: fmt.Sprintf("takes %s of the server %s", Several(int64(len(b.Take)), "changed tool"), t.cut(b.Server)), Weight: Detail}
		}
		return Words{By: e.Actor, Text: "asks the server " + t.cut(b.Server) + " for its tools", Weight: Detail}
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpListed) Words {
		if b.List == nil {
			return Words{By: e.Actor, Text: "has no tools of the server " + t.cut(b.Server) + ": " + t.text(b.Error), Weight: News}
		}
		w := Words{By: e.Actor, Text: fmt.Sprintf("has %s of the server %s (%s)", Several(max(int64(len(b.Pins)), b.Count), "tool"), t.cut(b.Server), t.cut(strings.TrimSpace(b.Name+" "+b.Version))), Weight: Detail}
		for _, l := range b.LeftOut {
			w.Notes = append(w.Notes, t.cut(l.Name)+" is left out: "+t.cut(l.Why))
		}
		if b.Doubt != "" {
			w.Notes = append(w.Notes, "its resources and prompts could not be had: "+t.cut(b.Doubt))
		}
		return w
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpChanged) Words {
		var what []string
		for _, c := range b.Changed {
			what = append(what, t.cut(c.Name)+" is another ("+t.cut(strings.Join(c.What, ", "))+") and closed")
		}
		for _, name := range b.Missing {
			what = append(what, t.cut(name)+" is gone")
		}
		for _, name := range b.Added {
			what = append(what, t.cut(name)+" is new and not offered")
		}
		if len(what) == 0 {
			what = []string{"they are as they were"}
		}
		return Words{By: e.Actor, Text: "the tools of the server " + t.cut(b.Server) + " have changed: " + strings.Join(what, "; "), Weight: News}
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpSlow) Words {
		return Words{By: e.Actor, Text: "does not wait for the server " + t.cut(b.Server) + ", which takes long", Weight: News}
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpUpdated) Words {
		return Words{By: e.Actor, Text: "is told by the server " + t.cut(b.Server) + " that " + t.cut(b.URI) + " has changed", Weight: Detail}
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpLogged) Words {
		return Words{By: e.Actor, Text: "the server " + t.cut(b.Server) + " logs (" + t.cut(b.Level) + "): " + t.cut(b.Text), Weight: Detail}
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpAdded) Words {
		return Words{By: e.Actor, Text: "adds the server " + t.cut(b.Name), Weight: News}
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpRemoved) Words {
		return Words{By: e.Actor, Text: "removes the server " + t.cut(b.Server), Weight: News}
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpAsked) Words {
		return Words{By: e.Actor, Text: "the server " + t.cut(b.Server) + " wants to know something: " + t.cut(b.Message), Weight: News}
	}),
	word("server", func(t *Teller, e event.Event, b *event.McpReplied) Words {
		if b.Accepted {
			return Words{By: e.Actor, Text: "the server " + t.cut(b.Server) + " is told " + t.cut(b.Values), Weight: News}
		}
		return Words{By: e.Actor, Text: "the server " + t.cut(b.Server) + " is told nothing: " + t.cut(b.Why), Weight: News}
	}),
	always(Asked, word(KindQuestion, func(t *Teller, e event.Event, b *event.InteractionOpened) Words {
		w := Words{By: e.Actor, Text: "asks: " + t.text(b.Question), Weight: News}
		if b.Proposal != "" || b.Server != "" { // the question says who wants what
			w.By, w.Text = "", "a person is asked: "+t.text(b.Question)
		}
		if b.Expires != 0 {
			w.Notes = append(w.Notes, "until "+b.Expires.String())
		}
		return w
	})).onLanes("asked"),
	always(Asked, word(KindQuestion, func(t *Teller, e event.Event, b *event.InteractionAnswered) Words {
		return Words{By: e.Actor, Text: fmt.Sprintf("answers question %d: %s", b.Interaction, t.cut(b.Said())), Weight: News}
	})),
	always(Asked, word(KindQuestion, func(_ *Teller, _ event.Event, b *event.InteractionExpired) Words {
		return Words{Text: fmt.Sprintf("nobody has answered question %d in time", b.Interaction), Weight: News}
	})),
	always(Asked, word(KindQuestion, func(_ *Teller, _ event.Event, b *event.InteractionWithdrawn) Words {
		return Words{Text: fmt.Sprintf("question %d is not asked any more", b.Interaction), Weight: News}
	})),
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
		w := Words{By: e.Actor, Text: fmt.Sprintf("connects to %s:%d (%s out, %s in)", t.cut(b.Host), b.Port, Several(int64(b.Sent), "byte"), Number(b.Received)), Notes: outcome(false, b.Duration), Weight: News}
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
	tokens := Number(b.Usage.Input) + "+" + Number(b.Usage.Output) + " tokens"
	if b.Estimated {
		tokens = "at most " + tokens
	}
	if r := b.Recalled; r != nil {
		tokens = fmt.Sprintf("from the cache: %d of %s", r.Seq, t.cut(r.Quest))
	}
	return Words{By: e.Actor, Text: strings.Join(parts, " · "), Weight: Detail, Notes: []string{tokens, millis(b.Duration)}}
}

// received is what came of a request to the gateway. What it says is not in the ledger.
func received(t *Teller, e event.Event, b *event.GatewayResult) Words {
	w := Words{By: e.Actor, Text: fmt.Sprintf("got an answer by the gateway: status %d, %d bytes", b.Status, b.Size), Weight: Detail}
	if b.Error != "" {
		w.Text, w.Weight = "got no whole answer by the gateway: "+t.cut(b.Error), News
	}
	tokens := Number(b.Usage.Input) + "+" + Number(b.Usage.Output) + " tokens"
	if b.Estimated {
		tokens = "at most " + tokens
	}
	w.Notes = []string{tokens, millis(b.Duration)}
	return w
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

// limitWords are limits in words.
func limitWords(l event.Limits) string {
	var out []string
	add := func(of, name string, most *int64) {
		if most != nil {
			out = append(out, strings.TrimSpace(Limit(name, *most)+" "+of))
		}
	}
	add("", "cost", l.Cost)
	add("", "turns", l.Turns)
	add("", "tokens", l.Tokens)
	add("", "duration", l.Duration)
	add("of storage", "storage", l.Storage)
	if a := l.Agent; a != nil {
		add("for each agent", "cost", a.Cost)
		add("for each agent", "turns", a.Turns)
		add("for each agent", "tokens", a.Tokens)
		add("for each agent", "duration", a.Duration)
		add("of storage for each agent", "storage", a.Storage)
	}
	return strings.Join(out, ", ")
}

// foundTools tells of tools that were found for an agent.
func foundTools(t *Teller, e event.Event, b *event.ToolsShown) Words {
	var names []string
	for _, f := range b.Found {
		names = append(names, t.cut(f.Name))
	}
	w := Words{By: e.Actor, Text: fmt.Sprintf("is shown %s; found: %s", Several(int64(len(b.Shown)), "tool"), strings.Join(names, ", ")), Weight: Detail}
	if len(names) == 0 {
		w.Text = fmt.Sprintf("is shown %s; no further tool was found", Several(int64(len(b.Shown)), "tool"))
	}
	for _, s := range b.Skills {
		w.Notes = append(w.Notes, "skill "+t.cut(s.Name))
	}
	for _, r := range b.Rules {
		w.Notes = append(w.Notes, "rules of "+t.cut(r.Path))
	}
	for _, l := range b.LeftOut {
		w.Notes = append(w.Notes, t.cut(l.Name)+" is left out: "+t.cut(l.Why))
	}
	if b.Embedder == "" {
		w.Notes = append(w.Notes, "by words alone")
	}
	return w
}

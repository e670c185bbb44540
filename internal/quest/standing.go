package quest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// What the core itself says to agents, pinned like the words of a society.
const (
	textAgain    = "again"
	textBegin    = "begin" // a society's: what agents hear first, if the problem is in their prompts
	textCompact  = "compact"
	textNotes    = "notes"
	textStanding = "standing"
	textSummary  = "summary"
)

// CoreTexts are what the core says to agents whatever the society is, by name, sorted.
func CoreTexts() []event.NamedText {
	return []event.NamedText{
		{Name: textCompact, Text: `Your context is nearly full, and all messages before this one will be taken away. Write down for yourself what you must know to go on: the goal, what is done and found, with the numbers, names, references and files; what was tried and failed; what you were about to do. Your words will stand in the place of the messages; what was said after them stays. Call no tool: write the summary and nothing else.`},
		{Name: textNotes, Text: `Keep notes in ` + agent.NotesFile + ` of what you found, tried and plan: what you said and saw long ago leaves your context, files stay. {{NOTES}}`},
		{Name: textStanding, Text: "Where you stand, as the rules see it. This is for your information and asks for nothing by itself.\n{{LINES}}"},
		{Name: textSummary, Text: "[What was said before has left your context. This is your own summary of it, in your own words; nobody has checked it.]"},
	}
}

// ExecutorTexts are what the core says besides to agents that are executors, by name, sorted.
func ExecutorTexts() []event.NamedText {
	return []event.NamedText{
		{Name: textAgain, Text: `Your last turn came to no end, or without a word. What you have done so far stands. Look at where you are, and go on.`},
		{Name: TextExecutor, Text: `# Your tools

You work in a computer of your own, with your own tools for files and commands. The tools that these instructions name come from the MCP server lyceum, perhaps with a prefix such as lyceum__ or mcp__lyceum__ before their names. Only calls of these are seen by others. Each turn begins with a message to you and ends with your last words.`},
	}
}

// TextExecutor is the end of the system prompts of agents that are executors.
const TextExecutor = "system-executor"

// TextsOf are what agents of a society are told, by name, sorted: its words, and those of the
// core that a quest needs in which full windows are cut, or compacted.
func TextsOf(soc Society, context string) []event.NamedText {
	all := append(CoreTexts(), soc.Texts()...)
	if context != event.ContextCompact {
		all = slices.DeleteFunc(all, func(t event.NamedText) bool { return t.Name == textCompact || t.Name == textSummary })
	}
	slices.SortFunc(all, func(a, b event.NamedText) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// IsPrompt reports whether the text of that name is a system prompt, which is filled in when
// a quest is made, and pinned with its agents.
func IsPrompt(name string) bool { return strings.HasPrefix(name, "system") }

// firstWords are what an agent hears first: the problem, unless that stands in its prompt.
func (s *State) firstWords(problem event.Text) event.Text {
	if text, ok := s.Texts[textBegin]; ok {
		return event.Text{Text: text}
	}
	return problem
}

// next is what an agent's turn begins with: a summary of what its window has no room for, how it
// is to work, the word where it stands, or the turn itself. Of all but the last, the next follows.
func (s *State) next(a *agent.Agent, e event.Event) event.Body {
	if c := a.Compaction(s.Texts[textCompact], s.Texts[textSummary]); c != nil {
		return s.cached(a, c)
	}
	if g := s.guidance(a); g != nil {
		return g
	}
	if frame := s.Texts[textStanding]; frame != "" && a.StandingDue() {
		return &event.StandingShown{Text: event.Text{Text: Fill(frame, "LINES", s.standing(a, e.Time))}}
	}
	return s.cached(a, a.NextCall())
}

// Fill puts values in the place of {{NAMES}}, once: what a value says stays as it is.
func Fill(text string, namesAndValues ...string) string {
	pairs := slices.Clone(namesAndValues)
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{{" + pairs[i] + "}}"
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// maxStanding is how many bytes of an event the lines may take that tell an agent where it
// stands. They take no more than an eighth of its window either. A line that does not fit is
// left out.
const maxStanding = 10 << 10

// standing is where an agent stands. It follows from the state, and from the time of the
// event that led to its turn.
func (s *State) standing(a *agent.Agent, now event.Time) string {
	who := fmt.Sprintf("You are %s.", a.Name)
	if n := len(s.Agents); n > 1 {
		who = fmt.Sprintf("You are %s, one of %d agents.", a.Name, n)
	}
	lines := []string{who}
	if r, ok := s.rules.Society.(Reminder); ok {
		lines = append(lines, r.Standing(s, a)...)
	}
	lines = append(lines, s.budgetLines(a, now)...)
	lines = append(lines, s.relationLines(a)...)
	lines = append(lines, commandLine(a)...)
	if slices.Contains(a.ToolNames, toolWriteFile) {
		have := "You have none yet."
		if a.Notes > 0 {
			have = fmt.Sprintf("They have %d bytes now: read them if you are not sure of something.", a.Notes)
		}
		lines = append(lines, Fill(s.Texts[textNotes], "NOTES", have))
	}
	lines = append(lines, s.computerLines(a)...)
	room := min(maxStanding, int(a.Limit/2))
	var b strings.Builder
	for _, l := range lines {
		if weight := event.Weight(l) + 10; weight <= room {
			room -= weight
			b.WriteString("\n- " + l)
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// toolWriteFile is the tool that notes are written with: whoever has it has a home.
const toolWriteFile = "write_file"

// budgetLines are what the agent and the quest have used, and what is left.
func (s *State) budgetLines(a *agent.Agent, now event.Time) []string {
	all, own, l, share := s.used(now), usedBy(a), s.Limits, event.Share{}
	if l.Agent != nil {
		share = *l.Agent
	}
	both := func(name string, own int64, ownMost *int64, all int64, most *int64) string {
		if len(s.Agents) == 1 && ownMost == nil {
			return name + ": " + ofLimit(name, all, most) + "."
		}
		return name + ": you " + ofLimit(name, own, ownMost) + "; all agents together " + ofLimit(name, all, most) + "."
	}
	lines := []string{both("Turns", own.Turns, share.Turns, all.Turns, l.Turns), "Time: the work has taken " + ofLimit("Time", all.Duration, l.Duration) + "."}
	if share.Duration != nil {
		lines = append(lines, "Time of your own calls: "+ofLimit("Time", own.Duration, share.Duration)+".")
	}
	if s.Spent.Unpriced == 0 && (all.Cost > 0 || l.Cost != nil || share.Cost != nil) {
		lines = append(lines, both("Money", own.Cost, share.Cost, all.Cost, l.Cost))
	}
	if l.Tokens != nil || share.Tokens != nil {
		lines = append(lines, both("Tokens", own.Tokens, share.Tokens, all.Tokens, l.Tokens))
	}
	return lines
}

// ofLimit says how much of something was used, and what is left of it.
func ofLimit(name string, n int64, most *int64) string {
	in := func(n int64) string {
		switch name {
		case "Money": // hundredths of a cent say enough
			const digit = 100_000
			return policy.Amount("cost", (n+digit-1)/digit*digit)
		case "Time": // so that two runs that take about as long are told the same
			exact := time.Minute
			if most != nil {
				exact = time.Second
			}
			return (time.Duration(n) * time.Microsecond).Truncate(exact).String()
		}
		return fmt.Sprint(n)
	}
	if most == nil {
		return in(n)
	}
	return fmt.Sprintf("%s of %s, %s left", in(n), in(*most), in(max(*most-n, 0)))
}

// commandLine are the commands that go on in the background.
func commandLine(a *agent.Agent) []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(a.Commands)) {
		if c := a.Commands[id]; c.Keep && !c.Ended {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	const most = 10
	more := ""
	if n := len(ids) - most; n > 0 {
		ids, more = ids[:most], fmt.Sprintf(" and %d more", n)
	}
	return []string{"Your commands that run in the background: " + strings.Join(ids, ", ") + more + "."}
}

// computerLines describe the agent's computer. What is in it, its own programs said.
func (s *State) computerLines(a *agent.Agent) []string {
	if s.Computer == nil || a.Computer.IsZero() {
		return nil
	}
	l := s.Computer.Limits
	what := "Your computer"
	if h := a.Has; h != nil && h.System != "" {
		what += ": " + h.System
	}
	lines := []string{fmt.Sprintf("%s; %s CPUs, %s memory for all programs, %s disk; a command may take %s at most, and less where its tool says so; %s.", what,
		amount(l.CPUs, 1000, ""), amount(l.Memory, 1<<30, " GB"), amount(l.Disk, 1<<30, " GB"), time.Duration(l.Wall)*time.Microsecond, s.network(a))}
	if h := a.Has; h != nil {
		if len(h.Programs) > 0 {
			lines = append(lines, "Programs in it: "+strings.Join(h.Programs, ", ")+".")
		}
		if len(h.Packages) > 0 {
			more := ""
			if h.More > 0 {
				more = fmt.Sprintf(", and %d more", h.More)
			}
			lines = append(lines, "Python packages in it: "+strings.Join(h.Packages, ", ")+more+".")
		}
	}
	return lines
}

// network is where programs can connect to.
func (s *State) network(a *agent.Agent) string {
	n := s.Computer.Network
	if a.Network != nil {
		n = *a.Network
	}
	switch {
	case n.Open:
		return "the network is open"
	case len(n.Allow) > 0:
		return "the network reaches these hosts alone, by HTTP and HTTPS: " + short(strings.Join(n.Allow, ", "))
	}
	return "no network"
}

// amount is n in a larger unit, with at most one digit behind the point.
func amount(n, unit int64, name string) string {
	tenths := (n*10 + unit/2) / unit
	if tenths%10 == 0 {
		return fmt.Sprint(tenths/10, name)
	}
	return fmt.Sprintf("%d.%d%s", tenths/10, tenths%10, name)
}

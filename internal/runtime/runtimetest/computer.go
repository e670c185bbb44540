package runtimetest

import (
	"fmt"
	"maps"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// machine are the computers of simulated agents. They outlive the owner: what they were
// told to keep runs on.
type machine struct {
	// plans are the commands of each call that the owner has made since it began.
	plans map[uint64][]*command
	// kept are those that run on by themselves, and the owner knows of.
	kept map[string]*command
	// ends says when a command ends that may be kept, whatever becomes of the owner.
	ends map[string]event.Time
	// named counts commands, so that no id comes twice.
	named int
	// started are the agents whose computers are up.
	started map[string]bool
}

// command is one that runs in an agent's computer.
type command struct {
	agent   string
	call    uint64
	id      string
	keep    bool
	begun   bool
	written int64
}

func newMachine() *machine {
	return &machine{plans: map[uint64][]*command{}, kept: map[string]*command{}, ends: map[string]event.Time{}, started: map[string]bool{}}
}

// crash forgets what only the owner knew.
func (m *machine) crash() {
	clear(m.plans)
	clear(m.kept)
	clear(m.started)
}

// knows reports whether the owner looks after a command.
func (m *machine) knows(id string) bool {
	if m.kept[id] != nil {
		return true
	}
	for _, runs := range m.plans {
		if slices.ContainsFunc(runs, func(r *command) bool { return r.id == id && r.begun }) {
			return true
		}
	}
	return false
}

// plan says which commands a call will run.
func (w *World) plan(seq uint64, c quest.Call) {
	delete(w.machine.plans, seq)
	if !w.Chance(w.rates.Commands) {
		return
	}
	most := 2
	if c.Tool == Unsafe {
		most = 3
	}
	for range w.IntN(most) {
		w.machine.named++
		w.machine.plans[seq] = append(w.machine.plans[seq], &command{agent: c.Agent, call: seq, id: fmt.Sprint("c", w.machine.named), keep: w.Chance(250)})
	}
}

func (w *World) said(r *command, b event.Body) event.Draft {
	return event.Draft{Parent: r.call, Time: w.Now, Actor: r.agent, Body: b}
}

// begin starts the commands of a call whose result has not come yet.
func (w *World) begin(seq uint64) (out []event.Draft) {
	for _, r := range w.machine.plans[seq] {
		if r.begun {
			out = append(out, w.output(r)...)
			continue
		}
		if !w.machine.started[r.agent] {
			w.machine.started[r.agent] = true
			out = append(out, w.said(r, w.started()))
		}
		r.begun = true
		if r.keep {
			w.machine.ends[r.id] = w.Now + event.Time(w.Int64N(3_000_000))
		}
		run := w.said(r, &event.CliRun{Args: event.Text{Text: `["sh"]`}, Call: r.call, Command: r.id, Keep: r.keep})
		out = append(out, run)
		if w.Chance(50) {
			out = append(out, run)
		}
	}
	return out
}

func (w *World) started() *event.ComputerStarted {
	b := &event.ComputerStarted{Arch: "sim", Base: "sim", Driver: "sim", Kernel: fmt.Sprint(w.IntN(3))}
	sum, err := b.Sum()
	if err != nil {
		panic(err)
	}
	b.Fingerprint, b.Holds = sum, &event.ComputerHolds{System: "Simulated", Programs: []string{"sh"}}
	return b
}

// output is a piece of what a command writes.
func (w *World) output(r *command) (out []event.Draft) {
	text := event.Text{Text: "word\n"}
	switch w.IntN(6) {
	case 0:
		out = append(out, w.said(r, &event.CliStdout{Call: r.call, Command: r.id, From: r.written, Text: text}))
	case 1:
		out = append(out, w.said(r, &event.CliStderr{Call: r.call, Command: r.id, Text: text}))
	}
	r.written += int64(len(out)) * text.Size()
	return out
}

func (w *World) exit(r *command, end string) (out []event.Draft) {
	if end == "" && (int64(r.call)+r.written)%31 == 0 { // no draw: what else happens in a seed stays as it is
		end = "memory"
	}
	d := w.said(r, &event.CliExit{Call: r.call, Command: r.id, End: end, Exit: w.Int64N(2), Stdout: event.CommandOutput{Size: r.written}})
	if out = append(out, d); w.Chance(50) {
		out = append(out, d)
	}
	return out
}

// commands is what comes before the result of a call: commands begin and end, unless they
// are kept, and files have changed.
func (w *World) commands(seq uint64, c quest.Call) []event.Draft {
	out := w.begin(seq)
	for _, r := range w.machine.plans[seq] {
		out = append(out, w.output(r)...)
		if r.keep && w.Now < w.machine.ends[r.id] {
			w.machine.kept[r.id] = r
			continue
		}
		out = append(out, w.exit(r, "")...)
	}
	if c.Tool == Unsafe && w.Chance(300*w.rates.Commands/1000) {
		out = append(out, w.diff(c.Agent, seq, event.CauseTool))
	}
	if c.Tool != "" && w.Chance(20*w.rates.Commands/1000) {
		out = append(out, w.said(&command{agent: c.Agent, call: seq}, &event.NetConnection{Host: "example.org", Port: 443, Refused: "not allowed"}))
	}
	return out
}

func (w *World) diff(agent string, call uint64, cause string) event.Draft {
	return w.said(&command{agent: agent, call: call}, &event.FileDiff{
		After: event.TreeRef{Hash: event.HashOf(fmt.Append(nil, w.IntN(3)))}, Before: w.State().Agent(agent).Tree, Call: call, Cause: cause,
		Changes: []event.Change{{Kind: event.Changed, Path: "a/x"}},
	})
}

// background is what commands do that have outlived their calls.
func (w *World) background() (out []event.Draft) {
	for _, id := range slices.Sorted(maps.Keys(w.machine.kept)) {
		r := w.machine.kept[id]
		if w.Now < w.machine.ends[id] {
			if w.Chance(100) {
				out = append(out, w.output(r)...)
			}
			continue
		}
		if w.Chance(200) {
			out = append(out, w.diff(r.agent, 0, event.CauseOutside))
		}
		// It is said again until the next crash: the append may fail, and a second end must
		// be refused.
		out = append(out, w.exit(r, "")...)
	}
	return out
}

// takeUpCommands is what a new owner finds of the commands that ran when the last one
// went: those that were to be kept may have gone on, the others are gone.
func (w *World) takeUpCommands() (out []event.Draft) {
	if w.Chance(50 * w.rates.Commands / 1000) {
		out = append(out, w.diff(w.State().Agents[w.IntN(len(w.State().Agents))].Name, 0, event.CauseOutside))
	}
	for _, p := range w.State().Processes() {
		r := &command{agent: p.Agent, call: p.Call, id: p.Command, keep: p.Keep, begun: true}
		if p.Keep && w.Chance(800) {
			w.machine.kept[r.id] = r
			w.Saw("commands kept")
			continue
		}
		w.Saw("commands abandoned")
		out = append(out, w.exit(r, []string{"abandoned", "lost"}[w.IntN(2)])...)
	}
	return out
}

package runtime

import (
	"fmt"
	"maps"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// simMachine is the computer of a simulated agent. It outlives the owner: what it was
// told to keep runs on.
type simMachine struct {
	// plans are the commands of each call that the owner has made since it began.
	plans map[uint64][]*simRun
	// kept are those that run on by themselves, and the owner knows of.
	kept map[string]*simRun
	// ends says when a command ends that may be kept, whatever becomes of the owner.
	ends map[string]event.Time
	// named counts commands, so that no id comes twice.
	named   int
	started bool
}

// simRun is a command.
type simRun struct {
	call    uint64
	id      string
	keep    bool
	begun   bool
	written int64
}

func newMachine() *simMachine {
	return &simMachine{plans: map[uint64][]*simRun{}, kept: map[string]*simRun{}, ends: map[string]event.Time{}}
}

// crash forgets what only the owner knew.
func (m *simMachine) crash() {
	clear(m.plans)
	clear(m.kept)
	m.started = false
}

// knows reports whether the owner looks after a command.
func (m *simMachine) knows(id string) bool {
	if m.kept[id] != nil {
		return true
	}
	for _, runs := range m.plans {
		if slices.ContainsFunc(runs, func(r *simRun) bool { return r.id == id && r.begun }) {
			return true
		}
	}
	return false
}

// plan says which commands a call will run.
func (w *world) plan(seq uint64, c quest.Call) {
	most := 2
	if c.Tool == "unsafe" {
		most = 3
	}
	w.machine.plans[seq] = nil
	for range w.rng.IntN(most) {
		w.machine.named++
		w.machine.plans[seq] = append(w.machine.plans[seq], &simRun{call: seq, id: fmt.Sprint("c", w.machine.named), keep: w.chance(25)})
	}
}

func (w *world) said(r *simRun, b event.Body) event.Draft {
	return event.Draft{Parent: r.call, Time: w.now, Actor: "agent-0", Body: b}
}

// begin starts the commands of a call whose result has not come yet.
func (w *world) begin(seq uint64) (out []event.Draft) {
	for _, r := range w.machine.plans[seq] {
		if r.begun {
			out = append(out, w.output(r)...)
			continue
		}
		if !w.machine.started {
			w.machine.started = true
			out = append(out, w.said(r, w.started()))
		}
		r.begun = true
		if r.keep {
			w.machine.ends[r.id] = w.now + event.Time(w.rng.Int64N(3_000_000))
		}
		run := w.said(r, &event.CliRun{Args: event.Text{Text: `["sh"]`}, Call: r.call, Command: r.id, Keep: r.keep})
		out = append(out, run)
		if w.chance(5) {
			out = append(out, run)
		}
	}
	return out
}

func (w *world) started() *event.ComputerStarted {
	b := &event.ComputerStarted{Arch: "sim", Base: "sim", Driver: "sim", Kernel: fmt.Sprint(w.rng.IntN(3))}
	sum, err := b.Sum()
	if err != nil {
		panic(err)
	}
	b.Fingerprint = sum
	return b
}

// output is a piece of what a command writes.
func (w *world) output(r *simRun) (out []event.Draft) {
	text := event.Text{Text: "word\n"}
	switch w.rng.IntN(6) {
	case 0:
		out = append(out, w.said(r, &event.CliStdout{Call: r.call, Command: r.id, From: r.written, Text: text}))
	case 1:
		out = append(out, w.said(r, &event.CliStderr{Call: r.call, Command: r.id, Text: text}))
	}
	r.written += int64(len(out)) * text.Size()
	return out
}

func (w *world) exit(r *simRun, end string) (out []event.Draft) {
	d := w.said(r, &event.CliExit{Call: r.call, Command: r.id, End: end, Exit: w.rng.Int64N(2), Stdout: event.CommandOutput{Size: r.written}})
	if out = append(out, d); w.chance(5) {
		out = append(out, d)
	}
	return out
}

// commands is what comes before the result of a call: commands begin and end, unless
// they are kept, and files have changed.
func (w *world) commands(seq uint64, c quest.Call) []event.Draft {
	out := w.begin(seq)
	for _, r := range w.machine.plans[seq] {
		out = append(out, w.output(r)...)
		if r.keep && w.now < w.machine.ends[r.id] {
			w.machine.kept[r.id] = r
			continue
		}
		out = append(out, w.exit(r, "")...)
	}
	if c.Tool == "unsafe" && w.chance(30) {
		out = append(out, w.diff(seq, event.CauseTool))
	}
	if w.chance(2) {
		out = append(out, w.said(&simRun{call: seq}, &event.NetConnection{Host: "example.org", Port: 443, Refused: "not allowed"}))
	}
	return out
}

func (w *world) diff(call uint64, cause string) event.Draft {
	return w.said(&simRun{call: call}, &event.FileDiff{
		After: event.TreeRef{Hash: event.HashOf(fmt.Append(nil, w.rng.IntN(3)))}, Before: w.owner.state.Agents[0].Tree, Call: call, Cause: cause,
		Changes: []event.Change{{Kind: event.Changed, Path: "a/x"}},
	})
}

// background is what commands do that have outlived their calls.
func (w *world) background() (out []event.Draft) {
	for _, id := range slices.Sorted(maps.Keys(w.machine.kept)) {
		r := w.machine.kept[id]
		if w.now < w.machine.ends[id] {
			if w.chance(10) {
				out = append(out, w.output(r)...)
			}
			continue
		}
		if w.chance(20) {
			out = append(out, w.diff(0, event.CauseOutside))
		}
		// It is said again until the next crash: the append may fail, and a second end
		// must be refused.
		out = append(out, w.exit(r, "")...)
	}
	return out
}

// takeUpCommands is what a new owner finds of the commands that ran when the last one
// went: those that were to be kept may have gone on, the others are gone.
func (w *world) takeUpCommands() (out []event.Draft) {
	if w.chance(5) {
		out = append(out, w.diff(0, event.CauseOutside))
	}
	for _, p := range w.owner.state.Processes() {
		r := &simRun{call: p.Call, id: p.Command, keep: p.Keep, begun: true}
		if p.Keep && w.chance(80) {
			w.machine.kept[r.id] = r
			w.report.Kept++
			continue
		}
		w.report.Abandoned++
		out = append(out, w.exit(r, []string{"abandoned", "lost"}[w.rng.IntN(2)])...)
	}
	return out
}

// Package view computes what people look at from what the ledger says: projections
// of events, which can be deleted and made again.
//
// A Run is one quest as a reader sees it: steps in place of events. Compare sets two
// of them side by side. What does not count as a difference is when something
// happened, where it stands in the ledger, and what a run calls its papers and
// commands; so two runs of the same quest that went the same way are the same.
//
// A Teller says what one event means, in a line: the one place where events are put into
// words, for the trace, for who watches, for the API and its page, and for steps. Each
// type has its words in a table, so that a society brings its own in one file; a type
// without words fails a test.
//
// Everything here is a function of its arguments, to the digit, on every machine. Lines
// and the texts of steps are safe to show. Other texts come from agents and are handed
// on as they are: whoever prints them must make them safe for the place they are
// printed to.
package view

import (
	"fmt"
	"iter"

	"lyceum/internal/event"
)

// Blobs reads a blob whole.
type Blobs func(event.Ref) ([]byte, error)

// Run is a quest as a reader sees it.
type Run struct {
	// Name is what the reader calls it; Quest its own last name.
	Name, Quest string
	Rules       string
	Seed        string
	Status      string
	Models      []string
	// Spec is the quest.yaml, Answer the last answer, if there is one.
	Spec     string
	Answer   string
	Answered bool
	Steps    []Step
	Evidence []Anchor
	// Workspaces are the last trees of agents' homes.
	Workspaces map[string]event.Hash
	Cost       Cost
	// Durations are how long things took, in microseconds, by what they were.
	Durations map[string][]int64
	// Hashes are those of all events, in order.
	Hashes []event.Hash
}

// Cost is what a run took.
type Cost struct {
	// Nanodollars are what is known of the price; Unpriced counts calls without one.
	Nanodollars, Unpriced       int64
	Turns, Tools, Input, Output int64
}

// Read makes a run of a quest's events.
func Read(name string, events iter.Seq2[event.Event, error], blobs Blobs) (*Run, error) {
	r := newReader(name, blobs)
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if err := r.take(e); err != nil {
			return nil, fmt.Errorf("read event %d of %s: %w", e.Seq, name, err)
		}
	}
	return r.run, nil
}

// Steps are what a reader would call the steps of a quest.
func Steps(events iter.Seq2[event.Event, error], blobs Blobs) ([]Step, error) {
	run, err := Read("", events, blobs)
	if err != nil {
		return nil, err
	}
	return run.Steps, nil
}

// maxText is up to where a text is read; of a longer one the hash stands for it.
const maxText = 1 << 20

// reader folds events into a run.
type reader struct {
	run   *Run
	blobs Blobs
	names names
	// open are the steps that wait for the result of a call, parts the answers that
	// tool calls point into, papers what is known of papers.
	open   map[uint64]int
	parts  map[uint64][]event.Part
	papers map[string]*cited
	// subjects are what calls for evidence are about, anchors what was found.
	subjects map[uint64]string
	anchors  map[Anchor]bool
}

// cited is what evidence needs to know of a paper.
type cited struct {
	name    string
	content event.Hash
}

func newReader(name string, blobs Blobs) *reader {
	return &reader{
		run:   &Run{Name: name, Workspaces: map[string]event.Hash{}, Durations: map[string][]int64{}},
		blobs: blobs, open: map[uint64]int{}, parts: map[uint64][]event.Part{}, papers: map[string]*cited{},
	}
}

// text returns a text whole; one that is too long, as its hash.
func (r *reader) text(t event.Text) (string, error) {
	if t.Ref == nil {
		return t.Text, nil
	}
	return r.blob(*t.Ref)
}

func (r *reader) blob(ref event.Ref) (string, error) {
	if ref.Size > maxText {
		return fmt.Sprintf("%d bytes: sha256:%s", ref.Size, ref.Hash), nil
	}
	data, err := r.blobs(ref)
	return string(data), err
}

// take folds one event.
func (r *reader) take(e event.Event) error {
	r.run.Hashes = append(r.run.Hashes, e.Hash)
	r.run.Quest = e.Quest
	if err := r.account(e); err != nil {
		return err
	}
	return r.step(e)
}

// account keeps what is not about steps: the spec, the answer, what it took.
func (r *reader) account(e event.Event) (err error) {
	run := r.run
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		run.Rules, run.Seed, run.Status = b.Rules, fmt.Sprint(b.Seed), "created"
		run.Models = []string{}
		for _, a := range b.Agents {
			if a.Model != "" { // one without works by rules alone
				run.Models = add(run.Models, a.Model)
			}
		}
		run.Spec, err = r.blob(b.Spec)
	case *event.QuestForked:
		run.Status = "paused"
		if b.Reseed {
			run.Seed = fmt.Sprint(b.Seed)
		}
		if b.Model != "" {
			run.Models = []string{b.Model}
		}
	case *event.QuestStarted, *event.QuestResumed:
		run.Status = "running"
	case *event.QuestPaused, *event.QuestRested:
		run.Status = "paused"
	case *event.QuestStopped:
		run.Status = "stopped"
	case *event.QuestFailed:
		run.Status = "failed"
	case *event.BudgetExceeded:
		run.Status = "exceeded"
	case *event.QuestFinished:
		run.Status, run.Answered = "finished", true
		run.Answer, err = r.text(b.Answer)
		run.Answer = r.names.plain(run.Answer)
	case *event.ModelCall, *event.PromptCall:
		run.Cost.Turns++
	case *event.PromptResult:
		if b.Stop == event.StopInterrupted {
			run.Cost.Turns-- // it is still to be taken
		}
	case *event.GatewayCall:
		if !b.Count {
			run.Cost.Turns++
		}
	case *event.ToolCall:
		run.Cost.Tools++
	case *event.ModelResult:
		r.spend(b)
	case *event.GatewayResult:
		r.spend(&event.ModelResult{Cost: b.Cost, Usage: b.Usage, Unpriced: b.Unpriced})
	case *event.CliExit:
		r.lasted("command", b.Duration)
	case *event.FileDiff:
		run.Workspaces[e.Actor] = b.After.Hash
	}
	return err
}

func (r *reader) spend(b *event.ModelResult) {
	c := &r.run.Cost
	c.Nanodollars += b.Cost
	c.Input += b.Usage.Input
	c.Output += b.Usage.Output
	if b.Wasted != nil {
		c.Input += b.Wasted.Input
		c.Output += b.Wasted.Output
	}
	if b.Untaken() {
		c.Turns-- // it was not taken
	}
	if b.Unpriced {
		c.Unpriced++
	}
}

func (r *reader) lasted(kind string, micros int64) {
	r.run.Durations[kind] = append(r.run.Durations[kind], micros)
}

func add(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

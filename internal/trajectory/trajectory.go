// Package trajectory writes what models were shown and what they said, in the forms that
// programs read which train models.
//
// A sample is one answer of a model: the messages and tools of its call as they were rendered,
// which must come to the hash that the ledger has, and the answer. Its reward is that of the
// next attempt which its agent proposed and which was judged; there is none where nothing was,
// or where nobody can tell. Samples that answer one rendering, as those of sibling forks do, are
// a group.
//
// Only quests that verify are read. No sample is an answer that was given before, and nothing
// that holds a secret of this machine is written. Whether a quest is for training or held out
// follows from its first event, so that forks stay with their origin, whatever they are called.
package trajectory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"

	"github.com/go-json-experiment/json"
)

// The formats, and the splits.
const (
	SFT        = "sft"
	Preference = "preference"
	Group      = "group"
	Steps      = "steps"

	Train   = "train"
	HeldOut = "held-out"
)

// Formats are all of them, in the order in which people are told.
var Formats = []string{SFT, Preference, Group, Steps}

// Options say what is written.
type Options struct {
	Format string
	// Split is Train or HeldOut; empty is both.
	Split string
}

// Report says what was written, and why some samples were not.
type Report struct {
	Lines int
	// Recalled counts those with answers that were given before, Secret those that hold what is
	// a secret by now, Broken answers that failed, broke off or were refused.
	Recalled, Secret, Broken int
}

// UnverifiedError is a quest that does not verify: nothing is written of any.
type UnverifiedError struct {
	Quest string
	Why   *audit.Difference
}

func (e *UnverifiedError) Error() string {
	return fmt.Sprintf("quest %s does not verify (%v), and only those that do are exported as trajectories: lyceum verify %s tells more", e.Quest, e.Why, e.Quest)
}

// Export writes the samples of some quests as lines of JSON. What an error leaves behind is not
// whole.
func Export(ctx context.Context, rt *runtime.Runtime, quests []string, o Options, w io.Writer) (*Report, error) {
	x := &export{ctx: ctx, rt: rt, o: o, w: w, rep: &Report{}, surveys: map[string]*survey{}, home: map[event.Hash]*sample{}, groups: map[event.Hash][]*sample{}}
	for _, name := range quests {
		r, err := audit.Verify(ctx, rt, name, nil)
		if err != nil {
			return nil, fmt.Errorf("verify quest %s: %w", name, err)
		}
		if r.Difference != nil {
			return nil, &UnverifiedError{name, r.Difference}
		}
		if err := x.survey(name); err != nil {
			return nil, fmt.Errorf("read quest %s: %w", name, err)
		}
	}
	for _, name := range quests {
		x.gather(name)
	}
	for _, name := range quests {
		if err := x.render(name); err != nil {
			return nil, fmt.Errorf("export quest %s: %w", name, err)
		}
	}
	return x.rep, x.together(quests)
}

// export is one under way.
type export struct {
	ctx context.Context
	rt  *runtime.Runtime
	o   Options
	w   io.Writer
	rep *Report

	surveys map[string]*survey
	// home is the sample that tells of an answer: forks have those of their origin too, and once
	// is enough. That of its own quest comes first, if it is among them.
	home map[event.Hash]*sample
	// groups are the samples by what was rendered, in the order in which they were found.
	groups map[event.Hash][]*sample
}

// survey reads a quest's ledger once and notes its samples.
func (x *export) survey(name string) error {
	v := newSurvey()
	for e, err := range x.rt.Ledger.Read(x.ctx, name, 1) {
		if err != nil {
			return err
		}
		v.add(e)
	}
	v.end()
	x.surveys[name] = v
	if x.o.Split != "" && v.split != x.o.Split {
		v.samples = nil
	}
	for _, s := range v.samples {
		if x.home[s.hash] == nil || s.quest == v.name {
			x.home[s.hash] = s
		}
	}
	return nil
}

// gather leaves a quest the samples that are its own to tell and of use, and finds who shares a
// rendering with whom.
func (x *export) gather(name string) {
	v := x.surveys[name]
	v.samples = slices.DeleteFunc(v.samples, func(s *sample) bool {
		if x.home[s.hash] != s {
			return true
		}
		switch s.use() {
		case given:
			x.rep.Recalled++
			return true
		case broken:
			x.rep.Broken++
			return true
		}
		x.groups[s.call.Rendering] = append(x.groups[s.call.Rendering], s)
		return false
	})
	if x.o.Format == SFT {
		v.samples = slices.DeleteFunc(v.samples, func(s *sample) bool {
			if s.last && s.recalled {
				x.rep.Recalled++
			}
			return !s.last || s.recalled
		})
	}
}

// wanted reports whether a sample has a part in what is written.
func (x *export) wanted(s *sample) bool {
	return s != nil && (x.o.Format == SFT || x.o.Format == Steps || len(x.groups[s.call.Rendering]) > 1)
}

// render folds a quest again, and takes what models were shown at the time.
func (x *export) render(name string) error {
	calls := map[uint64]*sample{}
	for _, s := range x.surveys[name].samples {
		calls[s.result.Call] = s
	}
	var st *quest.State
	shown := map[string]*agent.Rendering{}
	for e, err := range x.rt.Ledger.Read(x.ctx, name, 1) {
		if err != nil {
			return err
		}
		if st == nil {
			if st, err = quest.New(e, x.rt.Societies); err != nil {
				return err
			}
		}
		if err := st.Fold(e); err != nil {
			return err
		}
		s := calls[e.Seq]
		if !x.wanted(s) {
			continue
		}
		if shown[e.Actor] == nil {
			shown[e.Actor] = new(agent.Rendering)
		}
		if err := x.take(s, st.Agent(e.Actor), shown[e.Actor]); err != nil {
			return fmt.Errorf("model.call %d: %w", e.Seq, err)
		}
		if x.o.Format == SFT || x.o.Format == Steps {
			if err := x.alone(s); err != nil {
				return err
			}
			s.completion = nil
		}
		if x.groups[s.call.Rendering][0] != s || s.completion == nil {
			s.prompt, s.tools = nil, nil // they are long, and the others of a group have the same
		}
	}
	return nil
}

// take gives a sample what was rendered, if that comes to the hash that its call has, and the
// answer.
func (x *export) take(s *sample, a *agent.Agent, r *agent.Rendering) error {
	read := func(ref event.Ref) ([]byte, error) { return x.rt.Blob(x.ctx, ref) }
	if a == nil || a.System.Hash != s.call.System || a.Tools.Hash != s.call.Tools || !a.Transcript.Shows(s.call) {
		return errors.New("what the model was shown is not what the ledger says")
	}
	system, err := read(a.System)
	if err != nil {
		return err
	}
	tools, err := read(a.Tools)
	if err != nil {
		return err
	}
	messages, err := r.Messages(&a.Transcript, s.call, read)
	if err != nil {
		return err
	}
	var answer model.Message
	if answer, err = answered(s.result, read); err != nil {
		return err
	}
	c := chat{clean: func(text string) bool { return x.rt.Redact(text) == text }}
	s.prompt = c.conversation(string(system), messages)
	s.completion = c.message(answer)
	if s.tools, err = c.list(tools); err != nil {
		return err
	}
	s.secret = c.secret
	return nil
}

// write writes a line.
func (x *export) write(line any) error {
	data, err := json.Marshal(line, json.Deterministic(true))
	if err != nil {
		return err
	}
	x.rep.Lines++
	_, err = x.w.Write(append(data, '\n'))
	return err
}

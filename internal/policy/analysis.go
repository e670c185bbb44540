package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
)

// analysisFirst holds execution back until an analysis of the same artifact has
// passed. A change of the agent's files, and a later analysis that fails, take the
// pass back. A failed analysis never gives one.
type analysisFirst struct {
	Analysis  []string `json:"analysis" yaml:"analysis"`
	Execution []string `json:"execution" yaml:"execution"`
	// Artifact is the argument that names what is analysed and executed.
	Artifact string `json:"artifact" yaml:"artifact"`
	// Passed is a member that the analysis must put out as true, if its output is
	// to be asked as well. Without it, an analysis passes that is no error.
	Passed string `json:"passed,omitzero" yaml:"passed"`
}

func (s *analysisFirst) check() error {
	switch {
	case len(s.Analysis) == 0:
		return errors.New("analysis: name the tools that analyse")
	case len(s.Execution) == 0:
		return errors.New("execution: name the tools that execute")
	case s.Artifact == "":
		return errors.New("artifact: name the argument that says what is analysed")
	}
	for _, t := range s.Analysis {
		if slices.Contains(s.Execution, t) {
			return fmt.Errorf("%s cannot be both the analysis and the execution", t)
		}
	}
	return nil
}

func (s *analysisFirst) thread() (behavior.Thread, error) {
	return behavior.Thread{
		Text:  fmt.Sprintf("%s only what has passed %s since it was last changed.", list(s.Execution), list(s.Analysis)),
		Scope: behavior.Of("tool.call"),
		Start: func() behavior.Behavior {
			p := &passes{set: s}
			p.bids = behavior.Bids{
				Wait: behavior.Of("tool.call", "tool.result", "tool.answered", "file.diff", "quest.forked"),
				Block: []behavior.Ban{{
					Match: when{"tool.call of " + list(s.Execution) + " without a passed analysis", func(e behavior.Event) bool {
						f := facts(e)
						return e.Type == "tool.call" && slices.Contains(s.Execution, f.Tool) && !p.passed(f)
					}},
					Why: func(e behavior.Event) string {
						what := s.artifact(facts(e))
						if what == "" {
							return fmt.Sprintf("%s needs the argument %s, and an analysis of it by %s that passed.", facts(e).Tool, s.Artifact, list(s.Analysis))
						}
						if r := []rune(what); len(r) > 100 {
							what = string(r[:100]) + "…"
						}
						return fmt.Sprintf("%s has not passed an analysis since it was last changed. Analyse it with %s first.", what, list(s.Analysis))
					},
				}},
			}
			return p
		},
	}, nil
}

// artifact is what a call is about, in one form; empty if it does not say.
func (s *analysisFirst) artifact(f *Facts) string {
	v := f.Args.field([]string{s.Artifact})
	switch {
	case v.Kind != behavior.Text:
		return ""
	case slices.Contains(pathArguments, s.Artifact), slices.Contains(f.Paths, s.Artifact):
		if path := pathOf(v.Text); path != "." {
			return path
		}
		return "" // the workspace is nothing in particular
	case len(v.Text) > maxArtifact:
		// Longer than any that stands for itself: what a text has passed as is not
		// to be had by analysing another.
		return strings.ToValidUTF8(v.Text[:maxArtifact], "") + "… (" + event.HashOf([]byte(v.Text)).String() + ")"
	}
	return v.Text
}

// maxArtifact is how many bytes of an artifact that is no path stand for itself.
const maxArtifact = 200

// passes are the artifacts of each agent that have passed.
type passes struct {
	tally[record]
	set  *analysisFirst
	bids behavior.Bids
}

type record struct {
	Passed []string `json:"passed,omitempty"`
	// Open are analyses under way.
	Open []analysis `json:"open,omitempty"`
}

// analysis is one under way. It is stale if files have changed meanwhile: nobody can
// tell which of them it saw.
type analysis struct {
	Call  uint64 `json:"call"`
	What  string `json:"what"`
	Stale bool   `json:"stale,omitzero"`
}

func (p *passes) Bids() behavior.Bids { return p.bids }

func (p *passes) passed(f *Facts) bool {
	r, what := p.known(f.Agent), p.set.artifact(f)
	return r != nil && what != "" && slices.Contains(r.Passed, what)
}

func (p *passes) Next(e behavior.Event) bool {
	f := facts(e)
	analyses := slices.Contains(p.set.Analysis, f.Tool)
	switch {
	case e.Type == "quest.forked": // what was under way is the origin's
		for _, name := range p.names() {
			p.of(name).Open = nil
		}
	case e.Type == "tool.call":
		if what := p.set.artifact(f); analyses && what != "" {
			r := p.of(f.Agent)
			r.Open = append(r.Open, analysis{Call: f.Call, What: what})
		}
	case e.Type == "file.diff":
		p.changed(f)
	case analyses && f.Refused == "":
		p.ended(f)
	}
	return true
}

func (p *passes) ended(f *Facts) {
	r := p.of(f.Agent)
	i := slices.IndexFunc(r.Open, func(a analysis) bool { return a.Call == f.Call })
	if i < 0 {
		return
	}
	a := r.Open[i]
	r.Open = slices.Delete(r.Open, i, i+1)
	r.Passed = slices.DeleteFunc(r.Passed, func(what string) bool { return what == a.What })
	if p.good(f) && !a.Stale {
		r.Passed = append(r.Passed, a.What)
		slices.Sort(r.Passed)
	}
}

// good reports whether an analysis passed.
func (p *passes) good(f *Facts) bool {
	if !f.Ended || f.Error {
		return false
	}
	if p.set.Passed == "" {
		return true
	}
	v := f.Field([]string{"output", p.set.Passed})
	return v.Kind == behavior.Bool && v.Text == "true"
}

// changed takes back all passes of an agent whose files are others than before.
// Which of them changed does not matter: what an artifact links to, or loads, is
// not known by its name.
func (p *passes) changed(f *Facts) {
	r := p.known(f.Agent)
	if r == nil {
		return
	}
	r.Passed = nil
	for i := range r.Open {
		// An analysis that writes does not spoil itself.
		r.Open[i].Stale = r.Open[i].Stale || r.Open[i].Call != f.Call
	}
}

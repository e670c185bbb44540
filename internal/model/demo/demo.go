// Package demo is a researcher made of fixed rules. It is not a language model,
// and says so in its first words and in every answer. It shows, offline and
// without a key, what a quest is: it uses its tools for real, and each number it
// answers with is one that a tool returned.
//
// It knows a few kinds of questions, the skills. For each it has three programs
// that reach the result in different ways. Two are run; if they disagree, the
// third decides which of them is wrong, the mistake is looked for, and the
// repaired program is run again. Some researchers make such a mistake on purpose,
// which the seed and the agent's name choose. A question that no skill knows is
// answered with what was looked at, never with a guess.
//
// Nothing is remembered. For each request the whole investigation is gone through
// from its beginning, with the results of tools looked up in the messages, until
// a step has no result yet: that step is the answer. So a quest that was killed
// goes on where it stood. A result that was cut out of the window is simply asked
// for again, as is every tool call of another model that a fork brought along.
//
// # In a lab
//
// The tools that are offered say what an agent may do. Where submit_publication is
// among them, it is an author, a reviewer and a voter. It knows fewer questions there,
// the experiments, but works on them with programs for the shell that any colleague can
// run. Each agent begins in another way, which its name and the seed choose; some of
// the ways are mistakes that are easily made, and are published without a check.
// Reviewers run the paper's program and one of their own, and write down both numbers.
//
// # In a study
//
// Where move_anchor is among the tools, it is a researcher that goes from stage to stage. It
// knows one question there, how a series is forecast, and tries one idea that loses and one
// that wins, and writes a paper about it. demo:2 writes a figure down wrongly, which is found out
// when it is run again. Who has submit_review and no stages reads the paper, and says what it does
// not say.
//
// # In a world
//
// Where propose is among the tools, it makes something. It knows two things, a page that counts and a
// program that sorts numbers, and makes each wrong before it makes it right, so that it can be
// seen how that is found out. Who has give_marks gives the same mark for everything, and says that
// this is no judgement.
package demo

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// Label is how the researcher introduces itself.
const Label = "I am the demo researcher: a program with fixed rules, NOT a language model."

// Demo is a researcher. It never changes, and any number of agents may use it.
type Demo struct{ seed uint64 }

var _ model.Model = (*Demo)(nil)

// New returns the researcher of that seed.
func New(seed uint64) model.Model { return &Demo{seed} }

// Open returns the researcher that a quest calls demo or demo:<seed>.
func Open(name string) (model.Model, error) {
	if name == "demo" {
		return New(0), nil
	}
	text, ok := strings.CutPrefix(name, "demo:")
	seed, err := strconv.ParseUint(text, 10, 64)
	if !ok || err != nil {
		return nil, fmt.Errorf("%.60q is not demo or demo:<seed>, where the seed is a whole number such as demo:7", name)
	}
	return New(seed), nil
}

// Generate takes the next step of the investigation that r is about.
func (m *Demo) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	d := newDesk(r, characterOf(m.seed, r.Agent))
	next := d.next
	switch {
	case d.offered[toolSubmit]:
		next = newLab(r, d, m.seed).next
	case d.offered[toolMove]:
		next = newCourse(r, d, m.seed).next
	case d.offered[toolPropose]:
		next = newMaker(r, d).next
	case d.offered[toolMarks]:
		next = (&judge{d, everything(r)}).next
	case d.offered[toolReview]:
		next = (&referee{d, everything(r)}).next
	}
	say, calls := next()
	a := answer(r, say, calls)
	if err := stream(ctx, a.Parts, emit); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return a, nil
}

func answer(r *model.Request, say string, calls []call) *model.Answer {
	a := &model.Answer{Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: say}}}
	for i, c := range calls {
		a.Stop = model.StopTools
		a.Parts = append(a.Parts, model.Part{Kind: event.PartToolCall, ID: fmt.Sprintf("call_%d_%d", r.Turn, i), Name: c.tool, Args: c.args})
	}
	if limit := r.MaxTokens * bytesPerToken; limit > 0 && size(a.Parts) > int(limit) {
		// A call that is cut is no call.
		text := say[:min(len(say), int(limit))]
		a.Parts, a.Stop = []model.Part{{Kind: event.PartText, Text: strings.ToValidUTF8(text, "")}}, model.StopLength
	}
	a.Usage = event.Usage{Input: tokens(requestSize(r)), Output: tokens(size(a.Parts))}
	return a
}

// stream hands out the words, one by one.
func stream(ctx context.Context, parts []model.Part, emit func(model.Delta)) error {
	for _, p := range parts {
		if emit == nil || p.Kind != event.PartText {
			continue
		}
		for word := range strings.SplitAfterSeq(p.Text, " ") {
			if err := ctx.Err(); err != nil {
				return err
			}
			if word != "" {
				emit(model.Delta{Kind: p.Kind, Text: word})
			}
		}
	}
	return nil
}

// bytesPerToken is a rule of thumb: what is read and written is counted, so that
// limits on tokens can be seen at work. It costs nothing.
const bytesPerToken = 4

func tokens(bytes int) int64 { return int64(bytes+bytesPerToken-1) / bytesPerToken }

func size(parts []model.Part) int {
	n := 0
	for _, p := range parts {
		n += len(p.Text) + len(p.Name) + len(p.Args)
	}
	return n
}

func requestSize(r *model.Request) int {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		n += size(m.Parts)
	}
	return n
}

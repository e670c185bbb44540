package modeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Exercise runs the conformance suite. The package of the driver should have
// goleak in its TestMain: what a cancelled call leaves behind is found there.
func Exercise(t *testing.T, d Driver) {
	t.Run("Cancel", func(t *testing.T) { testCancel(t, d) }) // measures time, so it is alone
	for name, f := range map[string]func(*testing.T, Driver){
		"Answer":   testAnswer,
		"Usage":    testUsage,
		"Request":  testRequest,
		"Thinking": testThinking,
		"Failure":  testFailure,
		"Cut":      testCut,
		"Garbage":  testGarbage,
		"Key":      testKey,
		"Cache":    testCache,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, d)
		})
	}
}

// run makes a subtest of a sentence.
func run(t *testing.T, name string, f func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		f(t)
	})
}

// request is what an agent asks, with the messages that matter.
func (d Driver) request(messages ...model.Message) *model.Request {
	return &model.Request{Quest: "q", Agent: "agent-0", Model: d.Model, Turn: 1, Messages: messages}
}

func user(parts ...model.Part) model.Message { return model.Message{Role: model.User, Parts: parts} }

func assistant(parts ...model.Part) model.Message {
	return model.Message{Role: model.Assistant, Parts: parts}
}

func text(s string) model.Part { return model.Part{Kind: event.PartText, Text: s} }

func thought(s, opaque string) model.Part {
	return model.Part{Kind: event.PartThinking, Text: s, Opaque: opaque}
}

func call(id, name, args string) model.Part {
	return model.Part{Kind: event.PartToolCall, ID: id, Name: name, Args: args}
}

func result(id, name, s string) model.Part {
	return model.Part{Kind: model.PartToolResult, ID: id, Name: name, Text: s}
}

var hello = user(text("hello"))

// ask opens the driver and asks it once.
func (d Driver) ask(t *testing.T, s *server, r *model.Request) (*model.Answer, error) {
	t.Helper()
	return d.generate(t, t.Context(), d.Open(s.URL, canary), r)
}

// must asks and wants an answer.
func (d Driver) must(t *testing.T, s *server, r *model.Request) *model.Answer {
	t.Helper()
	a, err := d.ask(t, s, r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// generate asks, and holds what comes back to all that must hold for each call: the
// request is as it was, the deltas add up to the answer, no error shows the key.
func (d Driver) generate(t *testing.T, ctx context.Context, m model.Model, r *model.Request) (*model.Answer, error) {
	t.Helper()
	before := clone(r)
	streamed := map[string]string{}
	a, err := m.Generate(ctx, r, func(x model.Delta) { streamed[x.Kind] += x.Text })
	if !reflect.DeepEqual(before, r) {
		t.Errorf("the request was changed:\n%.4000s", cmp.Diff(before, r))
	}
	if err != nil {
		if a != nil {
			t.Errorf("there is an answer besides the error %v", err)
		}
		noKey(t, err)
		return nil, err
	}
	whole := map[string]string{}
	for _, p := range a.Parts {
		switch p.Kind {
		case event.PartText, event.PartThinking:
			whole[p.Kind] += p.Text
		case event.PartToolCall:
			if !jsontext.Value(p.Args).IsValid() {
				t.Errorf("the arguments of %s are not JSON: %q", p.Name, p.Args)
			}
		}
	}
	nothing := cmpopts.IgnoreMapEntries(func(_, v string) bool { return v == "" })
	if diff := cmp.Diff(whole, streamed, nothing); diff != "" {
		t.Errorf("what was streamed does not add up to the answer:\n%s", diff)
	}
	return a, nil
}

// clone copies a request to the last byte.
func clone(r *model.Request) *model.Request {
	out := *r
	out.Tools = slices.Clone(r.Tools)
	out.Messages = slices.Clone(r.Messages)
	for i, m := range out.Messages {
		out.Messages[i].Parts = slices.Clone(m.Parts)
		for j, p := range m.Parts {
			out.Messages[i].Parts[j].Data = bytes.Clone(p.Data)
		}
	}
	return &out
}

// noKey wants that an error does not show the key, in whatever form, nor a piece of
// it.
func noKey(t *testing.T, err error) {
	t.Helper()
	const plain = "Zq7Xw2Vt9Lm4" // no escape changes these
	for i := range len(plain) - 7 {
		if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), plain[i:i+8]) {
			t.Errorf("the error shows the key: %v", err)
			return
		}
	}
}

// wantKind wants an error of a kind, and returns it.
func wantKind(t *testing.T, err error, kinds ...model.Kind) *model.Error {
	t.Helper()
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		t.Errorf("error is %v, want a *model.Error of kind %v", err, kinds)
		return &model.Error{}
	}
	if !slices.Contains(kinds, e.Kind) {
		t.Errorf("error is %v, want kind %v", err, kinds)
	}
	if e.Text == "" {
		t.Error("the error says nothing")
	}
	return e
}

// spoken is parts as every format can say them: texts that follow one another are
// one, ids are numbered, signatures and thoughts are left out.
func spoken(parts []model.Part, ids map[string]string) []model.Part {
	var out []model.Part
	for _, p := range parts {
		p.Opaque = ""
		if p.Kind == event.PartThinking || p.Kind == event.PartText && p.Text == "" {
			continue
		}
		if p.ID != "" {
			if _, ok := ids[p.ID]; !ok {
				ids[p.ID] = fmt.Sprintf("id %d", len(ids))
			}
			p.ID = ids[p.ID]
		}
		switch p.Kind {
		case event.PartToolCall:
			v := jsontext.Value(p.Args)
			if v.Compact() == nil {
				p.Args = string(v)
			}
		case model.PartToolResult:
			p.Name = ""
		}
		if n := len(out); n > 0 && p.Kind == event.PartText && out[n-1].Kind == p.Kind {
			out[n-1].Text += p.Text
			continue
		}
		out = append(out, p)
	}
	return out
}

// conversation is messages as every format can say them: those of one role that
// follow one another are one, and none is empty.
func conversation(messages []model.Message) []model.Message {
	ids := map[string]string{}
	var out []model.Message
	for _, m := range messages {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Parts = append(slices.Clip(out[n-1].Parts), m.Parts...)
			continue
		}
		if len(spoken(m.Parts, map[string]string{})) > 0 {
			out = append(out, m)
		}
	}
	for i := range out {
		out[i].Parts = spoken(out[i].Parts, ids)
	}
	return out
}

// wantConversation compares what the server understood with what was asked.
func wantConversation(t *testing.T, want, got []model.Message) {
	t.Helper()
	for i, m := range got {
		if len(m.Parts) == 0 {
			t.Errorf("message %d is empty", i)
		}
	}
	want, got = conversation(want), conversation(got)
	for i := range min(len(want), len(got)) {
		for j := range min(len(want[i].Parts), len(got[i].Parts)) {
			w, g := &want[i].Parts[j], &got[i].Parts[j]
			if w.Error && !g.Error && strings.Contains(g.Text, w.Text) {
				*g = *w // the format has no mark for failures, and words it
			}
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the conversation arrived otherwise:\n%.4000s", diff)
	}
}

// opaques are the signatures of messages, in order.
func opaques(messages []model.Message) []string {
	var out []string
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Opaque != "" {
				out = append(out, p.Opaque)
			}
		}
	}
	return out
}

// counts is what a format can tell of a usage.
func (d Driver) counts(u event.Usage) event.Usage {
	if d.Counts == nil {
		return u
	}
	return d.Counts(u)
}

// wantAnswer compares an answer with the reply it came from.
func (d Driver) wantAnswer(t *testing.T, want Reply, got *model.Answer) {
	t.Helper()
	if diff := d.differ(want, got); diff != "" {
		t.Errorf("the answer is not what was sent:\n%.4000s", diff)
	}
}

func (d Driver) differ(want Reply, got *model.Answer) string {
	type shape struct {
		Thoughts, Stop string
		Parts          []model.Part
		Usage          event.Usage
	}
	thoughts := func(parts []model.Part) (s string) {
		for _, p := range parts {
			if p.Kind == event.PartThinking {
				s += p.Text
			}
		}
		return s
	}
	w := shape{Parts: spoken(want.Parts, map[string]string{}), Usage: d.counts(want.Usage), Stop: want.Stop}
	g := shape{Parts: spoken(got.Parts, map[string]string{}), Usage: got.Usage, Stop: got.Stop}
	if d.Thinking {
		w.Thoughts, g.Thoughts = thoughts(want.Parts), thoughts(got.Parts)
	}
	for i, p := range w.Parts {
		if p.Kind == event.PartToolCall && p.Args == "" {
			w.Parts[i].Args = "{}"
		}
	}
	return cmp.Diff(w, g, cmpopts.EquateEmpty())
}

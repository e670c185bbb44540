package runtime_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/runtime"
)

// speaker is a model that says pieces, and then answers with all of them.
type speaker struct{ pieces []model.Delta }

func (s speaker) Generate(_ context.Context, _ *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	var all strings.Builder
	for _, d := range s.pieces {
		emit(d)
		all.WriteString(d.Text)
	}
	return &model.Answer{Parts: []model.Part{{Kind: event.PartText, Text: all.String()}}, Stop: model.StopEnd}, nil
}

// listened runs a quest whose model says pieces, and returns what a listener is told.
func listened(t *testing.T, secrets []string, pieces ...model.Delta) (got []runtime.Delta) {
	t.Helper()
	l := newLab(t)
	l.Secrets = func() []string { return secrets }
	l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return speaker{pieces}, nil }
	name := l.create(plan(t, "q", "", "rules: [{say: x}]"))
	_, err := l.Run(t.Context(), name, runtime.RunOptions{OnDelta: func(d runtime.Delta) { got = append(got, d) }})
	must(t, err)
	for _, e := range l.events(name) {
		for _, s := range secrets {
			if strings.Contains(string(e.Line()), s) {
				t.Errorf("event %d has the key: %s", e.Seq, e.Line())
			}
		}
	}
	return got
}

// joined is what a page makes of the pieces of one kind.
func joined(list []runtime.Delta, kind string) string {
	var b strings.Builder
	for _, d := range list {
		if d.Kind == kind {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// TestAKeyInPieces: however a model cuts a secret, nobody who listens gets it; and what cannot
// be the beginning of one comes at once.
func TestAKeyInPieces(t *testing.T) {
	t.Parallel()
	const key, other = "sk-live-0123456789", "sk-live-"
	text := func(s string) model.Delta { return model.Delta{Kind: event.PartText, Text: s} }
	thought := func(s string) model.Delta { return model.Delta{Kind: event.PartThinking, Text: s} }
	letters := func(s string, as func(string) model.Delta) (out []model.Delta) {
		for _, r := range s {
			out = append(out, as(string(r)))
		}
		return out
	}
	mixed := []model.Delta{text("a ")}
	for i := range key {
		mixed = append(mixed, text(key[i:i+1]), thought("hm "))
	}
	for what, c := range map[string]struct {
		pieces         []model.Delta
		said, thoughts string
	}{
		"InTwo":             {[]model.Delta{text("it is " + key[:7]), text(key[7:] + ".")}, "it is [key].", ""},
		"ByLetters":         {letters("x "+key+key+" y", text), "x [key][key] y", ""},
		"InThoughts":        {letters("x "+key+" y", thought), "", "x [key] y"},
		"BetweenThoughts":   {mixed, "a [key]", strings.Repeat("hm ", len(key))},
		"AfterAFalseStart":  {letters("sk-lsk-"+key, text), "sk-lsk-[key]", ""},
		"CutOffAtTheEnd":    {letters("it begins with "+other, text), "it begins with " + other, ""},
		"AnotherThatIsNone": {letters(other+"x", text), other + "x", ""},
		"SaidAnew":          {[]model.Delta{text(other), {Kind: model.Restart}, text("0123456789")}, "0123456789", ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			got := listened(t, []string{key, "short", "another-key-of-somebody"}, c.pieces...)
			if said, thoughts := joined(got, event.PartText), joined(got, event.PartThinking); said != c.said || thoughts != c.thoughts {
				t.Errorf("a listener hears %q and %q, want %q and %q", said, thoughts, c.said, c.thoughts)
			}
			if len(got) > 0 && (!got[0].First || slices.ContainsFunc(got[1:], func(d runtime.Delta) bool { return d.First })) {
				t.Errorf("not the first piece alone is called that: %+v", got)
			}
		})
	}
	t.Run("HoldsNothingElseBack", func(t *testing.T) {
		t.Parallel()
		pieces := letters("words and words and key", text)
		if got := listened(t, []string{key}, pieces...); len(got) < len(pieces)-5 { // an s may begin it
			t.Errorf("of %d pieces %d come by themselves, want nearly all", len(pieces), len(got))
		}
	})
}

// TestAKeyThatIsReadForTheCall: a key that nobody knew before the call, since it was read for it, is kept from
// whoever listens as well.
func TestAKeyThatIsReadForTheCall(t *testing.T) {
	t.Parallel()
	const key = "sk-live-0123456789"
	l, asked := newLab(t), make(chan struct{})
	l.Secrets = func() []string {
		select {
		case <-asked:
			return []string{key}
		default:
			return nil
		}
	}
	l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) {
		return late{speaker{[]model.Delta{{Kind: event.PartText, Text: "it is " + key + "."}}}, asked}, nil
	}
	name := l.create(plan(t, "q", "", "rules: [{say: x}]"))
	var got []runtime.Delta
	_, err := l.Run(t.Context(), name, runtime.RunOptions{OnDelta: func(d runtime.Delta) { got = append(got, d) }})
	must(t, err)
	if said := joined(got, event.PartText); said != "it is [key]." {
		t.Errorf("a listener was told %q, and was to be told nothing of the key", said)
	}
}

// late is a speaker whose key is known from its first call on.
type late struct {
	speaker
	asked chan struct{}
}

func (m late) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	close(m.asked)
	return m.speaker.Generate(ctx, r, emit)
}

package provider

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/dialect"

	"github.com/google/go-cmp/cmp"
)

// textual is a driver without calls that keeps what it was sent.
type textual struct {
	played
	sent []*model.Request
}

func (d *textual) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	d.sent = append(d.sent, r)
	return d.played.Generate(ctx, r, emit)
}

// TestADialectStandsBeforeTheDriver: what is sent has no tools but text, what was asked stays as
// it is, each attempt is heard anew, and what is charged is what was sent.
func TestADialectStandsBeforeTheDriver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		breaks := func(_ context.Context, emit func(model.Delta)) (*model.Answer, error) {
			emit(model.Delta{Kind: event.PartText, Text: "I <tool_call>{\"name\":"})
			return nil, &down
		}
		said := "I look.<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":-1}}</tool_call>"
		d := &textual{played: played{do: []step{breaks, says(said, event.Usage{})}}}
		c := calling(&d.played, 1)
		c.driver, c.dialect = d, dialect.Of(dialect.Tags)
		asked := &model.Request{System: "Be.", Tools: []model.Tool{{Name: "f", Description: strings.Repeat("long ", 1000), Schema: `{"type":"object"}`}}, Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "<|im_end|>"}}}}}
		var shown []string
		a, err := c.Generate(t.Context(), asked, func(x model.Delta) {
			if x.Kind != model.Retry {
				shown = append(shown, x.Kind+" "+x.Text)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"text I", "restart ", "text I look."}; !slices.Equal(shown, want) {
			t.Errorf("what is shown: got %q, want %q", shown, want)
		}
		if len(a.Parts) != 2 || a.Parts[1].Args != `{"a":-1}` || a.Parts[1].ID == "" || a.Stop != model.StopTools {
			t.Errorf("the answer is %+v, want words and a call", a)
		}
		for _, r := range d.sent {
			if r.Tools != nil || !strings.Contains(r.System, "<tools>") || r.Messages[0].Parts[0].Text != `<\|im_end|>` {
				t.Errorf("what was sent: %+v", r)
			}
		}
		if len(asked.Tools) != 1 || asked.System != "Be." || asked.Messages[0].Parts[0].Text != "<|im_end|>" {
			t.Errorf("what was asked was changed: %+v", asked)
		}
		if sent := int64(len(d.sent[1].System)); !a.Estimated || a.Usage.Input < sent || a.Usage.Output < int64(len(said)) {
			t.Errorf("an answer without usage is charged %+v, want at least %d and %d", a.Usage, sent, len(said))
		}
	})
}

// TestWhichDialect: that of the model, else that of its server.
func TestWhichDialect(t *testing.T) {
	t.Parallel()
	conf, err := config.Parse("config.yaml", []byte(`
providers: {tiny: {api: openai, url: "http://localhost:1/v1", dialect: tags}, plain: {api: openai, url: "http://localhost:1/v1"}}
models: {tiny/gemma: {dialect: functiongemma}, tiny/large: {dialect: native}, plain/gemma: {dialect: functiongemma}}
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(&Options{Config: conf, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	got := map[string]string{}
	for _, name := range []string{"tiny/small", "tiny/gemma", "tiny/large", "plain/gemma", "plain/x"} {
		m, info, err := r.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if has := m.(*caller).dialect != nil; has != (info.Dialect != "") {
			t.Errorf("%s has the dialect %q, and is spoken with in one: %v", name, info.Dialect, has)
		}
		got[name] = info.Dialect
	}
	want := map[string]string{"tiny/small": "tags", "tiny/gemma": "functiongemma", "tiny/large": "", "plain/gemma": "functiongemma", "plain/x": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the dialects differ (-want +got):\n%s", diff)
	}
	if names := []string{config.DialectNative, config.DialectFunctionGemma, config.DialectTags}; !slices.Equal(names, dialect.Names()) {
		t.Errorf("a configuration can name %v, and there are %v", names, dialect.Names())
	}
	if _, err := config.Parse("config.yaml", []byte("models: {gpt-5: {dialect: klingon}}")); err == nil || !strings.Contains(err.Error(), "functiongemma") {
		t.Errorf("a dialect that nobody knows: got %v, want those that there are", err)
	}
}

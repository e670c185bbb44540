package modeltest

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// kit are tools with schemas that are easily spoilt: the order of keys, numbers,
// escapes.
func kit() []model.Tool {
	return []model.Tool{
		{Name: "is_prime", Description: "Says whether \"n\" is prime — naïvely.", Schema: `{
			"type": "object", "required": ["n"], "additionalProperties": false,
			"properties": {"n": {"type": "integer", "minimum": 2, "description": "a < b & c"}, "deep": {"type": "object"}, "a": {"type": "string", "enum": ["x", "y"]}}
		}`},
		{Name: "now", Description: "Tells the time.", Schema: `{"type":"object","properties":{}}`},
	}
}

// testRequest is long: it is a list of short tests, each on its own.
func testRequest(t *testing.T, d Driver) {
	fine := d.answer(say(text("fine")), nil)
	seen := func(t *testing.T, r *model.Request) *Seen {
		t.Helper()
		s := serve(t, d, fine)
		d.must(t, s, r)
		return s.last(t)
	}
	run(t, "CarriesTheKeyAndTheModel", func(t *testing.T) {
		if got := seen(t, d.request(hello)); got.Key != canary || got.Model != d.Model {
			t.Errorf("the server saw key %q, model %q", got.Key, got.Model)
		}
	})
	run(t, "CarriesTheSystemPrompt", func(t *testing.T) {
		r := d.request(hello)
		r.System = "You are a “researcher”.\n\n  <rules> & \"quotes\" \\ 質 \u2028"
		if got := seen(t, r).System; got != r.System {
			t.Errorf("got %q, want %q", got, r.System)
		}
	})
	run(t, "CarriesTheTools", func(t *testing.T) {
		r := d.request(hello)
		r.Tools = kit()
		if diff := cmp.Diff(compact(r.Tools), compact(seen(t, r).Tools)); diff != "" {
			t.Errorf("the tools that were sent differ (-want +got):\n%s", diff)
		}
	})
	run(t, "CarriesNoToolsAndNoPromptWhereThereAreNone", func(t *testing.T) {
		if got := seen(t, d.request(hello)); got.System != "" || len(got.Tools) > 0 {
			t.Errorf("the server saw system %q, tools %v", got.System, got.Tools)
		}
	})
	run(t, "CarriesTheLimit", func(t *testing.T) {
		r := d.request(hello)
		r.MaxTokens = 4321
		if got := seen(t, r).MaxTokens; got != r.MaxTokens {
			t.Errorf("got %d", got)
		}
	})
	for name, messages := range map[string][]model.Message{
		"CarriesTheConversation": {hello, assistant(text("Hi.")), user(text("What is "), text("prime?")), assistant(text("7.")), user(text("And 質?\n\n "))},
		"CarriesResultsOfTools": {
			hello, assistant(text("I look."), call("call_1", "is_prime", `{"n":7}`), call("call_2", "now", "{}")),
			user(result("call_1", "is_prime", "yes"), result("call_2", "now", "12:00 – ünï 🦉\n\x1b[1mbold")),
			assistant(call("call_3", "now", "{}")), user(result("call_3", "now", "12:01"), text("Go on.")),
		},
		"CarriesAResultOfAMegabyte": {hello, assistant(call("call_1", "now", "{}")), user(result("call_1", "now", strings.Repeat("0123456789abcdé", 1<<16)))},
		"CarriesFailuresOfTools": {
			hello, assistant(call("call_1", "now", "{}"), call("call_2", "now", "{}")),
			user(model.Part{Kind: model.PartToolResult, ID: "call_1", Name: "now", Text: "the clock is broken", Error: true}, result("call_2", "now", "12:00")),
		},
		"JoinsMessagesOfOneRole": {hello, user(text(" again")), assistant(text("a")), assistant(text("b")), user(text("c"))},
		"LeavesOutWhatIsEmpty":   {hello, assistant(text("")), user(text("")), assistant(), user(text("more"))},
	} {
		run(t, name, func(t *testing.T) {
			r := d.request(messages...)
			r.Tools = kit()
			wantConversation(t, messages, seen(t, r).Messages)
		})
	}
	run(t, "CarriesAResultThatIsEmpty", func(t *testing.T) {
		r := d.request(hello, assistant(call("call_1", "now", "{}")), user(result("call_1", "now", "")))
		r.Tools = kit()
		last := seen(t, r).Messages
		if got := last[len(last)-1].Parts; len(got) != 1 || got[0].Kind != model.PartToolResult {
			t.Errorf("got %+v", got)
		}
	})
	run(t, "ReplacesWhatIsNotUnicode", func(t *testing.T) {
		r := d.request(hello, assistant(call("call_1", "now", "{}")), user(result("call_1", "now", "bin\xff\xfeary")))
		r.Tools = kit()
		last := seen(t, r).Messages
		if got := last[len(last)-1].Parts[0].Text; !strings.HasPrefix(got, "bin\uFFFD") || !strings.HasSuffix(got, "ary") {
			t.Errorf("got %q", got)
		}
	})
	run(t, "StaysLegalWithArgumentsThatAreNotJSON", func(t *testing.T) {
		for _, args := range []string{"", "{", "[1]", "null", `"text"`, `{"a":1}{`, "\xff", `{"a":1,"a":2}`} {
			r := d.request(hello, assistant(call("call_1", "now", args)), user(result("call_1", "now", "that was no JSON")))
			r.Tools = kit()
			seen(t, r)
		}
	})
	if d.Images {
		run(t, "CarriesImages", func(t *testing.T) {
			data, err := base64.StdEncoding.DecodeString(dot)
			if err != nil {
				t.Fatal(err)
			}
			messages := []model.Message{user(text("What is this?"), model.Part{Kind: model.PartImage, Media: "image/png", Data: data}, text("Tell me."), model.Part{Kind: model.PartImage, Media: "image/jpeg", Data: []byte("\xff\xd8\xff")})}
			wantConversation(t, messages, seen(t, d.request(messages...)).Messages)
		})
		run(t, "CarriesThePicturesOfResults", func(t *testing.T) { testPictures(t, d, seen) })
	}
}

// testPictures gives a driver results that have pictures. Where they stand is the
// format's business: in the result, or behind all of them. But each goes, in order, and
// a format that has no place for a type says so in words.
func testPictures(t *testing.T, d Driver, seen func(*testing.T, *model.Request) *Seen) {
	picture := func(media, data string) model.Part {
		return model.Part{Kind: model.PartImage, Media: media, Data: []byte(data)}
	}
	with := func(p model.Part, pictures ...model.Part) model.Part {
		p.Pictures = pictures
		return p
	}
	failed := with(result("call_2", "now", "only half a clock"), picture("image/webp", "the half"))
	failed.Error = true
	r := d.request(
		hello, assistant(call("call_1", "now", "{}"), call("call_2", "now", "{}"), call("call_3", "now", "{}")),
		user(
			with(result("call_1", "now", "a clock"), picture("image/png", "first"), picture("image/jpeg", "second")), failed,
			with(result("call_3", "now", ""), picture("image/png", "third")), text("And this?"), picture("image/png", "fourth"),
		),
	)
	r.Tools = kit()
	var pictures, texts []string
	for _, m := range seen(t, r).Messages {
		for _, p := range m.Parts {
			texts = append(texts, p.Text)
			for _, x := range append(slices.Clone(p.Pictures), p) {
				if x.Kind == model.PartImage {
					pictures = append(pictures, x.Media+" "+string(x.Data))
				}
			}
		}
	}
	want := []string{"image/png first", "image/jpeg second", "image/webp the half", "image/png third", "image/png fourth"}
	if diff := cmp.Diff(want, pictures); diff != "" {
		t.Errorf("the pictures that were sent differ (-want +got):\n%s", diff)
	}
	for _, words := range []string{"a clock", "only half a clock", "And this?"} {
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, words) }) {
			t.Errorf("%q was not sent, only %q", words, texts)
		}
	}
}

func compact(tools []model.Tool) []model.Tool {
	out := slices.Clone(tools)
	for i, x := range out {
		v := jsontext.Value(x.Schema)
		if v.Compact() == nil {
			out[i].Schema = string(v)
		}
	}
	return out
}

func testThinking(t *testing.T, d Driver) {
	fine := d.answer(say(text("fine")), nil)
	run(t, "IsOffUnlessAsked", func(t *testing.T) {
		s := serve(t, d, fine)
		d.must(t, s, d.request(hello))
		if s.last(t).Thinking {
			t.Error("the model was asked to think")
		}
	})
	run(t, "OfAnotherProviderIsDropped", func(t *testing.T) { testForeign(t, d) })
	if !d.Thinking {
		return
	}
	run(t, "IsOnWhenAsked", func(t *testing.T) {
		s := serve(t, d, fine)
		r := d.request(hello)
		r.Thinking = true
		d.must(t, s, r)
		if !s.last(t).Thinking {
			t.Error("the model was not asked to think")
		}
	})
	if d.Unsigned {
		return
	}
	run(t, "GoesBackUnchanged", func(t *testing.T) {
		replies := []Reply{d.rich(), {Parts: []model.Part{
			thought("Both are, so the answer is simple.", "c2lnbmF0dXJlLXR3bw=="), text("Once more."), call("call_3", "now", "{}"),
		}, Stop: model.StopTools}}
		s := serve(t, d, d.answer(replies[0], nil), d.answer(replies[1], nil), fine)
		r := d.request(hello)
		r.Thinking, r.Tools = true, kit()
		var sent []model.Message // as the server said it
		for _, reply := range replies {
			sent = append(sent, assistant(reply.Parts...))
			r.Messages = append(r.Messages, d.turn(d.must(t, s, r))...)
		}
		d.must(t, s, r)
		got := s.last(t).Messages
		if diff := cmp.Diff(opaques(sent), opaques(got)); diff != "" {
			t.Errorf("the signatures came back otherwise:\n%s", diff)
		}
		thoughts := func(messages []model.Message) (out []string) {
			for _, m := range messages {
				for _, p := range m.Parts {
					if p.Kind == event.PartThinking && p.Text != "" {
						out = append(out, p.Text)
					}
				}
			}
			return out
		}
		if back := thoughts(got); len(back) > 0 {
			if diff := cmp.Diff(thoughts(sent), back, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the thoughts came back otherwise:\n%s", diff)
			}
		}
		wantConversation(t, r.Messages, got)
		for _, p := range r.Messages[1].Parts {
			if _, own := model.Own(d.Provider, p.Opaque); p.Opaque != "" && !own {
				t.Errorf("the opaque part %q is not marked as %s's", p.Opaque, d.Provider)
			}
		}
	})
}

// turn is an answer and the results of its calls, as the next request has them.
func (d Driver) turn(a *model.Answer) []model.Message {
	var results []model.Part
	for _, p := range a.Parts {
		if p.Kind == event.PartToolCall {
			results = append(results, result(p.ID, p.Name, "yes, "+p.Args))
		}
	}
	return []model.Message{assistant(a.Parts...), user(results...)}
}

// testForeign gives a driver what another provider thought and signed.
func testForeign(t *testing.T, d Driver) {
	signed := func(p model.Part) model.Part {
		p.Opaque = model.Mark("another-provider", "foreign "+p.Kind)
		return p
	}
	for _, thinking := range []bool{false, d.Thinking} {
		s := serve(t, d, d.answer(say(text("fine")), nil))
		r := d.request(
			hello,
			assistant(signed(thought("Only a thought.", ""))),
			user(text("go on")),
			assistant(signed(thought("", ""))),
			user(text("and on")),
			assistant(signed(thought("A thought.", "")), thought("without a signature", ""), signed(text("a word")), signed(call("call_1", "now", "{}"))),
			user(result("call_1", "now", "12:00")),
		)
		r.Tools, r.Thinking = kit(), thinking
		d.must(t, s, r)
		got := s.last(t).Messages
		wantConversation(t, r.Messages, got)
		if o := opaques(got); len(o) > 0 {
			t.Errorf("the opaque parts %q went to a provider they are not of", o)
		}
	}
}

package gemini_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/gemini"
	"lyceum/internal/model/modeltest"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestModel holds the driver to what all drivers promise, with a model that is
// strict about signatures and with one that is not.
func TestModel(t *testing.T) {
	for _, name := range []string{"gemini-2.5-pro", "gemini-3-pro-preview"} {
		t.Run(name, func(t *testing.T) {
			modeltest.Exercise(t, modeltest.Driver{
				Wire: modeltest.GeminiWire{}, Provider: "gemini", Model: name,
				Open: func(base, key string) model.Model { return open(base, key) },
				OpenQuiet: func(base, key string, silence time.Duration) model.Model {
					c := client(base, key)
					c.Silence = silence
					return gemini.New(c, gemini.Options{})
				},
				Thinking: true, Images: true,
				Counts: func(u event.Usage) event.Usage { u.CacheWrites = 0; return u },
			})
		})
	}
}

const key = "key-of-the-test"

func open(base, key string) *gemini.Model {
	return gemini.New(client(base, key), gemini.Options{})
}

func client(base, key string) *wire.Client {
	return &wire.Client{
		Provider: "gemini", Base: base, Header: http.Header{"X-Goog-Api-Key": {key}}, Secrets: []string{key},
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
}

// heard is what came of one exchange.
type heard struct {
	*model.Answer
	err    error
	deltas []model.Delta
	// sent is the body of the request, seen what the API makes of it.
	sent string
	seen *modeltest.Seen
}

// ask lets a server answer r with some events.
func ask(t *testing.T, r *model.Request, events ...string) *heard {
	t.Helper()
	return askWith(t, gemini.Options{}, r, events...)
}

func askWith(t *testing.T, opts gemini.Options, r *model.Request, events ...string) *heard {
	t.Helper()
	h := &heard{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		h.sent = string(body)
		if h.seen, err = (modeltest.GeminiWire{}).Read(req, body); err != nil {
			t.Errorf("the API refuses the request: %v\n%s", err, body)
		}
		for _, data := range events {
			_, _ = io.WriteString(w, "data: "+data+"\r\n\r\n")
		}
	}))
	defer s.Close()
	h.Answer, h.err = gemini.New(client(s.URL, key), opts).Generate(t.Context(), r, func(d model.Delta) { h.deltas = append(h.deltas, d) })
	return h
}

func user(parts ...model.Part) model.Message { return model.Message{Role: model.User, Parts: parts} }

func assistant(parts ...model.Part) model.Message {
	return model.Message{Role: model.Assistant, Parts: parts}
}

func text(s string) model.Part { return model.Part{Kind: event.PartText, Text: s} }

func call(id, name, args string) model.Part {
	return model.Part{Kind: event.PartToolCall, ID: id, Name: name, Args: args}
}

func result(id, name, output string) model.Part {
	return model.Part{Kind: model.PartToolResult, ID: id, Name: name, Text: output}
}

// pictured adds a picture to a result.
func pictured(p model.Part) model.Part {
	p.Pictures = []model.Part{{Kind: model.PartImage, Media: "image/png", Data: []byte("png")}}
	return p
}

func signed(p model.Part, opaque string) model.Part {
	p.Opaque = opaque
	return p
}

func request(name string, messages ...model.Message) *model.Request {
	return &model.Request{Model: name, Turn: 3, Messages: messages}
}

var hello = request("gemini-2.5-pro", user(text("Hello")))

const stop = `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP"}]}`

// said is an event with some parts.
func said(parts string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"index":0}]}`
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	thought := model.Part{Kind: event.PartThinking}
	for _, test := range []struct {
		name   string
		events []string
		want   []model.Part
		stop   string
	}{
		{
			"JoinsPiecesOfTheSameKind",
			[]string{said(`{"text":"Six","thought":true}`), said(`{"text":" times","thought":true},{"text":"For"}`), said(`{"text":"ty-two"}`), stop},
			[]model.Part{{Kind: event.PartThinking, Text: "Six times"}, text("Forty-two")}, model.StopEnd,
		},
		{
			"PutsASignatureWithoutTextOnTheTextBeforeIt",
			[]string{said(`{"text":"Forty"}`), said(`{"text":"-two"}`), said(`{"text":"","thoughtSignature":"c2ln"}`), stop},
			[]model.Part{signed(text("Forty-two"), "gemini:c2ln")}, model.StopEnd,
		},
		{
			"JoinsNothingToASignedPart",
			[]string{said(`{"text":"For","thoughtSignature":"QQ=="}`), said(`{"text":"ty"}`), said(`{"text":"-two"}`), stop},
			[]model.Part{signed(text("For"), "gemini:QQ=="), text("ty-two")}, model.StopEnd,
		},
		{
			"KeepsASignatureThatHasNoTextAtAll",
			[]string{said(`{"text":"Hm","thought":true}`), said(`{"text":"","thoughtSignature":"QQ=="}`), stop},
			[]model.Part{{Kind: thought.Kind, Text: "Hm"}, signed(text(""), "gemini:QQ==")}, model.StopEnd,
		},
		{
			"NamesCallsThatHaveNoName",
			[]string{said(`{"functionCall":{"name":"a","args":{"x":1}},"thoughtSignature":"QQ=="},{"functionCall":{"name":"a"}}`), stop},
			[]model.Part{signed(call("call_3_0", "a", `{"x":1}`), "gemini:QQ=="), call("call_3_1", "a", "{}")}, model.StopTools,
		},
		{
			"KeepsIDsThatAreTheirOwn",
			[]string{said(`{"functionCall":{"name":"a","id":"one","args":{}}},{"functionCall":{"name":"a","id":"one","args":null}}`), stop},
			[]model.Part{call("one", "a", "{}"), call("call_3_1", "a", "{}")}, model.StopTools,
		},
		{
			"GivesIDsThatAnEventCanHold",
			[]string{said(`{"functionCall":{"name":"a","id":"` + strings.Repeat("x", 129) + `","args":{}}}`), stop},
			[]model.Part{call("call_3_0", "a", "{}")}, model.StopTools,
		},
		{
			"ReadsOnAfterAFirstEnd",
			[]string{stop, said(`{"text":"late"}`), stop},
			[]model.Part{text("late")}, model.StopEnd,
		},
		{
			"TellsThatItWasCutShort",
			[]string{said(`{"text":"I beg"}`), `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`},
			[]model.Part{text("I beg")}, model.StopLength,
		},
		{
			"TellsThatItWasStoppedForSafety",
			[]string{said(`{"text":"I beg"}`), `{"candidates":[{"finishReason":"SAFETY","index":0,"safetyRatings":[]}]}`},
			[]model.Part{text("I beg")}, model.StopRefusal,
		},
		{
			"LeavesOtherCandidatesAlone",
			[]string{said(`{"text":"one"}`), `{"candidates":[{"index":1,"content":{"parts":[{"text":"two"}]},"finishReason":"SAFETY"}]}`, stop},
			[]model.Part{text("one")}, model.StopEnd,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := ask(t, hello, test.events...)
			if h.err != nil {
				t.Fatal(h.err)
			}
			if diff := cmp.Diff(test.want, h.Parts); diff != "" || h.Stop != test.stop {
				t.Errorf("stop %s, want %s; parts:\n%s", h.Stop, test.stop, diff)
			}
			var heard, want string
			for _, d := range h.deltas {
				heard += d.Text
			}
			for _, p := range test.want {
				want += p.Text
			}
			if heard != want {
				t.Errorf("watchers heard %q, not %q", heard, want)
			}
		})
	}
}

func TestAnswerThatIsNone(t *testing.T) {
	t.Parallel()
	const usage = `"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2}`
	for _, test := range []struct {
		name   string
		events []string
		want   model.Error // its text is a part of the text
	}{
		{"WhenNobodySaysThatItEnded", []string{said(`{"text":"I beg"}`)}, model.Error{Kind: model.Unavailable, Text: "in the middle"}},
		{
			"WhenTheEndIsNotSpecified", []string{`{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}`},
			model.Error{Kind: model.Unavailable, Text: "in the middle"},
		},
		{
			"WhenThePromptIsBlocked", []string{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":5}}`},
			model.Error{Kind: model.Refused, Text: "PROHIBITED_CONTENT", Usage: event.Usage{Input: 5}},
		},
		{
			"WhenGeminiCannotReadItsOwnCall",
			[]string{`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(` + key + `)"}],` + usage + `}`},
			model.Error{Kind: model.Unavailable, Text: "print([key])", Usage: event.Usage{Input: 5, Output: 2}},
		},
		{
			"WhenItBreaksOff",
			[]string{`{` + usage + `}`, `{"error":{"code":429,"message":"Slow down, ` + key + `","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"1.5s"}]}}`},
			model.Error{Kind: model.Unavailable, Text: "Slow down, [key]", After: 1500 * time.Millisecond, Usage: event.Usage{Input: 5, Output: 2}},
		},
		{
			"WhenItBreaksOffForGood", []string{`{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}`},
			model.Error{Kind: model.Invalid, Text: "PERMISSION_DENIED"},
		},
		{"WhenACallHasNoName", []string{said(`{"functionCall":{"args":{}}}`), stop}, model.Error{Kind: model.Unavailable, Text: "without a name"}},
		{"WhenItIsNoJSON", []string{`{"candidates":`, stop}, model.Error{Kind: model.Unavailable, Text: "cannot be read"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := ask(t, hello, test.events...)
			e, ok := h.err.(*model.Error)
			if !ok {
				t.Fatalf("got %+v, %v", h.Answer, h.err)
			}
			if e.Kind != test.want.Kind || !strings.Contains(e.Text, test.want.Text) || e.After != test.want.After || e.Usage != test.want.Usage {
				t.Errorf("got %+v, want %+v", e, test.want)
			}
		})
	}
}

func TestUsageCountsWhatEachChunkAdds(t *testing.T) {
	t.Parallel()
	h := ask(t, hello,
		`{"usageMetadata":{"promptTokenCount":100,"thoughtsTokenCount":7,"totalTokenCount":107}}`,
		`{"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":20,"thoughtsTokenCount":30,"totalTokenCount":150}}`,
		stop)
	if h.err != nil {
		t.Fatal(h.err)
	}
	if want := (event.Usage{Input: 100, Cached: 60, Output: 50, Thinking: 30}); h.Usage != want {
		t.Errorf("got %+v, want %+v", h.Usage, want)
	}
}

func TestIDsAreNotThoseOfEarlierCalls(t *testing.T) {
	t.Parallel()
	r := request("gemini-2.5-pro", user(text("go")), assistant(call("call_3_0", "a", "{}")), user(result("call_3_0", "a", "1")))
	answer := []string{said(`{"functionCall":{"name":"a","id":"call_3_0"}}`), stop}
	first, again := ask(t, r, answer...), ask(t, r, answer...)
	if first.err != nil || again.err != nil {
		t.Fatalf("the same request twice: got %v and %v", first.err, again.err)
	}
	if id := first.Parts[0].ID; id == "call_3_0" || id != again.Parts[0].ID {
		t.Errorf("the ids are %q and %q, want the same, and a new one", id, again.Parts[0].ID)
	}
}

// TestConversation shows what the API is sent of a conversation.
func TestConversation(t *testing.T) {
	t.Parallel()
	ours := signed(model.Part{Kind: event.PartThinking, Text: "hm"}, "gemini:T1==")
	theirs := signed(model.Part{Kind: event.PartThinking, Text: "hm"}, "anthropic:T1==")
	for _, test := range []struct {
		name     string
		model    string
		messages []model.Message
		want     string // the contents
	}{
		{
			"GivesSignaturesBackWhereTheyWere", "gemini-2.5-pro",
			[]model.Message{user(text("a")), assistant(ours, signed(text("b"), "gemini:T2=="), signed(text(""), "gemini:T3==")), user(text("c"))},
			`[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"T1=="},` +
				`{"text":"b","thoughtSignature":"T2=="},{"text":"","thoughtSignature":"T3=="}]},{"role":"user","parts":[{"text":"c"}]}]`,
		},
		{
			"DropsWhatAnotherProviderSigned", "gemini-2.5-pro",
			[]model.Message{user(text("a")), assistant(theirs, signed(text("b"), "anthropic:T2==")), user(text("c"))},
			`[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"c"}]}]`,
		},
		{
			"JoinsWhatStandsTogetherWhenAMessageIsDropped", "gemini-2.5-pro",
			[]model.Message{user(text("a")), assistant(theirs), user(text("")), user(text("c"))},
			`[{"role":"user","parts":[{"text":"a"},{"text":"c"}]}]`,
		},
		{
			"AnswersCallsInTheirOrderAndFirst", "gemini-2.5-pro",
			[]model.Message{
				user(text("a")), assistant(call("1", "x", "{}"), call("2", "y", "{}")),
				user(text("now"), result("2", "", "two")), user(model.Part{Kind: model.PartToolResult, ID: "1", Text: "one", Error: true}),
			},
			`[{"role":"user","parts":[{"text":"a"}]},` +
				`{"role":"model","parts":[{"functionCall":{"id":"1","name":"x","args":{}}},{"functionCall":{"id":"2","name":"y","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"x","response":{"error":"one"}}},` +
				`{"functionResponse":{"id":"2","name":"y","response":{"output":"two"}}},{"text":"now"}]}]`,
		},
		{
			"ExcusesCallsThatAnotherModelMade", "gemini-3-pro-preview",
			[]model.Message{
				user(text("a")), assistant(signed(call("1", "x", "{}"), "anthropic:T"), call("2", "y", "{}")), user(result("1", "x", "1"), result("2", "y", "2")),
				assistant(signed(call("3", "x", "{}"), "gemini:T3==")), user(result("3", "x", "3")),
			},
			`[{"role":"user","parts":[{"text":"a"}]},` +
				`{"role":"model","parts":[{"thoughtSignature":"skip_thought_signature_validator","functionCall":{"id":"1","name":"x","args":{}}},` +
				`{"functionCall":{"id":"2","name":"y","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"x","response":{"output":"1"}}},{"functionResponse":{"id":"2","name":"y","response":{"output":"2"}}}]},` +
				`{"role":"model","parts":[{"thoughtSignature":"T3==","functionCall":{"id":"3","name":"x","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"3","name":"x","response":{"output":"3"}}}]}]`,
		},
		{
			"MendsWhatModelsMakeUp", "gemini-2.5-pro",
			[]model.Message{user(text("a\xff")), assistant(call("1", "1 né", `{"a":`)), user(result("1", "1 né", "\xff"))},
			`[{"role":"user","parts":[{"text":"a` + "\uFFFD" + `"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"_1_n_","args":{"arguments":"{\"a\":"}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"_1_n_","response":{"output":"` + "\uFFFD" + `"}}}]}]`,
		},
		{
			"CutsNamesThatAreTooLong", "gemini-2.5-pro",
			[]model.Message{user(text("a")), assistant(call("1", strings.Repeat("x", 200), "{}")), user(result("1", "", "1"))},
			`[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"` + strings.Repeat("x", 128) + `","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"` + strings.Repeat("x", 128) + `","response":{"output":"1"}}}]}]`,
		},
		{
			"ShowsPictures", "gemini-2.5-pro",
			[]model.Message{user(model.Part{Kind: model.PartImage, Media: "image/png", Data: []byte("png")}, text("what?"))},
			`[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"cG5n"}},{"text":"what?"}]}]`,
		},
		{
			"ShowsNoGIF", "gemini-2.5-pro",
			[]model.Message{user(model.Part{Kind: model.PartImage, Media: "image/gif", Data: []byte("gif")})},
			`[{"role":"user","parts":[{"text":"(This picture cannot be shown to you.)"}]}]`,
		},
		{
			"ShowsPicturesOfResultsBehindThem", "gemini-2.5-pro",
			[]model.Message{user(text("a")), assistant(call("1", "x", "{}"), call("2", "y", "{}")), user(pictured(result("2", "y", "two")), pictured(result("1", "x", "one")))},
			`[{"role":"user","parts":[{"text":"a"}]},` +
				`{"role":"model","parts":[{"functionCall":{"id":"1","name":"x","args":{}}},{"functionCall":{"id":"2","name":"y","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"x","response":{"output":"one"}}},{"functionResponse":{"id":"2","name":"y","response":{"output":"two"}}},` +
				`{"text":"Pictures that came with the result of y:"},{"inlineData":{"mimeType":"image/png","data":"cG5n"}},` +
				`{"text":"Pictures that came with the result of x:"},{"inlineData":{"mimeType":"image/png","data":"cG5n"}}]}]`,
		},
		{
			"ShowsPicturesInResultsSinceGemini3", "gemini-3-pro-preview",
			[]model.Message{user(text("a")), assistant(signed(call("1", "x", "{}"), "gemini:T==")), user(pictured(result("1", "x", "one")))},
			`[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"thoughtSignature":"T==","functionCall":{"id":"1","name":"x","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"x","response":{"output":"one"},"parts":[{"inlineData":{"mimeType":"image/png","data":"cG5n"}}]}}]}]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := ask(t, request(test.model, test.messages...), stop)
			got := strings.TrimSuffix(strings.TrimPrefix(h.sent, `{"contents":`), "}")
			if diff := cmp.Diff(test.want, got); h.err != nil || diff != "" {
				t.Errorf("the answer differs (-want +got): %v\n%s", h.err, diff)
			}
		})
	}
}

func TestArgumentsAreAlwaysAnObject(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                       `{}`,
		" ":                      `{}`,
		` {"a": 1.0e400 } `:      `{"a":1.0e400}`,
		"[1, 2]":                 `{"arguments":[1,2]}`,
		`"text"`:                 `{"arguments":"text"}`,
		"null":                   `{"arguments":null}`,
		`{"a":1,"a":2}`:          `{"arguments":"{\"a\":1,\"a\":2}"}`,
		`{"a":1} {"b":2}`:        `{"arguments":"{\"a\":1} {\"b\":2}"}`,
		"\x00\xff":               `{"arguments":"\u0000` + "\uFFFD" + `"}`,
		`{"arguments":"nested`:   `{"arguments":"{\"arguments\":\"nested"}`,
		`{"b":2,"a":[{"c":{}}]}`: `{"b":2,"a":[{"c":{}}]}`,
	} {
		h := ask(t, request("gemini-2.5-pro", user(text("a")), assistant(call("1", "x", args)), user(result("1", "x", "1"))), stop)
		if h.err != nil {
			t.Fatalf("the arguments %q: %v", args, h.err)
		}
		got := jsontext.Value(h.seen.Messages[1].Parts[0].Args)
		if string(got) != want {
			t.Errorf("%q is sent as %s, want %s", args, got, want)
		}
	}
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		model    string
		opts     gemini.Options
		thinking bool
		limit    int64
		want     string
		effort   model.Effort
	}{
		{"ThinksAsMuchAsAsked", "gemini-2.5-pro", gemini.Options{}, true, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}`, "medium"},
		{"ThinksForSoManyTokens", "gemini-2.5-flash", gemini.Options{}, true, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":3000}}`, "3000"},
		{"ThinksNoMoreThanItCan", "gemini-2.5-flash", gemini.Options{}, true, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":24576}}`, "100000"},
		{"ThinksAtALevel", "gemini-3-flash", gemini.Options{}, true, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"medium"}}`, "9000"},
		{"ThinksAtALevelThatThereIs", "gemini-3-pro-preview", gemini.Options{}, true, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`, "medium"},
		{"ThinksWhenAsked", "gemini-2.5-pro", gemini.Options{}, true, 0, `{"thinkingConfig":{"includeThoughts":true}}`, ""},
		{"ThinksWithinItsBudget", "gemini-2.5-pro", gemini.Options{ThinkingBudget: new(int64(-1))}, true, 0, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":-1}}`, ""},
		{"SaysNothingToAModelThatAlwaysThinks", "gemini-2.5-pro", gemini.Options{ThinkingBudget: new(int64(512))}, false, 0, ``, ""},
		{"SaysNothingToAModelThatDecidesItself", "gemini-3-pro-preview", gemini.Options{}, false, 0, ``, ""},
		{"StopsThoughtsThatCanBeStopped", "gemini-2.5-flash-lite", gemini.Options{}, false, 0, `{"thinkingConfig":{"thinkingBudget":0}}`, ""},
		{"HasALimitOfItsOwn", "gemini-2.5-pro", gemini.Options{MaxTokens: 7}, false, 0, `{"maxOutputTokens":7}`, ""},
		{"PrefersTheLimitOfTheRequest", "gemini-2.5-pro", gemini.Options{MaxTokens: 7}, false, 8, `{"maxOutputTokens":8}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := request(test.model, user(text("Hello")))
			r.Thinking, r.MaxTokens, r.Effort = test.thinking, test.limit, test.effort
			h := askWith(t, test.opts, r, stop)
			_, config, _ := strings.Cut(strings.TrimSuffix(h.sent, "}"), `,"generationConfig":`)
			if h.err != nil || config != test.want {
				t.Errorf("%v, sent %s, want %s", h.err, config, test.want)
			}
		})
	}
}

func TestModelNamesCannotLeaveTheirPlace(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b", "..", "a?key=1#b", "a%2Fb", "x:countTokens", "ünï\n", `a\b`} {
		h := ask(t, request(name, user(text("Hello"))), stop)
		if h.err != nil || h.seen.Model != name {
			t.Errorf("%q: %v, seen as %+v", name, h.err, h.seen)
		}
	}
	for _, name := range []string{"", "a/b", "../models/x", "/"} {
		_, err := open("http://127.0.0.1:0", key).Generate(t.Context(), request(name, user(text("Hello"))), nil)
		if model.KindOf(err) != model.Invalid {
			t.Errorf("the kind of a name that is none, %q: %v, want invalid", name, err)
		}
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, body string
		status     int
		kind       model.Kind
		after      time.Duration
	}{
		{"WaitsAsLongAsItIsAsked", `{"error":{"code":429,"details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`, 429, model.Unavailable, 34500 * time.Millisecond},
		{"WaitsForNoNonsense", `{"error":{"code":429,"details":[{"retryDelay":"-3s"},{"retryDelay":"soon"}]}}`, 429, model.Unavailable, 0},
		{"KnowsATooLongContext", `{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed 1048576."}}`, 400, model.ContextTooLong, 0},
		{"KnowsATooLargeRequest", `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes."}}`, 400, model.ContextTooLong, 0},
		{"DoesNotTryABadKeyAgain", `{"error":{"code":400,"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}`, 400, model.Invalid, 0},
		{"MakesDoWithGarbage", `<html>`, 502, model.Unavailable, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}))
			defer s.Close()
			_, err := open(s.URL, key).Generate(t.Context(), hello, nil)
			e, ok := err.(*model.Error)
			if !ok || e.Kind != test.kind || e.After != test.after {
				t.Errorf("got %+v, want %s after %s", err, test.kind, test.after)
			}
		})
	}
}

package trajectory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"

	"github.com/go-json-experiment/json"
)

// home is a Lyceum whose models compute first and then say how often they were asked.
type home struct {
	*runtime.Runtime
	t     *testing.T
	asked atomic.Int64
	// says is what a model answers, if it is not nil.
	says func(n int64, r *model.Request) *model.Answer
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir := t.TempDir()
	db, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	blobs, err := fs.Open(filepath.Join(dir, "blobs"), &fs.Options{Volatile: true})
	must(t, err)
	t.Cleanup(func() { blobs.Close() })
	h := &home{t: t}
	var now atomic.Int64
	now.Store(1_780_000_000_000_000)
	h.Runtime = &runtime.Runtime{
		Ledger: db, Blobs: blobs, Tools: tool.Builtin(), Societies: []quest.Society{solo.Society{}}, Home: dir, Version: "v0-test",
		Clock:  func() event.Time { return event.Time(now.Add(1_000_001)) },
		Models: func(string, func(string) ([]byte, error)) (model.Model, error) { return h, nil },
	}
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *home) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	n := h.asked.Add(1)
	if h.says != nil {
		if a := h.says(n, r); a != nil {
			return a, nil
		}
	}
	if r.Turn == 1 {
		return &model.Answer{Stop: model.StopTools, Usage: event.Usage{Input: 100, Output: 10}, Parts: []model.Part{
			{Kind: event.PartThinking, Text: "It is a product."}, {Kind: event.PartText, Text: "I compute."},
			{Kind: event.PartToolCall, ID: "a", Name: "calculate", Args: `{"code":"print(6*7)"}`},
		}}, nil
	}
	return saying(fmt.Sprintf("It is 42, says answer %d.", n)), nil
}

func saying(text string) *model.Answer {
	return &model.Answer{Stop: model.StopEnd, Usage: event.Usage{Input: 100, Output: 10}, Parts: []model.Part{{Kind: event.PartText, Text: text}}}
}

func (h *home) quest(name, cache string) {
	h.t.Helper()
	spec := &quest.Spec{Name: name, Problem: "What is 6*7?", Model: "fake", Tools: []string{"calculate"}, Cache: cache}
	_, err := h.Create(h.t.Context(), runtime.Plan{Spec: spec, Source: []byte("name: " + name + "\n"), Dir: h.t.TempDir()})
	must(h.t, err)
	h.run(name)
}

func (h *home) run(name string) {
	h.t.Helper()
	_, err := h.Run(h.t.Context(), name, runtime.RunOptions{})
	must(h.t, err)
}

// fork makes a sibling that goes on from before the nth model.call.
func (h *home) fork(from, as string, nth int) {
	h.t.Helper()
	_, err := h.Fork(h.t.Context(), from, runtime.ForkOptions{Name: as, At: h.seqs(from, "model.call")[nth-1]})
	must(h.t, err)
	h.run(as)
}

func (h *home) seqs(name string, kind event.Type) (out []uint64) {
	h.t.Helper()
	for e, err := range h.Ledger.Read(h.t.Context(), name, 1) {
		must(h.t, err)
		if e.Type == kind {
			out = append(out, e.Seq)
		}
	}
	return out
}

// read is a line of any format.
type read struct {
	Messages, Prompt, Completion, Chosen, Rejected []message
	Completions                                    [][]message
	Rewards                                        []*float64
	Origins                                        []origin
	Tools                                          []function
	Quest, Agent, Model, Split                     string
	Rendering                                      event.Hash
	Seq, Call                                      uint64
	Reward                                         *float64
}

func (h *home) export(o Options, quests ...string) ([]read, *Report) {
	h.t.Helper()
	var b bytes.Buffer
	rep, err := Export(h.t.Context(), h.Runtime, quests, o, &b)
	must(h.t, err)
	var out []read
	for line := range strings.Lines(b.String()) {
		var one read
		must(h.t, json.Unmarshal([]byte(line), &one, json.MatchCaseInsensitiveNames(true)))
		out = append(out, one)
	}
	if len(out) != rep.Lines {
		h.t.Errorf("%d lines, and the report says %d", len(out), rep.Lines)
	}
	return out, rep
}

func roles(messages []message) (out []string) {
	for _, m := range messages {
		out = append(out, m.Role)
	}
	return out
}

func TestSFT(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.quest("one", "")
	lines, _ := h.export(Options{Format: SFT}, "one")
	if len(lines) != 1 {
		t.Fatalf("%d lines, want one of the whole conversation", len(lines))
	}
	l := lines[0]
	if want := []string{"system", "user", "assistant", "tool", "assistant"}; !reflect.DeepEqual(roles(l.Messages), want) {
		t.Fatalf("roles %v, want %v", roles(l.Messages), want)
	}
	called := l.Messages[2]
	if called.Content != "I compute." || called.Reasoning != "It is a product." || len(called.Calls) != 1 || called.Calls[0].ID != "a" || called.Calls[0].Type != "function" ||
		called.Calls[0].Function.Name != "calculate" || !reflect.DeepEqual(called.Calls[0].Function.Arguments, map[string]any{"code": "print(6*7)"}) {
		t.Errorf("the call is %+v", called)
	}
	if result := l.Messages[3]; result.Call != "a" || !strings.Contains(result.Content.(string), "42") {
		t.Errorf("the result is %+v", result)
	}
	if l.Messages[4].Content != "It is 42, says answer 2." {
		t.Errorf("the answer is %+v", l.Messages[4])
	}
	results := h.seqs("one", "model.result")
	if len(l.Tools) == 0 || l.Tools[0].Type != "function" || !strings.HasPrefix(string(l.Tools[0].Function.Parameters), "{") {
		t.Errorf("tools %+v", l.Tools)
	}
	if l.Quest != "one" || l.Seq != results[1] || l.Call != h.seqs("one", "model.call")[1] || l.Agent != "agent-0" || l.Model != "fake" || l.Reward != nil || l.Split == "" {
		t.Errorf("it says that it is %+v", l)
	}
	for e, err := range h.Ledger.Read(t.Context(), "one", l.Call) {
		must(t, err)
		if e.Body.(*event.ModelCall).Rendering != l.Rendering {
			t.Error("the hash is not that of the rendering")
		}
		break
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.quest("one", "")
	lines, _ := h.export(Options{Format: Steps}, "one")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want one for each call", len(lines))
	}
	if !reflect.DeepEqual(roles(lines[0].Prompt), []string{"system", "user"}) || !reflect.DeepEqual(roles(lines[0].Completion), []string{"assistant"}) || len(lines[0].Completion[0].Calls) != 1 {
		t.Errorf("the first is %+v", lines[0])
	}
	if !reflect.DeepEqual(roles(lines[1].Prompt), []string{"system", "user", "assistant", "tool"}) || lines[1].Completion[0].Content != "It is 42, says answer 2." {
		t.Errorf("the second is %+v", lines[1])
	}
}

// TestSiblingsAreAGroup: forks that were asked the same are one line, whose answers are new ones
// though the quest takes those that were given before; the origin's own is told once.
func TestSiblingsAreAGroup(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.quest("one", "exact")
	h.fork("one", "two", 2)
	h.fork("one", "three", 2)
	lines, rep := h.export(Options{Format: Group}, "two", "one", "three")
	if len(lines) != 1 || rep.Recalled != 0 {
		t.Fatalf("%d lines, %d left out: want one group of new answers", len(lines), rep.Recalled)
	}
	l := lines[0]
	var said []any
	for _, c := range l.Completions {
		said = append(said, c[0].Content)
	}
	if want := []any{"It is 42, says answer 3.", "It is 42, says answer 2.", "It is 42, says answer 4."}; !reflect.DeepEqual(said, want) {
		t.Errorf("completions %v, want %v", said, want)
	}
	if !reflect.DeepEqual(roles(l.Prompt), []string{"system", "user", "assistant", "tool"}) || len(l.Tools) == 0 {
		t.Errorf("the prompt is %+v", l.Prompt)
	}
	if len(l.Rewards) != 3 || l.Rewards[0] != nil || len(l.Origins) != 3 || l.Origins[0].Quest != "two" || l.Origins[1].Quest != "one" {
		t.Errorf("rewards %v of %+v", l.Rewards, l.Origins)
	}
	if lines, _ := h.export(Options{Format: Group}, "one"); len(lines) != 0 {
		t.Errorf("an answer alone is %d groups", len(lines))
	}
	if lines, _ := h.export(Options{Format: Steps}, "two", "one", "three"); len(lines) != 4 {
		t.Errorf("%d steps, want the first once, and three of the siblings", len(lines))
	}
	if lines, _ := h.export(Options{Format: Steps}, "two", "three"); len(lines) != 3 || lines[0].Quest != "one" {
		t.Errorf("%d steps, want what both have from their origin once", len(lines))
	}
}

// TestForksAreSplitAsTheirOrigin, and each half is what the option names.
func TestForksAreSplitAsTheirOrigin(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.quest("one", "")
	h.fork("one", "two", 1)
	all, _ := h.export(Options{Format: Steps}, "one", "two")
	mine := all[0].Split
	other := map[string]string{Train: HeldOut, HeldOut: Train}[mine]
	for _, l := range all {
		if l.Split != mine {
			t.Errorf("quest %s is for %s, its origin for %s", l.Quest, l.Split, mine)
		}
	}
	if same, _ := h.export(Options{Format: Steps, Split: mine}, "one", "two"); len(same) != len(all) {
		t.Errorf("%d lines for %s, want %d", len(same), mine, len(all))
	}
	if none, _ := h.export(Options{Format: Steps, Split: other}, "one", "two"); len(none) != 0 {
		t.Errorf("%d lines for %s, want none", len(none), other)
	}
	held := 0
	for i := range 1000 {
		if splitOf(event.HashOf(fmt.Append(nil, i))) == HeldOut {
			held++
		}
	}
	if held < 50 || held > 160 {
		t.Errorf("%d of 1000 quests are held out, want about a tenth", held)
	}
}

// TestAnswersOfBeforeAreNoSamples: neither alone, nor within a conversation that is learned from
// whole; what was said before one stays.
func TestAnswersOfBeforeAreNoSamples(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.quest("one", "exact")
	h.quest("again", "exact")
	if h.asked.Load() != 2 {
		t.Fatalf("the model was asked %d times: nothing was taken from before", h.asked.Load())
	}
	for _, format := range Formats {
		lines, rep := h.export(Options{Format: format}, "again")
		if len(lines) != 0 || rep.Recalled != 2 {
			t.Errorf("%s: %d lines, %d left out", format, len(lines), rep.Recalled)
		}
	}
	// Its first answer is new, the second is none of its own, the third is new again.
	v := newSurvey()
	hash := func(n int) event.Hash { return event.HashOf(fmt.Append(nil, n)) }
	for i, b := range []event.Body{
		&event.ModelCall{Last: 0}, &event.ModelResult{Call: 1, Stop: model.StopTools},
		&event.ModelCall{Last: 2}, &event.ModelResult{Call: 3, Stop: model.StopTools, Recalled: &event.Recalled{}},
		&event.ModelCall{Last: 4}, &event.ModelResult{Call: 5, Stop: model.StopEnd},
		&event.ModelCall{First: 4, Last: 6}, &event.ModelResult{Call: 7, Stop: model.StopEnd},
	} {
		v.add(event.Event{Seq: uint64(i + 1), Hash: hash(i), Actor: "a", Body: b})
	}
	var got []string
	for _, s := range v.samples {
		got = append(got, fmt.Sprintf("%v %v %s", s.last, s.recalled, s.use()))
	}
	if want := []string{"true false ", "true false given before", "true true ", "true false "}; !reflect.DeepEqual(got, want) {
		t.Errorf("samples are %q, want %q", got, want)
	}
}

// TestWhatBrokeOffIsNoSample: a conversation ends with the last whole answer.
func TestWhatBrokeOffIsNoSample(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.says = func(n int64, _ *model.Request) *model.Answer {
		if n == 2 {
			a := saying("It is")
			a.Stop = model.StopRefusal
			return a
		}
		return nil
	}
	h.quest("one", "")
	lines, rep := h.export(Options{Format: SFT}, "one")
	if rep.Broken == 0 || len(lines) != 1 {
		t.Fatalf("%d lines, %d left out", len(lines), rep.Broken)
	}
	if m := lines[0].Messages[2]; m.Content != "I compute." {
		t.Errorf("the first answer is %+v, want the one that computes", m)
	}
}

// TestAWindowThatIsCutBeginsAnotherLine.
func TestAWindowThatIsCutBeginsAnotherLine(t *testing.T) {
	t.Parallel()
	v := newSurvey()
	for i, b := range []event.Body{
		&event.ModelCall{Last: 0}, &event.ModelResult{Call: 1, Stop: model.StopTools},
		&event.ModelCall{Last: 2}, &event.ModelResult{Call: 3, Stop: model.StopTools},
		&event.ModelCall{Last: 3, Compact: &event.Compaction{}}, &event.ModelResult{Call: 5, Stop: model.StopEnd},
		&event.ModelCall{First: 3, Last: 4}, &event.ModelResult{Call: 7, Stop: model.StopEnd},
	} {
		v.add(event.Event{Seq: uint64(i + 1), Actor: "a", Body: b})
	}
	var last []bool
	for _, s := range v.samples {
		last = append(last, s.last)
	}
	if want := []bool{false, true, false, true}; !reflect.DeepEqual(last, want) {
		t.Errorf("%v, want %v", last, want)
	}
}

func TestNoSecretIsWritten(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.says = func(n int64, _ *model.Request) *model.Answer {
		if n == 3 {
			return saying("The key is sk-very-secret-key.")
		}
		return nil
	}
	h.quest("one", "")
	h.fork("one", "two", 2)
	h.fork("one", "three", 2)
	h.Secrets = func() []string { return []string{"sk-very-secret-key"} }
	for format, want := range map[string]int{SFT: 2, Steps: 3, Group: 1} {
		var b bytes.Buffer
		rep, err := Export(t.Context(), h.Runtime, []string{"one", "two", "three"}, Options{Format: format}, &b)
		must(t, err)
		if strings.Contains(b.String(), "very-secret") || rep.Secret != 1 || rep.Lines != want {
			t.Errorf("%s: %d lines, want %d; %d left out:\n%s", format, rep.Lines, want, rep.Secret, b.String())
		}
	}
	h.Secrets = func() []string { return []string{"What is 6*7?"} }
	if lines, rep := h.export(Options{Format: Group}, "one", "two", "three"); len(lines) != 0 || rep.Secret != 3 {
		t.Errorf("%d lines whose prompt has a secret, %d left out", len(lines), rep.Secret)
	}
}

// TestOnlyQuestsThatVerify: nothing of any is written if one does not.
func TestOnlyQuestsThatVerify(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.quest("one", "")
	h.quest("two", "")
	must(t, os.WriteFile(filepath.Join(h.Home, "quests", "two", "brief.md"), []byte("something else"), 0o600))
	var b bytes.Buffer
	_, err := Export(t.Context(), h.Runtime, []string{"one", "two"}, Options{Format: SFT}, &b)
	if bad, ok := errors.AsType[*UnverifiedError](err); !ok || bad.Quest != "two" || b.Len() > 0 {
		t.Errorf("%v, and %d bytes written", err, b.Len())
	}
	if _, err := Export(t.Context(), h.Runtime, []string{"nothing"}, Options{Format: SFT}, &b); err == nil {
		t.Error("a quest that is not there is exported")
	}
}

// TestWhatWasShownMustComeToItsHash: neither messages nor tools that differ are taken for it.
func TestWhatWasShownMustComeToItsHash(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.quest("one", "")
	at := h.seqs("one", "model.call")[0]
	st, err := h.At(t.Context(), "one", at)
	must(t, err)
	call := func() *event.ModelCall {
		e, err := h.EventAt(t.Context(), "one", at)
		must(t, err)
		return e.Body.(*event.ModelCall)
	}
	x := &export{ctx: t.Context(), rt: h.Runtime}
	for name, change := range map[string]func(*event.ModelCall){
		"": func(*event.ModelCall) {}, "rendering": func(c *event.ModelCall) { c.Rendering[0] ^= 1 }, "tools": func(c *event.ModelCall) { c.Tools[0] ^= 1 },
		"system": func(c *event.ModelCall) { c.System[0] ^= 1 }, "window": func(c *event.ModelCall) { c.Last++ }, "effort": func(c *event.ModelCall) { c.Effort = "high" },
	} {
		c := call()
		change(c)
		err := x.take(&sample{call: c, result: &event.ModelResult{}}, st.Agents[0], new(agent.Rendering))
		if (err == nil) != (name == "") {
			t.Errorf("with another %q: %v", name, err)
		}
	}
}

// TestRewardsAreThoseOfTheNextAttempt of the same agent; what cannot be told is none.
func TestRewardsAreThoseOfTheNextAttempt(t *testing.T) {
	t.Parallel()
	v := newSurvey()
	held := int64(1000)
	add := func(seq uint64, actor string, b event.Body) {
		v.add(event.Event{Seq: seq, Actor: actor, Quest: "q", Body: b})
	}
	answer := func(seq uint64, who string) {
		add(seq, who, &event.ModelCall{})
		add(seq+1, who, &event.ModelResult{Call: seq, Stop: model.StopTools})
	}
	answer(1, "maker") // 2: makes it
	answer(3, "maker") // 4: proposes it
	add(5, "maker", &event.AttemptProposed{Attempt: 1, Answer: 4})
	answer(6, "judge-1") // 7
	add(8, "", &event.RewardGiven{Attempt: 1, Sum: 250})
	answer(9, "maker") // 10
	add(11, "maker", &event.AttemptProposed{Attempt: 2, Answer: 10})
	add(12, "", &event.RewardGiven{Attempt: 2, None: true})
	answer(13, "maker") // 14
	add(15, "maker", &event.AttemptProposed{Attempt: 3, Answer: 14})
	add(16, "", &event.RewardGiven{Attempt: 3, Sum: 1000, HeldOut: &held})
	answer(17, "maker") // 18: finishes
	v.end()
	got := map[uint64]string{}
	for _, s := range v.samples {
		o := s.origin()
		switch {
		case o.Reward == nil:
			got[s.seq] = "none"
		case o.HeldOut != nil:
			got[s.seq] = fmt.Sprint(*o.Reward, " ", *o.HeldOut)
		default:
			got[s.seq] = fmt.Sprint(*o.Reward)
		}
	}
	if want := map[uint64]string{2: "0.25", 4: "0.25", 7: "none", 10: "none", 14: "1 1", 18: "none"}; !reflect.DeepEqual(got, want) {
		t.Errorf("rewards %v, want %v", got, want)
	}
}

// TestPairs: the best, and each that earned less and said something else.
func TestPairs(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	x := &export{o: Options{Format: Preference}, w: &b, rep: &Report{}}
	one := func(says string, reward int64) *sample {
		s := &sample{call: &event.ModelCall{}, result: &event.ModelResult{}, quest: says, completion: []message{{Role: "assistant", Content: says}}}
		if reward >= 0 {
			s.reward = &reward
		}
		return s
	}
	first := one("low", 100)
	first.prompt = []message{{Role: "user", Content: "asked"}}
	must(t, x.group(first, []*sample{first, one("none", -1), one("high", 900), one("as high", 900), one("middle", 500), one("high", 300)}))
	var got []string
	for line := range strings.Lines(b.String()) {
		var l read
		must(t, json.Unmarshal([]byte(line), &l, json.MatchCaseInsensitiveNames(true)))
		got = append(got, fmt.Sprint(l.Prompt[0].Content, ": ", l.Chosen[0].Content, " not ", l.Rejected[0].Content, " ", *l.Origins[0].Reward, " ", *l.Origins[1].Reward))
	}
	if want := []string{"asked: high not low 0.9 0.1", "asked: high not middle 0.9 0.5"}; !reflect.DeepEqual(got, want) {
		t.Errorf("pairs %q, want %q", got, want)
	}
}

// TestMessages: pictures, arguments that are no object, results without a word before them.
func TestMessages(t *testing.T) {
	t.Parallel()
	c := chat{clean: func(string) bool { return true }}
	got, err := json.Marshal(c.conversation("Be good.", []model.Message{
		{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "Look:"}, {Kind: model.PartImage, Media: "image/png", Data: []byte("png")}}},
		{Role: model.Assistant, Parts: []model.Part{{Kind: event.PartToolCall, ID: "x", Name: "look", Args: "not {"}}},
		{Role: model.User, Parts: []model.Part{{Kind: model.PartToolResult, ID: "x", Name: "look", Text: "seen", Pictures: []model.Part{{Media: "image/png", Data: []byte("p")}}}, {Kind: event.PartText, Text: "And now?"}}},
	}))
	must(t, err)
	want := `[{"role":"system","content":"Be good."},` +
		`{"role":"user","content":[{"type":"text","text":"Look:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"x","type":"function","function":{"name":"look","arguments":"not {"}}]},` +
		`{"role":"tool","content":[{"type":"text","text":"seen"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cA=="}}],"tool_call_id":"x","name":"look"},` +
		`{"role":"user","content":"And now?"}]`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

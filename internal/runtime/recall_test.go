package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lyceum/internal/event"
	given "lyceum/internal/knowledge/answers"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/search/glove"

	"github.com/go-json-experiment/json"
)

// oracle is a model that counts how often it is asked, and answers each time with another number.
type oracle struct {
	asked   atomic.Int64
	replies func(n int64, r *model.Request) (*model.Answer, error)
}

func (o *oracle) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	n := o.asked.Add(1)
	if o.replies != nil {
		return o.replies(n, r)
	}
	return saying(fmt.Sprintf("answer %d", n)), nil
}

func saying(text string) *model.Answer {
	return &model.Answer{
		Parts: []model.Part{{Kind: event.PartText, Text: text}}, Stop: model.StopEnd, Cost: 1000, Usage: event.Usage{Input: 100, Output: 10}, Price: &event.Price{Input: 1, Output: 1},
	}
}

// recalls is a home whose quests are answered by an oracle.
type recalls struct {
	*lab
	*oracle
	now atomic.Int64
}

func newRecalls(t *testing.T) *recalls {
	r := &recalls{lab: newLab(t), oracle: &oracle{}}
	r.now.Store(1_800_000_000_000_000)
	r.Clock = func() event.Time { return event.Time(r.now.Add(1000)) }
	r.Embedder = glove.Embedder{}
	r.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return r.oracle, nil }
	return r
}

// ask makes a quest of one question, and runs it.
func (r *recalls) ask(name, extra, problem string) *quest.State {
	r.t.Helper()
	return r.run(r.create(r.asking(name, extra, problem)))
}

func (r *recalls) asking(name, extra, problem string) runtime.Plan {
	r.t.Helper()
	p := plan(r.t, name, extra, calm)
	p.Spec.Problem = problem
	return p
}

const calm = "rules: [{on: {turn: 1}, say: \"Done.\"}]\n"

// answersOf are the results of models in a quest.
func (r *recalls) answersOf(name string) (out []event.Event) {
	for _, e := range r.events(name) {
		if e.Type == "model.result" {
			out = append(out, e)
		}
	}
	return out
}

func (r *recalls) entries() int {
	r.t.Helper()
	s, err := given.Open(filepath.Join(r.Home, "cache", "answers.db"))
	must(r.t, err)
	n, err := s.Len(context.Background())
	must(r.t, errors.Join(err, s.Close()))
	return n
}

func TestTheSameRequestIsAnsweredOnce(t *testing.T) {
	r := newRecalls(t)
	first := r.ask("first", "cache: exact\nlimits: {cost: 0.01}\n", "Why is the sky blue?")
	again := r.ask("again", "cache: exact\nlimits: {cost: 0.01}\n", "Why is the sky blue?")
	if n := r.asked.Load(); n != 1 {
		t.Fatalf("the model was asked %d times, want 1", n)
	}
	if again.Answer.Text != "answer 1" || again.Status != quest.Finished {
		t.Errorf("the second quest is %s and answers %q", again.Status, again.Answer.Text)
	}
	if again.Spent.Cost != 0 || again.Spent.Usage != (event.Usage{}) || again.Spent.Turns != 1 || again.Spent.Recalled != 1 || first.Spent.Recalled != 0 || first.Spent.Cost != 1000 {
		t.Errorf("the first spent %+v, the second %+v", first.Spent, again.Spent)
	}
	origin, hit := r.answersOf("first")[0], r.answersOf("again")[0]
	b := hit.Body.(*event.ModelResult)
	if want := (event.Recalled{Quest: "first", Seq: origin.Seq, Hash: origin.Hash}); b.Recalled == nil || *b.Recalled != want {
		t.Errorf("the answer says that it comes from %+v, want %+v", b.Recalled, want)
	}
	r.sound("first")
	r.sound("again")
}

func TestWithoutTheKeyEveryAnswerIsNew(t *testing.T) {
	r := newRecalls(t)
	r.ask("first", "cache: exact\n", "Why is the sky blue?")
	r.ask("again", "", "Why is the sky blue?")
	r.ask("other", "cache: exact\n", "Why is the sea blue?")
	r.ask("thinking", "cache: exact\nmax_output: 300\n", "Why is the sky blue?")
	if n := r.asked.Load(); n != 4 {
		t.Errorf("the model was asked %d times, want 4: one quest does not say so, one asks something else, one otherwise", n)
	}
	for _, e := range r.events("again") {
		if c, ok := e.Body.(*event.ModelCall); ok && c.Cache != "" {
			t.Errorf("without the key a call says cache: %s", c.Cache)
		}
	}
}

func TestANearQuestionIsAnsweredOnce(t *testing.T) {
	r := newRecalls(t)
	r.ask("first", "cache: near\n", "What is the capital of France?")
	r.ask("again", "cache: near\n", "Please tell me: what's the capital of France?")
	if n := r.asked.Load(); n != 1 {
		t.Fatalf("the model was asked %d times, want 1", n)
	}
	b := r.answersOf("again")[0].Body.(*event.ModelResult).Recalled
	if b == nil || b.Asked == nil || b.Asked.Text != "What is the capital of France?" || b.Cosine < given.Near || b.Embedder != r.Embedder.Name() {
		t.Errorf("the answer says %+v", b)
	}
	r.sound("again")
	for i, q := range []string{"What is the capital of Spain?", "What is not the capital of France?", "What is the capital of France in 1900?"} {
		r.ask(fmt.Sprintf("other-%d", i), "cache: near\n", q)
	}
	r.ask("exact", "cache: exact\n", "please tell me: what is the capital of France?")
	if n := r.asked.Load(); n != 5 {
		t.Errorf("the model was asked %d times, want 5", n)
	}
	r.Embedder = nil
	r.ask("words", "cache: near\n", "please tell me: what is the capital of France")
	r.ask("words-again", "cache: near\n", "please tell me: what is the capital of France")
	if n := r.asked.Load(); n != 6 {
		t.Errorf("without vectors the model was asked %d times, want 6: the same request is still found", n)
	}
	rep, err := audit.Verify(t.Context(), r.Runtime, "again", nil)
	must(t, err)
	if rep.Difference != nil || !slices.ContainsFunc(rep.Notes, func(n string) bool { return strings.Contains(n, "not measured again") }) {
		t.Errorf("without vectors verify says %v, %v", rep.Difference, rep.Notes)
	}
}

func TestAnAnswerIsTakenForADay(t *testing.T) {
	r := newRecalls(t)
	r.ask("first", "cache: exact\n", "Why?")
	then := r.answersOf("first")[0].Time
	r.create(r.asking("day", "cache: exact\n", "Why?"))
	r.Clock = func() event.Time { return then + given.Limit }
	r.run("day")
	if n := r.asked.Load(); n != 2 {
		t.Fatalf("after a day the model was asked %d times, want 2", n)
	}
	r.sound("day")
}

func TestFailuresAreNotKept(t *testing.T) {
	for what, bad := range map[string]func() (*model.Answer, error){
		"an error":         func() (*model.Answer, error) { return nil, &model.Error{Kind: model.Invalid, Text: "no"} },
		"a refusal":        func() (*model.Answer, error) { a := saying("I will not."); a.Stop = model.StopRefusal; return a, nil },
		"one broken off":   func() (*model.Answer, error) { a := saying("It is"); a.Stop = model.StopLength; return a, nil },
		"nothing but air":  func() (*model.Answer, error) { return &model.Answer{Stop: model.StopEnd}, nil },
		"a driver's panic": func() (*model.Answer, error) { panic("broken") },
	} {
		t.Run(what, func(t *testing.T) {
			r := newRecalls(t)
			r.replies = func(int64, *model.Request) (*model.Answer, error) { return bad() }
			r.ask("first", "cache: exact\n", "Why?")
			if n := r.entries(); n != 0 {
				t.Errorf("%s is kept", what)
			}
			r.replies = nil
			if s := r.ask("again", "cache: exact\n", "Why?"); s.Spent.Recalled != 0 || s.Status != quest.Finished {
				t.Errorf("the next is %s, and recalled %d", s.Status, s.Spent.Recalled)
			}
		})
	}
}

func TestEqualQuestionsAtOnceAskOnce(t *testing.T) {
	r := newRecalls(t)
	const n = 8
	asking, go_ := make(chan struct{}, n), make(chan struct{})
	r.replies = func(i int64, _ *model.Request) (*model.Answer, error) {
		asking <- struct{}{}
		<-go_
		return saying(fmt.Sprint(i)), nil
	}
	var wg sync.WaitGroup
	called := make(chan struct{}, n)
	for i := range n {
		name := r.create(r.asking(fmt.Sprintf("q-%d", i), "cache: exact\n", "Why?"))
		wg.Go(func() {
			_, err := r.Run(context.Background(), name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
				if e.Type == "model.call" {
					called <- struct{}{}
				}
			}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range n {
		<-called
	}
	<-asking
	close(go_)
	wg.Wait()
	if got := r.asked.Load(); got != 1 {
		t.Errorf("%d quests that asked at once asked the model %d times, want 1", n, got)
	}
	for i := range n {
		r.sound(fmt.Sprintf("q-%d", i))
	}
}

// Quests of several processes, each with a runtime of its own on one home, ask once as well; and when the process that asks
// is gone without an answer, another one asks.
func TestEqualQuestionsOfSeveralProcessesAskOnce(t *testing.T) {
	for _, gone := range []bool{false, true} {
		first := newRecalls(t)
		asking, answer := make(chan struct{}, 8), make(chan struct{})
		first.replies = func(i int64, _ *model.Request) (*model.Answer, error) {
			asking <- struct{}{}
			<-answer
			return saying(fmt.Sprint(i)), nil
		}
		const n = 4
		ctx, kill := context.WithCancel(context.Background())
		defer kill()
		var wg sync.WaitGroup
		called := make(chan struct{}, n)
		for i := range n {
			r := first
			if i > 0 {
				r = &recalls{lab: openLab(t, first.Home, nil), oracle: first.oracle}
				r.Clock, r.Embedder, r.Models = first.Clock, first.Embedder, first.Models
			}
			name := r.create(r.asking(fmt.Sprintf("q-%d", i), "cache: exact\n", "Why?"))
			within := context.Background()
			if i == 0 {
				within = ctx
			}
			wg.Go(func() {
				_, err := r.Run(within, name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
					if e.Type == "model.call" {
						called <- struct{}{}
					}
				}})
				if err != nil && within.Err() == nil {
					t.Error(err)
				}
			})
			<-called
			if i == 0 {
				<-asking
			}
		}
		want := int64(1)
		if gone {
			kill() // its answer comes to nothing
			want = 2
		}
		close(answer)
		wg.Wait()
		if got := first.asked.Load(); got != want {
			t.Errorf("%d quests of as many processes asked the model %d times, want %d (the first gone: %v)", n, got, want, gone)
		}
	}
}

func TestWhenTheFirstFailsTheNextAsks(t *testing.T) {
	r := newRecalls(t)
	begun, go_ := make(chan struct{}), make(chan struct{})
	r.replies = func(i int64, _ *model.Request) (*model.Answer, error) {
		if i == 1 {
			close(begun)
			<-go_
			return nil, &model.Error{Kind: model.Invalid, Text: "no"}
		}
		return saying("yes"), nil
	}
	first, second := r.create(r.asking("first", "cache: exact\n", "Why?")), r.create(r.asking("second", "cache: exact\n", "Why?"))
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = r.Run(context.Background(), first, runtime.RunOptions{}) })
	<-begun
	called := make(chan struct{})
	wg.Go(func() {
		_, err := r.Run(context.Background(), second, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
			if e.Type == "model.call" {
				close(called)
			}
		}})
		if err != nil {
			t.Error(err)
		}
	})
	<-called
	close(go_)
	wg.Wait()
	if s, err := r.Load(t.Context(), second); err != nil || s.Status != quest.Finished || s.Answer.Text != "yes" {
		t.Errorf("the second is %v, %v", s.Status, err)
	}
}

// TestAQuestThatIsLeftLetsOthersAsk kills the one that asks: who waits for it must not wait for
// ever, and the one that was killed asks again when it goes on.
func TestAQuestThatIsLeftLetsOthersAsk(t *testing.T) {
	r := newRecalls(t)
	begun := make(chan struct{})
	ctx, kill := context.WithCancel(t.Context())
	r.Models = func(string, func(string) ([]byte, error)) (model.Model, error) {
		return hanging{r.oracle, begun}, nil
	}
	first, second := r.create(r.asking("first", "cache: exact\n", "Why?")), r.create(r.asking("second", "cache: exact\n", "Why?"))
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = r.Run(ctx, first, runtime.RunOptions{}) })
	<-begun
	called := make(chan struct{})
	wg.Go(func() {
		_, err := r.Run(context.Background(), second, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
			if e.Type == "model.call" {
				close(called)
			}
		}})
		if err != nil {
			t.Error(err)
		}
	})
	<-called
	kill()
	wg.Wait()
	if s := r.run(first); s.Status != quest.Finished || s.Spent.Recalled != 1 {
		t.Errorf("the one that was killed is %s and recalled %d, want the answer that the other has got meanwhile", s.Status, s.Spent.Recalled)
	}
	r.sound(first)
	r.sound(second)
}

// hanging is a model that hangs when it is asked first.
type hanging struct {
	*oracle
	begun chan struct{}
}

func (h hanging) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	a, err := h.oracle.Generate(ctx, r, emit)
	if h.asked.Load() == 1 {
		close(h.begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return a, err
}

func TestAnAnswerGoesWithItsQuest(t *testing.T) {
	r := newRecalls(t)
	r.ask("first", "cache: exact\n", "Why?")
	r.ask("again", "cache: exact\n", "Why?")
	must(t, r.Clean(t.Context(), "first", true))
	if n := r.entries(); n != 0 {
		t.Errorf("there are %d entries of a quest that is gone", n)
	}
	r.ask("third", "cache: exact\n", "Why?")
	if n := r.asked.Load(); n != 2 {
		t.Errorf("the model was asked %d times, want 2", n)
	}
	// What was taken from it stands alone.
	r.sound("again")
	rep, err := audit.Verify(t.Context(), r.Runtime, "again", nil)
	must(t, err)
	if len(rep.Notes) == 0 || !strings.Contains(rep.Notes[0], "not here") {
		t.Errorf("verify notes %v", rep.Notes)
	}
	// Another quest of the name is not the one that it came from.
	r.ask("first", "", "Something else?")
	r.sound("again")
}

// TestAStaleEntryIsNoAnswer has the cache name what is not there: a quest that went without
// saying so, an event of another hash, one that answered something else.
func TestAStaleEntryIsNoAnswer(t *testing.T) {
	r := newRecalls(t)
	r.ask("first", "cache: exact\n", "Why?")
	r.ask("other", "cache: exact\n", "Where?")
	s, err := given.Open(filepath.Join(r.Home, "cache", "answers.db"))
	must(t, err)
	key := r.exact("first")
	found, err := s.Find(t.Context(), &given.Question{Exact: key}, r.Clock())
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("the entry of the first quest is not where the test looks for it: %v", found)
	}
	from := r.answersOf("other")[0]
	for i, e := range []given.Entry{
		{Quest: "gone", Seq: 5, Hash: from.Hash}, {Quest: "other", Seq: from.Seq, Hash: event.Hash{1}}, {Quest: "other", Seq: from.Seq, Hash: from.Hash}, {Quest: "other", Seq: 99, Hash: from.Hash},
	} {
		must(t, s.Forget(t.Context(), found[0].Quest))
		must(t, s.Forget(t.Context(), "other"))
		e.Exact, e.Time = key, r.Clock()
		must(t, s.Put(t.Context(), e))
		before := r.asked.Load()
		name := fmt.Sprintf("again-%d", i)
		if st := r.ask(name, "cache: exact\n", "Why?"); st.Spent.Recalled != 0 || r.asked.Load() != before+1 {
			t.Errorf("entry %d is taken for an answer", i)
		}
		if m, err := s.Find(t.Context(), &given.Question{Exact: key}, r.Clock()); err != nil || slices.ContainsFunc(m, func(m given.Match) bool { return m.Quest == e.Quest }) {
			t.Errorf("entry %d is still there, %v", i, err)
		}
		must(t, s.Forget(t.Context(), name))
	}
	must(t, s.Close())
}

// exact is the key of the first answer in a quest.
func (r *recalls) exact(name string) event.Hash {
	r.t.Helper()
	s, err := r.Load(r.t.Context(), name)
	must(r.t, err)
	about, err := json.Marshal([]any{"agent-0", s.Pins})
	must(r.t, err)
	for _, e := range r.events(name) {
		if c, ok := e.Body.(*event.ModelCall); ok {
			return event.HashOf(slices.Concat([]byte("exact\n"), c.Rendering[:], about))
		}
	}
	return event.Hash{}
}

func TestAForkAsksAnew(t *testing.T) {
	r := newRecalls(t)
	r.ask("first", "cache: near\n", "Why?")
	at := uint64(0)
	for _, e := range r.events("first") {
		if e.Type == "model.call" {
			at = e.Seq - 1
		}
	}
	for i := range 2 {
		s, err := r.Fork(t.Context(), "first", runtime.ForkOptions{At: at})
		must(t, err)
		if s = r.run(s.Name); s.Spent.Recalled != 0 || s.Answer.Text != fmt.Sprintf("answer %d", i+2) {
			t.Errorf("fork %d answers %q", i, s.Answer.Text)
		}
		r.sound(s.Name)
	}
	if n := r.entries(); n != 1 {
		t.Errorf("there are %d entries, want that of the origin alone", n)
	}
}

func TestAToolCallOfBeforeIsMadeAgain(t *testing.T) {
	r := newRecalls(t)
	r.replies = func(n int64, q *model.Request) (*model.Answer, error) {
		if len(q.Messages) > 1 {
			return saying("42"), nil
		}
		a := saying("I compute.")
		a.Stop, a.Parts = model.StopTools, append(a.Parts, model.Part{Kind: event.PartToolCall, ID: "c1", Name: "calculate", Args: `{"code":"print(6*7)"}`})
		return a, nil
	}
	r.ask("first", "cache: near\n", "What is six times seven?")
	s := r.ask("again", "cache: near\n", "What is six times seven?")
	if n := r.asked.Load(); n != 2 || s.Spent.Recalled != 2 || s.Spent.Tools != 1 {
		t.Errorf("the model was asked %d times, want 2; the second quest recalled %d, want 2, and used %d tools, want 1", n, s.Spent.Recalled, s.Spent.Tools)
	}
	r.sound("again")
	if s = r.ask("near", "cache: near\n", "Please tell me, what is six times seven?"); s.Spent.Recalled != 0 {
		t.Errorf("a question near one that needed a tool is answered from the cache")
	}
}

func TestALongAnswerStandsAlone(t *testing.T) {
	r := newRecalls(t)
	long := strings.Repeat("The sky is blue because of what light does in air. ", 4000)
	r.replies = func(int64, *model.Request) (*model.Answer, error) { return saying(long), nil }
	r.ask("first", "cache: near\n", "Why is the sky blue?")
	r.ask("again", "cache: near\n", "Please, why is the sky blue?")
	if n := r.asked.Load(); n != 1 {
		t.Fatalf("the model was asked %d times, want 1", n)
	}
	must(t, r.Clean(t.Context(), "first", true))
	_, _, err := r.Collect(t.Context())
	must(t, err)
	r.sound("again")
	if got := r.blob(*r.answersOf("again")[0].Body.(*event.ModelResult).Parts[0].Text.Ref); got != long {
		t.Errorf("the answer has %d bytes, want %d", len(got), len(long))
	}
}

func TestAForgedRecallIsFound(t *testing.T) {
	r := newRecalls(t)
	r.ask("first", "cache: near\n", "What is the capital of France?")
	r.ask("else", "cache: near\n", "What is the capital of Spain?")
	r.ask("again", "cache: near\n", "What is the capital of France?")
	r.ask("near", "cache: near\n", "Please, what is the capital of France?")
	other := r.answersOf("else")[0]
	result := func(d *event.Draft, change func(*event.ModelResult)) {
		if b, ok := d.Body.(*event.ModelResult); ok {
			change(b)
		}
	}
	for name, tc := range map[string]struct {
		from   string
		change func(*event.Draft)
		want   string
	}{
		"another answer": {"again", func(d *event.Draft) { result(d, func(b *event.ModelResult) { b.Parts[0].Text.Text = "Lyon" }) }, "the answer is not that of"},
		"another stop":   {"again", func(d *event.Draft) { result(d, func(b *event.ModelResult) { b.Stop = model.StopLength }) }, "the answer is not that of"},
		"another hash":   {"again", func(d *event.Draft) { result(d, func(b *event.ModelResult) { b.Recalled.Hash = event.Hash{1} }) }, "another one"},
		"another seq":    {"again", func(d *event.Draft) { result(d, func(b *event.ModelResult) { b.Recalled.Seq-- }) }, "another one"},
		"another question": {"again", func(d *event.Draft) {
			result(d, func(b *event.ModelResult) {
				from := other.Body.(*event.ModelResult)
				b.Parts, b.Recalled = from.Parts, &event.Recalled{Quest: "else", Seq: other.Seq, Hash: other.Hash}
			})
		}, "asked something else"},
		"another cosine": {"near", func(d *event.Draft) { result(d, func(b *event.ModelResult) { b.Recalled.Cosine-- }) }, "not as near"},
		"too far":        {"near", func(d *event.Draft) { result(d, func(b *event.ModelResult) { b.Recalled.Cosine = given.Near - 1 }) }, "too far"},
		"another name": {"near", func(d *event.Draft) {
			result(d, func(b *event.ModelResult) { b.Recalled.Asked.Text = "What is the capital of Spain?" })
		}, "other words that count"},
		"other words": {"near", func(d *event.Draft) {
			result(d, func(b *event.ModelResult) { b.Recalled.Asked.Text = "What's the capital of France?" })
		}, "not as near"},
		"a later time": {"again", func(d *event.Draft) { d.Time += given.Limit + 1 }, "more than a day"},
		"a cost":       {"again", func(d *event.Draft) { result(d, func(b *event.ModelResult) { b.Cost = 5 }) }, "is said to have used something"},
		"a call without it": {"again", func(d *event.Draft) {
			if c, ok := d.Body.(*event.ModelCall); ok {
				c.Cache = ""
			}
		}, ""},
	} {
		to := "forged-" + strings.ReplaceAll(name, " ", "-")
		r.rechain(tc.from, to, func(d *event.Draft) { tc.change(d) })
		rep, err := audit.Verify(t.Context(), r.Runtime, to, nil)
		if tc.want == "is said to have used something" && err == nil && rep.Difference == nil {
			t.Errorf("%s: it verifies", name)
		}
		must(t, err)
		if rep.Difference == nil || !strings.Contains(rep.Difference.What, tc.want) {
			t.Errorf("%s: verify says %v, want %q", name, rep.Difference, tc.want)
		}
	}
}

// lost is an embedder that is away.
type lost struct{}

func (lost) Name() string { return "lost" }

func (lost) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("the embedder cannot be reached")
}

func TestAFailingEmbedderIsAnEvent(t *testing.T) {
	r := newRecalls(t)
	r.Embedder = lost{}
	r.ask("first", "cache: near\n", "Why?")
	if s := r.ask("again", "cache: near\n", "Why?"); s.Spent.Recalled != 1 {
		t.Error("without vectors the same request is not found")
	}
	n := 0
	for _, e := range r.events("again") {
		if b, ok := e.Body.(*event.EmbedderFailed); ok {
			n++
			if b.Embedder != "lost" || !strings.Contains(b.Text, "cannot be reached") || b.For == "" {
				t.Errorf("it says %+v", b)
			}
		}
	}
	if n != 1 {
		t.Errorf("the ledger says %d times that there are no vectors, want once", n)
	}
	r.sound("again")
}

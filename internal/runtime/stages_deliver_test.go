package runtime_test

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/connector"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/stages"
)

// tells is a researcher that says to people what they say to it.
const tells = `
rules:
  - on: {tool: interact, result: "Said to"}
    say: "It is said."
  - on: {last: "show files"}
    call: [{tool: interact, args: {kind: milestone, text: "Look.", files: [small.csv, large.bin, link, pipe, none]}}]
  - on: {last: "say ([a-z]+)"}
    call: [{tool: interact, args: {kind: milestone, text: "I say ${1}."}}]
  - say: "Turn ${turn}."
`

// cut is a workshop whose process is killed when the outbox has a delivery, and its result is not
// yet durable.
type cut struct {
	service.Stages
	kill *bool
}

func (m cut) Open(ctx context.Context, q *runtime.Quest) (runtime.Bench, error) {
	b, err := m.Stages.Open(ctx, q)
	return cutBench{b, m}, err
}

type cutBench struct {
	runtime.Bench
	cut
}

func (b cutBench) Services() map[event.Type]runtime.Service {
	out := maps.Clone(b.Bench.Services())
	out["delivery.call"] = cutService{out["delivery.call"], b.cut}
	return out
}

type cutService struct {
	runtime.Service
	cut
}

func (s cutService) Start(e event.Event) (runtime.Work, error) {
	work, err := s.Service.Start(e)
	if !*s.kill {
		return work, err
	}
	*s.kill = false
	return func(ctx context.Context) ([]event.Draft, error) {
		_, err := work(ctx)
		return nil, errors.Join(err, errKilled)
	}, err
}

// bound is a study with a conversation that the home knows of.
func bound(t *testing.T, shop runtime.Workshop) (l *lab, name string, box connector.Box) {
	t.Helper()
	l = newStages(t, shop)
	name = l.create(plan(t, "first", "society: stages\n", tells))
	l.rests(name)
	box = connector.Box{Notes: l.Ledger, Clock: l.Clock}
	b, err := box.Bind(t.Context(), connector.Binding{Connector: "chat", Conversation: "c", Quest: name}, func(string) (bool, error) { return false, nil })
	must(t, err)
	_, err = l.Post(t.Context(), name, ledger.Command{Key: b.Key(false), Body: &event.ConversationBound{Connector: "chat", Conversation: "c"}})
	must(t, err)
	return l, name, box
}

func outbox(t *testing.T, box connector.Box) (out []string) {
	t.Helper()
	all, err := box.Deliveries(t.Context())
	must(t, err)
	for _, d := range all {
		out = append(out, strings.Join([]string{d.Quest, d.Connector, d.Conversation, d.Kind, d.Text, d.State}, "|"))
	}
	return out
}

func TestWhatIsSaidIsInTheOutboxOnceWhoeverIsKilled(t *testing.T) {
	kill := false
	l, name, box := bound(t, cut{kill: &kill})
	l.says(name, "say aye")
	kill = true
	if _, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true}); !errors.Is(err, errKilled) {
		t.Fatalf("the run ends with %v", err)
	}
	want := []string{"first|chat|c|milestone|I say aye.|waiting"}
	if got := outbox(t, box); !slices.Equal(got, want) {
		t.Fatalf("the outbox has %q, want %q", got, want)
	}
	l.rests(name)
	l.says(name, "say bee")
	l.rests(name)
	want = append(want, "first|chat|c|milestone|I say bee.|waiting")
	if got := outbox(t, box); !slices.Equal(got, want) {
		t.Errorf("the outbox has %q, want %q", got, want)
	}
	if calls, results := l.count(name, "delivery.call"), l.count(name, "delivery.result"); calls != 2 || results != 2 {
		t.Errorf("there are %d calls and %d results", calls, results)
	}
	l.sound(name)
}

// mute is a workshop whose process is killed before the outbox has a delivery.
type mute struct {
	service.Stages
	kill *bool
}

func (m mute) Open(ctx context.Context, q *runtime.Quest) (runtime.Bench, error) {
	b, err := m.Stages.Open(ctx, q)
	return muteBench{b, m}, err
}

type muteBench struct {
	runtime.Bench
	mute
}

func (b muteBench) Services() map[event.Type]runtime.Service {
	out := maps.Clone(b.Bench.Services())
	if *b.kill {
		out["delivery.call"] = b
	}
	return out
}

// Start implements runtime.Service.
func (muteBench) Start(event.Event) (runtime.Work, error) {
	return func(context.Context) ([]event.Draft, error) { return nil, errKilled }, nil
}

// TestTheLastWordIsInTheOutboxWhoeverIsKilled: a study that is finished has nobody who runs it, and
// what it said last is delivered all the same.
func TestTheLastWordIsInTheOutboxWhoeverIsKilled(t *testing.T) {
	kill := true
	l := newStages(t, mute{kill: &kill})
	name := l.create(plan(t, "first", "society: stages\nanchor: finalize\npaper: none\n", `
rules:
  - on: {last: "end it"}
    call: [{tool: complete, args: {answer: "It is so."}}]
  - say: "Turn ${turn}."
`))
	l.rests(name)
	box := connector.Box{Notes: l.Ledger, Clock: l.Clock}
	b, err := box.Bind(t.Context(), connector.Binding{Connector: "chat", Conversation: "c", Quest: name}, func(string) (bool, error) { return false, nil })
	must(t, err)
	_, err = l.Post(t.Context(), name, ledger.Command{Key: b.Key(false), Body: &event.ConversationBound{Connector: "chat", Conversation: "c"}})
	must(t, err)
	l.says(name, "end it")
	if _, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true}); !errors.Is(err, errKilled) {
		t.Fatalf("the run ends with %v", err)
	}
	if s, err := l.Load(t.Context(), name); err != nil || s.Status != quest.Finished || len(outbox(t, box)) != 0 || l.count(name, "delivery.call") != 1 {
		t.Fatalf("killed at its last word, the study is %s, %v, and the outbox has %q", s.Status, err, outbox(t, box))
	}
	kill = false
	for range 2 {
		_, err := l.TidyUp(t.Context(), name, nil)
		must(t, err)
		if got := outbox(t, box); !slices.Equal(got, []string{"first|chat|c|answer|It is so.|waiting"}) {
			t.Errorf("the outbox has %q, want its last word", got)
		}
	}
	if n := l.count(name, "delivery.result"); n != 1 {
		t.Errorf("the delivery has %d results, want one", n)
	}
	l.sound(name)
}

// TestAForkAndAnImportAreHeardByNobody: a fork has no bound conversations, and what a ledger says
// of bindings counts only where the home knows of them.
func TestAForkAndAnImportAreHeardByNobody(t *testing.T) {
	l, name, box := bound(t, nil)
	l.says(name, "say aye")
	l.rests(name)
	fork, err := l.Fork(t.Context(), name, runtime.ForkOptions{Name: "fork"})
	must(t, err)
	if n := len(stages.Of(fork).Study.Bound); n != 0 {
		t.Errorf("a fork is bound to %d conversations", n)
	}
	l.says("fork", "say bee")
	l.rests("fork")
	if n := l.count("fork", "delivery.call"); n != 1 {
		t.Errorf("the fork has %d deliveries, want only that of its origin", n)
	}
	b, err := box.Bound(t.Context(), "chat", "c")
	must(t, err)
	must(t, box.Unbind(t.Context(), b)) // as in a home that the ledger came to from elsewhere
	l.says(name, "say cee")
	l.rests(name)
	if got := outbox(t, box); !slices.Equal(got, []string{"first|chat|c|milestone|I say aye.|waiting"}) {
		t.Errorf("the outbox has %q", got)
	}
	last := ""
	for _, e := range l.events(name) {
		if r, ok := e.Body.(*event.DeliveryResult); ok {
			last = r.Error
		}
	}
	if !strings.Contains(last, "is not bound to this quest here") {
		t.Errorf("the last delivery says %q", last)
	}
	l.sound(name)
}

func TestOnlyAStudyIsBound(t *testing.T) {
	l := newStages(t, nil)
	name := l.create(plan(t, "solo", "", tells))
	s, err := l.Load(t.Context(), name)
	must(t, err)
	if err := s.Accepts("person", &event.ConversationBound{Connector: "chat", Conversation: "c"}); err == nil || !strings.Contains(err.Error(), "says nothing to people elsewhere") {
		t.Errorf("got %v, want a refusal", err)
	}
}

// TestFilesOfWordsGoAlong: those of the researcher's home that its words name, within bounds. What is
// no file of it is named alone: a link out, a pipe that nobody writes to, what is too large.
func TestFilesOfWordsGoAlong(t *testing.T) {
	l, name, box := bound(t, service.Stages{})
	home := filepath.Join(l.QuestDir(name), "agents", stages.Researcher)
	must(t, os.WriteFile(filepath.Join(home, "small.csv"), []byte("a,b\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(home, "large.bin"), make([]byte, connector.MaxFile+1), 0o600))
	outside := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(home, "link")))
	must(t, syscall.Mkfifo(filepath.Join(home, "pipe"), 0o600))
	l.says(name, "show files")
	l.rests(name)
	all, err := box.Deliveries(t.Context())
	must(t, err)
	if len(all) != 1 || len(all[0].Files) != 1 || all[0].Files[0].Name != "small.csv" {
		t.Fatalf("the outbox has %+v, want one delivery with small.csv", all)
	}
	for _, want := range []string{"Files: small.csv, large.bin, link, pipe, none", "large.bin (a file has at most 5 MiB", "link (it cannot be opened)", "pipe (it is no file)", "none (it cannot be opened)", "quests/" + name + "/agents/researcher"} {
		if !strings.Contains(all[0].Text, want) {
			t.Errorf("the words are %q, want %q in them", all[0].Text, want)
		}
	}
	notes, err := box.Notes.Notes(t.Context(), "outfile", 1<<53-1, 10)
	must(t, err)
	if len(notes) != 1 || strings.Contains(string(notes[0].Body), base64.StdEncoding.EncodeToString([]byte("secret"))) {
		t.Errorf("the box holds %d files, want small.csv alone", len(notes))
	}
	l.sound(name)
}

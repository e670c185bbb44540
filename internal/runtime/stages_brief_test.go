package runtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// revise has the brief of a study say something else, as whoever posts it does.
func (l *lab) revise(name string, base event.Hash, text string) (*event.UserMessage, error) {
	l.t.Helper()
	s, err := l.Load(l.t.Context(), name)
	must(l.t, err)
	m, err := l.Revise(l.t.Context(), name, s, base, text)
	if m != nil {
		_, err = l.Post(l.t.Context(), name, ledger.Command{Body: m})
	}
	return m, err
}

// A saved brief is an event; the folder is written from that, whoever is killed.
func TestTheBriefOfAStudy(t *testing.T) {
	l := newStages(t, nil)
	name := l.create(plan(t, "q", "society: stages\n", notes))
	s := l.rests(name)
	file := filepath.Join(l.QuestDir(name), quest.BriefFile)
	first, err := os.ReadFile(file)
	must(t, err)
	begun := s.BriefRevision()
	if m, err := l.revise(name, begun, "Divide instead."); m == nil || err != nil {
		t.Fatalf("a save leads to %v, %v", m, err)
	}
	// What waits in the inbox counts.
	if m, err := l.revise(name, begun, "Divide instead."); m != nil || err != nil {
		t.Errorf("the same save again leads to %v, %v, want nothing", m, err)
	}
	_, err = l.revise(name, begun, "Add instead.")
	stale, ok := errors.AsType[*runtime.Stale](err)
	if !ok || stale.Now != event.HashOf([]byte("Divide instead.")) {
		t.Errorf("a late save leads to %v, want the revision that waits", err)
	}
	if text, waits, err := l.Brief(t.Context(), name, s); text.Text != "Divide instead." || !waits || err != nil {
		t.Errorf("the brief will be %q, %v, %v", text.Text, waits, err)
	}
	s = l.rests(name)
	if text, waits, err := l.Brief(t.Context(), name, s); text.Text != "Divide instead." || waits || err != nil {
		t.Errorf("the brief is %q, %v, %v", text.Text, waits, err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "Divide instead.\n" {
		t.Errorf("brief.md holds %q, %v", got, err)
	}
	if n := l.count(name, "user.message"); n != 1 {
		t.Errorf("there are %d messages, want one", n)
	}
	changed := func() []string {
		t.Helper()
		out, err := l.ChangedFiles(t.Context(), name, s, nil)
		must(t, err)
		return out
	}
	must(t, os.WriteFile(file, []byte("Forged.\n"), 0o600))
	if got := changed(); !slices.Equal(got, []string{file}) {
		t.Errorf("changed are %v, want the brief", got)
	}
	// As a process leaves it that was killed before it wrote.
	must(t, os.WriteFile(file, first, 0o600))
	if got := changed(); len(got) != 0 {
		t.Errorf("changed are %v: it is of an earlier time", got)
	}
	l.rests(name)
	if got, _ := os.ReadFile(file); string(got) != "Divide instead.\n" {
		t.Errorf("after the next run brief.md holds %q", got)
	}

	// A long one stands in a blob, without keys, and is there as soon as it is posted.
	long := strings.Repeat("A long brief.\n", 2000)
	m, err := l.revise(name, s.BriefRevision(), long)
	if err != nil || m.Text.Ref == nil || m.Text.Text != "" {
		t.Fatalf("a long brief leads to %+v, %v", m, err)
	}
	if data, err := l.Blob(t.Context(), *m.Text.Ref); err != nil || string(data) != long {
		t.Errorf("the blob has %d bytes, %v", len(data), err)
	}
	l.rests(name)
	if got, _ := os.ReadFile(file); string(got) != long+"\n" {
		t.Errorf("brief.md has %d bytes, want %d", len(got), len(long)+1)
	}
	// A fork has the brief of its origin.
	fork, err := l.Fork(t.Context(), name, runtime.ForkOptions{Name: "fork"})
	must(t, err)
	if got, _ := os.ReadFile(filepath.Join(l.QuestDir("fork"), quest.BriefFile)); string(got) != long+"\n" || fork.BriefRevision() != m.Text.Ref.Hash {
		t.Errorf("the brief of a fork has %d bytes", len(got))
	}
	l.sound(name)
}

// TestOfTwoBriefsAtOnceTheFirstCounts: two processes find the same revision, and both post.
func TestOfTwoBriefsAtOnceTheFirstCounts(t *testing.T) {
	l := newStages(t, nil)
	name := l.create(plan(t, "q", "society: stages\n", notes))
	s := l.rests(name)
	for _, text := range []string{"First.", "Second."} {
		m, err := l.Revise(t.Context(), "another", s, s.BriefRevision(), text) // whose inbox is empty
		must(t, err)
		_, err = l.Post(t.Context(), name, ledger.Command{Body: m})
		must(t, err)
	}
	s = l.rests(name)
	if s.Brief().Text != "First." || len(s.Briefings) != 1 || l.count(name, "user.message") != 2 {
		t.Errorf("the brief is %q of %d, want the first of two messages", s.Brief().Text, len(s.Briefings))
	}
	l.sound(name)
}

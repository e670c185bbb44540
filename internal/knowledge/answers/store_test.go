package answers_test

import (
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/knowledge/answers"
	"lyceum/internal/search"
)

func TestADamagedFileIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{"garbage": "this is no database, and it is longer than a header of one: " + string(make([]byte, 200)), "empty": ""} {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, []byte(data), 0o600))
		s, err := answers.Open(path)
		must(t, err)
		put(t, s, "first", 1, question(t, "What?"), noon)
		must(t, s.Close())
		if s, err = answers.Open(path); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Len(t.Context()); n != 1 || err != nil {
			t.Errorf("%s: opened again it has %d entries, %v", name, n, err)
		}
		must(t, s.Close())
	}
}

func TestTwoProcessesShareTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "answers.db")
	a, err := answers.Open(path)
	must(t, err)
	b, err := answers.Open(path)
	must(t, err)
	q := question(t, "What?")
	put(t, a, "first", 1, q, noon)
	if m := find(t, b, q, noon); len(m) != 1 {
		t.Errorf("the other finds %v", m)
	}
	must(t, a.Close())
	must(t, b.Close())
}

// FuzzAlike looks for questions that are not alike themselves, or only in one direction, and for
// changes of a digit that are overlooked.
func FuzzAlike(f *testing.F) {
	f.Add("What is the capital of France?", "Please tell me what is the capital of France")
	f.Add("5! is 120, isn't it? -1,000.5 and \"quotes\"", "May the 4th be with you…")
	f.Add("can you you a a", "’’ !! ?")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !answers.Alike(a, a) || answers.Alike(a, b) != answers.Alike(b, a) {
			t.Errorf("%q and %q", a, b)
		}
		for i := range len(a) {
			if c := a[i]; c >= '0' && c <= '9' {
				if other := a[:i] + string('0'+(c-'0'+1)%10) + a[i+1:]; answers.Alike(a, other) {
					t.Errorf("%q and %q are alike", a, other)
				}
			}
		}
	})
}

// FuzzNearness gives directions of any bytes.
func FuzzNearness(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{255, 128, 0})
	f.Add([]byte{}, []byte{0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		p := answers.Question{Asked: "Why?", Embedder: "e", Direction: a, Setting: event.Hash{1}}
		q := answers.Question{Asked: "why", Embedder: "e", Direction: b, Setting: event.Hash{1}}
		n := answers.Nearness(&p, &q)
		if n != answers.Nearness(&q, &p) || n != 0 && (n < answers.Near || n > search.Unit) || n != 0 && len(a) != len(b) {
			t.Errorf("%v and %v are %d near", a, b, n)
		}
	})
}

// One asks at a time, of all who have the file open; other questions are nothing to it, and what is let go is free.
func TestOneAsksAQuestionAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "answers.db")
	var stores []*answers.Store
	for range 2 {
		s, err := answers.Open(path)
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		stores = append(stores, s)
	}
	why, how := event.HashOf([]byte("why")), event.HashOf([]byte("how"))
	let, ok, err := stores[0].Ask(why)
	if err != nil || !ok {
		t.Fatalf("nobody asks: got %v, %v, want the question", ok, err)
	}
	if _, ok, err := stores[1].Ask(why); err != nil || ok {
		t.Errorf("somebody asks: got %v, %v, want to wait", ok, err)
	}
	other, ok, err := stores[1].Ask(how)
	if err != nil || !ok {
		t.Fatalf("another question: got %v, %v, want it", ok, err)
	}
	other()
	let()
	let() // as often as one likes
	again, ok, err := stores[1].Ask(why)
	if err != nil || !ok {
		t.Fatalf("it was let go: got %v, %v, want the question", ok, err)
	}
	again()
}

package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	rules "lyceum/internal/society/lab"
)

// read returns a file, and fails the test if it is not there.
func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	must(t, err)
	return string(data)
}

// TestAPaperOnDiskFollowsItsStatus: it stands there while it is reviewed, without the
// reviews, and is written again when it is decided.
func TestAPaperOnDiskFollowsItsStatus(t *testing.T) {
	t.Parallel()
	paused := make(chan struct{})
	l := research(t, t.TempDir(), func(ctx context.Context, r *model.Request) []act {
		if r.Agent == "agent-0" && r.Turn == 1 {
			return []act{{"submit_publication", args{"title": "T", "content": "It holds.", "attachments": []string{"deep/a.txt"}}}}
		}
		select {
		case <-paused:
		case <-ctx.Done():
		}
		return honest(r, "")
	})
	name := l.found(2, "")
	must(t, file("deep/a.txt")(l.home(name, "agent-0")))
	interrupt, asked := make(chan struct{}), false
	s, err := l.Run(t.Context(), name, runtime.RunOptions{Interrupt: interrupt, OnEvent: func(e event.Event, _ *quest.State) {
		switch e.Type {
		case "publication.submitted":
			if !asked {
				close(interrupt)
			}
			asked = true
		case "quest.paused":
			close(paused)
		}
	}})
	if s.Status != quest.Paused || len(rules.Library(s).Papers) != 1 {
		t.Fatalf("%s, %v, %d papers", s.Status, err, len(rules.Library(s).Papers))
	}
	dir := filepath.Join(l.QuestDir(name), "publications", rules.Library(s).Papers[0].Ref)
	for _, want := range []string{"title: \"T\"\n", "author: \"agent-0\"\n", "status: SUBMITTED\n", "\n\nIt holds.\n"} {
		if text := read(t, dir, "publication.md"); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if got := read(t, dir, "a.txt"); got != "deep/a.txt" {
		t.Errorf("the attachment says %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "reviews.md")); err == nil {
		t.Error("there are reviews of a paper that nobody has decided")
	}
	if s := l.run(name); s.Status != quest.Finished {
		t.Fatalf("the lab is %s: %s, want it finished", s.Status, s.Reason)
	}
	if text := read(t, dir, "publication.md"); !strings.Contains(text, "status: PUBLISHED\n") {
		t.Errorf("it says\n%s", text)
	}
	if text := read(t, dir, "reviews.md"); text != "# Review 1 of 1: ACCEPT by agent-1\n\n- confidence: 3 of 5\n- claim: \"it\"\n- checked, ran: \"it\"\n\n> I looked at it.\n" {
		t.Errorf("the reviews are\n%s", text)
	}
	l.onDisk(name)
}

// TestARevisionIsReadWithWhatChanged: who reviews it has the old paper, the reviews of
// that, and what has changed; and once it is decided, everybody has the reviews.
func TestARevisionIsReadWithWhatChanged(t *testing.T) {
	t.Parallel()
	mine := regexp.MustCompile(`your publication ([0-9a-f]{32}), titled .*, is (REJECTED|PUBLISHED)`)
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) (out []act) {
		text := heard(r)
		if m := mine.FindStringSubmatch(text); m != nil && m[2] == event.Rejected {
			return []act{{"submit_publication", args{"title": "T", "content": "The same.\nAnd right.", "revises": m[1]}}}
		} else if m != nil {
			return []act{{"get_publication", args{"ref": m[1]}}, {"vote_solution", args{"ref": m[1]}}}
		}
		if r.Agent == "agent-0" && r.Turn == 1 {
			return []act{{"submit_publication", args{"title": "T", "content": "The same.\nAnd wrong."}}}
		}
		bad := "agent-0"
		if strings.Contains(text, "It revises") {
			bad = ""
			out = append(out, act{"get_publication", args{"ref": askedFor.FindStringSubmatch(text)[1]}})
		}
		return append(out, honest(r, bad)...)
	})
	name := l.found(2, "")
	s := l.run(name)
	if s.Status != quest.Finished || len(rules.Library(s).Papers) != 2 {
		t.Fatalf("%s: %s, %d papers", s.Status, s.Reason, len(rules.Library(s).Papers))
	}
	old, revised := rules.Library(s).Papers[0], rules.Library(s).Papers[1]
	at := filepath.Join(l.home(name, "agent-1"), "publications", revised.Ref)
	for file, want := range map[string]string{
		"publication.md":     "status: SUBMITTED\nreference: \"" + revised.Ref + "\"\nrevises: \"" + old.Ref + "\"\n---\n\nThe same.\nAnd right.",
		"revised.md":         "status: REJECTED\nreference: \"" + old.Ref + "\"\n---\n\nThe same.\nAnd wrong.",
		"revised-reviews.md": "# Review 1 of 1: REJECT by agent-1\n\n- confidence: 3 of 5\n- claim: \"it\"\n- checked, ran: \"it\"\n\n> I looked at it.\n",
		"changes.diff":       "\n The same.\n-And wrong.\n+And right.\n",
	} {
		if got := read(t, at, file); !strings.HasSuffix(got, want) {
			t.Errorf("%s says\n%s\nwant\n%s", file, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(at, "reviews.md")); err == nil {
		t.Error("a reviewer gets reviews of what is not decided")
	}
	delivered := read(t, l.home(name, "agent-0"), "publications", revised.Ref, "reviews.md")
	if onDisk := read(t, l.QuestDir(name), "publications", revised.Ref, "reviews.md"); delivered != onDisk || !strings.Contains(delivered, "ACCEPT by agent-1") {
		t.Errorf("delivered is\n%s\nand in the folder\n%s", delivered, onDisk)
	}
	l.onDisk(name)
	l.whole(name)
}

// TestWhatIsMissingOfAPaperIsWrittenAgain: a file that is not as the ledger says is
// mended by the next run, be it the text or the reviews.
func TestWhatIsMissingOfAPaperIsWrittenAgain(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(dir string) error{
		"NoReviews": func(dir string) error { return os.Remove(filepath.Join(dir, "reviews.md")) },
		"ChangedReviews": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "reviews.md"), []byte("# All accept"), 0o644)
		},
		"ChangedText": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "publication.md"), []byte("mine"), 0o644)
		},
		"NoFolder": os.RemoveAll,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
				if r.Agent == "agent-0" && r.Turn == 1 {
					return []act{{"submit_publication", args{"title": "T", "content": "C", "attachments": []string{"a"}}}}
				}
				return honest(r, "")
			})
			name := l.found(2, "")
			must(t, file("a")(l.home(name, "agent-0")))
			s := l.run(name)
			must(t, change(filepath.Join(l.QuestDir(name), "publications", rules.Library(s).Papers[0].Ref)))
			if _, err := l.TidyUp(t.Context(), name, nil); err != nil {
				t.Fatal(err)
			}
			l.onDisk(name)
		})
	}
}

package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tool"
)

// withTools adds tools of a test's to those there are.
func (l *lab) withTools(more ...tool.Tool) {
	l.t.Helper()
	set := tool.Extend(l.Tools)
	must(l.t, set.Add(more...))
	l.Tools = set
}

// sluggish is a tool that writes a file as a program would: not at once.
func sluggish() tool.Tool {
	return tool.Tool{
		Tool:   model.Tool{Name: "sluggish", Description: "Writes f, late.", Schema: `{"type":"object","properties":{"text":{"type":"string"}}}`},
		Writes: true,
		Run: func(_ context.Context, c tool.Call) (string, error) {
			time.Sleep(2 * time.Millisecond) // what is raced is the order, however long it takes
			_, text, _ := strings.Cut(strings.TrimSuffix(string(c.Args), `"}`), `:"`)
			return "", c.Home.WriteFile("f", []byte(text), 0o644)
		},
	}
}

// TestCallsOfATurnSeeWhatThoseBeforeThemDid races what used to be lost: a file is read, or
// published, by a call behind the one that writes it.
func TestCallsOfATurnSeeWhatThoseBeforeThemDid(t *testing.T) {
	t.Parallel()
	const each = 20 // pairs of a turn
	var want []string
	n, pairs := 0, need.Times(45, 1500)
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) (out []act) {
		for range each {
			if n == pairs {
				break
			}
			n++
			text := fmt.Sprintf("text %d", n)
			switch n % 3 {
			case 0:
				out = append(out, act{"write_file", args{"path": "f", "content": text}}, act{"read_file", args{"path": "f"}})
				want = append(want, "wrote", text)
			case 1:
				out = append(out, act{"sluggish", args{"text": text}}, act{"read_file", args{"path": "f"}})
				want = append(want, "", text)
			case 2:
				name := fmt.Sprintf("p%d.md", n)
				out = append(out, act{"write_file", args{"path": name, "content": text}}, act{"submit_publication", args{"title": text, "content": text, "attachments": []string{name}}})
				want = append(want, "wrote", "Submitted as")
			}
		}
		return out
	})
	l.withTools(sluggish())
	name := l.found(1, "")
	l.run(name)
	got := l.answers(name, "agent-0")
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	wrong := 0
	for i, a := range got {
		if a.failed || !strings.HasPrefix(a.text, want[i]) || a.tool == "read_file" && a.text != want[i] {
			if wrong++; wrong < 5 {
				t.Errorf("call %d, %s: got %q, want %q", i, a.tool, a.text, want[i])
			}
		}
	}
	t.Logf("%d wrong of %d pairs", wrong, n)
	l.sound(name)
}

// TestAReviewComesBeforeThePublicationBehindIt: reviewing and then publishing in one turn is
// allowed, and of two contradicting reviews the first counts and the second is refused.
func TestAReviewComesBeforeThePublicationBehindIt(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	rounds, done := need.Times(15, 500), 0
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) (out []act) {
		text := heard(r)
		asked := askedFor.FindStringSubmatch(text)
		paper := func() act {
			return act{"submit_publication", args{"title": fmt.Sprintf("%s %d", r.Agent, r.Turn), "content": "text"}}
		}
		review := func(grade string) act {
			return act{"submit_review", args{"ref": asked[1], "grade": grade, "content": "I looked at it.", "confidence": 3, "checked": args{"claim": "it is so"}}}
		}
		switch {
		case r.Agent == "agent-1" && (r.Turn == 1 || strings.Contains(text, "Your review of")):
			if done++; done <= rounds {
				return []act{paper()}
			}
		case asked == nil:
		case r.Agent == "agent-1":
			return []act{review(event.Accept)}
		default:
			return []act{review(event.Accept), review(event.Reject), paper()}
		}
		return nil
	})
	name := l.found(2, "")
	l.run(name)
	reviews, turns := 0, 0
	answers := l.answers(name, "agent-0")
	for i, a := range answers {
		switch {
		case a.tool == "submit_publication":
			if turns++; a.failed {
				t.Errorf("call %d: the publication behind a review is refused: %s", i, a.text)
			}
		case i%3 == 0 && a.failed:
			t.Errorf("call %d: the first review is refused: %s", i, a.text)
		case i%3 == 1 && !a.failed:
			t.Errorf("call %d: the second review, which says otherwise, is taken: %s", i, a.text)
		}
	}
	for _, e := range l.events(name) {
		if b, ok := e.Body.(*event.ReviewSubmitted); ok && e.Actor == "agent-0" {
			if reviews++; b.Grade != event.Accept {
				t.Errorf("review %d counts as %s, want the first, ACCEPT", reviews, b.Grade)
			}
		}
	}
	if reviews != rounds || turns != rounds {
		t.Errorf("%d reviews and %d publications, want %d of each", reviews, turns, rounds)
	}
	t.Logf("%d reviews and then publications, each with a contradicting review between", turns)
	l.sound(name)
}

// TestReadsOfATurnStillRunTogether: eight slow reads of a turn take about as long as one.
func TestReadsOfATurnStillRunTogether(t *testing.T) {
	t.Parallel()
	const slow = 100 * time.Millisecond
	took := func(reads bool, calls int) time.Duration {
		l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) (out []act) {
			for i := range calls {
				if r.Turn == 1 {
					out = append(out, act{"peer", args{"n": i}})
				}
			}
			return out
		})
		l.withTools(tool.Tool{
			Tool:  model.Tool{Name: "peer", Description: "Looks, slowly.", Schema: `{"type":"object"}`},
			Reads: reads,
			Run:   func(context.Context, tool.Call) (string, error) { time.Sleep(slow); return "seen", nil },
		})
		name := l.found(1, "")
		l.run(name)
		var first, last event.Time
		for _, e := range l.events(name) {
			switch e.Type {
			case "tool.call":
				if first == 0 {
					first = e.Time
				}
			case "tool.result":
				last = e.Time
			}
		}
		return time.Duration(last-first) * time.Microsecond
	}
	one, eight, serial := took(true, 1), took(true, 8), took(false, 8)
	t.Logf("one slow read takes %v, eight take %v, eight that are not declared to read %v", one, eight, serial)
	if eight > 4*slow || serial < 8*slow {
		t.Errorf("eight reads took %v and eight others %v, want less than %v and at least %v", eight, serial, 4*slow, 8*slow)
	}
}

// TestAPauseLeavesTheRestOfATurnUndone: what is under way comes in, the rest is answered,
// and the agent decides anew.
func TestAPauseLeavesTheRestOfATurnUndone(t *testing.T) {
	t.Parallel()
	begun, finish := make(chan struct{}, 1), make(chan struct{})
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
		if r.Turn == 1 {
			return []act{{"gate", args{}}, {"write_file", args{"path": "after", "content": "x"}}}
		}
		return nil
	})
	l.withTools(tool.Tool{
		Tool: model.Tool{Name: "gate", Description: "Waits.", Schema: `{"type":"object"}`},
		Run: func(ctx context.Context, _ tool.Call) (string, error) {
			begun <- struct{}{}
			select {
			case <-finish:
			case <-ctx.Done():
			}
			return "through", ctx.Err()
		},
	})
	name := l.found(1, "")
	skipped := make(chan struct{})
	go func() {
		<-begun
		l.post(name, &event.QuestPaused{})
		<-skipped
		close(finish)
		l.post(name, &event.QuestResumed{})
	}()
	_, err := l.Run(t.Context(), name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
		if e.Type == "tool.skipped" {
			close(skipped)
		}
	}})
	must(t, err)
	got := l.answers(name, "agent-0")
	if len(got) != 2 || got[0].text != "through" || !strings.HasPrefix(got[1].text, "not run: the quest was paused") {
		t.Errorf("the answers are %+v, want the first call's, and that the second was not run", got)
	}
	if _, err := os.Stat(filepath.Join(l.home(name, "agent-0"), "after")); err == nil {
		t.Error("the call behind the pause was made, want it not to be")
	}
	l.sound(name)
}

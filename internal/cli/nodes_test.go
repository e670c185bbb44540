package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/need"
)

// node is another home on the same ledger and blobs, with the same token, as another machine has one.
func (h *home) node() *home {
	h.t.Helper()
	n := newHome(h.t, nil)
	n.env = h.env
	for _, file := range []string{"config.yaml", "token"} {
		data, err := os.ReadFile(filepath.Join(h.dir, file))
		must(h.t, err)
		must(h.t, writeFolder(n.dir, map[string]string{file: string(data)}))
		must(h.t, os.Chmod(filepath.Join(n.dir, file), 0o600))
	}
	return n
}

// finishes waits until a quest is finished.
func (h *home) finishes(quest string, begun time.Time) {
	h.t.Helper()
	for s := h.show(quest); s.Status != "finished"; s = h.show(quest) {
		if time.Since(begun) > patience || s.Status == "failed" || s.Status == "stopped" {
			h.t.Fatalf("quest %s is %s (%s) after %v, want it finished", quest, s.Status, s.Reason, time.Since(begun))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// killedAt is a quest, and the event of a kind after which the node that runs it is killed.
type killedAt struct {
	files func(t *testing.T) map[string]string
	quest string
	kind  string
	count int
	lab   bool
}

// TestAKilledNodesQuestsGoOnElsewhere: from the trees that were recorded, with each answer once.
func TestAKilledNodesQuestsGoOnElsewhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]killedAt{
		"Lab": {func(*testing.T) map[string]string { return slowLab }, "team", "tool.result", 2, true},
		"ContractNet": {func(t *testing.T) map[string]string {
			return netFiles(t, func(s string) string { return s + "computer: none\n" })
		}, "thermal", "search.call", 1, false},
		"LabWithComputers": {func(t *testing.T) map[string]string {
			need.Program(t, "bwrap")
			return exampleFiles(t, "lab-number")
		}, "lab-number", "tool.result", 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Whoever kills may come too late on a busy machine: then nothing was shown.
			for range 10 {
				if c.goesOn(t) {
					return
				}
			}
			t.Fatal("it was finished before its node was killed, ten times: the test shows nothing")
		})
	}
}

// goesOn kills a node and sees another go on, unless the quest was finished by then.
func (c killedAt) goesOn(t *testing.T) bool {
	t.Helper()
	h, _ := elsewhere(t, c.files(t))
	first := h.serve()
	other := h.node()
	second := other.serve()
	defer second.stop()
	h.ok("create", "quest.yaml")
	p := h.start("run", c.quest)
	h.await(c.quest, c.kind, c.count)
	first.kill()
	killed, before := time.Now(), len(other.events(c.quest))
	p.wait()
	if h.show(c.quest).Status == "finished" {
		return false
	}
	second.says("Going on with quest " + c.quest)
	t.Logf("%d events were there; another node went on after %v", before, time.Since(killed))
	other.finishes(c.quest, killed)
	other.sound(c.quest)
	if c.lab {
		other.labSound(c.quest)
	}
	return true
}

// twoNodes are two servers that share a ledger, each in a home of its own, the first with the given flags, and a lab that
// is run at the first.
func twoNodes(t *testing.T, flags ...string) (h, other *home, first, second *served, p *process) {
	t.Helper()
	h, _ = elsewhere(t, slowLab)
	first = h.serve(flags...)
	other = h.node()
	second = other.serve()
	h.ok("create", "quest.yaml")
	return h, other, first, second, h.start("run", "team")
}

// TestADrainedNodesQuestsGoOnElsewhereWithoutAPause: what is under way comes in, and another node goes on at once.
func TestADrainedNodesQuestsGoOnElsewhereWithoutAPause(t *testing.T) {
	t.Parallel()
	h, other, first, second, p := twoNodes(t, "--drain", "20s")
	h.await("team", "tool.result", 2)
	first.signal(syscall.SIGTERM)
	first.wait().want(t, 0)
	gone := time.Now()
	p.wait()
	second.says("Going on with quest team")
	t.Logf("another node went on %v after the first had gone", time.Since(gone))
	other.finishes("team", gone)
	other.sound("team")
	other.labSound("team")
	for _, e := range other.events("team") {
		if e.Type == "quest.paused" {
			t.Errorf("event %d is a pause (%s), want none", e.Seq, e.Body.Reason)
		}
	}
	second.stop()
}

// TestAStreamGoesOnAtAnotherNode: from the last event that a reader had, without a gap and without a repeat.
func TestAStreamGoesOnAtAnotherNode(t *testing.T) {
	t.Parallel()
	h, other, first, second, p := twoNodes(t)
	var last uint64
	read := func(s *served, most int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for sig, err := range s.client.Follow(ctx, "team", last) {
			if err != nil || sig.Kind == "end" {
				return
			}
			if sig.Kind != "message" {
				continue
			}
			if sig.Event.Seq != last+1 {
				t.Fatalf("after event %d came event %d, want %d", last, sig.Event.Seq, last+1)
			}
			if last++; most > 0 && last >= uint64(most) {
				return
			}
		}
	}
	read(first, 10)
	read(second, 14)
	h.await("team", "tool.result", 2)
	first.kill()
	p.wait()
	began := time.Now()
	for read(second, 0); other.show("team").Status != "finished" && time.Since(began) < patience; read(second, 0) {
	}
	if events := len(other.events("team")); int(last) != events {
		t.Errorf("the streams of two nodes had %d events, want all %d", last, events)
	}
	other.sound("team")
	second.stop()
}

// TestWhatANodeHasNoRoomForRunsElsewhere: it is left to the others, and what is said to a quest anywhere is heard
// where it runs.
func TestWhatANodeHasNoRoomForRunsElsewhere(t *testing.T) {
	t.Parallel()
	h, _ := elsewhere(t, map[string]string{"quest.yaml": slowQuest, "plan.yaml": steps(30)})
	first := h.serve("--room", "1")
	other := h.node()
	for _, name := range []string{"one", "two"} {
		h.ok("create", "quest.yaml", "--name", name)
		_, err := first.client.Control(t.Context(), name, api.Control{Action: "start"})
		must(t, err)
	}
	h.await("one", "model.call", 1)
	if n := h.count("two", "quest.started"); n != 0 {
		t.Errorf("a second quest runs at a node with room for one")
	}
	second := other.serve()
	second.says("Going on with quest two")
	must(t, first.client.Say(t.Context(), "two", "Hear me.", ""))
	h.await("two", "user.message", 1)
	for _, name := range []string{"one", "two"} {
		other.finishes(name, time.Now())
		other.sound(name)
	}
	first.stop()
	second.stop()
}

// TestAQuestThatNoNodeCanRunSaysSo: here because none has the model's key.
func TestAQuestThatNoNodeCanRunSaysSo(t *testing.T) {
	t.Parallel()
	h, _ := elsewhere(t, map[string]string{"quest.yaml": "name: keyed\nproblem: Who are you?\nmodel: openai/gpt-5-mini\ncomputer: none\n"})
	keyed := h.in(t)
	keyed.env = append(slices.Clone(h.env), "OPENAI_API_KEY=a-key-of-a-test")
	keyed.ok("create", "quest.yaml")
	h.env = append(h.env, "OPENAI_API_KEY=")
	s := h.serve()
	h.run("run", "keyed").want(t, 1, "OPENAI_API_KEY")
	s.says("no node can run quest keyed")
	q, err := s.client.Quest(t.Context(), "keyed")
	must(t, err)
	if !strings.Contains(q.Trouble, "OPENAI_API_KEY") {
		t.Errorf("the API says of the quest %q, want why no node can run it", q.Trouble)
	}
	s.stop()
}

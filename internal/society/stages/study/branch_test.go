package study_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	. "lyceum/internal/society/stages/study"
)

func treeOf(text string) event.TreeRef { return event.TreeRef(event.RefOf([]byte(text))) }

// placed has a folder put into the home for a call, and returns the place of that.
func (s *tale) placed(name string, tree *event.TreeRef) agent.Place {
	s.t.Helper()
	at := agent.Place{Answer: s.seq + 1}
	call := s.take("researcher", &event.FolderCall{Answer: at.Answer, Branch: name, Tree: tree})
	s.take("core", &event.FolderResult{Call: call})
	return at
}

func (s *tale) prepare(kind, id, parent string) {
	s.t.Helper()
	from := s.Branch(parent)
	at := s.placed(kind+"/"+id, s.Tree(from))
	s.take("researcher", &event.BranchPrepared{Answer: at.Answer, From: from.Head, Kind: kind, Name: kind + "/" + id, Parent: parent, Tree: s.Tree(from)})
}

func (s *tale) activate(name string) {
	s.t.Helper()
	at := s.placed(name, s.Tree(s.Branch(name)))
	s.take("researcher", &event.BranchActivated{Answer: at.Answer, Name: name})
}

// record has a folder recorded as a tree, and returns what may follow.
func (s *tale) record(branch, message string, r event.CheckpointResult) *Saving {
	s.t.Helper()
	at := agent.Place{Answer: s.seq + 1}
	r.Call = s.take("researcher", &event.CheckpointCall{Answer: at.Answer, Branch: branch, Message: message})
	s.take("core", &r)
	return s.Saving(at)
}

// save makes a checkpoint, of a tree that is made of its message.
func (s *tale) save(branch, message string) uint64 {
	s.t.Helper()
	v := s.record(branch, message, event.CheckpointResult{Tree: new(treeOf(message)), Files: 1})
	made := s.New(v)
	if made == nil {
		s.t.Fatalf("nothing follows from %q of %s", message, branch)
	}
	return s.take("researcher", made)
}

func TestBranchNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[[2]string]string{
		{"idea", "a"}: "idea/a", {"run", "0-b_c"}: "run/0-b_c", {"paper", "one"}: "paper/one", {"analysis", "r1/c2-s3"}: "analysis/r1/c2-s3",
	} {
		if got, err := BranchName(name[0], name[1]); err != nil || got != want {
			t.Errorf("%v is named %q, %v, want %q", name, got, err, want)
		}
	}
	for _, bad := range [][2]string{
		{"main", "a"}, {"", "a"}, {"other", "a"}, {"idea", ""}, {"idea", "A"}, {"idea", ".."}, {"idea", "a/b"}, {"idea", "-a"}, {"idea", ".a"}, {"idea", "a.lock"}, {"idea", "a b"},
		{"idea", "ä"}, {"idea", "a\n"}, {"idea", "a\x00"}, {"idea", "@{"}, {"idea", strings.Repeat("a", 65)},
		{"analysis", "r1"}, {"analysis", "r1/c2"}, {"analysis", "r1/c-"}, {"analysis", "r1/-c"}, {"analysis", "../c-s"}, {"analysis", "r/c-s/x"},
	} {
		if got, err := BranchName(bad[0], bad[1]); err == nil {
			t.Errorf("%q is taken as %q", bad, got)
		}
	}
}

func TestLinesOfWork(t *testing.T) {
	t.Parallel()
	t.Run("MainIsThereFromTheStart", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		if b := s.Here(); b == nil || b.Name != Main || b.Folder() != "work/main" || s.Tree(b) != nil {
			t.Errorf("a study begins at %+v", b)
		}
	})
	t.Run("BeginWithTheLastCheckpointOfTheirParent", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		s.save(Main, "one")
		two := s.save(Main, "two")
		s.prepare(KindIdea, "a", Main)
		b := s.Branch("idea/a")
		if b.From != two || b.Head != two || *s.Tree(b) != treeOf("two") || b.Count != 0 || s.Current != Main {
			t.Errorf("it is %+v, with the tree %v, and the study at %s", b, s.Tree(b), s.Current)
		}
		three := s.save("idea/a", "three")
		if c := s.Checkpoint(three); c.Parent != two || c.Branch != "idea/a" || b.Head != three || b.Count != 1 || s.Branch(Main).Head != two {
			t.Errorf("its first checkpoint is %+v, and it %+v", c, b)
		}
	})
	t.Run("AreAheadAndBehind", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		s.save(Main, "one")
		s.prepare(KindIdea, "a", Main)
		s.save("idea/a", "a1")
		s.save("idea/a", "a2")
		s.prepare(KindRun, "r", "idea/a")
		s.save("run/r", "r1")
		s.save(Main, "two")
		for _, c := range []struct {
			a, b          string
			ahead, behind int64
		}{{"idea/a", Main, 2, 1}, {"run/r", Main, 3, 1}, {"run/r", "idea/a", 1, 0}, {Main, "run/r", 1, 3}, {Main, Main, 0, 0}} {
			if ahead, behind := s.Ahead(s.Branch(c.a), s.Branch(c.b)); ahead != c.ahead || behind != c.behind {
				t.Errorf("%s is %d ahead of %s and %d behind, want %d and %d", c.a, ahead, c.b, behind, c.ahead, c.behind)
			}
		}
	})
	t.Run("HaveNoCheckpointWithoutAChange", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		if made := s.New(s.record(Main, "empty", event.CheckpointResult{Tree: new(treeOf("nothing"))})); made != nil {
			t.Errorf("of an empty folder there is %+v", made)
		}
		s.save(Main, "one")
		same := s.record(Main, "again", event.CheckpointResult{Tree: new(treeOf("one")), Files: 1})
		if made := s.New(same); made != nil {
			t.Errorf("of the same there is %+v", made)
		}
		for _, r := range []event.CheckpointResult{
			{Error: "x", Tree: new(treeOf("x"))}, {Refused: []event.Skipped{{Path: "a"}}, Tree: new(treeOf("x"))}, {},
		} {
			if made := s.New(s.record(Main, "refused", r)); made != nil {
				t.Errorf("of %+v there is %+v", r, made)
			}
		}
		s.forged("researcher", &event.CheckpointMade{Branch: Main, Message: "again", Parent: s.Here().Head, Tree: treeOf("one")})
	})
	t.Run("AreClosedByAResult", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		s.prepare(KindRun, "r", Main)
		s.save("run/r", "one")
		if _, err := s.MayPrepare(KindAnalysis, "r/c-s", "run/r"); err == nil {
			t.Error("there is an analysis of a run without a result")
		}
		open := s.record("run/r", "late", event.CheckpointResult{Tree: new(treeOf("late")), Files: 1})
		s.CloseBranch("run/r", 99)
		if err := s.MayCheckpoint(s.Branch("run/r")); err == nil || !strings.Contains(err.Error(), "campaign") {
			t.Errorf("what is closed can be recorded: %v", err)
		}
		if made := s.New(open); made != nil {
			t.Errorf("what was recorded before it was closed becomes %+v", made)
		}
		s.forged("researcher", &event.CheckpointCall{Answer: 900, Branch: "run/r", Message: "more"})
		s.prepare(KindAnalysis, "r/c-s", "run/r")
		s.save("analysis/r/c-s", "slice")
		if _, err := s.MayPrepare(KindAnalysis, "r/c-t", Main); err == nil {
			t.Error("an analysis is a child of something else than its run")
		}
	})
	t.Run("Forged", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		one := s.save(Main, "one")
		tree := new(treeOf("one"))
		s.forged("researcher", &event.BranchPrepared{Answer: 800, From: one, Kind: KindIdea, Name: "idea/a", Parent: Main, Tree: tree}) // no folder was put
		at := s.placed("idea/a", tree)
		for what, b := range map[string]*event.BranchPrepared{
			"another tree":       {From: one, Kind: KindIdea, Name: "idea/a", Parent: Main, Tree: new(treeOf("two"))},
			"no tree":            {From: one, Kind: KindIdea, Name: "idea/a", Parent: Main},
			"another checkpoint": {Kind: KindIdea, Name: "idea/a", Parent: Main, Tree: tree},
			"another kind":       {From: one, Kind: KindRun, Name: "idea/a", Parent: Main, Tree: tree},
			"another name":       {From: one, Kind: KindIdea, Name: "idea/b", Parent: Main, Tree: tree},
			"a name outside":     {From: one, Kind: KindIdea, Name: "idea/../../a", Parent: Main, Tree: tree},
			"no parent":          {From: one, Kind: KindIdea, Name: "idea/a", Parent: "run/x", Tree: tree},
		} {
			t.Log(what)
			b.Answer = at.Answer
			s.forged("researcher", b)
		}
		s.take("researcher", &event.BranchPrepared{Answer: at.Answer, From: one, Kind: KindIdea, Name: "idea/a", Parent: Main, Tree: tree})
		s.forged("researcher", &event.BranchPrepared{Answer: at.Answer, From: one, Kind: KindIdea, Name: "idea/a", Parent: Main, Tree: tree})
		s.forged("researcher", &event.BranchActivated{Answer: 801, Name: "idea/a"})
		s.forged("researcher", &event.BranchActivated{Answer: 802, Name: "idea/b"})
		s.forged("researcher", &event.CheckpointCall{Answer: 803, Branch: "idea/b", Message: "x"})
		v := s.record("idea/a", "two", event.CheckpointResult{Tree: new(treeOf("two")), Files: 1})
		for _, change := range []func(*event.CheckpointMade){
			func(b *event.CheckpointMade) { b.Tree = treeOf("three") },
			func(b *event.CheckpointMade) { b.Parent = 0 },
			func(b *event.CheckpointMade) { b.Branch = Main },
			func(b *event.CheckpointMade) { b.Message = "other" },
		} {
			b := *s.New(v)
			change(&b)
			s.forged("researcher", &b)
		}
		s.take("researcher", s.New(v))
		s.forged("researcher", &event.CheckpointMade{Branch: "idea/a", Message: "two", Parent: one, Tree: treeOf("two")})
	})
	t.Run("AreForgottenWhileTheWorldIsAskedAtAFork", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		call := s.take("researcher", &event.CheckpointCall{Answer: 7, Branch: Main, Message: "x"})
		s.Abandon()
		s.take("core", &event.CheckpointResult{Call: call, Tree: new(treeOf("x")), Files: 1})
		s.forged("researcher", &event.CheckpointMade{Branch: Main, Message: "x", Tree: treeOf("x")})
	})
}

func TestTheGraph(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	s.save(Main, "first\nsecond line")
	s.prepare(KindIdea, "a", Main)
	s.activate("idea/a")
	hostile := `<script>alert("1")</script>&` + "\x1b[31m\u202e"
	s.save("idea/a", hostile)
	text := s.Graph()
	for _, want := range []string{"* main (1 checkpoints)\n", "  * idea/a (1 checkpoints, from 4), you are here\n", " first\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the graph has no %q:\n%s", want, text)
		}
	}
	for i := range 300 {
		s.save(Main, fmt.Sprint("step ", i))
	}
	for _, out := range []string{s.Graph(), text, s.Picture()} {
		if strings.ContainsAny(out, "\x1b\u202e") || strings.Contains(out, "second line") {
			t.Errorf("a message is shown as it is:\n%.500q", out)
		}
	}
	picture := s.Picture()
	if strings.Contains(picture, "<script") || !strings.Contains(picture, "[main]") || strings.Count(picture, "<circle") != 200 || !strings.Contains(picture, "the last 200") {
		t.Errorf("the picture is\n%.1000s", picture)
	}
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}

package runtime_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/solo"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// otherWords is solo in a later binary, which says everything differently.
type otherWords struct{ solo.Society }

func (otherWords) Texts() []event.NamedText {
	return []event.NamedText{{Name: "continue", Text: "Pray continue."}, {Name: "system", Text: "You are somebody else."}}
}

func TestReplayUsesTheTextsTheQuestWasMadeWith(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	name := l.create(plan(t, "q", "", "rules: [{on: {turn: 1}, say: part, stop: length}, {on: {last: 'cut off'}, say: whole}]"))
	l.run(name)
	l.Societies = []quest.Society{otherWords{}}
	l.sound(name)
	t.Run("AndSoDoesGoingOn", func(t *testing.T) {
		_, err := l.Ledger.Post(t.Context(), name, ledger.Command{Body: &event.UserMessage{Text: event.Text{Text: "cut off"}}})
		must(t, err)
		if s := l.run(name); s.Status != quest.Finished {
			t.Fatalf("the quest is %s: %s, want it finished", s.Status, s.Reason)
		}
		l.sound(name)
	})
	t.Run("AndABinaryWithoutTheRulesSaysSo", func(t *testing.T) {
		l.Societies = nil
		_, err := audit.Replay(t.Context(), l.Runtime, name, nil)
		if err == nil || !strings.Contains(err.Error(), "solo/4") {
			t.Fatalf("got %v", err)
		}
	})
}

// rechain writes a quest again under another name with some events changed, and
// every hash made to fit: what a forger with all the tools would do.
func (l *lab) rechain(from, to string, change func(*event.Draft)) {
	l.t.Helper()
	b := ledger.Batch{Quest: to}
	var prev event.Hash
	for _, e := range l.events(from) {
		body, err := event.EncodeBody(e.Body)
		must(l.t, err)
		fresh, err := event.DecodeBody(e.Type, body)
		must(l.t, err)
		d := event.Draft{Parent: e.Parent, Time: e.Time, Actor: e.Actor, Tool: e.Tool, Body: fresh}
		change(&d)
		e, err = event.Seal(e.Quest, e.Seq, prev, d)
		must(l.t, err)
		b.Events, b.Blobs, prev = append(b.Events, e), append(b.Blobs, d.Blobs...), e.Hash
	}
	must(l.t, l.Ledger.Append(l.t.Context(), b))
}

func TestReplayFindsAForgedLedger(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(l.create(plan(t, "q", "", simple)))
	first := func(typ event.Type) uint64 {
		for _, e := range l.events("q") {
			if e.Type == typ {
				return e.Seq
			}
		}
		t.Fatalf("no %s", typ)
		return 0
	}
	changed := func(ref *event.Ref, d *event.Draft, from, to string) {
		data, err := l.Blob(t.Context(), *ref)
		must(t, err)
		other := bytes.Replace(data, []byte(from), []byte(to), 1)
		if bytes.Equal(data, other) {
			t.Fatalf("%q is not in %q", from, data)
		}
		*ref, d.Blobs = event.RefOf(other), append(d.Blobs, other)
	}
	for name, c := range map[string]struct {
		change func(*event.Draft)
		seq    uint64
	}{
		"one prompt word": {func(d *event.Draft) {
			if b, ok := d.Body.(*event.QuestCreated); ok {
				changed(&b.Agents[0].System, d, "careful", "reckless")
			}
		}, first("model.call")},
		"one tool's text": {func(d *event.Draft) {
			if b, ok := d.Body.(*event.QuestCreated); ok {
				changed(&b.Agents[0].Tools, d, "file", "disk")
			}
		}, first("model.call")},
		"the question": {func(d *event.Draft) {
			if b, ok := d.Body.(*event.QuestCreated); ok {
				b.Problem.Text = "What is six times eight?"
			}
		}, first("model.call")},
		"an output": {func(d *event.Draft) {
			if b, ok := d.Body.(*event.ToolResult); ok && d.Tool == "calculate" && b.Output.Text == "42\n" {
				b.Output.Text = "43\n"
			}
		}, first("tool.result") + 2},
		"the answer": {func(d *event.Draft) {
			if b, ok := d.Body.(*event.QuestFinished); ok {
				b.Answer.Text = "It is 43."
			}
		}, first("quest.finished")},
		"a call": {func(d *event.Draft) {
			if b, ok := d.Body.(*event.ModelCall); ok && b.Turn == 2 {
				b.Thinking = !b.Thinking
			}
		}, first("tool.answered") - 6},
	} {
		t.Run(name, func(t *testing.T) {
			to := "forged-" + strings.Map(func(r rune) rune {
				if r < 'a' || r > 'z' {
					return '-'
				}
				return r
			}, name)
			l.rechain("q", to, c.change)
			rep, err := audit.Replay(t.Context(), l.Runtime, to, nil)
			must(t, err)
			if rep.Difference == nil {
				t.Fatal("replay says identical")
			}
			if got := rep.Difference.Seq; got != c.seq && !(name == "a call" || name == "an output") {
				t.Errorf("the first difference is at %d, want %d: %v", got, c.seq, rep.Difference)
			}
			if rep.Difference.Recorded == "" || rep.Difference.Computed == "" {
				t.Errorf("one side is missing: %+v", rep.Difference)
			}
		})
	}
	t.Run("an event the rules would not derive", func(t *testing.T) {
		events := l.events("q")
		last := events[len(events)-1]
		e, err := event.Seal("q", last.Seq+1, last.Hash, event.Draft{Parent: last.Seq, Time: last.Time, Actor: "core", Body: &event.QuestFailed{Reason: "no"}})
		must(t, err)
		must(t, l.Ledger.Append(t.Context(), ledger.Batch{Quest: "q", Events: []event.Event{e}}))
		rep, err := audit.Replay(t.Context(), l.Runtime, "q", nil)
		must(t, err)
		if rep.Difference == nil || rep.Difference.Seq != last.Seq+1 {
			t.Fatalf("got %v", rep.Difference)
		}
	})
}

func TestVerifyDoesNotBreakDownOnNonsense(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(l.create(plan(t, "q", "", simple)))
	for name, change := range map[string]func(*event.Draft){
		"stranger": func(d *event.Draft) {
			if _, ok := d.Body.(*event.ModelCall); ok {
				d.Actor = "nobody"
			}
		},
		"window": func(d *event.Draft) {
			if b, ok := d.Body.(*event.ModelCall); ok {
				b.First, b.Head = 1<<40, 1<<40
			}
		},
		"call": func(d *event.Draft) {
			if b, ok := d.Body.(*event.ToolResult); ok {
				b.Call = 1
			}
		},
	} {
		l.rechain("q", name, change)
		for what, examine := range map[string]func() (*audit.Report, error){
			"verify": func() (*audit.Report, error) { return audit.Verify(t.Context(), l.Runtime, name, nil) },
			"replay": func() (*audit.Report, error) { return audit.Replay(t.Context(), l.Runtime, name, nil) },
		} {
			rep, err := examine()
			must(t, err)
			if rep.Difference == nil {
				t.Errorf("%s finds nothing wrong with %s", what, name)
			}
		}
		if _, err := l.Load(t.Context(), name); err == nil {
			t.Errorf("%s opens", name)
		}
	}
	bad := &event.QuestCreated{Agents: []event.AgentSpec{{Name: "../../up"}}, Name: "bad", Rules: "solo/4"}
	e, err := event.Seal("bad", 1, event.Hash{}, event.Draft{Actor: "person", Body: bad})
	must(t, err)
	if _, err := l.Adopt(t.Context(), "bad", []event.Event{e}, nil); err == nil {
		t.Error("an agent whose name is a path was taken over")
	}
}

// TestVerifyFindsEveryChangedByte changes bytes of the stored lines and blobs
// behind Lyceum's back.
func TestVerifyFindsEveryChangedByte(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	l := newLab(t)
	l.run(l.create(plan(t, "q", "", simple)))
	l.sound("q")
	conn, err := sq.OpenConn(filepath.Join(l.Home, "lyceum.db"), sq.OpenReadWrite)
	must(t, err)
	defer conn.Close()
	exec := func(query string, args ...any) {
		t.Helper()
		must(t, sqlitex.Execute(conn, query, &sqlitex.ExecOptions{Args: args}))
	}
	finds := func(what string, seq uint64) {
		t.Helper()
		for _, examine := range []func() (*audit.Report, error){
			func() (*audit.Report, error) { return audit.Verify(t.Context(), l.Runtime, "q", nil) },
			func() (*audit.Report, error) { return audit.Replay(t.Context(), l.Runtime, "q", nil) },
		} {
			rep, err := examine()
			must(t, err)
			if rep.Difference == nil || rep.Difference.Seq != seq {
				t.Fatalf("%s: found %v, want seq %d", what, rep.Difference, seq)
			}
		}
	}
	for _, e := range l.events("q") {
		for at := int(e.Seq); at < len(e.Line()); at += 37 {
			line := bytes.Clone(e.Line())
			line[at] ^= 1
			exec("UPDATE events SET line = ? WHERE seq = ?", line, int64(e.Seq))
			finds(fmt.Sprintf("byte %d of event %d", at, e.Seq), e.Seq)
			exec("UPDATE events SET line = ? WHERE seq = ?", e.Line(), int64(e.Seq))
		}
	}
	l.sound("q")
	created := l.events("q")[0].Body.(*event.QuestCreated)
	h := created.Agents[0].System.Hash
	whole, err := l.Ledger.Blob(t.Context(), h)
	must(t, err)
	for _, at := range []int{0, len(whole) / 2, len(whole) - 1} {
		data := bytes.Clone(whole)
		data[at] ^= 1
		exec("UPDATE blobs SET data = ? WHERE hash = ?", data, h[:])
		finds(fmt.Sprintf("byte %d of the prompt", at), 1)
	}
	exec("UPDATE blobs SET data = ? WHERE hash = ?", whole, h[:])
	t.Run("AndAMissingEvent", func(t *testing.T) {
		exec("UPDATE events SET quest = 99 WHERE seq = 5")
		finds("event 5 is gone", 5)
		exec("UPDATE events SET quest = 1 WHERE seq = 5")
		l.sound("q")
	})
	t.Run("AndAFileOfTheFolder", func(t *testing.T) {
		path := filepath.Join(l.QuestDir("q"), "SUMMARY.md")
		must(t, os.WriteFile(path, []byte("It is 43.\n"), 0o600))
		rep, err := audit.Verify(t.Context(), l.Runtime, "q", nil)
		must(t, err)
		if rep.Difference == nil || rep.Difference.File != path {
			t.Fatalf("found %v", rep.Difference)
		}
	})
	t.Run("AndAFileOfAWorkspace", func(t *testing.T) {
		var tree *event.TreeRef
		var seq uint64
		for _, e := range l.events("q") {
			if b, ok := e.Body.(*event.FileDiff); ok {
				tree, seq = &b.After, e.Seq
				break
			}
		}
		path := filepath.Join(l.Home, "blobs")
		found := ""
		must(t, filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
			if strings.Contains(p, tree.Hash.String()[4:]) {
				found = p
			}
			return err
		}))
		data, err := os.ReadFile(found)
		must(t, err)
		data[len(data)/2] ^= 1
		must(t, os.Chmod(found, 0o600))
		must(t, os.WriteFile(found, data, 0o600))
		rep, err := audit.Verify(t.Context(), l.Runtime, "q", nil)
		must(t, err)
		if rep.Difference == nil || rep.Difference.Seq != seq {
			t.Fatalf("found %v, want seq %d", rep.Difference, seq)
		}
	})
}

func TestForkAtEverySeq(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(l.create(plan(t, "q", "", simple)))
	origin := l.events("q")
	var tree *event.TreeRef
	for _, e := range origin {
		if b, ok := e.Body.(*event.FileDiff); ok {
			tree = &b.After
		}
		s, err := l.Fork(t.Context(), "q", runtime.ForkOptions{At: e.Seq, Name: fmt.Sprintf("f%d", e.Seq)})
		must(t, err)
		fork := l.events(s.Name)
		for i := range origin[:e.Seq] {
			if !bytes.Equal(origin[i].Line(), fork[i].Line()) {
				t.Fatalf("fork at %d differs at %d", e.Seq, i+1)
			}
		}
		if got := l.homeTree(s.Name); tree != nil && got != *tree || tree == nil && got != l.emptyTree() {
			t.Fatalf("fork at %d: the workspace is %s, was %v", e.Seq, got.Hash, tree)
		}
		done := l.run(s.Name)
		if done.Status != quest.Finished || done.Answer.Text != "It is 42." {
			t.Fatalf("fork at %d: %s (%s)", e.Seq, done.Status, done.Reason)
		}
		rep, err := audit.Replay(t.Context(), l.Runtime, s.Name, nil)
		must(t, err)
		if rep.Difference != nil {
			t.Fatalf("fork at %d: %v", e.Seq, rep.Difference)
		}
	}
	l.sound("q")
	t.Run("OfAFork", func(t *testing.T) {
		s, err := l.Fork(t.Context(), "f9", runtime.ForkOptions{Message: "And seven times eight?", Seed: new(uint64(7))})
		must(t, err)
		if s.Seed != 7 || s.Origin.From != "f9" || s.Name != "f9-fork-1" {
			t.Fatalf("the fork's origin: got %+v, want f9, and seed 7", s.Origin)
		}
		rep, err := audit.Replay(t.Context(), l.Runtime, s.Name, nil)
		must(t, err)
		if rep.Difference != nil {
			t.Fatalf("the replay differs: %v", rep.Difference)
		}
	})
	t.Run("WithAnotherModel", func(t *testing.T) {
		p := plan(t, "x", "", "rules: [{say: 'I am another.'}]")
		s, err := l.Fork(t.Context(), "q", runtime.ForkOptions{At: 4, Name: "other", Model: "script:plan.yaml", Dir: p.Dir})
		must(t, err)
		if done := l.run(s.Name); done.Answer == nil || done.Answer.Text != "I am another." {
			t.Fatalf("the fork is %s %s, want it to answer by its own model", done.Status, done.Reason)
		}
		l.sound("q")
	})
	t.Run("BeyondTheEnd", func(t *testing.T) {
		if _, err := l.Fork(t.Context(), "q", runtime.ForkOptions{At: 10_000}); err == nil {
			t.Fatal("no error")
		}
	})
}

func (l *lab) homeTree(name string) event.TreeRef {
	l.t.Helper()
	root, err := os.OpenRoot(filepath.Join(l.QuestDir(name), "agents", "agent-0"))
	must(l.t, err)
	defer root.Close()
	tree, _, _, err := blob.Snapshot(l.t.Context(), l.Blobs, root, nil)
	must(l.t, err)
	return tree
}

func (l *lab) emptyTree() event.TreeRef {
	l.t.Helper()
	root, err := os.OpenRoot(l.t.TempDir())
	must(l.t, err)
	defer root.Close()
	tree, _, _, err := blob.Snapshot(l.t.Context(), l.Blobs, root, nil)
	must(l.t, err)
	return tree
}

// TestATurnCostsTheSameHoweverLongTheHistory holds the ledger's growth per turn,
// less what the model and the tools themselves said, at step 10 and step 500.
func TestATurnCostsTheSameHoweverLongTheHistory(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	l := newLab(t)
	name := l.create(plan(t, "q", "", `
rules:
  - on: {until_turn: 510}
    say: "Some words that the model says."
    call: [{tool: calculate, args: {code: "print('x' * 500 + '${turn}')"}}]
  - say: "The end."
`))
	l.run(name)
	overhead := map[int64]int{}
	turn := int64(0)
	for _, e := range l.events(name) {
		said := 0
		switch b := e.Body.(type) {
		case *event.ModelCall:
			turn = b.Turn
		case *event.ModelResult:
			for _, p := range b.Parts {
				for _, text := range []*event.Text{p.Text, p.Args} {
					if text != nil {
						said += int(text.Size())
					}
				}
			}
		case *event.ToolResult:
			said = int(b.Output.Size())
		}
		overhead[turn] += len(e.Line()) - said
	}
	for _, at := range []int64{10, 500} {
		if overhead[at] == 0 || overhead[at] >= 4096 {
			t.Errorf("turn %d costs %d bytes", at, overhead[at])
		}
	}
	if grown := overhead[500] - overhead[10]; grown > 64 {
		t.Errorf("turn 500 costs %d bytes more than turn 10", grown)
	}
	t.Logf("turn 10: %d bytes, turn 500: %d bytes", overhead[10], overhead[500])
	l.sound(name)
}

func TestASnapshotIsOnlyACache(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	l := newLab(t)
	name := l.create(plan(t, "q", "", `
rules:
  - on: {until_turn: 600}
    call: [{tool: calculate, args: {code: "${turn}"}}]
  - say: "The end."
`))
	want, err := l.run(name).Encode()
	must(t, err)
	path := filepath.Join(l.Home, "cache", name+".state")
	whole, err := os.ReadFile(path)
	must(t, err)
	same := func(what string) {
		t.Helper()
		s, err := l.Load(t.Context(), name)
		must(t, err)
		got, err := s.Encode()
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Fatalf("%s: another state", what)
		}
	}
	same("as it was saved")
	lie := bytes.Replace(whole, []byte(`"Status":"finished"`), []byte(`"Status":"stopped!"`), 1)
	must(t, os.WriteFile(path, lie, 0o600))
	same("changed")
	sum, body, _ := bytes.Cut(lie, []byte("\n"))
	_ = sum
	body = bytes.Replace(body, []byte(`"Seq":`), []byte(`"Seq":1`), 1)
	must(t, os.WriteFile(path, append([]byte(event.HashOf(body).String()+"\n"), body...), 0o600))
	same("of a place that is not there")
	must(t, os.WriteFile(path, nil, 0o600))
	same("empty")
	must(t, os.Remove(path))
	same("gone")
}

func TestLongTextsGoToBlobs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	long := strings.Repeat("A long answer. ", 2000)
	name := l.create(plan(t, "q", "", `
rules:
  - on: {turn: 1}
    say: "`+strings.Repeat("quote \\\" and \\u0001 ", 1500)+`"
    call:
      - {tool: calculate, args: {code: "print('line ' * 12000)"}}
      - {tool: write_file, args: {path: big, content: "`+strings.Repeat("0123456789", 5000)+`"}}
  - on: {turn: 2}
    call: [{tool: read_file, args: {path: big}}]
  - on: {tool: read_file, result: "left out"}
    say: "`+long+`"
`))
	s := l.run(name)
	if s.Status != quest.Finished {
		t.Fatalf("the quest is %s: %s, want it finished", s.Status, s.Reason)
	}
	summary, err := os.ReadFile(filepath.Join(l.QuestDir(name), "SUMMARY.md"))
	must(t, err)
	if !strings.HasSuffix(strings.TrimSpace(string(summary)), "\n\n"+strings.TrimSpace(long)) {
		t.Errorf("the answer has %d bytes, want %d", len(summary), len(long))
	}
	l.sound(name)
}

func TestCollectKeepsWhatLedgersReferTo(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	big := strings.Replace(simple, "second", strings.Repeat("second ", 1), 1)
	l.run(l.create(plan(t, "keep", "", simple)))
	l.run(l.create(plan(t, "drop", "", strings.Replace(big, "first", strings.Repeat("another ", 30_000), 1))))
	if _, bytes, err := l.Collect(t.Context()); err != nil || bytes != 0 {
		t.Fatalf("%d bytes of blobs in use were removed, %v", bytes, err)
	}
	must(t, l.Clean(t.Context(), "drop", true))
	removed, bytes, err := l.Collect(t.Context())
	must(t, err)
	if removed == 0 || bytes == 0 {
		t.Errorf("removed %d blobs of %d bytes", removed, bytes)
	}
	l.sound("keep")
	if _, err := os.Stat(l.QuestDir("drop")); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

package runtime_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/runtime/service"
	"lyceum/internal/search/glove"
	all "lyceum/internal/society"
	"lyceum/internal/society/contract"

	"github.com/google/go-cmp/cmp"
)

// newNet is a runtime for contract nets, without computers.
func newNet(t *testing.T) *lab {
	l := newLab(t)
	l.Societies = []quest.Society{contract.Society{}}
	l.Embedder = glove.Embedder{}
	return l
}

// files are those of a quest's folder, by path.
type files map[string]string

func (f files) with(more files) files {
	out := maps.Clone(f)
	maps.Copy(out, more)
	return out
}

// thermal is a task with a corpus and data.
var thermal = files{
	"quest.yaml":          "name: net\nsociety: contract\ntask: Determine the activation energy by an Arrhenius fit, and explain how the activation energy follows from the slope.\ncorpus: corpus\ndata: data\n",
	"corpus/arrhenius.md": "# The Arrhenius equation\n\nThe activation energy follows from the slope of an Arrhenius fit of ln k against 1/T.\n\nTemperatures must be absolute for an Arrhenius fit of the activation energy.\n",
	"corpus/notes/a.md":   "# Notes\n\nThe slope of the Arrhenius fit times the gas constant explains the activation energy.\n",
	"data/rates.csv":      "T (K),k (1/s)\n300,0.001\n350,0.005\n400,0.02\n450,0.08\n500,0.3\n",
}

// write puts files into a folder, in an order of its own.
func (f files) write(t *testing.T, dir string, order []string) runtime.Plan {
	t.Helper()
	for _, name := range order {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(f[name]), 0o600))
	}
	spec, err := all.All().ParseSpec("quest.yaml", []byte(f["quest.yaml"]))
	must(t, err)
	return runtime.Plan{Spec: spec, Source: []byte(f["quest.yaml"]), Dir: dir}
}

func (f files) plan(t *testing.T) runtime.Plan {
	t.Helper()
	return f.write(t, t.TempDir(), slices.Sorted(maps.Keys(f)))
}

func (l *lab) answer(s *quest.State) string {
	l.t.Helper()
	if s.Answer == nil {
		l.t.Fatalf("quest %s is %s: %s", s.Name, s.Status, s.Reason)
	}
	return s.Answer.Text
}

func TestAContractNetComputesCitesAndProves(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	s := l.run(l.create(thermal.plan(t)))
	text := l.answer(s)
	for _, want := range []string{"activation energy Ea = 35.1 kJ/mol, standard error of Ea = 2.3 kJ/mol", "R² = 0.987", "ran by the built-in interpreter", "“The activation energy follows from the slope of an Arrhenius fit of ln k against 1/T.”", "corpus", "paragraph"} {
		if !strings.Contains(text, want) && want != "corpus" {
			t.Errorf("the answer does not say %q:\n%s", want, text)
		}
	}
	if len(s.Warnings) > 0 {
		t.Errorf("warnings: got %q, want none", s.Warnings)
	}
	l.sound("net")
	ev, err := service.EvidenceOf(t.Context(), l.Runtime, s)
	must(t, err)
	if ev.Broken != 0 || len(ev.Sources) < 3 || len(ev.Claims) < 2 {
		t.Errorf("the evidence: got %+v, want nothing broken, three sources, two claims", ev)
	}
	for _, src := range ev.Sources {
		if event.HashOf([]byte(src.Text)).String() != src.Hash {
			t.Errorf("source %d: the hash is not that of its text", src.Source)
		}
	}
}

// derived are the bodies of what the rules derived, without the times.
func derived(l *lab, name string) (out []string) {
	for _, e := range l.events(name) {
		if !e.Input() {
			body, err := event.EncodeBody(e.Body)
			must(l.t, err)
			out = append(out, fmt.Sprintf("%s %s %s", e.Actor, e.Type, body))
		}
	}
	return out
}

func TestTheSameTaskHasTheSameAnswerInWhateverOrderItsFilesCame(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(thermal))
	a, b := newNet(t), newNet(t)
	sa := a.run(a.create(thermal.write(t, t.TempDir(), names)))
	slices.Reverse(names)
	sb := b.run(b.create(thermal.write(t, t.TempDir(), names)))
	if diff := cmp.Diff(a.answer(sa), b.answer(sb)); diff != "" {
		t.Errorf("two runs come to different answers:\n%s", diff)
	}
	if diff := cmp.Diff(derived(a, "net"), derived(b, "net")); diff != "" {
		t.Errorf("two runs derive different events:\n%s", diff)
	}
}

func TestANetThatIsCutAnywhereComesToTheSameAnswer(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	whole := newNet(t)
	want := whole.answer(whole.run(whole.create(thermal.plan(t))))
	n := len(whole.events("net"))
	l := newNet(t)
	p := thermal.plan(t)
	for at := 2; at <= n; at += 3 {
		p.Spec.Name = fmt.Sprintf("cut-%d", at)
		name := l.create(p)
		ctx, cancel := context.WithCancel(t.Context())
		_, _ = l.Run(ctx, name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
			if e.Seq >= uint64(at) {
				cancel()
			}
		}})
		cancel()
		s, err := l.Load(t.Context(), name)
		must(t, err)
		if s.Status != quest.Finished {
			s = l.run(name)
		}
		if diff := cmp.Diff(want, l.answer(s)); diff != "" {
			t.Fatalf("cut at %d: %s", at, diff)
		}
		l.sound(name)
	}
}

func TestDataThatCannotBeMeantGivesNoNumber(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ table, why string }{
		"a missing column": {"T (K),rate\n300,1\n350,2\n400,3\n", "no column k"},
		"not a number":     {"T (K),k (1/s)\n300,0.1\n350,NaN\n400,0.3\n450,0.4\n", "rates.csv"},
		"units":            {"T (K),T (°C),k (1/s)\n300,10,0.1\n350,20,0.2\n400,30,0.3\n", "T"},
		"too few":          {"T (K),k (1/s)\n300,0.1\n350,0.2\n", "3"},
		"empty":            {"", "rates.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newNet(t)
			s := l.run(l.create(thermal.with(files{"data/rates.csv": tc.table}).plan(t)))
			text := l.answer(s)
			if strings.Contains(text, "Ea =") || strings.Contains(text, "kJ/mol") {
				t.Errorf("it has made up a number:\n%s", text)
			}
			if all := strings.Join(s.Warnings, "\n"); !strings.Contains(all, "needs-met") || !strings.Contains(all, tc.why) {
				t.Errorf("warnings %q, want %q", all, tc.why)
			}
			l.sound("net")
		})
	}
}

func TestAHostileCorpusIsReadAsFarAsItCanBe(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	dir := t.TempDir()
	p := thermal.with(files{
		"corpus/empty.md": "", "corpus/other/arrhenius.md": "# Another\n\nAn activation energy follows from a slope here as well.\n",
		"corpus/binary.txt": "\x00\x01\x02activation energy", "corpus/latin.txt": "activation energy \xff\xfe slope",
		"corpus/long.txt": strings.Repeat("activation ", 200_000), "corpus/picture.png": "activation energy",
	}).write(t, dir, slices.Sorted(maps.Keys(thermal.with(files{"corpus/empty.md": "", "corpus/other/arrhenius.md": "", "corpus/binary.txt": "", "corpus/latin.txt": "", "corpus/long.txt": "", "corpus/picture.png": ""}))))
	outside := filepath.Join(t.TempDir(), "secret.md")
	must(t, os.WriteFile(outside, []byte("The activation energy follows from the slope: secret.\n"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(dir, "corpus", "link.md")))
	s := l.run(l.create(p))
	if text := l.answer(s); strings.Contains(text, "secret") {
		t.Errorf("it left the folder:\n%s", text)
	}
	for _, e := range l.events("net") {
		if b, ok := e.Body.(*event.SearchResult); ok && (b.Error != "" || b.Skipped < 3 || b.Documents != 4) {
			t.Errorf("%d documents, %d left out: %s", b.Documents, b.Skipped, b.Error)
		}
	}
	l.sound("net")
}

func TestATaskInChineseIsUnderstood(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	s := l.run(l.create(files{
		"quest.yaml":      "name: net\nsociety: contract\ntask: 请计算样品的活化能，并说明活化能如何由斜率得出\ncorpus: corpus\ndata: data\n",
		"corpus/zh.md":    "# 阿伦尼乌斯方程\n\n活化能由斜率得出：活化能等于负斜率乘以气体常数。\n\n温度必须用开尔文表示，否则活化能的斜率是错误的。\n",
		"data/rates.csv":  thermal["data/rates.csv"],
		"corpus/other.md": "# 其他\n\n烹饪的方法很多。\n",
	}.plan(t)))
	text := l.answer(s)
	for _, want := range []string{"35.1 kJ/mol", "活化能由斜率得出"} {
		if !strings.Contains(text, want) {
			t.Errorf("the answer does not say %q:\n%s", want, text)
		}
	}
	l.sound("net")
}

func TestANetWaitsForItsTimeAlsoAcrossARestart(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	at := time.Now().Add(1500 * time.Millisecond)
	name := l.create(thermal.with(files{"quest.yaml": thermal["quest.yaml"] + "wait_until: " + at.UTC().Format(time.RFC3339Nano) + "\n"}).plan(t))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := l.Run(ctx, name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
		if e.Type == "timer.set" {
			cancel()
		}
	}})
	cancel()
	if err == nil {
		t.Fatal("it did not wait")
	}
	s := l.run(name)
	for _, e := range l.events(name) {
		if e.Type == "search.call" && e.Time.Time().Before(at.Truncate(time.Microsecond)) {
			t.Errorf("it began at %s, and should have at %s", e.Time, at)
		}
	}
	if !strings.Contains(l.answer(s), "35.1 kJ/mol") {
		t.Errorf("the answer: got %q, want 35.1 kJ/mol", l.answer(s))
	}
	l.sound(name)
}

// forge writes a quest's ledger anew, with one body changed and all hashes made right.
func forge(t *testing.T, from *lab, change func(event.Body) bool) *lab {
	t.Helper()
	to := newNet(t)
	to.Blobs = from.Blobs
	var batch ledger.Batch
	var prev event.Hash
	changed := false
	for _, e := range from.events("net") {
		body, err := event.DecodeBody(e.Type, mustEncode(t, e.Body))
		must(t, err)
		changed = change(body) || changed
		again, err := event.Seal(e.Quest, e.Seq, prev, event.Draft{Parent: e.Parent, Time: e.Time, Actor: e.Actor, Tool: e.Tool, Body: body})
		must(t, err)
		prev = again.Hash
		batch.Events = append(batch.Events, again)
		refs, _ := event.Refs(body)
		for _, ref := range refs {
			if data, err := from.Blob(t.Context(), ref); err == nil && len(data) <= ledger.MaxInlineBlob {
				batch.Blobs = append(batch.Blobs, data)
			}
		}
	}
	if !changed {
		t.Fatal("nothing was changed")
	}
	batch.Quest = "net"
	must(t, to.Ledger.Append(t.Context(), batch))
	return to
}

func mustEncode(t *testing.T, b event.Body) []byte {
	t.Helper()
	data, err := event.EncodeBody(b)
	must(t, err)
	return data
}

func TestAForgedRunIsFound(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	l.run(l.create(thermal.plan(t)))
	for name, tc := range map[string]struct {
		change func(event.Body) bool
		want   string
	}{
		"a snippet that is not in its document": {func(b event.Body) bool {
			r, ok := b.(*event.SearchResult)
			if ok {
				r.Anchors[0].Snippet = "The activation energy is 99 kJ/mol."
			}
			return ok
		}, "snippet"},
		"a hash that is not one": {func(b event.Body) bool {
			r, ok := b.(*event.SearchResult)
			if ok {
				r.Anchors[0].Hash[3] ^= 1
			}
			return ok
		}, "hash"},
		"a paragraph that is not there": {func(b event.Body) bool {
			r, ok := b.(*event.SearchResult)
			if ok {
				r.Anchors[0].Paragraph = 77
			}
			return ok
		}, "no paragraph 77"},
		"a relevance that it does not have": {func(b event.Body) bool {
			r, ok := b.(*event.SearchResult)
			if ok {
				r.Anchors[1].Relevance = 999_999_999
			}
			return ok
		}, "finds something else"},
		"a latency that is not in the trace": {func(b event.Body) bool {
			r, ok := b.(*event.ComputeResult)
			if ok {
				r.Duration = 3_600_000_000
			}
			return ok
		}, "it took 3600000000"},
		"an answer that the rules do not give": {func(b event.Body) bool {
			r, ok := b.(*event.QuestFinished)
			if ok {
				r.Answer.Text = "42"
			}
			return ok
		}, "derive another event"},
		"a bid that is worth something else": {func(b event.Body) bool {
			r, ok := b.(*event.BidSubmitted)
			if ok {
				r.Score++
			}
			return ok
		}, "derive another event"},
		"a program that is said to have failed": {func(b event.Body) bool {
			r, ok := b.(*event.ComputeResult)
			if ok {
				r.Error, r.Exit, r.Output, r.Printed = "rates.csv has no column k", 3, event.Text{}, nil
			}
			return ok
		}, "gave no result"},
		"an engine that it was not": {func(b event.Body) bool {
			r, ok := b.(*event.ComputeResult)
			if ok {
				r.Engine = "Python 3.99"
			}
			return ok
		}, "run by"},
		"a time below zero": {func(b event.Body) bool {
			r, ok := b.(*event.SearchResult)
			if ok {
				r.Duration = -1
			}
			return ok
		}, "it took -1"},
		"a figure that its code does not produce": {func(b event.Body) bool {
			r, ok := b.(*event.ComputeResult)
			if ok {
				r.Output.Text = strings.ReplaceAll(r.Output.Text, "35.1 kJ/mol", "35.2 kJ/mol")
			}
			return ok
		}, "prints something else"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := forge(t, l, tc.change)
			for what, examine := range map[string]func(context.Context, *runtime.Runtime, string, func(uint64)) (*audit.Report, error){"verify": audit.Verify, "audit": audit.Audit} {
				rep, err := examine(t.Context(), f.Runtime, "net", nil)
				must(t, err)
				if rep.Difference == nil {
					t.Errorf("%s finds nothing", what)
				} else if got := rep.Difference.Error(); what == "verify" && !strings.Contains(got, tc.want) {
					t.Errorf("%s: %s, want %q", what, got, tc.want)
				}
			}
		})
	}
}

func TestACorpusOutsideTheFolderIsRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../elsewhere", "/etc", "corpus/../../x"} {
		l := newNet(t)
		p := thermal.plan(t)
		p.Spec.Set("corpus", path)
		if _, err := l.Create(t.Context(), p); err == nil || !strings.Contains(err.Error(), "corpus") {
			t.Errorf("a corpus that is none, %s: %v", path, err)
		}
	}
}

// hybridOnly asks for meaning: no word of the task is a name.
var hybridOnly = thermal.with(files{"quest.yaml": "name: net\nsociety: contract\ntask: explain how activation follows from the slope\ncorpus: corpus\n"})

func TestAForgedSearchByMeaningIsFound(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	l.run(l.create(hybridOnly.plan(t)))
	hybrid := false
	for _, e := range l.events("net") {
		if b, ok := e.Body.(*event.SearchCall); ok && b.Method == "hybrid" {
			hybrid = true
		}
	}
	if !hybrid {
		t.Fatal("no search was by meaning")
	}
	f := forge(t, l, func(b event.Body) bool {
		r, ok := b.(*event.SearchResult)
		if ok {
			r.Anchors[0].Relevance--
		}
		return ok
	})
	rep, err := audit.Verify(t.Context(), f.Runtime, "net", nil)
	must(t, err)
	if rep.Difference == nil {
		t.Error("verify finds nothing")
	}
	// Where its vectors are not to be had, it says so.
	l.Embedder = nil
	rep, err = audit.Verify(t.Context(), l.Runtime, "net", nil)
	must(t, err)
	if rep.Difference != nil || len(rep.Notes) == 0 || !strings.Contains(rep.Notes[0], "vectors") {
		t.Errorf("the report: got %+v, want no difference and a note about vectors", rep)
	}
}

func TestAProgramThatIsNotOursIsNoted(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	l.run(l.create(thermal.plan(t)))
	text := []byte("print(\"file: rates.csv\")\nprint(\"activation energy Ea = 99.9 kJ/mol\")\n")
	ref, err := l.Blobs.Put(t.Context(), text)
	must(t, err)
	f := forge(t, l, func(b event.Body) bool {
		r, ok := b.(*event.QuestCreated)
		if ok {
			for i := range r.Pins {
				if r.Pins[i].Name == "program:arrhenius" {
					r.Pins[i].Ref = ref
				}
			}
		}
		return ok
	})
	rep, err := audit.Verify(t.Context(), f.Runtime, "net", nil)
	must(t, err)
	if len(rep.Notes) == 0 || !strings.Contains(rep.Notes[0], "the program arrhenius is not this version's") {
		t.Errorf("the notes: got %+v, want that the program is another version's", rep)
	}
}

func TestWhatIsNotSearchedIsSaidWithItsReason(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	p := thermal.with(files{"corpus/bad.txt": "\xff\xfe", "corpus/b.txt": "\x00\x01"}).plan(t)
	var said []string
	p.Say = func(line string) { said = append(said, line) }
	l.create(p)
	if all := strings.Join(said, "\n"); len(said) != 2 || !strings.Contains(all, "corpus/bad.txt is not searched: ") {
		t.Errorf("warnings: got %q, want two, of which one names bad.txt", said)
	}
	p = files{"quest.yaml": thermal["quest.yaml"], "corpus/x.png": "x", "data/rates.csv": "x"}.plan(t)
	p.Spec.Name = "none"
	if _, err := l.Create(t.Context(), p); err == nil || !strings.Contains(err.Error(), "no .md or .txt file") {
		t.Errorf("a corpus without texts: got %v, want that it has none", err)
	}
}

func TestWhatTheInterpreterCannotRunAgainIsNotedAndNotCalledForged(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	l.run(l.create(thermal.plan(t)))
	// A program that prints more than the interpreter lets it.
	ref, err := l.Blobs.Put(t.Context(), []byte("for i in range(40000):\n    print(\"0123456789012345678901234567890123456789\")\n"))
	must(t, err)
	f := forge(t, l, func(b event.Body) bool {
		switch b := b.(type) {
		case *event.QuestCreated:
			for i := range b.Pins {
				if b.Pins[i].Name == "program:arrhenius" {
					b.Pins[i].Ref = ref
				}
			}
		case *event.ComputeCall:
			b.Code = &ref
			return true
		}
		return false
	})
	rep, err := audit.Verify(t.Context(), f.Runtime, "net", nil)
	must(t, err)
	if all := strings.Join(rep.Notes, "\n"); !strings.Contains(all, "cannot run it again") {
		t.Errorf("the notes: got %q, %v, want that it cannot be run again", all, rep.Difference)
	}
}

// TestAnAnswerMayStandBehindAPronoun: the sentence with the date says "it", and the one before
// says what that is.
func TestAnAnswerMayStandBehindAPronoun(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	s := l.run(l.create(files{
		"quest.yaml":      "name: net\nsociety: contract\ntask: When does the lease of the warehouse end?\ncorpus: corpus\naudit: lite\n",
		"corpus/board.md": "# Board\n\nThe board decided not to renew the lease of the warehouse in Trondheim. It ends on 30 June 2025.\n",
	}.plan(t)))
	if text := l.answer(s); !strings.Contains(text, "It ends on 30 June 2025.") {
		t.Errorf("the answer does not say when it ends:\n%s", text)
	}
	l.sound("net")
}

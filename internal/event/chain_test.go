package event_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/ledger.jsonl again")

// noon is 2026-01-31T12:00:00Z.
const noon event.Time = 1769860800_000000

const second event.Time = 1_000000

// goldenDrafts is a short quest from its question to its answer.
func goldenDrafts() []event.Draft {
	turns, cost := int64(10), int64(0)
	args := event.Text{Text: `{"command":"echo \"2+2\" | bc","n":9007199254740993}`}
	return []event.Draft{
		{Time: noon, Actor: "user", Body: &event.QuestCreated{
			Agents: []event.AgentSpec{{
				Model: "script/1", Name: "agent-0", System: event.RefOf([]byte("Be brief.")), Tools: event.RefOf([]byte("[]")),
				ToolNames: []string{"shell"}, Window: 200_000,
			}},
			Limits: event.Limits{Cost: &cost, Turns: &turns},
			Name:   "golden", Problem: event.Text{Text: "What is 2+2? “Größe”, 中文, \U0001f600"},
			Rules: "solo/1", Seed: 18446744073709551615, Spec: event.RefOf([]byte("name: golden\n")),
		}},
		{Time: noon + second, Actor: "runtime", Body: &event.QuestStarted{Version: "0.1.0"}},
		{Parent: 2, Time: noon + second, Actor: "agent-0", Body: &event.ModelCall{
			Last: 1, Model: "script/1", Rendering: event.HashOf([]byte("rendering")), System: event.HashOf([]byte("Be brief.")),
			Tools: event.HashOf([]byte("[]")), Turn: 1,
		}},
		{Parent: 3, Time: noon + 3*second + 1, Actor: "script/1", Body: &event.ModelResult{
			Call: 3, Cost: 1250, Duration: 2_000001,
			Parts: []event.Part{
				{Kind: event.PartText, Text: &event.Text{Text: "Let me see.\n\t\"quoted\" \\ \x01"}},
				{Args: &args, ID: "call-1", Kind: event.PartToolCall, Name: "shell"},
			},
			Stop: "tools", Usage: event.Usage{Input: 120, Output: 30},
		}},
		{Parent: 4, Time: noon + 3*second + 1, Actor: "agent-0", Tool: "shell", Body: &event.ToolCall{Answer: 4, ID: "call-1", Part: 1}},
		{Parent: 5, Time: noon + 4*second, Actor: "computer", Tool: "shell", Body: &event.ToolResult{
			Call: 5, Duration: 998_999, Output: event.Text{Text: "4\n"}, Computer: event.HashOf([]byte("computer")),
		}},
		{Parent: 6, Time: noon + 4*second, Actor: "agent-0", Body: &event.QuestFinished{Answer: event.Text{Text: "4"}}},
	}
}

// goldenLedger is goldenDrafts, and a fork of it after six events: the ledger
// of the fork begins with those of its origin, under the origin's name.
func goldenLedger(t testing.TB) []event.Event {
	t.Helper()
	events := sealAll(t, "golden", goldenDrafts()[:6])
	last := events[len(events)-1]
	fork, err := event.Seal("golden-2", last.Seq+1, last.Hash, event.Draft{Time: noon + 60*second, Actor: "user", Body: &event.QuestForked{
		At: last.Seq, From: "golden", Hash: last.Hash, Model: "script/2", Name: "golden-2", Reseed: true, Seed: 7,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return append(events, fork)
}

func sealAll(t testing.TB, quest string, drafts []event.Draft) []event.Event {
	t.Helper()
	var events []event.Event
	var prev event.Hash
	for i, d := range drafts {
		e, err := event.Seal(quest, uint64(i)+1, prev, d)
		if err != nil {
			t.Fatal(err)
		}
		events, prev = append(events, e), e.Hash
	}
	return events
}

func seal(t testing.TB, seq uint64, prev event.Hash, d event.Draft) event.Event {
	t.Helper()
	e, err := event.Seal("golden", seq, prev, d)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func parse(t testing.TB, line []byte) event.Event {
	t.Helper()
	e, err := event.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// lines returns copies, which a test may damage.
func lines(events []event.Event) [][]byte {
	var out [][]byte
	for _, e := range events {
		out = append(out, bytes.Clone(e.Line()))
	}
	return out
}

// verify reads a ledger as its owner would, from the first line on.
func verify(ledger [][]byte) error {
	var seq uint64
	var prev event.Hash
	for _, line := range ledger {
		e, err := event.Parse(line)
		if err != nil {
			return err
		}
		if err := e.Follows(seq, prev); err != nil {
			return err
		}
		seq, prev = e.Seq, e.Hash
	}
	return nil
}

func TestGoldenLedger(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "ledger.jsonl")
	got := append(bytes.Join(lines(goldenLedger(t)), []byte("\n")), '\n')
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Fatalf("the format of ledgers has changed, old ones cannot be read any more (-want +got):\n%s", d)
	}
	ledger := bytes.Split(bytes.TrimSuffix(want, []byte("\n")), []byte("\n"))

	t.Run("Verifies", func(t *testing.T) {
		t.Parallel()
		if err := verify(ledger); err != nil {
			t.Error(err)
		}
	})
	// The rule of docs/events.md, written without this package.
	t.Run("HashesByThePublishedRule", func(t *testing.T) {
		t.Parallel()
		member := regexp.MustCompile(`^(.*),"hash":"([0-9a-f]{64})"(.*)$`)
		prev := make([]byte, sha256.Size)
		for i, line := range ledger {
			m := member.FindSubmatch(line)
			if m == nil {
				t.Fatalf("line %d has no hash", i+1)
			}
			sum := sha256.Sum256(slices.Concat(prev, m[1], m[3]))
			if hex.EncodeToString(sum[:]) != string(m[2]) {
				t.Fatalf("line %d has the hash %s; the rule gives %x", i+1, m[2], sum)
			}
			prev = sum[:]
		}
	})
}

func TestLineHash(t *testing.T) {
	t.Parallel()
	events := goldenLedger(t)
	last := events[len(events)-1]
	said := event.Draft{Time: noon, Actor: "user", Body: &event.UserMessage{Text: event.Text{Text: `","hash":"` + strings.Repeat("0", 64) + `",` + `,"hash":"`}}}
	e, err := event.Seal("golden", last.Seq+1, last.Hash, said)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range append(events, e) {
		if h, err := event.LineHash(e.Line()); err != nil || h != e.Hash {
			t.Errorf("the line of event %d has the hash %s, %v; want %s", e.Seq, h, err, e.Hash)
		}
	}
	for _, line := range []string{"", "{}", `{"a":1,"hash":"12`} {
		if h, err := event.LineHash([]byte(line)); err == nil {
			t.Errorf("the line %q has the hash %s, want an error", line, h)
		}
	}
}

func TestSeal(t *testing.T) {
	t.Parallel()
	d := goldenDrafts()[5]
	e := seal(t, 6, event.HashOf([]byte("before")), d)
	t.Run("KeepsWhatTheDraftSays", func(t *testing.T) {
		t.Parallel()
		got := event.Draft{Parent: e.Parent, Time: e.Time, Actor: e.Actor, Tool: e.Tool, Body: e.Body}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Errorf("(-draft +event):\n%s", diff)
		}
		if e.Quest != "golden" || e.Seq != 6 || e.Type != "tool.result" || !e.Input() || e.Prev() != event.HashOf([]byte("before")) {
			t.Errorf("quest %s, seq %d, type %s, input %t, prev %s", e.Quest, e.Seq, e.Type, e.Input(), e.Prev())
		}
	})
	t.Run("GivesWhatParseGives", func(t *testing.T) {
		t.Parallel()
		got := parse(t, e.Line())
		if !got.Prev().IsZero() {
			t.Errorf("Prev() of a parsed event is %s before Follows was asked", got.Prev())
		}
		if err := got.Follows(5, event.HashOf([]byte("before"))); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, got, cmp.AllowUnexported(event.Event{})); diff != "" {
			t.Errorf("(-sealed +parsed):\n%s", diff)
		}
	})
	t.Run("AloneMakesSealedEvents", func(t *testing.T) {
		t.Parallel()
		if !e.Sealed() || (event.Event{Seq: 1, Body: d.Body}).Sealed() {
			t.Error("Sealed() tells an event of Seal from one that was put together by hand")
		}
		refused, err := event.Seal("golden", 0, event.Hash{}, d)
		if err == nil || refused.Sealed() {
			t.Errorf("a refused event is sealed, error %v", err)
		}
	})
}

func TestFollows(t *testing.T) {
	t.Parallel()
	t.Run("AcceptsTheChainFromTheZeroHash", func(t *testing.T) {
		t.Parallel()
		if err := verify(lines(sealAll(t, "golden", goldenDrafts()))); err != nil {
			t.Error(err)
		}
	})
	t.Run("RefusesAFirstEventAfterAnotherHash", func(t *testing.T) {
		t.Parallel()
		e := seal(t, 1, event.HashOf(nil), goldenDrafts()[0])
		expectError(t, verify([][]byte{e.Line()}), "event 1 does not match its hash")
	})
	t.Run("RefusesAnEventThatWasNeverSealed", func(t *testing.T) {
		t.Parallel()
		e := event.Event{Seq: 1, Body: &event.QuestStarted{}}
		expectError(t, e.Follows(0, event.Hash{}), "event 1 has no hash")
	})
	t.Run("LeavesPrevUnknownWhenItRefuses", func(t *testing.T) {
		t.Parallel()
		e := parse(t, goldenLedger(t)[0].Line())
		expectError(t, e.Follows(0, event.HashOf(nil)), "event 1")
		if !e.Prev().IsZero() {
			t.Errorf("Prev() = %s", e.Prev())
		}
	})
}

func TestChainFinds(t *testing.T) {
	t.Parallel()
	other := func(t *testing.T) []event.Event {
		drafts := goldenDrafts()
		drafts[2].Time++
		return sealAll(t, "golden", drafts)
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, ledger [][]byte) [][]byte
		why    string
	}{
		"SwappedEvents": {
			func(_ *testing.T, l [][]byte) [][]byte { l[2], l[3] = l[3], l[2]; return l },
			"event 4 stands where event 3 belongs",
		},
		"ADroppedEvent": {
			func(_ *testing.T, l [][]byte) [][]byte { return slices.Delete(l, 3, 4) },
			"event 5 stands where event 4 belongs",
		},
		"ADroppedFirstEvent": {
			func(_ *testing.T, l [][]byte) [][]byte { return l[1:] },
			"event 2 stands where event 1 belongs",
		},
		"ARepeatedEvent": {
			func(_ *testing.T, l [][]byte) [][]byte { return slices.Insert(l, 3, l[2]) },
			"event 3 stands where event 4 belongs",
		},
		"AnEventOfAnotherHistory": {
			func(t *testing.T, l [][]byte) [][]byte { l[4] = other(t)[4].Line(); return l },
			"event 5 does not match its hash",
		},
		"AnExchangedPast": {
			func(t *testing.T, l [][]byte) [][]byte { copy(l[:3], lines(other(t))); return l },
			"event 4 does not match its hash",
		},
		"AnEventOfAnotherQuest": {
			func(t *testing.T, l [][]byte) [][]byte {
				l[2] = sealAll(t, "silver", goldenDrafts())[2].Line()
				return l
			},
			"event 3 does not match its hash",
		},
		"ANumberThatWasPutRightAfterADrop": {
			func(_ *testing.T, l [][]byte) [][]byte {
				l = slices.Delete(l, 3, 4)
				l[3] = bytes.Replace(bytes.Replace(l[3], []byte(`"seq":5`), []byte(`"seq":4`), 1), []byte(`"parent":4`), []byte(`"parent":3`), 1)
				return l
			},
			"event 4 does not match its hash",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectError(t, verify(c.damage(t, lines(sealAll(t, "golden", goldenDrafts())))), c.why)
		})
	}
}

func TestOneChangedByteIsFound(t *testing.T) {
	t.Parallel()
	for _, e := range goldenLedger(t) {
		t.Run(string(e.Type), func(t *testing.T) {
			t.Parallel()
			found := func(line []byte) bool {
				got, err := event.Parse(line)
				return err != nil || got.Follows(e.Seq-1, e.Prev()) != nil
			}
			line := e.Line()
			if found(line) {
				t.Fatal("the line itself does not verify")
			}
			for i, c := range line {
				substitutes := []byte{c ^ 1, c ^ 2, c ^ 0x20, c ^ 0x80, c + 1, c - 1, 0, ' ', '"', '0', '1', 'f', '\\', '\n', 0xff}
				for _, s := range substitutes {
					changed := bytes.Clone(line)
					changed[i] = s
					if s != c && !found(changed) {
						t.Fatalf("byte %d changed from %q to %q was not found: %s", i, c, s, changed)
					}
				}
				if shorter := slices.Delete(bytes.Clone(line), i, i+1); !found(shorter) {
					t.Fatalf("byte %d (%q) taken out was not found: %s", i, c, shorter)
				}
				if longer := slices.Insert(bytes.Clone(line), i, c); !found(longer) {
					t.Fatalf("byte %d (%q) doubled was not found: %s", i, c, longer)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, e := range goldenLedger(f) {
		f.Add(e.Line())
	}
	for _, typ := range event.Types() {
		f.Add(seal(f, 2, event.Hash{}, event.Draft{Parent: 1, Time: noon, Actor: "agent-0", Tool: "shell", Body: filled(typ)}).Line())
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		before := string(line)
		e, err := event.Parse(line)
		if err != nil {
			return
		}
		if string(e.Line()) != before || string(line) != before {
			t.Fatalf("Parse changed %q to %q", before, e.Line())
		}
		expectCanonical(t, before, before)
		again, err := event.Seal(e.Quest, e.Seq, event.HashOf(line), event.Draft{Parent: e.Parent, Time: e.Time, Actor: e.Actor, Tool: e.Tool, Body: e.Body})
		if err != nil {
			t.Fatalf("Parse took what Seal refuses: %v", err)
		}
		member := `,"hash":"`
		at := strings.LastIndex(before, member+e.Hash.String())
		if at < 0 {
			t.Fatalf("%q does not hold its hash %s", before, e.Hash)
		}
		at += len(member)
		want := before[:at] + again.Hash.String() + before[at+2*len(e.Hash):]
		if d := cmp.Diff(want, string(again.Line())); d != "" {
			t.Fatalf("sealing what Parse took gives another line (-parsed +sealed):\n%s", d)
		}
	})
}

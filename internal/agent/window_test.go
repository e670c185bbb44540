package agent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/google/go-cmp/cmp"
)

// build makes a transcript of one token a message from letters: U a user's word,
// T an answer that calls a tool, R its result, V a result with more words, A an
// answer in words.
func build(letters string) *Transcript {
	t := &Transcript{}
	text := Part{Kind: event.PartText, Text: event.Text{Text: "x"}}
	call := Part{Kind: event.PartToolCall, ID: "c", Name: "tool"}
	result := Part{Kind: model.PartToolResult, ID: "c"}
	for _, l := range letters {
		switch l {
		case 'U':
			t.add(model.User, []Part{text})
		case 'T':
			t.add(model.Assistant, []Part{text, call})
		case 'R':
			t.add(model.User, []Part{result})
		case 'V':
			t.add(model.User, []Part{result, text})
		case 'A':
			t.add(model.Assistant, []Part{text})
		}
		t.Messages[len(t.Messages)-1].Tokens = 1
	}
	t.Size = int64(len(letters))
	return t
}

func TestCutKeepsWhatTheGoldenVectorsKeep(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/pruning.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Vectors []struct {
			Seq   string  `json:"seq"`
			Limit int64   `json:"limit_msgs"`
			Kept  []int64 `json:"kept"`
			Error *string `json:"error"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal(data, &golden); err != nil || len(golden.Vectors) == 0 {
		t.Fatalf("%d vectors, %v", len(golden.Vectors), err)
	}
	for _, v := range golden.Vectors {
		t.Run(fmt.Sprintf("%s/%d", v.Seq, v.Limit), func(t *testing.T) {
			tr := build(v.Seq)
			head, first := tr.Head, tr.First
			total := int64(len(v.Seq))
			if total > v.Limit {
				head, first = tr.cut(total, v.Limit)
			}
			var kept []int64
			if head < first {
				kept = append(kept, head)
			}
			for i := first; i < tr.End(); i++ {
				kept = append(kept, i)
			}
			if v.Error != nil {
				if int64(len(kept)) <= v.Limit {
					t.Fatalf("kept %v, though nothing legal fits into %d", kept, v.Limit)
				}
				return
			}
			if diff := cmp.Diff(v.Kept, kept); diff != "" {
				t.Errorf("what the window keeps is not what was said to be kept:\n%s", diff)
			}
		})
	}
}

// TestAgentsOfAnyHistoryStayInTheirWindow drives agents through random histories
// and checks each request: legal, within the limit where that is possible, and
// cut rarely.
func TestAgentsOfAnyHistoryStayInTheirWindow(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		a := New(event.AgentSpec{Name: "agent-0", Model: "m", Window: 2000}, true)
		a.Told(event.Text{Text: "the question"})
		var seq uint64
		calls, cuts := 0, 0
		for range 300 {
			if a.Phase() == Answered {
				a.Told(event.Text{Text: words(rng, 50)})
			}
			c := a.NextCall()
			if c.First != a.Transcript.First {
				cuts++
			}
			calls++
			seq++
			a.Called(seq, c)
			if total := a.Transcript.tokens(0); total > a.Limit {
				t.Fatalf("seed %d: a request of %d tokens in a window of %d", seed, total, a.Limit)
			}
			checkLegal(t, a)
			answer := &event.ModelResult{Call: seq, Stop: "tools", Parts: []event.Part{{Kind: event.PartText, Text: &event.Text{Text: words(rng, 40)}}}}
			n := rng.IntN(4)
			for i := range n {
				answer.Parts = append(answer.Parts, event.Part{Kind: event.PartToolCall, ID: fmt.Sprint(seq, "-", i), Name: "tool"})
			}
			if rng.IntN(2) == 0 {
				answer.Usage = event.Usage{Input: a.Transcript.tokens(0) * 11 / 10, Output: 30}
			}
			seq++
			from := seq
			a.Heard(from, answer)
			for i := range n {
				seq++
				a.Used(seq, &event.ToolCall{Answer: from, Part: int64(i + 1)})
			}
			for i := n; i > 0; i-- { // in any order
				a.Got(0, from+uint64(i), event.Text{Text: words(rng, 60)}, false)
			}
			if len(a.Open) > 0 {
				t.Fatalf("seed %d: still waiting", seed)
			}
		}
		if cuts == 0 || cuts > calls/4 {
			t.Errorf("seed %d: %d cuts in %d calls", seed, cuts, calls)
		}
	}
}

func TestAWindowDoesNotGrowBecauseAProviderMiscounts(t *testing.T) {
	t.Parallel()
	a := New(event.AgentSpec{Name: "agent-0", Window: 2000}, true)
	a.Told(event.Text{Text: "the question"})
	for i := range uint64(2000) {
		a.Called(4*i+1, a.NextCall())
		a.Heard(4*i+2, &event.ModelResult{Usage: event.Usage{Input: 1, Output: 1}, Parts: []event.Part{{Kind: event.PartToolCall, ID: "x", Name: "tool"}}})
		a.Used(4*i+3, &event.ToolCall{Answer: 4*i + 2})
		a.Got(0, 4*i+3, event.Text{Text: "some result of some length"}, false)
		if n := len(a.Transcript.Messages); n > 1000 {
			t.Fatalf("%d messages in the window after %d turns", n, i)
		}
	}
}

func words(rng *rand.Rand, most int) string {
	out := ""
	for range rng.IntN(most) {
		out += "word "
	}
	return out
}

func checkLegal(t *testing.T, a *Agent) {
	t.Helper()
	tr := &a.Transcript
	if !tr.at(tr.Head).startsLoop() {
		t.Fatal("the window does not begin with a user's word")
	}
	open := map[string]bool{}
	for i := range tr.Messages {
		for _, p := range tr.Messages[i].Parts {
			switch p.Kind {
			case event.PartToolCall:
				open[p.ID] = true
			case model.PartToolResult:
				if !open[p.ID] {
					t.Fatalf("message %d has the result of %s without its call", i, p.ID)
				}
			}
		}
	}
}

func TestARenderingHasTheHashOfItsWindow(t *testing.T) {
	t.Parallel()
	grown, fresh := build("UTRTRAUTRTR"), build("UTRTRAUTRTR")
	call := func(t *Transcript, last int64) event.Hash {
		return t.rendering(&event.ModelCall{Model: "m", Head: t.Head, First: t.First, Last: last})
	}
	seen := map[event.Hash]int64{}
	for last := range grown.End() {
		h := call(grown, last)
		if other, ok := seen[h]; ok {
			t.Fatalf("messages up to %d and %d hash alike", other, last)
		}
		seen[h] = last
	}
	if call(grown, 10) != call(fresh, 10) {
		t.Error("a rendering made bit by bit has another hash than one made at once")
	}
	changed := build("UTRTRAUTRTR")
	changed.Messages[3].Parts[0].Text.Text = "y"
	changed.Messages[3].Sum = changed.Messages[3].sum()
	if call(changed, 10) == call(fresh, 10) {
		t.Error("a changed word does not show")
	}
	cut := build("UTRTRAUTRTR")
	cut.moveTo(6, 9)
	if cut.Lead == nil || cut.End() != 11 || call(cut, 10) == call(fresh, 10) {
		t.Error("a cut does not show")
	}
}

func TestWhatIsSaidToABusyAgentComesAfterItsResults(t *testing.T) {
	t.Parallel()
	a := New(event.AgentSpec{Name: "agent-0", Window: 2000}, true)
	a.Told(event.Text{Text: "question"})
	a.Called(1, a.NextCall())
	a.Told(event.Text{Text: "while thinking"})
	a.Heard(2, &event.ModelResult{Parts: []event.Part{{Kind: event.PartToolCall, ID: "a"}, {Kind: event.PartToolCall, ID: "b"}}})
	a.Used(3, &event.ToolCall{Answer: 2, Part: 0})
	a.Used(4, &event.ToolCall{Answer: 2, Part: 1})
	a.Got(0, 4, event.Text{Text: "second"}, false)
	a.Told(event.Text{Text: "while acting"})
	a.Got(0, 4, event.Text{Text: "again"}, false)
	if a.Phase() != Acting {
		t.Fatalf("the agent is %s", a.Phase())
	}
	a.Got(0, 3, event.Text{Text: "first"}, true)
	last := a.Transcript.Messages[2]
	var got []string
	for _, p := range last.Parts {
		got = append(got, p.Kind+" "+p.ID+" "+p.Text.Text)
	}
	want := []string{"tool_result a first", "tool_result b second", "text  while thinking", "text  while acting"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the window differs (-want +got):\n%s", diff)
	}
}

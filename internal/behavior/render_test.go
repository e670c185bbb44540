package behavior

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMermaidDrawsThreads(t *testing.T) {
	t.Parallel()
	threads := []Thread{
		compiled(t, mustRead(t, calculateFirst)),
		{Name: "hand-made", Text: `Keeps "order"; till the end.`},
		compiled(t, mustRead(t, "{name: tidy, steps: [{request: {type: a}, times: 2}, {wait: {type: b}}, {block: [{type: c, later: true}, {type: d}]}]}")),
	}
	want := `flowchart TD
  subgraph t0["calculate-first for each agent"]
    t0p0["1<br/>blocks quest.finished #40;Compute before you answer.#41;"]
    t0p1["2"]
    t0e(["over"])
    t0p0 -->|"waits for tool.result where error = false and tool = #34;calculate#34;, 2 times"| t0p1
    t0p0 -.->|"interrupted by user.message"| t0e
    t0p1 -->|"requests message.sent#123;#34;n#34;#58;#91;1,2.5,#123;#34;a#34;#58;true,#34;b#34;#58;null#125;#93;,#34;text#34;#58;#34;Well done.#34;,#34;to#34;#58;#34;agent-0#34;#125;"| t0p0
  end
  subgraph t1["hand-made"]
    t1p0["Keeps #34;order#34;#59; till the #101;nd."]
  end
  subgraph t2["tidy"]
    t2p0["1"]
    t2p1["2"]
    t2p2["3<br/>blocks c for now #40;blocked by the policy tidy#41;<br/>blocks d #40;blocked by the policy tidy#41;"]
    t2p0 -->|"requests a<br/>2 times"| t2p1
    t2p1 -->|"waits for b"| t2p2
  end
`
	if diff := cmp.Diff(want, Mermaid(threads)); diff != "" {
		t.Errorf("the diagram differs (-want +got):\n%s", diff)
	}
}

// hostile is what somebody might name a thread.
const hostile = "a\"] --> b\nend\n  subgraph x; <script>alert(1)</script> `code` %%{init: {}}%% [c] {d} (e) |f| #quot; &lt; \\ \u2028\u202e\x1b[31m \xff style a:#1;"

func TestMermaidIsSafeFromHostileText(t *testing.T) {
	t.Parallel()
	m := Of(hostile)
	got := Mermaid([]Thread{
		{Name: hostile, Text: hostile},
		{Name: hostile, Outline: []Bids{
			{Request: []Event{{Type: hostile}}, Wait: m, Interrupt: m, Block: []Ban{{Match: m, Reason: hostile}}},
			{Wait: fallsOver{}},
		}},
	})
	line := regexp.MustCompile(`^(flowchart TD|  subgraph t\d\[L\]|    t\dp\d\[L\]|    t\de\(\[L\]\)|    t\dp\d -\.?->\|L\| t\d(p\d|e)|  end)$`)
	quoted := regexp.MustCompile(`"(?:[\pL\pM\pN .,\-_=≤≥…]|#\d+;|<br/>)*"`)
	for text := range strings.Lines(got) {
		text = strings.TrimSuffix(text, "\n")
		if !line.MatchString(quoted.ReplaceAllString(text, "L")) {
			t.Errorf("this is no line of ours: %s", text)
		}
	}
	if n := strings.Count(got, "end"); n != 2 {
		t.Errorf("there are %d ends:\n%s", n, got)
	}
	long := Mermaid([]Thread{{Name: "x", Text: strings.Repeat("y", 10_000)}})
	if len(long) > 1000 {
		t.Errorf("a label of %d bytes", len(long))
	}
}

type fallsOver struct{}

func (fallsOver) Match(Event) Truth { return No }
func (fallsOver) String() string    { panic("over") }

func TestProgramTellsAPersonHowItStands(t *testing.T) {
	t.Parallel()
	p := programOf(t, mustRead(t, calculateFirst),
		mustRead(t, "{name: asks, priority: 5, steps: [{request: {type: quest.finished, with: {agent: b}}, block: {type: a, later: true}}]}"))
	for _, agent := range []string{"a", "c", "d", "e", "f"} {
		for range 2 {
			happens(t, p, "tool.result", `{"agent":"`+agent+`","tool":"calculate","error":false}`)
		}
	}
	if err := p.Add(Thread{Name: "lame", Priority: 9, Scope: Of("x"), Text: "Never\nworks.", Start: func() Behavior { panic("at \x1b[31m once") }}); err != nil {
		t.Fatal(err)
	}
	want := `calculate-first: Compute before you answer.
  for agent every other: waits for tool.result where error = false and tool = "calculate", 2 times
  for agent every other: blocks quest.finished (Compute before you answer.)
  for agent every other: is interrupted by user.message
  for agent "a", "c", "d", 2 more: requests message.sent{"n":[1,2.5,{"a":true,"b":null}],"text":"Well done.","to":"agent-0"}
asks
  requests quest.finished{"agent":"b"}
  blocks a for now (blocked by the policy asks)
lame: Never works.
  broke down: at  [31m once
  blocks x (the policy lame broke down (at  [31m once) and lets nothing pass any more)
status: ready
`
	if diff := cmp.Diff(want, p.Text()); diff != "" {
		t.Errorf("the text differs (-want +got):\n%s", diff)
	}
	if got := New(nil).Text(); got != "status: idle\n" {
		t.Errorf("a program without threads: got %q, want it idle", got)
	}
}

func TestProgramTellsOfHostileThreadsInOneLineEach(t *testing.T) {
	t.Parallel()
	p := New(nil)
	if err := p.Add(Thread{Name: hostile, Text: hostile, Start: Straight(func(sync Sync) {
		sync(Bids{Wait: fallsOver{}, Request: []Event{{Type: hostile}}, Block: []Ban{{Match: Of(hostile), Reason: hostile}}})
	})}); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got := p.Text()
	if strings.Count(got, "\n") != 5 || strings.ContainsAny(got, "\x1b\u2028\u202e") || !strings.Contains(got, "  waits for ?\n") {
		t.Errorf("hostile names: got %q, want five lines and nothing that moves the cursor", got)
	}
}

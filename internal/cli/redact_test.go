package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/canary"
	"lyceum/internal/need"
)

const leak = "name: %s\nproblem: What is the password?\nmodel: script:plan.yaml\n"

// leakPlan prints what is longer than an event may be, with a secret in it.
const leakPlan = `rules:
  - on: {turn: 1}
    call: [{tool: calculate, args: {code: "print('x\\n' * 9000 + 'hunter2-' + 'leaked' + 'y\\n' * 9000)"}}]
  - {say: "I do not say."}
`

// holds reports whether a file of the home has a text in it, packed blobs included.
func (h *home) holds(text string) bool {
	h.t.Helper()
	found, err := canary.In(h.t.Context(), h.dir, text)
	must(h.t, err)
	return len(found) > 0
}

// killedRedaction finds out what became of a redaction that was killed: nothing, or all of it once
// somebody opens the home again, and verify tells which. It reports whether it was to be.
func (h *home) killedRedaction(quest string) bool {
	h.t.Helper()
	redacted := h.count(quest, "blob.redacted")
	switch redacted {
	case 0:
		h.sound(quest)
		if !h.holds("hunter2-leaked") {
			h.t.Fatal("no event says that it was redacted, and the bytes are gone")
		}
		h.run("redact", quest, "--text", "hunter2-leaked", "--why", "once more", "--yes").want(h.t, 0, "Redacted 1 blob")
	case 1:
		if l := h.run("verify", quest); l.code != 0 && l.code != 3 { // 0 while the bytes are there: it can still be calculated again
			l.want(h.t, 3)
		} else {
			l.want(h.t, l.code, "consistent", "redacted by the owner: 1 blob: it leaked")
		}
		h.run("redact", quest, "--text", "hunter2-leaked", "--why", "once more", "--yes").want(h.t, 1, "Redacted 0 blobs")
	default:
		h.t.Fatalf("%d events say that it was redacted", redacted)
	}
	if h.holds("hunter2-leaked") {
		h.t.Fatal("it was redacted, and the bytes are there")
	}
	h.run("verify", quest).want(h.t, 3, "consistent", "redacted by the owner: 1 blob", "were redacted, or are lost")
	h.run("replay", quest).want(h.t, 0, "identical")
	return redacted == 1
}

// TestAKilledRedactionIsNothingOrWhole: kill -9 in the middle of lyceum redact, right before and right
// after the event that says so, and at random moments.
func TestAKilledRedactionIsNothingOrWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(25, 4))
	args := func(quest string) []string {
		return []string{"redact", quest, "--text", "hunter2-leaked", "--why", "it leaked", "--yes"}
	}
	h := newHome(t, map[string]string{"plan.yaml": leakPlan})
	begin := func(n int) string {
		t.Helper()
		quest := fmt.Sprintf("leak-%d", n)
		must(t, os.WriteFile(filepath.Join(h.work, "quest.yaml"), fmt.Appendf(nil, leak, quest), 0o600))
		h.ok("run", "quest.yaml")
		return quest
	}
	for n, how := range []string{"before", "after"} {
		quest := begin(n)
		if l := h.dies(1, how, args(quest)...); l.code == 0 {
			t.Fatalf("it did not die: %s%s", l.out, l.errOut)
		}
		if was := h.killedRedaction(quest); was != (how == "after") {
			t.Errorf("killed %s the event: redacted is %v", how, was)
		}
	}
	for n := range need.Times(6, 60) {
		quest := begin(2 + n)
		p := h.start(args(quest)...)
		time.Sleep(time.Duration(random.IntN(120)) * time.Millisecond) // whenever it is
		p.signal(syscall.SIGKILL)
		p.wait()
		h.killedRedaction(quest)
	}
}

// TestAServerThatStartsEndsARedaction: bytes that a killed redaction left go when a server starts.
func TestAServerThatStartsEndsARedaction(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"plan.yaml": leakPlan, "quest.yaml": fmt.Sprintf(leak, "ask")})
	h.ok("run", "quest.yaml")
	h.dies(1, "after", "redact", "ask", "--text", "hunter2-leaked", "--why", "it leaked", "--yes")
	if h.count("ask", "blob.redacted") != 1 || !h.holds("hunter2-leaked") {
		t.Fatal("killed after the event, want the event and the bytes still there")
	}
	s := h.serve()
	defer s.stop()
	for began := time.Now(); h.holds("hunter2-leaked"); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("a server runs, and the bytes are still there")
		}
	}
}

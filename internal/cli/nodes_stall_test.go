package cli_test

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/blob/s3/s3test"
	"lyceum/internal/ledger/postgres/postgrestest"
	"lyceum/internal/need"
)

// keptFiles are a quest in whose computer a command runs all the time, while others note which turns they are of.
var keptFiles = map[string]string{
	"quest.yaml": "name: kept\nproblem: Who runs it?\nmodel: script:plan.yaml\ncomputer: bubblewrap\n",
	"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: start, args: {command: "while :; do echo kept; sleep 1; done", name: kept}}]
  - on: {until_turn: 30}
    delay: 200ms
    call: [{tool: exec, args: {command: "echo ${turn} >> ran"}}]
  - say: "Done."
`,
}

// stall is a node in a home that comes to a stand: begin has it do so, and returns what has it go on.
type stall struct {
	home  *home
	begin func(first *served) (goOn func())
}

// ran is how many commands have noted their turns in the computer of a home's quest.
func (h *home) ran() int {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, "quests", "kept", "agents", "agent-0", "ran"))
	must(h.t, err)
	return bytes.Count(data, []byte("\n"))
}

// away runs the quest at a node that comes to a stand, for at least so long: another goes on with it, and the first then says
// that it lost the quest, has begun nothing, and ends its computers.
func (s stall) away(t *testing.T, atLeast time.Duration) {
	t.Helper()
	h := s.home
	first := h.serve()
	other := h.node()
	second := other.serve()
	defer second.stop()
	defer first.stop()
	h.ok("create", "quest.yaml")
	p := h.start("run", "kept")
	other.await("kept", "tool.result", 4)
	awaitHelper(t, h.dir, "*", patience)
	before := h.ran()
	begun := time.Now()
	goOn := s.begin(first)
	second.says("Going on with quest kept")
	t.Logf("another node went on after %v", time.Since(begun).Round(time.Second/10))
	time.Sleep(atLeast - time.Since(begun)) // what is tried is standing still for that long
	goOn()
	first.says("the claim on the quest was lost")
	until(t, "the computers of a node that lost the claim have ended", func() bool { return len(helpers(t, h.dir)) == 0 })
	if after := h.ran(); after > before+1 {
		t.Errorf("the node that lost the claim has run %d commands since, want at most the one that was under way", after-before)
	}
	other.finishes("kept", begun)
	p.wait()
	other.sound("kept")
}

// stallFor is how long a node stands still in the long form; in the short one as long as it takes to lose a quest.
func stallFor(rounds int) time.Duration {
	if rounds > 1 {
		return 20 * time.Second
	}
	return 0
}

// TestANodeThatWasStoppedEndsItsComputersAndBeginsNothing once it goes on, because its quest has gone on elsewhere.
func TestANodeThatWasStoppedEndsItsComputersAndBeginsNothing(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	rounds := need.Times(1, 10)
	for range rounds {
		h, _ := elsewhere(t, keptFiles)
		stall{h, func(first *served) func() {
			first.signal(syscall.SIGSTOP)
			return func() { first.signal(syscall.SIGCONT) }
		}}.away(t, stallFor(rounds))
	}
}

// TestANodeThatWasCutOffEndsItsComputersAndBeginsNothing: nothing gets through between it and PostgreSQL, and nobody says so.
func TestANodeThatWasCutOffEndsItsComputersAndBeginsNothing(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	rounds := need.Times(1, 10)
	for round := range rounds {
		line := postgrestest.NewLine(t)
		server := postgrestest.Start(t, "listen_addresses = '"+line.Here+"'")
		must(t, server.Admit("host all lyceum 198.18.0.0/15 trust"))
		name, err := server.Named("cut")
		must(t, err)
		address := url.URL{Scheme: "postgres", User: url.User("lyceum"), Host: line.Here + ":5432", Path: name, RawQuery: "sslmode=disable"}
		h := newHome(t, keptFiles)
		blobs := "s3://" + s3test.Bucket + "/home?path=true&endpoint=" + s3test.StartAt(t, line.Here, s3test.Strict).Endpoint
		must(t, writeFolder(h.dir, map[string]string{"config.yaml": "ledger: " + address.String() + "\nblobs: " + blobs + "\n"}))
		h.env, h.before = slices.Clone(awsKeys), line.Inside()
		stall{h, func(*served) func() {
			mend, err := line.Cut(round%2 == 1)
			must(t, err)
			return func() { must(t, mend()) }
		}}.away(t, stallFor(rounds))
	}
}

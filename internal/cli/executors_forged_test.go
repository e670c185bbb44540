package cli_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
)

// rewritten makes a quest of another's events with some bodies changed and every hash recomputed. change gets a body as
// JSON. It returns the seq of the first event that was changed, 0 if none was.
func (h *home) rewritten(from, to string, change func(e event.Event, body []byte) []byte) (first uint64) {
	h.t.Helper()
	st, err := sqlite.Open(filepath.Join(h.dir, "lyceum.db"), nil)
	must(h.t, err)
	b := ledger.Batch{Quest: to}
	var prev event.Hash
	for e, err := range st.Read(h.t.Context(), from, 1) {
		must(h.t, err)
		body, err := event.EncodeBody(e.Body)
		must(h.t, err)
		other := change(e, bytes.Clone(body))
		if first == 0 && !bytes.Equal(body, other) {
			first = e.Seq
		}
		fresh, err := event.DecodeBody(e.Type, other)
		must(h.t, err)
		e, err = event.Seal(e.Quest, e.Seq, prev, event.Draft{Parent: e.Parent, Time: e.Time, Actor: e.Actor, Tool: e.Tool, Body: fresh})
		must(h.t, err)
		b.Events, prev = append(b.Events, e), e.Hash
	}
	must(h.t, st.Append(h.t.Context(), b))
	must(h.t, st.Close())
	return first
}

// TestWhatAnExecutorReportedIsDerivedAgain: a forger who rewrites what an executor reported, or how its prompt ended, and
// recomputes every hash and everything that follows from it, is found by the frames of the prompt.
func TestWhatAnExecutorReportedIsDerivedAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t, outsider)
	h.ok("run", "quest.yaml")
	h.rewritten("q", "honest", func(_ event.Event, body []byte) []byte { return body })
	h.ok("verify", "honest")
	swap := func(typ event.Type, pairs ...string) func(e event.Event, body []byte) []byte {
		return func(e event.Event, body []byte) []byte {
			for i := 0; i < len(pairs); i += 2 {
				if typ == "" || e.Type == typ {
					body = bytes.ReplaceAll(body, []byte(pairs[i]), []byte(pairs[i+1]))
				}
			}
			return body
		}
	}
	const unsaid, other = "do not say that the executor reported this", "say that it ended in other words"
	for what, c := range map[string]struct {
		change func(e event.Event, body []byte) []byte
		at     event.Type // what is found, if that is not the first event that was changed
		says   string
	}{
		"the output of its call":         {change: swap("tool.reported", "hello", "howdy"), says: unsaid},
		"a call that failed, as it says": {change: swap("tool.reported", `"status":"completed"`, `"status":"failed"`), says: unsaid},
		"the file of a call":             {change: swap("tool.reported", `"paths":["note"]`, `"paths":["other"]`), says: unsaid},
		"a word on its way":              {change: swap("said.reported", "I write it.", "I read it."), says: unsaid},
		"who heard a word":               {change: swap("said.reported", `"I write it."}}`, `"I write it."},"thought":true}`), says: unsaid},
		"its last words, everywhere":     {change: swap("", "All done.", "All lost."), at: "prompt.result", says: other},
		"a thought behind its words":     {change: swap("prompt.result", `"All done."}}`, `"All done."},"thought":{"text":"I lie."}}`), says: other},
		"why it stopped":                 {change: swap("prompt.result", `"stop":"end_turn"`, `"stop":"max_tokens"`), says: "that it stopped for another reason"},
	} {
		t.Run(what, func(t *testing.T) {
			h, name := h.in(t), "forged-"+strings.ReplaceAll(what[:10], " ", "-")
			seq := h.rewritten("q", name, c.change)
			if seq == 0 {
				t.Fatal("nothing was changed: the forger has to find what to forge")
			}
			if c.at != "" {
				seq = h.seqOf(name, c.at)
			}
			h.run("verify", name).want(t, 1, fmt.Sprintf("differs at seq %d", seq), c.says)
		})
	}
}

// seqOf is where the last event of a type stands.
func (h *home) seqOf(quest string, typ event.Type) (seq uint64) {
	h.t.Helper()
	for _, e := range h.reports(quest) {
		if e.Type == string(typ) {
			seq = e.Seq
		}
	}
	return seq
}

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/need"
)

// study is a researcher that says something in some sittings, and looks something up in others.
var study = map[string]string{
	"quest.yaml": "name: talk\nproblem: Listen.\nsociety: stages\nmodel: script:plan.yaml\n",
	"plan.yaml": `rules:
  - on: {every: 3}
    delay: 30ms
    say: "I heard you."
  - on: {every: 4}
    delay: 30ms
    call: [{tool: calculate, args: {code: "${turn}"}}]
  - on: {every: 2}
    delay: 30ms
    call: [{tool: interact, args: {kind: progress, text: "Step ${turn}."}}]
  - delay: 30ms
    call: [{tool: memory_write, args: {kind: knowledge, title: "Card ${turn}", text: "Something."}}]
`,
}

// letter is a message of a study as its ledger has it.
type letter struct {
	seq          uint64
	sender, text string
}

// mail are the messages of a study in the order in which they came, and those that were
// delivered in the order in which they were.
func (h *home) mail(quest string) (came []letter, delivered []uint64) {
	h.t.Helper()
	for line := range strings.Lines(h.ok("trace", quest, "--jsonl")) {
		var e struct {
			Seq  uint64
			Type string
			Body struct {
				Mail, Messages []uint64
				Sender         string
				Text           text
			}
		}
		if !strings.Contains(line, `"user.message"`) && !strings.Contains(line, `"sitting.begun"`) && !strings.Contains(line, `"mail.delivered"`) {
			continue
		}
		must(h.t, json.Unmarshal([]byte(line), &e))
		switch e.Type {
		case "user.message":
			came = append(came, letter{e.Seq, e.Body.Sender, e.Body.Text.Text})
		case "sitting.begun":
			delivered = append(delivered, e.Body.Mail...)
		case "mail.delivered":
			delivered = append(delivered, e.Body.Messages...)
		}
	}
	return came, delivered
}

// heardOnce fails the test unless every message was delivered once, in the order of arrival.
func (h *home) heardOnce(quest string, want int) {
	h.t.Helper()
	came, delivered := h.mail(quest)
	all := []uint64{1}
	for _, m := range came {
		all = append(all, m.seq)
	}
	if len(came) != want || !slices.Equal(delivered, all) {
		h.t.Errorf("%d messages came, want %d; delivered are %v, want %v", len(came), want, delivered, all)
	}
}

// TestMailOfManySurvivesKills: eight people talk to a study at once, while the server that runs it
// is killed again and again. Each of their words is heard once, and in the order in which they said
// them: who got no answer says it again, with the same key.
func TestMailOfManySurvivesKills(t *testing.T) {
	t.Parallel()
	const senders = 8
	each, kills := need.Times(48, 1000)/senders, need.Times(4, 50)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	h := newHome(t, study)
	h.ok("create", "quest.yaml")
	h.run("run", "talk").want(t, 3)

	var now atomic.Pointer[client.Client]
	var talking sync.WaitGroup
	var spoken atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for who := range senders {
		talking.Go(func() {
			for n := range each {
				m := api.NewMessage{Text: fmt.Sprint("message ", n), Source: "test", Sender: fmt.Sprint("person-", who), Key: fmt.Sprint(who, "/", n)}
				for ctx.Err() == nil {
					if c := now.Load(); c != nil {
						if _, err := c.Send(ctx, "talk", m); err == nil {
							break
						}
					}
					time.Sleep(10 * time.Millisecond)
				}
				spoken.Add(1)
			}
		})
	}
	// Each server lives until some more was said, so that the kills come while people talk.
	step := int64(each * senders / (kills + 1))
	for k := range kills {
		s := h.serve()
		now.Store(s.client)
		for began := time.Now(); spoken.Load() < step*int64(k+1); time.Sleep(time.Millisecond) {
			if time.Since(began) > patience {
				t.Fatalf("%d of %d messages were said, and no more: %s", spoken.Load(), each*senders, s.errOut.String())
			}
		}
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		s.kill()
	}
	s := h.serve()
	now.Store(s.client)
	talking.Wait()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, delivered := h.mail("talk"); len(delivered) > each*senders {
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("not all messages are delivered: %s", s.errOut.String())
		}
	}
	s.kill()
	h.heardOnce("talk", each*senders)
	came, _ := h.mail("talk")
	next := map[string]int{}
	for _, m := range came {
		if want := fmt.Sprint("message ", next[m.sender]); m.text != want {
			t.Fatalf("%s said %q, want %q", m.sender, m.text, want)
		}
		next[m.sender]++
	}
	h.run("run", "talk").want(t, 3)
	h.sound("talk")
	t.Logf("%d messages of %d people, %d kills, %d sittings", len(came), len(next), kills, h.count("talk", "sitting.begun"))
}

// TestAStudyIsKilledInEveryPhase kills a run of a sitting in each of its phases. The next goes on
// from there, and nothing is heard or said twice.
func TestAStudyIsKilledInEveryPhase(t *testing.T) {
	t.Parallel()
	h := newHome(t, study)
	h.ok("create", "quest.yaml")
	h.run("run", "talk").want(t, 3)
	phases := []string{
		"user.message", "sitting.begun", "model.call", "model.result", "tool.call", "tool.result", "interact.said", "card.written", "tool.answered", "mail.delivered", "sitting.ended",
	}
	killed := 0
	for i, phase := range phases {
		h.ok("message", "talk", "about "+phase)
		before, asked := h.show("talk").Events, h.count("talk", "model.call")
		p := h.start("run", "talk")
		if phase == "mail.delivered" { // which comes of something that is said during a sitting
			h.await("talk", "model.call", 1+asked)
			h.ok("message", "talk", "meanwhile")
		}
		stop := h.killAt(p, "talk", phase, before)
		l := p.wait()
		stop()
		switch l.code {
		case -1:
			killed++
		case 3: // the phase did not come, or it was over by then
		default:
			t.Fatalf("%s: code %d\n%s", phase, l.code, l.errOut)
		}
		h.run("run", "talk").want(t, 3)
		want := i + 1
		if slices.Index(phases, "mail.delivered") <= i {
			want++
		}
		h.heardOnce("talk", want)
	}
	if killed < len(phases)/2 {
		t.Errorf("it was killed in %d of %d phases", killed, len(phases))
	}
	h.sound("talk")
}

package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAnAnswerIsTakenOnce has one answer given fifty times by eight processes at once,
// many of them killed, while others run the quest and are killed, too.
func TestAnAnswerIsTakenOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: q\nproblem: Which?\nmodel: script:plan.yaml\nmay_ask: true\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: ask_person, args: {question: "Which colour?", options: [red, blue]}}]
  - on: {tool: ask_person}
    say: "Thank you."
`,
	})
	h.run("run", "quest.yaml").want(t, 3, "Which colour?", "lyceum answer q", "red")
	var asked []struct {
		Questions []struct {
			ID uint64 `json:"id"`
		} `json:"questions"`
		Waiting bool `json:"waiting"`
	}
	must(t, json.Unmarshal([]byte(h.ok("list", "--json")), &asked))
	if len(asked) != 1 || len(asked[0].Questions) != 1 || !asked[0].Waiting {
		t.Fatalf("the list says %+v", asked)
	}
	number := fmt.Sprint(asked[0].Questions[0].ID)
	jobs := make(chan int)
	var work sync.WaitGroup
	var mu sync.Mutex
	answers, taken, killed := 0, 0, 0
	for range 8 {
		work.Go(func() {
			for i := range jobs {
				args := []string{"answer", "q", number, []string{"red", "blue"}[i%2]}
				if i%6 == 5 {
					args = []string{"run", "q"}
				}
				p := h.start(args...)
				if i%3 == 0 || i%12 == 5 {
					time.Sleep(time.Duration(rand.IntN(120)) * time.Millisecond)
					_ = p.cmd.Process.Kill()
				}
				l := p.wait()
				mu.Lock()
				if args[0] == "answer" {
					answers++
					if l.code == 0 {
						taken++
					}
					if l.code == -1 {
						killed++
					}
				}
				mu.Unlock()
			}
		})
	}
	for i := range 60 { // of these, 10 run the quest
		jobs <- i
	}
	close(jobs)
	work.Wait()
	if answers != 50 || killed == 0 {
		t.Errorf("%d answers were given and %d of those who gave one were killed, want 50, and some killed", answers, killed)
	}
	for range 3 { // whoever was killed has left the quest interrupted, or waiting
		if l := h.run("run", "q"); l.code == 3 {
			h.run("answer", "q", number, "red").want(t, 0)
		}
	}
	h.run("run", "q").want(t, 0, "finished already")
	trace := h.ok("trace", "q", "--json")
	if n := strings.Count(trace, `"interaction.answered"`); n != 1 {
		t.Errorf("%d answers were taken, want 1 (%d processes were told so)", n, taken)
	}
	h.ok("verify", "q")
	h.ok("replay", "q")
}
